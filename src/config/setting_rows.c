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

#define IN(type, member) .at = offsetof(rv_config##type, member)
#define LIST(type, member, count, item) \
    IN(type, member), .count_at = offsetof(rv_config##type, count), .item_size = sizeof(item)

#define THREADS_MAX 1024
#define BATCH_MAX 256
#define WEIGHT_MAX 1000
#define SECONDS_MAX 2000000000
#define COUNT_MAX 1000000000
#define PERIOD_MAX (366 * 86400)

static const rv_choice log_levels[] = {{"debug", REEVE_LOG_DEBUG}, {"info", REEVE_LOG_INFO}, {"warn", REEVE_LOG_WARN},
                                       {"error", REEVE_LOG_ERROR}, {"off", REEVE_LOG_OFF},   {NULL, 0}};
static const rv_choice log_formats[] = {{"logfmt", RV_LOG_LOGFMT}, {"json", RV_LOG_JSON}, {NULL, 0}};
static const rv_choice orders[] = {{"strict", REEVE_ORDER_STRICT},
                                   {"weighted", REEVE_ORDER_WEIGHTED},
                                   {"round-robin", REEVE_ORDER_ROUND_ROBIN},
                                   {NULL, 0}};
static const rv_choice isolations[] = {{"thread", 0}, {NULL, 0}};
static const rv_choice shapes[] = {{"exponential", REEVE_BACKOFF_EXPONENTIAL},
                                   {"fixed", REEVE_BACKOFF_FIXED},
                                   {"list", REEVE_BACKOFF_LIST},
                                   {NULL, 0}};

static const rv_choice zones[] = {{"utc", RV_ZONE_UTC}, {"local", RV_ZONE_LOCAL}, {NULL, 0}};
static const rv_choice catch_ups[] = {
    {"once", REEVE_CATCH_UP_ONCE}, {"skip", REEVE_CATCH_UP_SKIP}, {"all", REEVE_CATCH_UP_ALL}, {NULL, 0}};

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
#define BACKOFF(above, type, backoff, given, absent)                                                                   \
    {above ".backoff", RV_SETTING_GROUP, IN(type, given), .otherwise = absent,                                         \
     .help = "The delay between a failed attempt and the next one."},                                                  \
    {above ".backoff.shape", RV_SETTING_CHOICE, IN(type, backoff.shape), .choices = shapes,                            \
     .standard = "exponential",                                                                                        \
     .help = "exponential: each delay doubles; fixed: each delay is `base`; list: the delays of `list`."},        \
    {above ".backoff.base", RV_SETTING_SECONDS, IN(type, backoff.base_ms), .min = 0.001, .max = SECONDS_MAX,        \
     .otherwise = "1", .help = "The first delay."},                                                                    \
    {above ".backoff.cap", RV_SETTING_SECONDS, IN(type, backoff.cap_ms), .min = 0.001, .max = SECONDS_MAX,          \
     .otherwise = "3600, or base if that is longer", .help = "The longest delay, before jitter."},                     \
    {above ".backoff.list", RV_SETTING_DELAYS, IN(type, backoff.list_ms), .min = 0.001, .max = SECONDS_MAX,         \
     .otherwise = "none",                                                                                              \
     .help = "For the shape \"list\": the delay after each failure; the last one applies to all further failures."},   \
    {above ".backoff.jitter", RV_SETTING_SHARE, IN(type, backoff.jitter), .min = 0, .max = 1, .otherwise = "0.2",   \
     .help = "A delay d becomes a random one from d * (1 - jitter) to d * (1 + jitter)."}

/* How many tasks start in a period, of a queue or of each of its groups. */
#define RATE(above, member, given, words)                                                                              \
    {above ".rate", RV_SETTING_GROUP, IN(_queue, given), .otherwise = "as stored in Redis", .help = words},            \
    {above ".rate.count", RV_SETTING_WHOLE, IN(_queue, member.count), .min = 1, .max = COUNT_MAX, .forever = true,  \
     .required = true, .help = "Maximum of starts in each period. -1: no limit."},                                     \
    {above ".rate.period", RV_SETTING_SECONDS, IN(_queue, member.period_ms), .min = 0.001, .max = PERIOD_MAX,       \
     .standard = "1", .help = "The period."},                                                                          \
    {above ".rate.burst", RV_SETTING_WHOLE, IN(_queue, member.burst), .min = 1, .max = COUNT_MAX,                   \
     .otherwise = "count", .help = "Maximum of tasks that start together after an idle time."}

/* How large something may be. */
#define SIZE_LIMIT(name, maximum, usual, words)                                                                        \
    {"worker.size_limits." #name, RV_SETTING_WHOLE, IN(, worker.size_limits.name), .min = 1, .max = (double)(maximum), \
     .otherwise = usual, .help = words}

/* A setting of a queue. */
#define QUEUE_NUMBER(id) IN(_queue, settings.number[id]), .given_at = offsetof(rv_config_queue, settings.given[id])
#define QUEUE_TEXT(id) IN(_queue, settings.text[id]), .given_at = offsetof(rv_config_queue, settings.given[id])
#define ON_DEAD_EXPECTED "a type (1 to 100 of A-Z a-z 0-9 . _ - : /), or \"\" for none"

const rv_setting rv_settings[] = {
    {"redis", RV_SETTING_TEXT, IN(, redis), .check = rv_config_check_redis, .expected = "a Redis URL",
     .otherwise = "embedded:",
     .help = "The URL of Redis: redis://[user:password@]host[:port][/db], rediss://... (TLS), "
             "unix:///path.sock[?db=n] or embedded:[directory]. The option --redis and the environment variable "
             "REEVE_REDIS have precedence."},
    {"redis_password_file", RV_SETTING_TEXT, IN(, redis_password_file), .check = check_anything, .expected = "a file",
     .otherwise = "none",
     .help = "A file whose first line is the password for `redis`. Only its owner, or the group root, may read it. "
             "A user is written in the URL with nothing behind its colon: redis://user:@host. The file is not used "
             "when --redis, --redis-file or REEVE_REDIS give the URL."},
    {"namespace", RV_SETTING_TEXT, IN(, ns), .check = check_ns, .expected = "1 to 64 of A-Z a-z 0-9 . _ : -",
     .standard = "reeve", .help = "The prefix of every key. Workers run only tasks of their own namespace."},

    {"tls", RV_SETTING_GROUP, .at = RV_NOWHERE,
     .help = "TLS for rediss:// URLs. URL parameters have precedence; environment variables (REEVE_TLS_CA and so "
             "on) are used last. A changed file is read again before the next connection."},
    {"tls.ca", RV_SETTING_TEXT, IN(, tls.ca), .expected = "a file", .otherwise = "the system's, unless ca_dir is set",
     .help = "PEM certificates of trusted authorities."},
    {"tls.ca_dir", RV_SETTING_TEXT, IN(, tls.ca_dir), .expected = "a directory", .otherwise = "none",
     .help = "A directory of such files, named by hash as `openssl rehash` does."},
    {"tls.cert", RV_SETTING_TEXT, IN(, tls.cert), .expected = "a file", .otherwise = "none is sent",
     .help = "The client's certificate and its chain, PEM. Requires `key`."},
    {"tls.key", RV_SETTING_TEXT, IN(, tls.key), .expected = "a file", .otherwise = "none",
     .help = "The private key of `cert`, PEM, not encrypted."},
    {"tls.server_name", RV_SETTING_TEXT, IN(, tls.server_name), .expected = "a name", .otherwise = "the URL's host",
     .help = "The name or IP address that the server's certificate must have."},
    {"tls.min_version", RV_SETTING_TEXT, IN(, tls.min_version), .check = check_tls_version,
     .expected = "\"1.2\" or \"1.3\"", .otherwise = "1.2", .help = "The lowest TLS version to accept."},
    {"tls.required", RV_SETTING_TRUTH, IN(, tls.required), .standard = "false",
     .help = "true: refuse redis:// URLs. unix: and embedded: URLs stay allowed."},

    {"worker", RV_SETTING_GROUP, .at = RV_NOWHERE, .help = "The worker itself."},
    {"worker.name", RV_SETTING_TEXT, IN(, worker.name), .check = check_worker_name,
     .expected = "1 to 100 printable characters", .otherwise = "the host's name",
     .help = "The name that `reeve workers` prints."},
    {"worker.session", RV_SETTING_SECONDS, IN(, worker.session_ms), .min = 0.5, .max = 86400, .standard = "15",
     .help = "A lease expires this long after its worker's last heartbeat. A shorter time finds a dead worker "
             "sooner; a longer one survives longer pauses and outages."},
    {"worker.drain", RV_SETTING_SECONDS, IN(, worker.drain_ms), .min = 0, .max = 86400, .standard = "25",
     .help = "How long a stopping worker waits for running handlers. Tasks that are still running then return to "
             "their queues."},
    {"worker.size_limits", RV_SETTING_GROUP, .at = RV_NOWHERE,
     .help = "Size limits for results, checkpoints and chained tasks of handlers, and for tasks of the file's "
             "recurring entries. Producers have size limits of their own (`reeve --size-limit`, "
             "`reeve_client_options`). Lengths are in bytes."},
    SIZE_LIMIT(payload, REEVE_PAYLOAD_MAX, "the maximum", "Length of the payload of a chained task."),
    SIZE_LIMIT(result, REEVE_RESULT_MAX, "the maximum",
          "Length of a result. A task with a longer result dies with kind \"result\". A queue can set a lower "
             "limit: `result_max`."),
    SIZE_LIMIT(checkpoint, REEVE_CHECKPOINT_MAX, "the maximum", "Length of a checkpoint; a longer one is refused."),
    SIZE_LIMIT(meta, REEVE_META_MAX, "the maximum", "Length of a task's tags and metadata as JSON."),
    SIZE_LIMIT(type, REEVE_TYPE_MAX, "the maximum", "Length of a type."),
    SIZE_LIMIT(id, REEVE_ID_LENGTH_MAX, "the maximum", "Length of an id that a handler chooses."),
    SIZE_LIMIT(group, REEVE_GROUP_MAX, "the maximum", "Length of a group name."),
    SIZE_LIMIT(unique, REEVE_UNIQUE_MAX, "the maximum", "Length of a unique key."),
    SIZE_LIMIT(tag, REEVE_TAG_MAX, "the maximum", "Length of a tag."),
    SIZE_LIMIT(tags, REEVE_TAGS_MAX, "the maximum", "Number of tags of a task."),
    SIZE_LIMIT(parents, REEVE_SIZE_LIMIT_COUNT_MAX, "1000000", "Number of parents of a task."),
    SIZE_LIMIT(batch, REEVE_CHAIN_MAX, "the maximum",
          "Number of tasks that one task chains."),
    {"worker.log", RV_SETTING_GROUP, .at = RV_NOWHERE, .help = "The log, on standard error."},
    {"worker.log.level", RV_SETTING_CHOICE, IN(, worker.log_level), .choices = log_levels, .standard = "info",
     .help = "The lowest level that is written."},
    {"worker.log.format", RV_SETTING_CHOICE, IN(, worker.log_format), .choices = log_formats, .standard = "logfmt",
     .help = "The format of a line."},

    {"plugin_dir", RV_SETTING_TEXT, IN(, plugin_dir), .expected = "a directory",
     .otherwise = "the environment variable REEVE_PLUGIN_DIR, else the directory of this installation",
     .help = "The directory of plugins that are given by name: \"checksum\" is DIR/checksum.so. Relative to this "
             "file."},
    {"plugins", RV_SETTING_NAMES, LIST(, plugins, plugin_count, rv_config_name), .unique = true,
     .expected = "a plugin's name or path", .otherwise = "none",
     .help = "Plugins to load: names in the plugin directory, or paths, which have a slash and are relative to this "
             "file."},

    {"pools", RV_SETTING_GROUPS, LIST(, pools, pool_count, rv_config_pool), .required = true,
     .help = "Pools of threads; each serves its own list of queues."},
    {"pools[].name", RV_SETTING_TEXT, IN(_pool, name), .check = check_queue, .unique = true,
     .expected = "1 to 64 of A-Z a-z 0-9 . _ -", .otherwise = "pool-N",
     .help = "Names the pool and its threads."},
    {"pools[].queues", RV_SETTING_NAMES, LIST(_pool, queues, queue_count, rv_config_name), .check = check_queue,
     .max = 1000, .required = true, .unique = true,
     .expected = "a queue name (1 to 64 of A-Z a-z 0-9 . _ -)", .help = "The queues to serve, in order."},
    {"pools[].threads", RV_SETTING_WHOLE, IN(_pool, threads), .min = 1, .max = THREADS_MAX, .standard = "1",
     .help = "Number of threads, and so of tasks that run at the same time."},
    {"pools[].batch", RV_SETTING_WHOLE, IN(_pool, batch), .min = 1, .max = BATCH_MAX, .standard = "64",
     .help = "Maximum of short tasks that a thread leases at once. Long tasks are leased one by one, whatever this "
             "is."},
    {"pools[].order", RV_SETTING_CHOICE, IN(_pool, order), .choices = orders, .standard = "strict",
     .help = "Which queue a thread asks first. strict: the first one that has tasks; weighted: each gets its share; "
             "round-robin: the one behind the queue that it leased from last. No order waits for an empty queue."},
    {"pools[].weights", RV_SETTING_NUMBERS, LIST(_pool, weights, weight_count, rv_config_number), .min = 1,
     .max = WEIGHT_MAX, .otherwise = "each 1",
     .help = "For the order \"weighted\": the share of each queue, in the order of `queues`. With [ 5, 1 ], five of "
             "six tasks are from the first queue while both have tasks."},
    {"pools[].isolation", RV_SETTING_CHOICE, .at = RV_NOWHERE, .choices = isolations, .standard = "thread",
     .help = "Where handlers run: on the pool's threads."},

    {"handlers", RV_SETTING_GROUPS, LIST(, handlers, handler_count, rv_config_handler), .otherwise = "none",
     .help = "Overrides options of the handlers of a type. Options of a task have precedence."},
    {"handlers[].type", RV_SETTING_TEXT, IN(_handler, type), .check = check_type, .required = true, .unique = true,
     .expected = "a type (1 to 100 of A-Z a-z 0-9 . _ - : /)", .help =
     "The type; a plugin must have a handler for it."},
    {"handlers[].attempts", RV_SETTING_WHOLE, IN(_handler, attempts), .min = 1, .max = 1000000,
     .otherwise = "the handler's, else the queue's, else 20",
     .help = "Number of failed attempts after which a task dies."},
    {"handlers[].max_crashes", RV_SETTING_WHOLE, IN(_handler, max_crashes), .min = 1, .max = 1000000,
     .otherwise = "the handler's, else the queue's, else 3",
     .help = "Number of crashes of its workers after which a task dies."},
    {"handlers[].timeout", RV_SETTING_SECONDS, IN(_handler, timeout_ms), .min = 0.001, .max = SECONDS_MAX,
     .otherwise = "the handler's, else the queue's, else none", .help = "The run time limit."},
    {"handlers[].heartbeat", RV_SETTING_SECONDS, IN(_handler, heartbeat_ms), .min = 0.001, .max = SECONDS_MAX,
     .otherwise = "the handler's, else none",
     .help = "The heartbeat limit: the longest time without a call of progress, checkpoint, log or heartbeat."},
    {"handlers[].at_most_once", RV_SETTING_TRUTH, IN(_handler, at_most_once), .standard = "false",
     .help = "true: complete tasks before they run, so that they never run twice."},
    BACKOFF("handlers[]", _handler, backoff, has_backoff, "the handler's, else the queue's"),
    {"handlers[].batch_size", RV_SETTING_WHOLE, IN(_handler, batch_size), .min = 1, .max = REEVE_BATCH_SIZE_MAX,
     .otherwise = "the handler's, else 64",
     .help = "Maximum of tasks in one call of a batch handler. It applies in place of the pool's `batch`."},
    {"handlers[].batch_wait", RV_SETTING_SECONDS, IN(_handler, batch_wait_ms), .min = 0.001, .max = SECONDS_MAX,
     .otherwise = "the handler's, else none",
     .help = "How long the first task of such a call waits for others. By default the call gets the tasks that are "
             "there."},

    {"queues", RV_SETTING_GROUPS, LIST(, queues, queue_count, rv_config_queue), .otherwise = "none",
     .help = "Settings of queues, written to Redis when the worker starts; in force for all workers."},
    {"queues[].name", RV_SETTING_TEXT, IN(_queue, name), .check = check_queue, .required = true, .unique = true,
     .expected = "a queue name (1 to 64 of A-Z a-z 0-9 . _ -)", .help = "The queue. A pool need not serve it."},
    /* From protocol/definition/settings.lua. */
#include "config/queue_rows.h"

    {"cron", RV_SETTING_GROUPS, LIST(, cron, cron_count, rv_config_cron), .otherwise = "none",
     .help = "Recurring entries. They are written to Redis when the worker starts. An entry that does not change "
             "keeps its next slot, and a paused one stays paused. An entry that is no longer in the file stays in "
             "Redis until `reeve cron remove QUEUE/NAME`."},
    {"cron[].name", RV_SETTING_TEXT, IN(_cron, name), .check = check_queue, .required = true,
     .expected = "1 to 64 of A-Z a-z 0-9 . _ -", .help = "The name, unique among all entries of the namespace. An "
             "entry of this name in another queue is moved, which is logged (program.cron_moved)."},
    {"cron[].spec", RV_SETTING_TEXT, IN(_cron, spec), .check = check_spec, .required = true,
     .expected = "when, as \"0 3 * * *\", \"@hourly\" or \"every 90s\"",
     .help = "Minute, hour, day, month, weekday; or six fields with seconds first; or a name such as @daily; or an "
             "interval. `reeve cron next SPEC` prints the slots."},
    {"cron[].queue", RV_SETTING_TEXT, IN(_cron, queue), .check = check_queue, .required = true,
     .expected = "a queue name (1 to 64 of A-Z a-z 0-9 . _ -)",
     .help = "The queue of its tasks. The entry fires while a worker serves the queue."},
    {"cron[].type", RV_SETTING_TEXT, IN(_cron, type), .check = check_type, .required = true,
     .expected = "a type (1 to 100 of A-Z a-z 0-9 . _ - : /)", .help = "The type of its tasks."},
    {"cron[].payload", RV_SETTING_TEXT, IN(_cron, payload), .check = check_anything, .expected = "a text",
     .otherwise = "empty", .help = "The payload of its tasks."},
    {"cron[].zone", RV_SETTING_CHOICE, IN(_cron, zone), .choices = zones, .standard = "utc",
     .help = "local: the workers' local time. A slot that a clock change skips fires right after the change, and "
             "one that it repeats fires once; an entry for every hour fires each real hour."},
    {"cron[].catch_up", RV_SETTING_CHOICE, IN(_cron, catch_up), .choices = catch_ups, .standard = "once",
     .help = "What happens with missed slots, those that are more than 2 s late because no worker was running. "
             "once: one task for the last of them; skip: no task; all: a task for each."},
    {"cron[].catch_up_max", RV_SETTING_WHOLE, IN(_cron, catch_up_max), .min = 1, .max = REEVE_CRON_CATCH_UP_MAX,
     .otherwise = "100 with catch_up = \"all\"",
     .help = "With catch_up = \"all\": maximum of tasks, for the last slots."},
    {"cron[].overlap", RV_SETTING_TRUTH, IN(_cron, overlap), .standard = "true",
     .help = "false: skip a slot while the previous task has not ended."},
    {"cron[].priority", RV_SETTING_WHOLE, IN(_cron, priority), .min = REEVE_PRIORITY_MIN, .max = REEVE_PRIORITY_MAX,
     .standard = "0", .help = "The priority of its tasks; lower runs sooner."},
    {"cron[].group", RV_SETTING_TEXT, IN(_cron, group), .check = check_group, .expected = "1 to 100 bytes of UTF-8",
     .otherwise = "the common group", .help = "The group of its tasks; groups take turns."},
    {"cron[].weight", RV_SETTING_WHOLE, IN(_cron, weight), .min = 1, .max = 256, .otherwise = "1",
     .help = "The share of the group; only with a group."},
    {"cron[].attempts", RV_SETTING_WHOLE, IN(_cron, attempts), .min = 1, .max = 1000000,
     .otherwise = "the handler's, else the queue's, else 20",
     .help = "Number of failed attempts after which a task dies."},
    {"cron[].max_crashes", RV_SETTING_WHOLE, IN(_cron, max_crashes), .min = 1, .max = 1000000,
     .otherwise = "the handler's, else the queue's, else 3",
     .help = "Number of crashes of its workers after which a task dies."},
    {"cron[].timeout", RV_SETTING_SECONDS, IN(_cron, timeout_ms), .min = 0.001, .max = SECONDS_MAX,
     .otherwise = "the handler's, else the queue's, else none", .help = "The run time limit."},
    BACKOFF("cron[]", _cron, backoff, has_backoff, "the handler's, else the queue's"),
    {"cron[].tags", RV_SETTING_NAMES, LIST(_cron, tags, tag_count, rv_config_name), .max = 256,
     .expected = "a tag", .otherwise = "none", .help = "The tags of its tasks."},
};
/* clang-format on */
const size_t rv_setting_count = sizeof(rv_settings) / sizeof(rv_settings[0]);
