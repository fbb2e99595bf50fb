/*
 * web_overview.c - a snapshot as JSON: what is wrong first, then totals, the last hour, queues and workers. Also the
 * stream of them (server-sent events): a reader that is slow gets the newest, never those in between.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/queue_json.h"
#include "cli/worker_json.h"
#include "protocol/tally.h"
#include "web_clients.h"
#include "web_snapshot.h"

#define QUEUES_SHOWN 20 /* each viewer gets them each second; lists have pages of their own */
#define WORKERS_SHOWN 20
#define TROUBLE_MAX 50
#define OLD_MS (5 * 60 * 1000)
#define LONG_PAUSE_MS (INT64_C(24) * 3600 * 1000)
#define CRASHES_MIN 3
#define PING_MS 15000

/* ---- trouble --------------------------------------------------------------------------------------------------- */

typedef struct trouble {
    cli_json *json;
    const char *level; /* what is written now: what is bad comes before what deserves a look */
    unsigned count;
} trouble;

/* False: it is not written now. */
static bool open_trouble(trouble *list, const char *level, const char *what, const char *queue, const char *worker,
                         double number)
{
    if (strcmp(level, list->level) != 0 || ++list->count > TROUBLE_MAX) return false;
    cli_json_open(list->json, NULL);
    cli_json_text(list->json, "level", level);
    cli_json_text(list->json, "what", what);
    cli_json_text(list->json, "queue", queue);
    cli_json_text(list->json, "worker", worker);
    cli_json_real(list->json, "number", number);
    return true;
}

static void say(trouble *list, const char *level, const char *what, const char *queue, const char *worker,
                double number)
{
    if (open_trouble(list, level, what, queue, worker, number)) cli_json_close(list->json);
}

/* A queue whose tasks wait, though a worker serves it. */
static void look_at_wait(trouble *list, const web_snapshot *snapshot, size_t at)
{
    const reeve_queue_info *info = &snapshot->queues[at];
    int64_t before_ms, age_ms = snapshot->queue_at[at] - info->oldest_ready_ms;

    if (web_track_rises(&snapshot->tracks[at], &before_ms)) {
        if (!open_trouble(list, "warn", "rising", info->name, NULL, (double)age_ms)) return;
        cli_json_real(list->json, "before", (double)before_ms);
        cli_json_close(list->json);
    } else if (age_ms > OLD_MS) {
        say(list, "warn", "old", info->name, NULL, (double)age_ms);
    }
}

static void look_at_queue(trouble *list, const web_snapshot *snapshot, size_t at)
{
    const reeve_queue_info *info = &snapshot->queues[at];
    const web_track *track = &snapshot->tracks[at];
    uint64_t ready = info->count[REEVE_STATE_READY];
    double dead = web_track_rate(track, track->dead, 12) * 60;
    bool paused = info->paused || info->pause_until_ms > snapshot->at_ms;

    if (ready > 0 && snapshot->serving[at].workers == 0) say(list, "bad", "unserved", info->name, NULL, (double)ready);
    if (dead > 0) say(list, "bad", "dying", info->name, NULL, dead);
    if (paused && ready > 0)
        say(list, "warn", "paused", info->name, NULL, (double)ready);
    else if (info->paused && info->paused_ms > 0 && snapshot->at_ms - info->paused_ms > LONG_PAUSE_MS)
        say(list, "warn", "long_paused", info->name, NULL, (double)(snapshot->at_ms - info->paused_ms));
    if (!paused && ready > 0 && snapshot->serving[at].workers > 0 && info->oldest_ready_ms > 0)
        look_at_wait(list, snapshot, at);
}

static void look_at_redis(trouble *list, const web_snapshot *snapshot)
{
    const rv_checkup *redis = &snapshot->redis;

    if (redis->max_bytes > 0 && (double)redis->used_bytes > 0.9 * (double)redis->max_bytes)
        say(list, "bad", "redis_full", NULL, NULL, 100.0 * (double)redis->used_bytes / (double)redis->max_bytes);
    if (redis->policy[0] != '\0' && strcmp(redis->policy, "noeviction") != 0 && redis->max_bytes > 0)
        say(list, "bad", "redis_evicts", NULL, NULL, (double)redis->evicted);
    if (redis->aof_failed || redis->save_failed) say(list, "bad", "redis_unsaved", NULL, NULL, 0);
}

static void look_at_all(trouble *list, const web_snapshot *snapshot)
{
    if (snapshot->status == REEVE_OK && snapshot->redis.version[0] != '\0') look_at_redis(list, snapshot);
    if (snapshot->crashes >= CRASHES_MIN) say(list, "bad", "crashing", NULL, NULL, snapshot->crashes);
    for (size_t i = 0; i < snapshot->queue_count; i++) look_at_queue(list, snapshot, i);
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        const reeve_worker_info *worker = &snapshot->workers[i];
        if (snapshot->workers_ms - worker->seen_ms > WEB_SILENT_MS)
            say(list, "warn", "silent", NULL, worker->name, (double)(snapshot->workers_ms - worker->seen_ms));
    }
}

static void write_trouble(cli_json *json, const web_snapshot *snapshot)
{
    trouble list = {.json = json};

    cli_json_open_array(json, "trouble");
    list.level = "bad";
    look_at_all(&list, snapshot);
    unsigned bad = list.count;
    list.level = "warn";
    look_at_all(&list, snapshot);
    cli_json_close_array(json);
    cli_json_uint(json, "trouble_count", list.count);
    cli_json_uint(json, "bad_count", bad);
}

/* ---- totals ---------------------------------------------------------------------------------------------------- */

static void write_totals(cli_json *json, const web_snapshot *snapshot)
{
    uint64_t count[REEVE_STATE_COUNT] = {0}, completed = 0, failed = 0, dead = 0, threads = 0, busy = 0;
    double rate = 0, failing = 0;
    int64_t oldest = -1;

    for (size_t i = 0; i < snapshot->queue_count; i++) {
        const reeve_queue_info *info = &snapshot->queues[i];
        for (int state = 0; state < REEVE_STATE_COUNT; state++) count[state] += info->count[state];
        completed += info->completed_total;
        failed += info->failed_total;
        dead += info->dead_total;
        rate += web_track_rate(&snapshot->tracks[i], snapshot->tracks[i].completed, 12);
        failing += web_track_rate(&snapshot->tracks[i], snapshot->tracks[i].failed, 12);
        if (info->oldest_ready_ms > 0 && (oldest < 0 || info->oldest_ready_ms < oldest)) oldest = info->oldest_ready_ms;
    }
    for (size_t i = 0; i < snapshot->worker_count; i++) {
        threads += snapshot->workers[i].threads;
        busy += snapshot->workers[i].busy;
    }
    cli_json_open(json, "totals");
    for (int state = 0; state < REEVE_STATE_COUNT; state++)
        cli_json_uint(json, reeve_state_name((reeve_state)state), count[state]);
    cli_json_uint(json, "completed_total", completed);
    cli_json_uint(json, "failed_total", failed);
    cli_json_uint(json, "dead_total", dead);
    cli_json_real(json, "completed_per_s", rate);
    cli_json_real(json, "failed_per_s", failing);
    cli_json_maybe(json, "oldest_ready_ms", oldest);
    cli_json_uint(json, "queues", snapshot->queue_count);
    cli_json_uint(json, "workers", snapshot->worker_count);
    cli_json_uint(json, "threads", threads);
    cli_json_uint(json, "busy", busy);
    cli_json_close(json);
}

/* [at_ms, completed, failed, dead, mean wait in ms, mean run in ms] */
static void write_minutes(cli_json *json, const web_snapshot *snapshot)
{
    cli_json_open_array(json, "minutes");
    for (size_t i = 0; i < 60 && snapshot->minutes[i].at_ms > 0; i++) {
        const reeve_minute *minute = &snapshot->minutes[i];
        (void)fprintf(json->out, "%s[%lld,%llu,%llu,%llu,", i > 0 ? "," : "", (long long)minute->at_ms,
                      (unsigned long long)minute->completed, (unsigned long long)minute->failed,
                      (unsigned long long)minute->dead);
        cli_json_number(json->out, minute->waits > 0 ? (double)minute->wait_ms / (double)minute->waits : 0, 6);
        (void)fputc(',', json->out);
        cli_json_number(json->out, minute->runs > 0 ? (double)minute->run_us / (double)minute->runs / 1000 : 0, 6);
        (void)fputc(']', json->out);
    }
    cli_json_close_array(json);
}

/* The percentile of a wait or a run; null if there is none. */
static void print_percentile(FILE *out, const rv_wide_times *times, unsigned unit_us, double percent)
{
    double ms = rv_wide_times_percentile(times, unit_us, percent);

    (void)fputc(',', out);
    cli_json_number(out, ms < 0 ? (double)NAN : ms, 6);
}

/* [at_ms, wait, run, wait, run, wait, run]: half, 95 and 99 % of them took at most so many ms. */
static void write_times(cli_json *json, const web_snapshot *snapshot)
{
    static const double percents[] = {50, 95, 99};

    cli_json_open_array(json, "times");
    for (size_t i = 0; i < WEB_FIVES && snapshot->times[i].at_ms > 0; i++) {
        const rv_five_minutes *five = &snapshot->times[i];
        (void)fprintf(json->out, "%s[%" PRId64, i > 0 ? "," : "", five->at_ms);
        for (size_t j = 0; j < 3; j++) {
            print_percentile(json->out, &five->wait, RV_WAIT_UNIT_US, percents[j]);
            print_percentile(json->out, &five->run, RV_RUN_UNIT_US, percents[j]);
        }
        (void)fputc(']', json->out);
    }
    cli_json_close_array(json);
}

/* [at_ms, completed, failed, dead] of each five seconds of the last five minutes, as far as snapshots saw them. */
static void write_seconds(cli_json *json, const web_snapshot *snapshot)
{
    int64_t last = snapshot->read_at / WEB_SLOT_MS, first = last;

    for (size_t i = 0; i < snapshot->queue_count; i++)
        if (snapshot->tracks[i].first_slot < first) first = snapshot->tracks[i].first_slot;
    if (last - first > WEB_SPARKS) first = last - WEB_SPARKS;
    cli_json_open_array(json, "seconds");
    for (int64_t slot = first + 1; slot <= last; slot++) {
        uint64_t completed = 0, failed = 0, dead = 0;
        for (size_t i = 0; i < snapshot->queue_count; i++) {
            const web_track *track = &snapshot->tracks[i];
            if (slot <= track->first_slot || slot > track->slot) continue;
            completed += web_track_step(track, track->completed, slot);
            failed += web_track_step(track, track->failed, slot);
            dead += web_track_step(track, track->dead, slot);
        }
        int64_t at_ms = snapshot->at_ms - snapshot->read_at + slot * WEB_SLOT_MS;
        (void)fprintf(json->out, "%s[%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", slot > first + 1 ? "," : "",
                      at_ms, completed, failed, dead);
    }
    cli_json_close_array(json);
}

/* ---- queues ---------------------------------------------------------------------------------------------------- */

void web_queue_write(cli_json *json, const web_snapshot *snapshot, size_t at)
{
    const web_track *track = &snapshot->tracks[at];

    if (json->comma) (void)fputc(',', json->out);
    json->comma = true;
    (void)fputs("{\"info\":", json->out);
    cli_queue_json(&snapshot->queues[at], snapshot->serving[at].workers, json->out);
    (void)fprintf(json->out, ",\"threads\":%u", snapshot->serving[at].threads);
    (void)fputs(",\"completed_per_s\":", json->out);
    cli_json_number(json->out, web_track_rate(track, track->completed, 12), 6);
    (void)fputs(",\"failed_per_s\":", json->out);
    cli_json_number(json->out, web_track_rate(track, track->failed, 12), 6);
    (void)fputs(",\"dead_per_m\":", json->out);
    cli_json_number(json->out, web_track_rate(track, track->dead, 12) * 60, 6);
    (void)fputs(",\"spark\":[", json->out);
    for (int64_t slot = track->first_slot + 1; slot <= track->slot; slot++) {
        (void)fprintf(json->out, "%s%llu", slot > track->first_slot + 1 ? "," : "",
                      (unsigned long long)web_track_step(track, track->completed, slot));
    }
    (void)fputs("]}", json->out);
}

/* A queue's place in the order of trouble; the highest first. */
static double queue_score(const web_snapshot *snapshot, size_t at)
{
    const reeve_queue_info *info = &snapshot->queues[at];
    const web_track *track = &snapshot->tracks[at];
    double ready = (double)info->count[REEVE_STATE_READY], score = 0;

    if (ready > 0 && snapshot->serving[at].workers == 0) score += 1000;
    if (web_track_rate(track, track->dead, 12) > 0) score += 500;
    if (ready > 0 && (info->paused || info->pause_until_ms > snapshot->at_ms)) score += 200;
    if (ready > 0 && info->oldest_ready_ms > 0)
        score += fmin(100, (double)(snapshot->queue_at[at] - info->oldest_ready_ms) / 3000);
    return score + fmin(50, 10 * log10(1 + ready)) + fmin(20, web_track_rate(track, track->completed, 12));
}

typedef struct scored {
    size_t at;
    double score;
} scored;

static int by_score(const void *one, const void *other)
{
    const scored *a = one, *b = other;

    if (a->score != b->score) return a->score < b->score ? 1 : -1;
    return a->at < b->at ? -1 : 1;
}

size_t *web_queue_order(const web_snapshot *snapshot)
{
    scored *list = rv_zalloc_array(snapshot->queue_count + 1, sizeof(*list));
    size_t *order = rv_zalloc_array(snapshot->queue_count + 1, sizeof(*order));

    if (list != NULL && order != NULL) {
        for (size_t i = 0; i < snapshot->queue_count; i++) list[i] = (scored){i, queue_score(snapshot, i)};
        qsort(list, snapshot->queue_count, sizeof(*list), by_score);
        for (size_t i = 0; i < snapshot->queue_count; i++) order[i] = list[i].at;
    } else {
        rv_free(order);
        order = NULL;
    }
    rv_free(list);
    return order;
}

static bool write_queues(cli_json *json, const web_snapshot *snapshot)
{
    size_t *order = web_queue_order(snapshot);

    if (order == NULL) return false;
    cli_json_open_array(json, "queues");
    for (size_t i = 0; i < snapshot->queue_count && i < QUEUES_SHOWN; i++) web_queue_write(json, snapshot, order[i]);
    cli_json_close_array(json);
    rv_free(order);
    return true;
}

static void write_redis(cli_json *json, const web_snapshot *snapshot)
{
    const rv_checkup *redis = &snapshot->redis;

    cli_json_open(json, "redis");
    cli_json_bool(json, "connected", snapshot->status == REEVE_OK);
    cli_json_text(json, "error", snapshot->status == REEVE_OK ? NULL : snapshot->words);
    cli_json_text(json, "version", redis->version);
    cli_json_int(json, "used_bytes", redis->used_bytes);
    cli_json_int(json, "max_bytes", redis->max_bytes);
    cli_json_int(json, "round_trip_us", redis->median_us);
    cli_json_close(json);
}

bool web_snapshot_write(web_server *web, web_snapshot *snapshot)
{
    FILE *out = open_memstream(&snapshot->json, &snapshot->json_length);
    cli_json json;

    if (out == NULL) return false;
    cli_json_begin(&json, out);
    cli_json_uint(&json, "sequence", snapshot->sequence);
    cli_json_int(&json, "at_ms", snapshot->at_ms);
    cli_json_int(&json, "took_us", snapshot->took_us);
    cli_json_uint(&json, "viewers", web->snapshots == NULL ? 0 : web_snapshots_viewers(web->snapshots));
    write_redis(&json, snapshot);
    write_trouble(&json, snapshot);
    write_totals(&json, snapshot);
    write_seconds(&json, snapshot);
    write_minutes(&json, snapshot);
    write_times(&json, snapshot);
    bool good = write_queues(&json, snapshot);
    cli_json_open_array(&json, "workers");
    for (size_t i = 0; i < snapshot->worker_count && i < WORKERS_SHOWN; i++) {
        if (i > 0) (void)fputc(',', out);
        cli_worker_json(&snapshot->workers[i], out);
    }
    cli_json_close_array(&json);
    cli_json_end(&json);
    return fclose(out) == 0 && good;
}

/* ---- routes ---------------------------------------------------------------------------------------------------- */

void web_run_overview(web_call *call)
{
    web_snapshot *snapshot = web_snapshots_get(call->web->snapshots, WEB_ANY_AGE);

    if (snapshot == NULL) {
        web_refuse(call, 503, "busy", "no memory, or the server stops");
        return;
    }
    (void)fwrite(snapshot->json, 1, snapshot->json_length, call->out);
    web_snapshots_release(call->web->snapshots, snapshot);
}

/* Queues by trouble, a page; prefix: only those whose names begin with it. */
void web_run_queues(web_call *call)
{
    char prefix[REEVE_QUEUE_MAX + 1];
    const char *begins = web_query(call, "prefix", prefix, sizeof(prefix));
    int64_t limit, offset;
    uint64_t total = 0;
    cli_json json = {.out = call->out};

    if (begins == NULL && rv_http_server_query(call->http, "prefix") != NULL) {
        web_refuse(call, 400, "invalid", "prefix: expected the beginning of a name of at most %d characters",
                   REEVE_QUEUE_MAX);
        return;
    }
    if (!web_query_number(call, "limit", 1, 1000, 100, &limit)) return;
    if (!web_query_number(call, "offset", 0, INT64_MAX, 0, &offset)) return;
    web_snapshot *snapshot = web_snapshots_get(call->web->snapshots, WEB_ANY_AGE);
    size_t *order = snapshot == NULL ? NULL : web_queue_order(snapshot);
    if (snapshot != NULL && snapshot->status != REEVE_OK) {
        web_refuse_words(call, snapshot->status, snapshot->words);
    } else if (order == NULL) {
        web_refuse(call, 503, "busy", "no memory, or the server stops");
    } else {
        cli_json_begin(&json, call->out);
        cli_json_open_array(&json, "queues");
        for (size_t i = 0; i < snapshot->queue_count; i++) {
            if (begins != NULL && strncmp(snapshot->queues[order[i]].name, begins, strlen(begins)) != 0) continue;
            total++;
            if (total > (uint64_t)offset && total <= (uint64_t)offset + (uint64_t)limit)
                web_queue_write(&json, snapshot, order[i]);
        }
        cli_json_close_array(&json);
        cli_json_uint(&json, "total", total);
        cli_json_end(&json);
    }
    rv_free(order);
    web_snapshots_release(call->web->snapshots, snapshot);
}

/* A viewer's stream. */
typedef struct viewer {
    web_server *web;
    web_call *call;
    uint64_t sequence;
    rv_buf event; /* what is not sent yet is [sent, length) */
    size_t sent;
    bool greeted;
} viewer;

/* The next event, or a comment that keeps the connection. False: the server stops, or the viewer has logged out. A line of JSON has no line feeds inside. */
static bool next_event(viewer *to)
{
    web_snapshot *snapshot = web_snapshots_next(to->web->snapshots, to->sequence, to->greeted ? PING_MS : 0);

    if (web_snapshots_stopping(to->web->snapshots) || !web_may_still(to->call)) {
        web_snapshots_release(to->web->snapshots, snapshot);
        return false;
    }
    rv_buf_clear(&to->event);
    to->sent = 0;
    if (snapshot == NULL) {
        rv_buf_adds(&to->event, to->greeted ? ":\n\n" : "retry: 2000\n\n");
    } else {
        rv_buf_adds(&to->event, "data: ");
        for (size_t i = 0; i < snapshot->json_length; i++)
            if (snapshot->json[i] != '\n') rv_buf_addc(&to->event, snapshot->json[i]);
        rv_buf_adds(&to->event, "\n\n");
        to->sequence = snapshot->sequence;
        web_snapshots_release(to->web->snapshots, snapshot);
    }
    to->greeted = true;
    return !to->event.failed;
}

static ssize_t read_events(void *user, char *ret, size_t size)
{
    viewer *to = user;

    if (to->sent == to->event.length && !next_event(to)) return -1;
    size_t length = to->event.length - to->sent < size ? to->event.length - to->sent : size;
    memcpy(ret, to->event.data + to->sent, length);
    to->sent += length;
    return (ssize_t)length;
}

static void end_events(void *user)
{
    viewer *to = user;

    web_snapshots_look(to->web->snapshots, -1);
    rv_buf_fini(&to->event);
    rv_free(to);
}

void web_run_events(web_call *call)
{
    viewer *to = rv_zalloc(sizeof(*to));

    if (to == NULL) {
        web_refuse(call, 503, "busy", "no memory");
        return;
    }
    to->web = call->web;
    to->call = call;
    rv_buf_init(&to->event, SIZE_MAX);
    web_snapshots_look(call->web->snapshots, 1);
    call->http->type = "text/event-stream";
    call->http->stream = read_events;
    call->http->stream_free = end_events;
    call->http->stream_user = to;
}
