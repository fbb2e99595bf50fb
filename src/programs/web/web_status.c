/*
 * web_status.c - the health of this server and of Redis, and the metrics of queues.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exposition.h"
#include "base/mem.h"
#include "web.h"
#include "web_canary.h"
#include "web_clients.h"
#include "web_snapshot.h"

#define METRICS_MAX ((size_t)64 * 1024 * 1024)
#define METRICS_AGE_MS 5000 /* of the queues that metrics are made of */
#define SERIES_MAX 1000     /* queues with series of their own */
#define OTHER "(other)"     /* no name of a queue */

/* The process answers. */
void web_run_health(web_call *call)
{
    web_done(call);
}

/* Redis answers, too; without a client the call was refused. */
void web_run_ready(web_call *call)
{
    reeve_queue_info info;
    reeve_status status = reeve_queue(call->client, "ready", &info);

    if (status == REEVE_OK)
        web_done(call);
    else
        web_refuse(call, 503, "connect", "%s", reeve_client_error(call->client));
}

static void write_flag(cli_json *json, const char *key, int value)
{
    if (value < 0)
        cli_json_null(json, key);
    else
        cli_json_bool(json, key, value != 0);
}

void web_run_redis(web_call *call)
{
    rv_checkup redis;
    reeve_status status = rv_checkup_take(call->client, &redis);
    cli_json json;

    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    cli_json_begin(&json, call->out);
    cli_json_text(&json, "version", redis.version);
    cli_json_text(&json, "role", redis.role);
    cli_json_text(&json, "mode", redis.mode);
    cli_json_int(&json, "used_bytes", redis.used_bytes);
    cli_json_int(&json, "max_bytes", redis.max_bytes);
    cli_json_text(&json, "eviction", redis.policy);
    cli_json_int(&json, "evicted", redis.evicted);
    write_flag(&json, "append_only", redis.aof);
    cli_json_text(&json, "fsync", redis.fsync);
    cli_json_text(&json, "save", redis.save_known ? redis.save : NULL);
    cli_json_bool(&json, "append_failed", redis.aof_failed);
    cli_json_bool(&json, "save_failed", redis.save_failed);
    cli_json_int(&json, "best_us", redis.best_us);
    cli_json_int(&json, "median_us", redis.median_us);
    cli_json_int(&json, "clock_ahead_ms", redis.ahead_ms);
    cli_json_int(&json, "clock_about_ms", redis.about_ms);
    cli_json_text(&json, "user", redis.user);
    cli_json_text(&json, "reeve", reeve_version());
    cli_json_int(&json, "started_ms", call->web->started_ms);
    cli_json_end(&json);
}

/* ---- metrics --------------------------------------------------------------------------------------------------- */

/* The queues that have completed most have series of their own; the others are added up in `other`. Totals are not: when a
 * queue gets its own series, the sum would fall. */
typedef struct series {
    const web_snapshot *snapshot;
    const reeve_queue_info **order;
    reeve_queue_info other;
} series;

static int by_totals(const void *one, const void *two)
{
    const reeve_queue_info *a = *(const reeve_queue_info *const *)one, *b = *(const reeve_queue_info *const *)two;

    if (a->completed_total != b->completed_total) return a->completed_total < b->completed_total ? 1 : -1;
    return strcmp(a->name, b->name);
}

static bool sort_queues(series *to)
{
    size_t count = to->snapshot->queue_count;

    to->order = rv_zalloc_array(count + 1, sizeof(*to->order));
    if (to->order == NULL) return false;
    for (size_t i = 0; i < count; i++) to->order[i] = &to->snapshot->queues[i];
    qsort(to->order, count, sizeof(*to->order), by_totals);
    return true;
}

static void add_other(series *to)
{
    to->other.oldest_ready_ms = -1;
    for (size_t i = SERIES_MAX; i < to->snapshot->queue_count; i++) {
        const reeve_queue_info *info = to->order[i];
        for (int state = 0; state < REEVE_STATE_COUNT; state++) to->other.count[state] += info->count[state];
        if (info->oldest_ready_ms > 0 &&
            (to->other.oldest_ready_ms < 0 || info->oldest_ready_ms < to->other.oldest_ready_ms))
            to->other.oldest_ready_ms = info->oldest_ready_ms;
    }
    (void)snprintf(to->other.name, sizeof(to->other.name), OTHER);
}

/* The nth series; NULL: there are no more. */
static const reeve_queue_info *nth(const series *to, size_t n)
{
    if (n < to->snapshot->queue_count && n < SERIES_MAX) return to->order[n];
    return n == SERIES_MAX && to->snapshot->queue_count > SERIES_MAX ? &to->other : NULL;
}

static void write_tasks(rv_exposition *out, const series *to)
{
    const reeve_queue_info *info;

    rv_exposition_family(out, "reeve_queue_tasks", RV_EXPOSITION_GAUGE, NULL, "Tasks of a queue in each state.");
    for (size_t n = 0; (info = nth(to, n)) != NULL; n++) {
        for (int state = 0; state < REEVE_STATE_COUNT; state++) {
            const char *const labels[] = {"queue", info->name, "state", reeve_state_name((reeve_state)state), NULL};
            rv_exposition_sample(out, labels, (double)info->count[state]);
        }
    }
}

static double oldest_seconds(const series *to, const reeve_queue_info *info)
{
    int64_t ms = to->snapshot->at_ms - info->oldest_ready_ms;

    return info->oldest_ready_ms > 0 && ms > 0 ? (double)ms / 1000 : 0;
}

/* How late a queue is with tasks whose time has come. */
static double late_seconds(const series *to, const reeve_queue_info *info)
{
    int64_t ms = to->snapshot->at_ms - info->next_due_ms;

    return info->next_due_ms > 0 && ms > 0 ? (double)ms / 1000 : 0;
}

static double is_paused(const series *to, const reeve_queue_info *info)
{
    return info->paused || info->pause_until_ms > to->snapshot->at_ms ? 1 : 0;
}

static double serving(const series *to, const reeve_queue_info *info)
{
    return to->snapshot->serving[info - to->snapshot->queues].workers;
}

static double completed(const series *to, const reeve_queue_info *info)
{
    (void)to;
    return (double)info->completed_total;
}

static double failed(const series *to, const reeve_queue_info *info)
{
    (void)to;
    return (double)info->failed_total;
}

static double dead(const series *to, const reeve_queue_info *info)
{
    (void)to;
    return (double)info->dead_total;
}

static double crashed(const series *to, const reeve_queue_info *info)
{
    (void)to;
    return (double)info->crashed_total;
}

static const struct {
    const char *name;
    rv_exposition_kind kind;
    const char *unit, *help;
    double (*value)(const series *to, const reeve_queue_info *info);
} families[] = {
    {"reeve_queue_oldest_seconds", RV_EXPOSITION_GAUGE, "seconds",
     "Time since the enqueue of the task at the head of the queue; 0: none is ready.", oldest_seconds},
    {"reeve_due_late_seconds", RV_EXPOSITION_GAUGE, "seconds",
     "How long the first scheduled task is overdue; 0: it is not.", late_seconds},
    {"reeve_queue_paused", RV_EXPOSITION_GAUGE, NULL, "1 while the queue is paused.", is_paused},
    {"reeve_queue_workers", RV_EXPOSITION_GAUGE, NULL, "Live workers that serve the queue.", serving},
    {"reeve_queue_completed", RV_EXPOSITION_COUNTER, NULL, "Completed tasks.", completed},
    {"reeve_queue_failed", RV_EXPOSITION_COUNTER, NULL, "Failed attempts.", failed},
    {"reeve_queue_dead", RV_EXPOSITION_COUNTER, NULL, "Tasks that died.", dead},
    {"reeve_queue_crashed", RV_EXPOSITION_COUNTER, NULL, "Attempts that ended with a crash.", crashed},
};

static void write_queues(rv_exposition *out, const series *to)
{
    const reeve_queue_info *info;

    write_tasks(out, to);
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        rv_exposition_family(out, families[i].name, families[i].kind, families[i].unit, families[i].help);
        for (size_t n = 0; (info = nth(to, n)) != NULL; n++) {
            const char *const labels[] = {"queue", info->name, NULL};
            if (info == &to->other && families[i].value != oldest_seconds) continue;
            rv_exposition_sample(out, labels, families[i].value(to, info));
        }
    }
}

static void write_canary(void *user, const char *queue, double seconds)
{
    const char *const labels[] = {"queue", queue, NULL};

    if (seconds >= 0) rv_exposition_sample(user, labels, seconds);
}

static void write_canaries(rv_exposition *out, struct web_canary *canary)
{
    if (canary == NULL) return;
    rv_exposition_family(out, "reeve_canary_seconds", RV_EXPOSITION_GAUGE, "seconds",
                         "Time from the enqueue to the end of the last task that was sent to measure the queue, or the "
                         "age of the one that is under way if that is more.");
    web_canary_each(canary, write_canary, out);
}

static void write_metrics(web_call *call, rv_exposition *out, const web_snapshot *snapshot)
{
    series to = {.snapshot = snapshot};

    rv_exposition_gauge(out, "reeve_up", NULL, "1 if Redis could be read.", snapshot->status == REEVE_OK);
    if (snapshot->status == REEVE_OK && sort_queues(&to)) {
        add_other(&to);
        write_queues(out, &to);
        rv_exposition_gauge(out, "reeve_workers", NULL, "Live workers.", (double)snapshot->worker_count);
        rv_exposition_gauge(out, "reeve_redis_roundtrip_seconds", "seconds", "Median round trip to Redis.",
                            (double)snapshot->redis.median_us / 1e6);
        rv_exposition_gauge(out, "reeve_redis_used_bytes", "bytes", "Memory that Redis uses.",
                            (double)snapshot->redis.used_bytes);
        rv_exposition_gauge(out, "reeve_redis_max_bytes", "bytes", "Memory limit of Redis; 0: none.",
                            (double)snapshot->redis.max_bytes);
    }
    write_canaries(out, call->web->canary);
    rv_exposition_gauge(out, "reeve_web_snapshot_seconds", "seconds", "How long the last snapshot took.",
                        (double)snapshot->took_us / 1e6);
    rv_exposition_gauge(out, "reeve_web_viewers", NULL, "Open event streams.",
                        (double)web_snapshots_viewers(call->web->snapshots));
    rv_exposition_counter(out, "reeve_web_calls", NULL, "Requests that asked Redis.",
                          (double)web_clients_calls(call->web->clients));
    rv_free(to.order);
}

void web_run_metrics(web_call *call)
{
    web_snapshot *snapshot = web_snapshots_get(call->web->snapshots, METRICS_AGE_MS);
    rv_exposition out;
    rv_buf text;

    if (snapshot == NULL) {
        web_refuse(call, 503, "busy", "no memory, or the server stops");
        return;
    }
    rv_buf_init(&text, METRICS_MAX);
    rv_exposition_begin(&out, &text, rv_http_server_header(call->http, "Accept"));
    call->http->type = rv_exposition_type(&out);
    write_metrics(call, &out, snapshot);
    rv_exposition_build_info(&out);
    rv_exposition_process(&out, call->web->started_ms);
    rv_exposition_end(&out);
    if (text.failed)
        web_refuse(call, 503, "busy", "no memory");
    else
        (void)fwrite(text.data, 1, text.length, call->out);
    rv_buf_fini(&text);
    web_snapshots_release(call->web->snapshots, snapshot);
}
