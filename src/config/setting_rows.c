/*
 * The table of settings, from protocol/definition/configuration.lua and settings.lua; here are what checks texts, and
 * the rows that stand for several.
 */
#include "config/setting_rows.h"

#include <string.h>

#include "base/cpu_list.h"
#include "base/id.h"
#include "base/listen_address.h"
#include "base/path_prefix.h"
#include "base/text.h"
#include "redis/topology.h"
#include "reeve/depend.h"

#define IN(type, member) .at = offsetof(rv_config##type, member)

#define SECONDS_MAX 2000000000
#define COUNT_MAX 1000000000
#define PERIOD_MAX (366 * 86400)

/* The shapes of a backoff. */
static const rv_choice shapes[] = {{"exponential", REEVE_BACKOFF_EXPONENTIAL},
                                   {"fixed", REEVE_BACKOFF_FIXED},
                                   {"list", REEVE_BACKOFF_LIST},
                                   {NULL, 0}};

static bool check_queue(const char *text, rv_error *why)
{
    (void)why;
    return rv_valid_queue(text, strlen(text));
}

static bool check_sandbox_path(const char *text, rv_error *why)
{
    (void)why;
    if (strcmp(text, "rw:scratch") == 0) return true;
    return (strncmp(text, "ro:", 3) == 0 || strncmp(text, "rw:", 3) == 0) && text[3] == '/';
}

static bool check_type(const char *text, rv_error *why)
{
    (void)why;
    return rv_valid_type(text, strlen(text));
}

static bool check_type_pattern(const char *text, rv_error *why)
{
    (void)why;
    return rv_valid_type_pattern(text, strlen(text));
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

static bool check_time(const char *text, rv_error *why)
{
    int64_t ms;

    (void)why;
    return rv_parse_time(text, &ms) && ms > 0;
}

static bool check_zone(const char *text, rv_error *why)
{
    rv_zone zone;

    return rv_zone_find(text, &zone, why) == REEVE_OK;
}

static bool check_anything(const char *text, rv_error *why)
{
    (void)text;
    (void)why;
    return true;
}

static bool check_limit_key(const char *text, rv_error *why)
{
    (void)why;
    return *text != '\0' && strlen(text) <= REEVE_LIMIT_KEY_MAX && rv_utf8_is_valid(text, strlen(text));
}

static bool check_group(const char *text, rv_error *why)
{
    (void)why;
    return *text != '\0' && strlen(text) <= REEVE_GROUP_MAX && rv_utf8_is_valid(text, strlen(text));
}

static bool check_listen(const char *text, rv_error *why)
{
    (void)why;
    return rv_listen_address_is_valid(text);
}

static bool check_prefix(const char *text, rv_error *why)
{
    (void)why;
    return text[0] == '\0' || rv_path_prefix_is_valid(text);
}

static bool check_queues(const char *text, rv_error *why)
{
    (void)why;
    for (;;) {
        text += strspn(text, " ");
        size_t length = strcspn(text, ", ");
        if (!rv_valid_queue(text, length)) return false;
        text += length;
        text += strspn(text, " ");
        if (*text == '\0') return true;
        if (*text++ != ',') return false;
    }
}

/* Rules with empty parts are refused when the server starts (programs/web/web_redact.h). */
static bool check_redact(const char *text, rv_error *why)
{
    (void)why;
    return text[strspn(text, " ,.")] != '\0' && strlen(text) <= 1000;
}

static bool check_role(const char *text, rv_error *why)
{
    (void)why;
    return strcmp(text, "viewer") == 0 || strcmp(text, "operator") == 0 || strcmp(text, "admin") == 0;
}

static bool check_cpus(const char *text, rv_error *why)
{
    cpu_set_t set;

    (void)why;
    return rv_cpu_list_parse(text, &set);
}

static bool check_tls_version(const char *text, rv_error *why)
{
    (void)why;
    return strcmp(text, "1.2") == 0 || strcmp(text, "1.3") == 0;
}

bool rv_config_check_redis(const char *url, rv_error *why)
{
    rv_url parsed;

    if (rv_url_parse(&parsed, url, why) != REEVE_OK) return false;
    reeve_status status = parsed.kind == RV_URL_EMBEDDED ? REEVE_OK : rv_topology_check(&parsed, why);
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

/* How many tasks start in a period, of a queue, of each of its groups, or of a type. */
#define RATE(above, type, member, given, words)                                                                        \
    {above ".rate", RV_SETTING_GROUP, IN(type, given),  .otherwise = "as stored in Redis", .help = words},             \
    {above ".rate.count", RV_SETTING_WHOLE, IN(type, member.count),  .min = 1, .max = COUNT_MAX, .forever = true,      \
     .required = true, .help = "Maximum of starts in each period. -1: no limit."},                                     \
    {above ".rate.period", RV_SETTING_SECONDS, IN(type, member.period_ms),  .min = 0.001, .max = PERIOD_MAX,           \
     .standard = "1", .help = "The period."},                                                                          \
    {above ".rate.burst", RV_SETTING_WHOLE, IN(type, member.burst),  .min = 1, .max = COUNT_MAX,                       \
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
#include "config/rows.h"
};
/* clang-format on */
const size_t rv_setting_count = sizeof(rv_settings) / sizeof(rv_settings[0]);
