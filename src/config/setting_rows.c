/*
 * The table. A new setting is a row here, a member in config.h, and a run of `reeve-worker --help-config=markdown` for
 * docs/configuration.md.
 */
#include "config/setting_rows.h"

#include <string.h>

#include "base/id.h"
#include "base/text.h"
#include "redis/topology.h"
#include "reeve/depend.h"
#include "reeve/watch.h"

#define IN(type, member) .at = offsetof(rv_config##type, member)
#define LIST(type, member, count, item) \
    IN(type, member), .count_at = offsetof(rv_config##type, count), .item_size = sizeof(item)

#define THREADS_MAX 1024
#define BATCH_MAX 256
#define WEIGHT_MAX 1000
#define SECONDS_MAX 2000000000
#define DAYS_MAX 3650
#define COUNT_MAX 1000000000
#define PERIOD_MAX (366 * 86400)
#define BYTES_MAX 1000000000000000

static const rv_choice log_levels[] = {{"debug", REEVE_LOG_DEBUG, false}, {"info", REEVE_LOG_INFO, false},
                                       {"warn", REEVE_LOG_WARN, false},   {"error", REEVE_LOG_ERROR, false},
                                       {"off", REEVE_LOG_OFF, false},     {NULL, 0, false}};
static const rv_choice log_formats[] = {
    {"logfmt", RV_LOG_LOGFMT, false}, {"json", RV_LOG_JSON, false}, {NULL, 0, false}};
static const rv_choice orders[] = {{"strict", REEVE_ORDER_STRICT, false},
                                   {"weighted", REEVE_ORDER_WEIGHTED, false},
                                   {"round-robin", REEVE_ORDER_ROUND_ROBIN, false},
                                   {NULL, 0, false}};
static const rv_choice isolations[] = {{"thread", 0, false}, {"process", 0, true}, {NULL, 0, false}};
static const rv_choice shapes[] = {{"exponential", REEVE_BACKOFF_EXPONENTIAL, false},
                                   {"fixed", REEVE_BACKOFF_FIXED, false},
                                   {"list", REEVE_BACKOFF_LIST, false},
                                   {NULL, 0, false}};

static const rv_choice zones[] = {{"utc", RV_ZONE_UTC, false}, {"local", RV_ZONE_LOCAL, false}, {NULL, 0, false}};
static const rv_choice catch_ups[] = {{"once", REEVE_CATCH_UP_ONCE, false},
                                      {"skip", REEVE_CATCH_UP_SKIP, false},
                                      {"all", REEVE_CATCH_UP_ALL, false},
                                      {NULL, 0, false}};

static bool check_queue(const char *text, rv_error *why)
{
    (void)why;
    return rv_valid_queue(text, strlen(text));
}

static bool check_type(const char *text, rv_error *why)
{
    (void)why;
    return rv_valid_type(text, strlen(text));
}

static bool check_on_dead(const char *text, rv_error *why)
{
    return *text == '\0' || check_type(text, why);
}

static bool check_ns(const char *text, rv_error *why)
{
    (void)why;
    return rv_valid_ns(text, strlen(text));
}

static bool check_worker_name(const char *text, rv_error *why)
{
    (void)why;
    if (*text == '\0' || strlen(text) > REEVE_TYPE_MAX) return false;
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f) return false;
    }
    return true;
}

static bool check_spec(const char *text, rv_error *why)
{
    rv_cron cron;

    return rv_cron_parse(&cron, text, why) == REEVE_OK;
}

static bool check_anything(const char *text, rv_error *why)
{
    (void)text;
    (void)why;
    return true;
}

static bool check_group(const char *text, rv_error *why)
{
    (void)why;
    return *text != '\0' && strlen(text) <= REEVE_GROUP_MAX && rv_utf8_is_valid(text, strlen(text));
}

static bool check_tls_version(const char *text, rv_error *why)
{
    (void)why;
    return strcmp(text, "1.2") == 0 || strcmp(text, "1.3") == 0;
}

bool rv_config_check_redis(const char *url, rv_error *why)
{
    rv_url parsed;
    rv_address address;

    if (rv_url_parse(&parsed, url, why) != REEVE_OK) return false;
    reeve_status status = parsed.kind == RV_URL_EMBEDDED ? REEVE_OK : rv_topology_resolve(&parsed, &address, why);
    rv_url_fini(&parsed);
    return status == REEVE_OK;
}

/* clang-format off */

/* How failed attempts wait, below a handler or a queue. */
#define BACKOFF(above, type, absent)                                                                                   \
    {above ".backoff", RV_SETTING_GROUP, IN(type, has_backoff), .otherwise = absent,                                   \
     .help = "How long a failed task waits for its next attempt."},                                                    \
    {above ".backoff.shape", RV_SETTING_CHOICE, IN(type, backoff.shape), .choices = shapes,                            \
     .standard = "exponential",                                                                                        \
     .help = "exponential: each delay is twice the one before; fixed: all are base; list: those of the list."},        \
    {above ".backoff.base", RV_SETTING_SECONDS, IN(type, backoff.base_ms), .least = 0.001, .most = SECONDS_MAX,        \
     .otherwise = "1", .help = "The first delay."},                                                                    \
    {above ".backoff.cap", RV_SETTING_SECONDS, IN(type, backoff.cap_ms), .least = 0.001, .most = SECONDS_MAX,          \
     .otherwise = "3600, or base if that is longer", .help = "The longest delay, before jitter."},                     \
    {above ".backoff.list", RV_SETTING_DELAYS, IN(type, backoff.list_ms), .least = 0.001, .most = SECONDS_MAX,         \
     .otherwise = "none",                                                                                              \
     .help = "For the shape \"list\": the delay after each failure; the last one holds for all that follow."},         \
    {above ".backoff.jitter", RV_SETTING_SHARE, IN(type, backoff.jitter), .least = 0, .most = 1, .otherwise = "0.2",   \
     .help = "A delay d becomes d * (1 - jitter .. 1 + jitter)."}

/* How many tasks start in a period, of a queue or of each of its groups. */
#define RATE(above, member, given, words)                                                                              \
    {above ".rate", RV_SETTING_GROUP, IN(_queue, given), .otherwise = "as Redis has it", .help = words},               \
    {above ".rate.count", RV_SETTING_WHOLE, IN(_queue, member.count), .least = 1, .most = COUNT_MAX, .forever = true,  \
     .required = true, .help = "So many in each period. -1: no limit."},                                               \
    {above ".rate.period", RV_SETTING_SECONDS, IN(_queue, member.period_ms), .least = 0.001, .most = PERIOD_MAX,       \
     .standard = "1", .help = "The period."},                                                                          \
    {above ".rate.burst", RV_SETTING_WHOLE, IN(_queue, member.burst), .least = 1, .most = COUNT_MAX,                   \
     .otherwise = "count", .help = "The most that start together after a while in which none did."}

/* How large something may be. */
#define GUARD(name, maximum, usual, words)                                                                             \
    {"worker.guards." #name, RV_SETTING_WHOLE, IN(, worker.guards.name), .least = 1, .most = (double)(maximum),        \
     .otherwise = usual, .help = words}

const rv_setting rv_settings[] = {
    {"redis", RV_SETTING_TEXT, IN(, redis), .check = rv_config_check_redis, .expected = "a Redis URL",
     .otherwise = "embedded:",
     .help = "The Redis to work on: redis://[user:password@]host[:port][/db], rediss://... (TLS), "
             "unix:///path.sock[?db=n] or embedded:[directory]. The flag --redis and the environment's REEVE_REDIS come "
             "first."},
    {"redis_password_file", RV_SETTING_TEXT, IN(, redis_password_file), .check = check_anything, .expected = "a file",
     .otherwise = "none",
     .help = "The password for `redis`, in the first line of a file that only its owner may read (or root's group). A user "
             "stands in the URL with nothing behind its colon: redis://user:@host. Where --redis, --redis-file or "
             "REEVE_REDIS name the Redis it is not looked at."},
    {"namespace", RV_SETTING_TEXT, IN(, ns), .check = check_ns, .expected = "1 to 64 of A-Z a-z 0-9 . _ : -",
     .standard = "reeve", .help = "The prefix of every key. Producers and workers meet only within one."},

    {"tls", RV_SETTING_GROUP, .at = RV_NOWHERE,
     .help = "TLS to Redis (rediss://). Parameters of the URL come first, REEVE_TLS_CA and the like of the environment "
             "last. Files that change are read again at the next connection."},
    {"tls.ca", RV_SETTING_TEXT, IN(, tls.ca), .expected = "a file", .otherwise = "the system's, unless ca_dir is set",
     .help = "PEM certificates of trusted authorities."},
    {"tls.ca_dir", RV_SETTING_TEXT, IN(, tls.ca_dir), .expected = "a directory", .otherwise = "none",
     .help = "A directory of such files, named by their hashes (`openssl rehash`)."},
    {"tls.cert", RV_SETTING_TEXT, IN(, tls.cert), .expected = "a file", .otherwise = "none is sent",
     .help = "The client's certificate and its chain, PEM. Needs `key`."},
    {"tls.key", RV_SETTING_TEXT, IN(, tls.key), .expected = "a file", .otherwise = "none",
     .help = "The private key of `cert`, PEM, not encrypted."},
    {"tls.server_name", RV_SETTING_TEXT, IN(, tls.server_name), .expected = "a name", .otherwise = "the URL's host",
     .help = "The name or IP address that the server's certificate must have."},
    {"tls.min_version", RV_SETTING_TEXT, IN(, tls.min_version), .check = check_tls_version,
     .expected = "\"1.2\" or \"1.3\"", .otherwise = "1.2", .help = "The oldest version of TLS to accept."},
    {"tls.required", RV_SETTING_TRUTH, IN(, tls.required), .standard = "false",
     .help = "Whether to refuse redis:// URLs. unix:// and embedded: stay allowed."},

    {"worker", RV_SETTING_GROUP, .at = RV_NOWHERE, .help = "The worker itself."},
    {"worker.name", RV_SETTING_TEXT, IN(, worker.name), .check = check_worker_name,
     .expected = "1 to 100 printable characters", .otherwise = "the host's name",
     .help = "For people: what `reeve workers` shows."},
    {"worker.session", RV_SETTING_SECONDS, IN(, worker.session_ms), .least = 0.5, .most = 86400, .standard = "15",
     .help = "How long the worker's leases outlive its last heartbeat. Shorter finds a dead worker sooner; longer "
             "survives longer pauses and outages."},
    {"worker.drain", RV_SETTING_SECONDS, IN(, worker.drain_ms), .least = 0, .most = 86400, .standard = "25",
     .help = "How long a stopping worker waits for running handlers; what has not finished then is given back."},
    {"worker.guards", RV_SETTING_GROUP, .at = RV_NOWHERE,
     .help = "How large what handlers give back, leave and hand on may be, and the tasks of the file's recurring "
             "entries. Producers have guards of their own (`reeve --guard`, `reeve_client_options`). Lengths count "
             "bytes."},
    GUARD(payload, REEVE_PAYLOAD_MAX, "the most", "Of a task that a handler hands on."),
    GUARD(result, REEVE_RESULT_MAX, "the most",
          "A task with a larger result is dead, of the kind \"result\". A queue may say less: `result_max`."),
    GUARD(checkpoint, REEVE_CHECKPOINT_MAX, "the most", "A larger one is refused."),
    GUARD(meta, REEVE_META_MAX, "the most", "Tags and metadata of a task together."),
    GUARD(type, REEVE_TYPE_MAX, "the most", "A task's type."),
    GUARD(id, REEVE_ID_LENGTH_MAX, "the most", "An id that a handler chose."),
    GUARD(group, REEVE_GROUP_MAX, "the most", "A group's name."),
    GUARD(unique, REEVE_UNIQUE_MAX, "the most", "A unique key."),
    GUARD(tag, REEVE_TAG_MAX, "the most", "A tag."),
    GUARD(tags, REEVE_TAGS_MAX, "the most", "How many tags a task has."),
    GUARD(parents, REEVE_GUARD_COUNT_MAX, "1000000", "How many parents a task has."),
    GUARD(batch, REEVE_HAND_ON_MAX, "the most",
          "How many tasks one hands on. (`many` says how many a handler gets in a call.)"),
    {"worker.log", RV_SETTING_GROUP, .at = RV_NOWHERE, .help = "The log, on standard error."},
    {"worker.log.level", RV_SETTING_CHOICE, IN(, worker.log_level), .choices = log_levels, .standard = "info",
     .help = "The least level that is written."},
    {"worker.log.format", RV_SETTING_CHOICE, IN(, worker.log_format), .choices = log_formats, .standard = "logfmt",
     .help = "How a line looks."},

    {"plugin_dir", RV_SETTING_TEXT, IN(, plugin_dir), .expected = "a directory",
     .otherwise = "REEVE_PLUGIN_DIR of the environment, else that of this installation",
     .help = "Where bare plugin names are sought: checksum is DIR/checksum.so. Relative to this file."},
    {"plugins", RV_SETTING_NAMES, LIST(, plugins, plugin_count, rv_config_name), .unique = true,
     .expected = "a plugin's name or path", .otherwise = "none",
     .help = "Plugins to load: bare names, or paths (with a slash), relative to this file."},

    {"pools", RV_SETTING_GROUPS, LIST(, pools, pool_count, rv_config_pool), .required = true,
     .help = "Groups of threads; each serves its own list of queues."},
    {"pools[].name", RV_SETTING_TEXT, IN(_pool, name), .check = check_queue, .unique = true,
     .expected = "1 to 64 of A-Z a-z 0-9 . _ -", .otherwise = "pool-N",
     .help = "Names the pool and its threads."},
    {"pools[].queues", RV_SETTING_NAMES, LIST(_pool, queues, queue_count, rv_config_name), .check = check_queue,
     .most = 1000, .required = true, .unique = true,
     .expected = "a queue name (1 to 64 of A-Z a-z 0-9 . _ -)", .help = "The queues to serve, in order."},
    {"pools[].threads", RV_SETTING_WHOLE, IN(_pool, threads), .least = 1, .most = THREADS_MAX, .standard = "1",
     .help = "How many tasks run at once."},
    {"pools[].batch", RV_SETTING_WHOLE, IN(_pool, batch), .least = 1, .most = BATCH_MAX, .standard = "64",
     .help = "The most short tasks that a thread takes at once. Long ones are taken one by one whatever this says."},
    {"pools[].order", RV_SETTING_CHOICE, IN(_pool, order), .choices = orders, .standard = "strict",
     .help = "Which queue a thread asks first. strict: the first that is not empty; weighted: each gets its share; "
             "round-robin: the one after that which it last took from. No queue waits for one that is empty."},
    {"pools[].weights", RV_SETTING_NUMBERS, LIST(_pool, weights, weight_count, rv_config_number), .least = 1,
     .most = WEIGHT_MAX, .otherwise = "each 1",
     .help = "For the order \"weighted\": the share of each queue, in the order of queues. With [ 5, 1 ], five of six "
             "tasks are of the first while both have tasks."},
    {"pools[].isolation", RV_SETTING_CHOICE, .at = RV_NOWHERE, .choices = isolations, .standard = "thread",
     .help = "Where handlers run: on the pool's threads."},

    {"handlers", RV_SETTING_GROUPS, LIST(, handlers, handler_count, rv_config_handler), .otherwise = "none",
     .help = "What holds for tasks of a type over what its handler says. Options of a task itself come first."},
    {"handlers[].type", RV_SETTING_TEXT, IN(_handler, type), .check = check_type, .required = true, .unique = true,
     .expected = "a type (1 to 100 of A-Z a-z 0-9 . _ - : /)", .help = "The type; one of the plugins must have it."},
    {"handlers[].attempts", RV_SETTING_WHOLE, IN(_handler, attempts), .least = 1, .most = 1000000,
     .otherwise = "the handler's, else the queue's, else 20",
     .help = "How often a failing task is tried before it is dead."},
    {"handlers[].max_crashes", RV_SETTING_WHOLE, IN(_handler, max_crashes), .least = 1, .most = 1000000,
     .otherwise = "the handler's, else the queue's, else 3",
     .help = "How many workers a task may take down before it is dead."},
    {"handlers[].timeout", RV_SETTING_SECONDS, IN(_handler, timeout_ms), .least = 0.001, .most = SECONDS_MAX,
     .otherwise = "the handler's, else the queue's, else none", .help = "The longest that a handler may run."},
    {"handlers[].heartbeat", RV_SETTING_SECONDS, IN(_handler, heartbeat_ms), .least = 0.001, .most = SECONDS_MAX,
     .otherwise = "the handler's, else none",
     .help = "The longest that a handler may be silent: neither progress, checkpoint, log nor heartbeat."},
    {"handlers[].at_most_once", RV_SETTING_TRUTH, IN(_handler, at_most_once), .standard = "false",
     .help = "true: its tasks are completed before they run, and so never run twice."},
    BACKOFF("handlers[]", _handler, "the handler's, else the queue's"),
    {"handlers[].many", RV_SETTING_WHOLE, IN(_handler, many), .least = 1, .most = REEVE_MANY_MAX,
     .otherwise = "the handler's, else 64",
     .help = "The most tasks of one call, for a handler that takes many at once. A thread takes so many whatever its "
             "pool's batch is."},
    {"handlers[].many_wait", RV_SETTING_SECONDS, IN(_handler, many_wait_ms), .least = 0.001, .most = SECONDS_MAX,
     .otherwise = "the handler's, else none",
     .help = "How long the first task of such a call waits for others. Without: the call gets what is there."},

    {"queues", RV_SETTING_GROUPS, LIST(, queues, queue_count, rv_config_queue), .otherwise = "none",
     .help = "Settings of queues, written to Redis when the worker starts; in force for all workers."},
    {"queues[].name", RV_SETTING_TEXT, IN(_queue, name), .check = check_queue, .required = true, .unique = true,
     .expected = "a queue name (1 to 64 of A-Z a-z 0-9 . _ -)", .help = "The queue. A pool need not serve it."},
    {"queues[].attempts", RV_SETTING_WHOLE, IN(_queue, attempts), .least = 1, .most = 1000000,
     .otherwise = "as Redis has it, else 20",
     .help = "How often a failing task is tried before it is dead, if neither the task nor its handler says. Of "
             "attempts, max_crashes, timeout, backoff and record_runs those that stand here replace all five in Redis."},
    {"queues[].max_crashes", RV_SETTING_WHOLE, IN(_queue, max_crashes), .least = 1, .most = 1000000,
     .otherwise = "as Redis has it, else 3",
     .help = "How many workers a task may take down before it is dead, if nobody else says."},
    {"queues[].timeout", RV_SETTING_SECONDS, IN(_queue, timeout_ms), .least = 0.001, .most = SECONDS_MAX,
     .otherwise = "as Redis has it, else none", .help = "The longest that a handler may run, if nobody else says."},
    BACKOFF("queues[]", _queue, "as Redis has it"),
    {"queues[].record_runs", RV_SETTING_SWITCH, IN(_queue, record_runs), .otherwise = "as Redis has it, else false",
     .help = "Whether completed tasks keep when they began, their workers and threads (`reeve show`). A completion then costs "
             "Redis as much as a failure, and some 150 bytes."},
    {"queues[].on_dead", RV_SETTING_TEXT, IN(_queue, on_dead), .check = check_on_dead,
     .expected = "a type (1 to 100 of A-Z a-z 0-9 . _ - : /), or \"\" for none", .otherwise = "as Redis has it",
     .help = "The type of a task that is enqueued in the queue for each one that dies, unless that one says otherwise; "
             "its payload tells which and why."},
    {"queues[].result_max", RV_SETTING_WHOLE, IN(_queue, result_max), .least = 1, .most = REEVE_RESULT_MAX,
     .forever = true, .otherwise = "as Redis has it",
     .help = "How many bytes a result has at most: a task with a larger one is dead, of the kind \"result\". -1: as "
             "many as `worker.guards.result` says."},
    {"queues[].events", RV_SETTING_WHOLE, IN(_queue, events), .least = 1, .most = REEVE_EVENTS_MAX, .forever = true,
     .otherwise = "as Redis has it",
     .help = "About how many events are kept, of what happens to the queue's tasks (`reeve watch`). -1: none."},
    {"queues[].concurrency", RV_SETTING_WHOLE, IN(_queue, concurrency), .least = 1, .most = COUNT_MAX, .forever = true,
     .otherwise = "as Redis has it",
     .help = "How many of the queue's tasks run at once, over all workers. -1: no limit."},
    RATE("queues[]", rate, has_rate, "How many of the queue's tasks start in a period, over all workers."),
    {"queues[].group", RV_SETTING_GROUP, .at = RV_NOWHERE, .otherwise = "as Redis has it",
     .help = "Limits of each group that has none of its own (`reeve limit --group`). Others go on while one waits."},
    {"queues[].group.concurrency", RV_SETTING_WHOLE, IN(_queue, group_concurrency), .least = 1, .most = COUNT_MAX,
     .forever = true, .otherwise = "as Redis has it",
     .help = "How many tasks of a group run at once. 1: one by one, in order; -1: no limit."},
    {"queues[].group.strict", RV_SETTING_SWITCH, IN(_queue, group_strict), .otherwise = "as Redis has it",
     .help = "Whether a group waits for the task that started last until it has ended, retries included."},
    RATE("queues[].group", group_rate, has_group_rate, "How many tasks of a group start in a period."),
    {"queues[].keep", RV_SETTING_GROUP, .at = RV_NOWHERE, .otherwise = "as Redis has it",
     .help = "How long ended tasks are kept: by age and by count, whichever is less. 0: not at all; -1: no limit."},
    {"queues[].keep.completed", RV_SETTING_GROUP, IN(_queue, keeps_completed), .otherwise = "as Redis has it",
     .help = "Completed tasks with their results, and cancelled ones."},
    {"queues[].keep.completed.age", RV_SETTING_SECONDS, IN(_queue, completed.age_ms), .least = 0, .most = SECONDS_MAX,
     .forever = true, .standard = "86400", .help = "A day by default."},
    {"queues[].keep.completed.count", RV_SETTING_WHOLE, IN(_queue, completed.count), .least = 0, .most = COUNT_MAX,
     .forever = true, .standard = "10000", .help = "The newest are kept."},
    {"queues[].keep.completed.bytes", RV_SETTING_WHOLE, IN(_queue, completed_bytes), .least = 1, .most = BYTES_MAX,
     .forever = true, .standard = "-1",
     .help = "So many bytes of results together; when there are more, the oldest completed tasks go."},
    {"queues[].keep.dead", RV_SETTING_GROUP, IN(_queue, keeps_dead), .otherwise = "as Redis has it",
     .help = "Dead tasks."},
    {"queues[].keep.dead.age", RV_SETTING_SECONDS, IN(_queue, dead.age_ms), .least = 0, .most = SECONDS_MAX,
     .forever = true, .standard = "7776000", .help = "90 days by default."},
    {"queues[].keep.dead.count", RV_SETTING_WHOLE, IN(_queue, dead.count), .least = 0, .most = COUNT_MAX,
     .forever = true, .standard = "10000", .help = "The newest are kept."},
    {"queues[].keep.stats", RV_SETTING_GROUP, IN(_queue, keeps_stats), .otherwise = "as Redis has it",
     .help = "Statistics: what was done each day, `reeve stats`."},
    {"queues[].keep.stats.days", RV_SETTING_WHOLE, IN(_queue, stats_days), .least = 0, .most = DAYS_MAX,
     .standard = "30", .help = "So long after its end a day is kept. 0: none are."},

    {"cron", RV_SETTING_GROUPS, LIST(, cron, cron_count, rv_config_cron), .otherwise = "none",
     .help = "Tasks that recur. The entries are written to Redis when the worker starts; those that are the same there "
             "keep their time, and one that was paused stays so. An entry that has left the file stays in Redis and "
             "goes on: `reeve cron remove QUEUE/NAME` ends it."},
    {"cron[].name", RV_SETTING_TEXT, IN(_cron, name), .check = check_queue, .required = true,
     .expected = "1 to 64 of A-Z a-z 0-9 . _ -", .help = "Names it among all entries: a name is one entry. One of this name in another queue is "
                                                              "moved, and the log tells (program.cron_moved)."},
    {"cron[].spec", RV_SETTING_TEXT, IN(_cron, spec), .check = check_spec, .required = true,
     .expected = "when, as \"0 3 * * *\", \"@hourly\" or \"every 90s\"",
     .help = "Minute, hour, day, month, weekday, or six fields with seconds first; a name such as @daily; or an "
             "interval. `reeve cron next SPEC` tells what it means."},
    {"cron[].queue", RV_SETTING_TEXT, IN(_cron, queue), .check = check_queue, .required = true,
     .expected = "a queue name (1 to 64 of A-Z a-z 0-9 . _ -)",
     .help = "The queue of its tasks. The entry fires while any worker serves it."},
    {"cron[].type", RV_SETTING_TEXT, IN(_cron, type), .check = check_type, .required = true,
     .expected = "a type (1 to 100 of A-Z a-z 0-9 . _ - : /)", .help = "The type of its tasks."},
    {"cron[].payload", RV_SETTING_TEXT, IN(_cron, payload), .check = check_anything, .expected = "a text",
     .otherwise = "empty", .help = "The payload of its tasks."},
    {"cron[].zone", RV_SETTING_CHOICE, IN(_cron, zone), .choices = zones, .standard = "utc",
     .help = "local: the workers' local time. A time that a clock change skips is made up for right after it, and one "
             "that it repeats counts once; an entry for every hour runs each real hour."},
    {"cron[].catch_up", RV_SETTING_CHOICE, IN(_cron, catch_up), .choices = catch_ups, .standard = "once",
     .help = "What is done about slots that are more than 2 s late, since no worker was there. once: one task for the "
             "last of them; skip: nothing; all: a task for each."},
    {"cron[].most", RV_SETTING_WHOLE, IN(_cron, most), .least = 1, .most = REEVE_CRON_CATCH_UP_MAX,
     .otherwise = "100 with catch_up = \"all\"",
     .help = "With catch_up = \"all\": how many at most, the last ones."},
    {"cron[].overlap", RV_SETTING_TRUTH, IN(_cron, overlap), .standard = "true",
     .help = "false: no new task while the last one waits or runs."},
    {"cron[].priority", RV_SETTING_WHOLE, IN(_cron, priority), .least = REEVE_PRIORITY_MIN, .most = REEVE_PRIORITY_MAX,
     .standard = "0", .help = "Lower runs sooner."},
    {"cron[].group", RV_SETTING_TEXT, IN(_cron, group), .check = check_group, .expected = "1 to 100 bytes of UTF-8",
     .otherwise = "the common group", .help = "Groups take turns."},
    {"cron[].weight", RV_SETTING_WHOLE, IN(_cron, weight), .least = 1, .most = 256, .otherwise = "1",
     .help = "The group's share against others; only with a group."},
    {"cron[].attempts", RV_SETTING_WHOLE, IN(_cron, attempts), .least = 1, .most = 1000000,
     .otherwise = "the handler's, else the queue's, else 20",
     .help = "How often a failing task is tried before it is dead."},
    {"cron[].max_crashes", RV_SETTING_WHOLE, IN(_cron, max_crashes), .least = 1, .most = 1000000,
     .otherwise = "the handler's, else the queue's, else 3",
     .help = "How many workers a task may take down before it is dead."},
    {"cron[].timeout", RV_SETTING_SECONDS, IN(_cron, timeout_ms), .least = 0.001, .most = SECONDS_MAX,
     .otherwise = "the handler's, else the queue's, else none", .help = "The longest that a handler may run."},
    BACKOFF("cron[]", _cron, "the handler's, else the queue's"),
    {"cron[].tags", RV_SETTING_NAMES, LIST(_cron, tags, tag_count, rv_config_name), .most = 256,
     .expected = "a tag", .otherwise = "none", .help = "The tags of its tasks."},
    {"web", RV_SETTING_LATER, .help = "The dashboard, the JSON API and the metrics."},
};
/* clang-format on */
const size_t rv_setting_count = sizeof(rv_settings) / sizeof(rv_settings[0]);
