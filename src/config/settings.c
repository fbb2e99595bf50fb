/*
 * The table. A new setting is a row here, a member in config.h, and a run of `reeve-worker --help-config=markdown` for
 * docs/configuration.md.
 */
#include "config/settings.h"

#include <string.h>

#include "base/id.h"
#include "redis/topology.h"

#define IN(type, member) .at = offsetof(rv_config##type, member)
#define LIST(type, member, count, item)                                                                                \
    IN(type, member), .count_at = offsetof(rv_config##type, count), .item_size = sizeof(item)

#define THREADS_MAX 1024
#define BATCH_MAX 256
#define SECONDS_MAX 2000000000
#define COUNT_MAX 1000000000

static const rv_choice log_levels[] = {{"debug", REEVE_LOG_DEBUG, false}, {"info", REEVE_LOG_INFO, false},
                                       {"warn", REEVE_LOG_WARN, false},   {"error", REEVE_LOG_ERROR, false},
                                       {"off", REEVE_LOG_OFF, false},     {NULL, 0, false}};
static const rv_choice log_formats[] = {{"logfmt", RV_LOG_LOGFMT, false}, {"json", RV_LOG_JSON, false},
                                        {NULL, 0, false}};
static const rv_choice orders[] = {{"strict", REEVE_ORDER_STRICT, false}, {"weighted", 0, true},
                                   {"round-robin", 0, true}, {NULL, 0, false}};
static const rv_choice isolations[] = {{"thread", 0, false}, {"process", 0, true}, {NULL, 0, false}};
static const rv_choice shapes[] = {{"exponential", REEVE_BACKOFF_EXPONENTIAL, false},
                                   {"fixed", REEVE_BACKOFF_FIXED, false}, {NULL, 0, false}};

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
const rv_setting rv_settings[] = {
    {"redis", RV_SETTING_TEXT, IN(, redis), .check = rv_config_check_redis, .expected = "a Redis URL",
     .otherwise = "embedded:",
     .help = "The Redis to work on: redis://[user:password@]host[:port][/db], unix:///path.sock[?db=n] or "
             "embedded:[directory]. The flag --redis and the environment's REEVE_REDIS come first."},
    {"namespace", RV_SETTING_TEXT, IN(, ns), .check = check_ns, .expected = "1 to 64 of A-Z a-z 0-9 . _ : -",
     .standard = "reeve", .help = "The prefix of every key. Producers and workers meet only within one."},

    {"worker", RV_SETTING_GROUP, .at = RV_NOWHERE, .help = "The worker itself."},
    {"worker.name", RV_SETTING_TEXT, IN(, worker.name), .check = check_worker_name,
     .expected = "1 to 100 printable characters", .otherwise = "the host's name",
     .help = "For people: what `reeve workers` shows."},
    {"worker.session", RV_SETTING_SECONDS, IN(, worker.session_ms), .least = 0.5, .most = 86400, .standard = "15",
     .help = "How long the worker's leases outlive its last heartbeat. Shorter finds a dead worker sooner; longer "
             "survives longer pauses and outages."},
    {"worker.drain", RV_SETTING_SECONDS, IN(, worker.drain_ms), .least = 0, .most = 86400, .standard = "25",
     .help = "How long a stopping worker waits for running handlers; what has not finished then is given back."},
    {"worker.log", RV_SETTING_GROUP, .at = RV_NOWHERE, .help = "The log, on standard error."},
    {"worker.log.level", RV_SETTING_CHOICE, IN(, worker.log_level), .choices = log_levels, .standard = "info",
     .help = "The least level that is written."},
    {"worker.log.format", RV_SETTING_CHOICE, IN(, worker.log_format), .choices = log_formats, .standard = "logfmt",
     .help = "How a line looks."},

    {"plugin_dir", RV_SETTING_TEXT, IN(, plugin_dir), .expected = "a directory",
     .otherwise = "REEVE_PLUGIN_DIR of the environment, else the one that reeve was built with",
     .help = "Where bare plugin names are sought: checksum is DIR/checksum.so."},
    {"plugins", RV_SETTING_NAMES, LIST(, plugins, plugin_count, rv_config_name), .unique = true,
     .expected = "a plugin's name or path", .otherwise = "none",
     .help = "Plugins to load: bare names, or paths (with a slash)."},

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
     .help = "strict: a queue is served when those before it are empty."},
    {"pools[].weights", RV_SETTING_LATER, .help = "Shares for the order \"weighted\"."},
    {"pools[].isolation", RV_SETTING_CHOICE, .at = RV_NOWHERE, .choices = isolations, .standard = "thread",
     .help = "Where handlers run: on the pool's threads."},

    {"handlers", RV_SETTING_GROUPS, LIST(, handlers, handler_count, rv_config_handler), .otherwise = "none",
     .help = "What holds for tasks of a type over what its handler says. Options of a task itself come first."},
    {"handlers[].type", RV_SETTING_TEXT, IN(_handler, type), .check = check_type, .required = true, .unique = true,
     .expected = "a type (1 to 100 of A-Z a-z 0-9 . _ - : /)", .help = "The type; one of the plugins must have it."},
    {"handlers[].attempts", RV_SETTING_WHOLE, IN(_handler, attempts), .least = 1, .most = 1000000,
     .otherwise = "the handler's, else 20", .help = "How often a failing task is tried before it is dead."},
    {"handlers[].max_crashes", RV_SETTING_WHOLE, IN(_handler, max_crashes), .least = 1, .most = 1000000,
     .otherwise = "the handler's, else 3", .help = "How many workers a task may take down before it is dead."},
    {"handlers[].timeout", RV_SETTING_SECONDS, IN(_handler, timeout_ms), .least = 0.001, .most = SECONDS_MAX,
     .otherwise = "the handler's, else none", .help = "The longest that a handler may run."},
    {"handlers[].backoff", RV_SETTING_GROUP, IN(_handler, has_backoff), .otherwise = "the handler's",
     .help = "How long a failed task waits for its next attempt."},
    {"handlers[].backoff.shape", RV_SETTING_CHOICE, IN(_handler, backoff.shape), .choices = shapes,
     .standard = "exponential", .help = "exponential: each delay is twice the one before."},
    {"handlers[].backoff.base", RV_SETTING_SECONDS, IN(_handler, backoff.base_ms), .least = 0.001, .most = SECONDS_MAX,
     .otherwise = "1", .help = "The first delay."},
    {"handlers[].backoff.cap", RV_SETTING_SECONDS, IN(_handler, backoff.cap_ms), .least = 0.001, .most = SECONDS_MAX,
     .otherwise = "3600, or base if that is longer", .help = "The longest delay, before jitter."},
    {"handlers[].backoff.jitter", RV_SETTING_SHARE, IN(_handler, backoff.jitter), .least = 0, .most = 1,
     .otherwise = "0.2", .help = "A delay d becomes d * (1 - jitter .. 1 + jitter)."},

    {"queues", RV_SETTING_GROUPS, LIST(, queues, queue_count, rv_config_queue), .otherwise = "none",
     .help = "Settings of queues, written to Redis when the worker starts; in force for all workers."},
    {"queues[].name", RV_SETTING_TEXT, IN(_queue, name), .check = check_queue, .required = true, .unique = true,
     .expected = "a queue name (1 to 64 of A-Z a-z 0-9 . _ -)", .help = "The queue. A pool need not serve it."},
    {"queues[].concurrency", RV_SETTING_LATER, .help = "How many of the queue's tasks run at once."},
    {"queues[].rate", RV_SETTING_LATER, .help = "How many of the queue's tasks start in a period."},
    {"queues[].group", RV_SETTING_LATER, .help = "Limits of each group of the queue."},
    {"queues[].keep", RV_SETTING_GROUP, .at = RV_NOWHERE, .otherwise = "as Redis has it",
     .help = "How long ended tasks are kept: by age and by count, whichever is less. 0: not at all; -1: no limit."},
    {"queues[].keep.completed", RV_SETTING_GROUP, IN(_queue, keeps_completed), .otherwise = "as Redis has it",
     .help = "Completed tasks with their results, and cancelled ones."},
    {"queues[].keep.completed.age", RV_SETTING_SECONDS, IN(_queue, completed.age_ms), .least = 0, .most = SECONDS_MAX,
     .forever = true, .standard = "86400", .help = "A day by default."},
    {"queues[].keep.completed.count", RV_SETTING_WHOLE, IN(_queue, completed.count), .least = 0, .most = COUNT_MAX,
     .forever = true, .standard = "10000", .help = "The newest are kept."},
    {"queues[].keep.dead", RV_SETTING_GROUP, IN(_queue, keeps_dead), .otherwise = "as Redis has it",
     .help = "Dead tasks."},
    {"queues[].keep.dead.age", RV_SETTING_SECONDS, IN(_queue, dead.age_ms), .least = 0, .most = SECONDS_MAX,
     .forever = true, .standard = "7776000", .help = "90 days by default."},
    {"queues[].keep.dead.count", RV_SETTING_WHOLE, IN(_queue, dead.count), .least = 0, .most = COUNT_MAX,
     .forever = true, .standard = "10000", .help = "The newest are kept."},

    {"cron", RV_SETTING_LATER, .help = "Tasks that are enqueued at set times."},
    {"web", RV_SETTING_LATER, .help = "The dashboard, the JSON API and the metrics."},
};
/* clang-format on */
const size_t rv_setting_count = sizeof(rv_settings) / sizeof(rv_settings[0]);
