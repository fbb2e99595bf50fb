/*
 * web_reader.c - reading a snapshot. Where there are many queues or workers, reading all of them takes Redis long: then most
 * snapshots read only the queues that the overview shows, and have the rest from the last whole one. Between whole ones lie 800 times
 * as long as one took, at most a minute, so that they take an eighth of a percent of a connection's time.
 */
#include "web_reader.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "protocol/partition.h"
#include "web_clients.h"

#define SHARE 800
#define WHOLE_EVERY_MS 60000 /* at the latest */
#define FEW 20               /* so many queues and workers are read each time */
#define PART_READ 8          /* queues of a snapshot that is not whole */
#define MINUTES_EVERY_MS 15000
#define MINUTES_QUEUES 50
#define REDIS_EVERY_MS 10000
#define CRASHES_MS (5 * 60 * 1000)

struct web_reader {
    web_server *web;
    web_track *tracks; /* by name */
    size_t track_count;
    reeve_minute minutes[60];
    rv_five_minutes times[WEB_FIVES];
    int64_t minutes_at;
    rv_checkup redis;
    unsigned crashes;
    int64_t redis_at;
    int64_t whole_at, whole_ms; /* the last whole snapshot, and how long it took */
};

void web_snapshot_free(web_snapshot *snapshot)
{
    reeve_queues_free(snapshot->queues);
    if (snapshot->worker_refs == NULL || atomic_fetch_sub(snapshot->worker_refs, 1) == 1) {
        reeve_workers_free(snapshot->workers, snapshot->worker_count);
        rv_free(snapshot->worker_refs);
    }
    rv_free(snapshot->queue_at);
    rv_free(snapshot->tracks);
    rv_free(snapshot->serving);
    free(snapshot->json);
    rv_free(snapshot);
}

/* ---- what earlier snapshots tell ------------------------------------------------------------------------------- */

/* The age of the task at the head of a queue that was read for this snapshot. */
static int64_t head_age(const web_snapshot *snapshot, size_t at)
{
    const reeve_queue_info *info = &snapshot->queues[at];

    if (snapshot->queue_at[at] != snapshot->at_ms || info->oldest_ready_ms <= 0) return -1;
    return snapshot->at_ms - info->oldest_ready_ms;
}

/* Both lists are by name. */
static bool track_queues(struct web_reader *reader, web_snapshot *snapshot)
{
    web_track *tracks = rv_zalloc_array(snapshot->queue_count + 1, sizeof(*tracks));
    int64_t slot = snapshot->read_at / WEB_SLOT_MS;
    size_t old = 0;

    if (tracks == NULL) return false;
    if (snapshot->status != REEVE_OK && snapshot->queue_count == 0) { /* they are known again when Redis is back */
        snapshot->tracks = tracks;
        return true;
    }
    for (size_t i = 0; i < snapshot->queue_count; i++) {
        const reeve_queue_info *info = &snapshot->queues[i];
        while (old < reader->track_count && strcmp(reader->tracks[old].name, info->name) < 0) old++;
        bool known = old < reader->track_count && strcmp(reader->tracks[old].name, info->name) == 0;
        if (known) tracks[i] = reader->tracks[old];
        memcpy(tracks[i].name, info->name, sizeof(info->name));
        web_track_note(&tracks[i], info, slot, head_age(snapshot, i), !known);
    }
    rv_free(reader->tracks);
    reader->tracks = tracks;
    reader->track_count = snapshot->queue_count;
    snapshot->tracks = rv_memdup(tracks, (snapshot->queue_count + 1) * sizeof(*tracks));
    return snapshot->tracks != NULL;
}

/* ---- who serves what ------------------------------------------------------------------------------------------- */

static int by_name(const void *one, const void *other)
{
    return strcmp(one, ((const reeve_queue_info *)other)->name);
}

/* The worker and the pool that were counted last for a queue, by number. A worker whose pools share a queue counts once,
 * and so does a pool that names several partitions of it. */
typedef struct counted {
    size_t worker, pool;
} counted;

static void count_pool(web_snapshot *snapshot, const cJSON *pool, counted *last, counted now)
{
    const cJSON *queue, *threads = cJSON_GetObjectItemCaseSensitive(pool, "threads");

    cJSON_ArrayForEach(queue, cJSON_GetObjectItemCaseSensitive(pool, "queues"))
    {
        char name[REEVE_QUEUE_MAX + 1];
        rv_copy_text(name, sizeof(name), cJSON_IsString(queue) ? queue->valuestring : "");
        rv_partition_strip(name);
        const reeve_queue_info *info =
            snapshot->queue_count == 0
                ? NULL
                : bsearch(name, snapshot->queues, snapshot->queue_count, sizeof(*snapshot->queues), by_name);
        if (info == NULL) continue;
        web_served *served = &snapshot->serving[info - snapshot->queues];
        counted *before = &last[info - snapshot->queues];
        if (before->worker != now.worker) served->workers++;
        if (before->pool != now.pool && cJSON_IsNumber(threads) && threads->valueint > 0)
            served->threads += (unsigned)threads->valueint;
        *before = now;
    }
}

static bool count_serving(web_snapshot *snapshot)
{
    if (snapshot->serving != NULL) return true; /* (of the snapshot before) */
    counted *last = rv_zalloc_array(snapshot->queue_count + 1, sizeof(*last)), now = {0};
    snapshot->serving = rv_zalloc_array(snapshot->queue_count + 1, sizeof(*snapshot->serving));
    for (size_t i = 0; last != NULL && snapshot->serving != NULL && i < snapshot->worker_count; i++) {
        cJSON *pools = snapshot->workers[i].pools == NULL ? NULL : cJSON_Parse(snapshot->workers[i].pools);
        const cJSON *pool;
        now.worker++;
        cJSON_ArrayForEach(pool, pools)
        {
            now.pool++;
            count_pool(snapshot, pool, last, now);
        }
        cJSON_Delete(pools);
    }
    bool good = last != NULL && snapshot->serving != NULL;
    rv_free(last);
    return good;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static int by_totals(const void *one, const void *other)
{
    uint64_t a = (*(const reeve_queue_info *const *)one)->completed_total;
    uint64_t b = (*(const reeve_queue_info *const *)other)->completed_total;

    return a < b ? 1 : a > b ? -1 : 0;
}

static void add_minutes(reeve_minute *sum, const reeve_minute *list)
{
    for (size_t i = 0; i < 60; i++) {
        sum[i].at_ms = list[i].at_ms;
        sum[i].completed += list[i].completed;
        sum[i].failed += list[i].failed;
        sum[i].dead += list[i].dead;
        sum[i].waits += list[i].waits;
        sum[i].wait_ms += list[i].wait_ms;
        sum[i].runs += list[i].runs;
        sum[i].run_us += list[i].run_us;
    }
}

/* The last hour of the busiest queues, now and then. */
static void read_minutes(struct web_reader *reader, web_snapshot *snapshot, reeve_client *client)
{
    const reeve_queue_info **order;
    reeve_minute sum[60] = {0};
    rv_five_minutes times[WEB_FIVES] = {0};

    if (reader->minutes_at > 0 && snapshot->read_at - reader->minutes_at < MINUTES_EVERY_MS) return;
    order = rv_zalloc_array(snapshot->queue_count + 1, sizeof(const reeve_queue_info *));
    for (size_t i = 0; order != NULL && i < snapshot->queue_count; i++) order[i] = &snapshot->queues[i];
    if (order != NULL) qsort(order, snapshot->queue_count, sizeof(const reeve_queue_info *), by_totals);
    for (size_t i = 0; order != NULL && i < snapshot->queue_count && i < MINUTES_QUEUES; i++) {
        reeve_minute *list = NULL;
        rv_five_minutes *fives = NULL;
        if (rv_minutes_read(client, order[i]->name, 60, &list, &fives) != REEVE_OK) continue;
        add_minutes(sum, list);
        for (size_t five = 0; five < WEB_FIVES; five++) times[five].at_ms = fives[five].at_ms;
        rv_minutes_add_times(times, WEB_FIVES, RV_MINUTES_FIVE_MS, fives, WEB_FIVES);
        reeve_stats_minutes_free(list);
        rv_free(fives);
    }
    rv_free(order);
    memcpy(reader->minutes, sum, sizeof(sum));
    memcpy(reader->times, times, sizeof(times));
    reader->minutes_at = snapshot->read_at;
}

static unsigned count_crashes(reeve_client *client, int64_t now_ms)
{
    reeve_crash_info *list = NULL;
    size_t count = 0;
    unsigned recent = 0;

    if (reeve_crashes(client, &list, &count) != REEVE_OK) return 0;
    for (size_t i = 0; i < count; i++) recent += now_ms - list[i].at_ms < CRASHES_MS;
    reeve_crashes_free(list, count);
    return recent;
}

static void read_rest(struct web_reader *reader, web_snapshot *snapshot, reeve_client *client)
{
    read_minutes(reader, snapshot, client);
    if (reader->redis_at == 0 || snapshot->read_at - reader->redis_at >= REDIS_EVERY_MS) {
        if (rv_checkup_take(client, &reader->redis) == REEVE_OK) reader->redis_at = snapshot->read_at;
        reader->crashes = count_crashes(client, snapshot->at_ms);
    }
    memcpy(snapshot->minutes, reader->minutes, sizeof(snapshot->minutes));
    memcpy(snapshot->times, reader->times, sizeof(snapshot->times));
    snapshot->redis = reader->redis;
    snapshot->crashes = reader->crashes;
}

/* The lists are for all snapshots until the next whole one. */
static void read_whole(struct web_reader *reader, web_snapshot *snapshot, reeve_client *client)
{
    int64_t began = rv_now_ms();

    snapshot->status = reeve_queues(client, &snapshot->queues, &snapshot->queue_count);
    if (snapshot->status == REEVE_OK)
        snapshot->status = reeve_workers(client, &snapshot->workers, &snapshot->worker_count);
    if (snapshot->status == REEVE_EREDIS) snapshot->status = REEVE_OK; /* this user may not read workers */
    snapshot->worker_refs = rv_zalloc(sizeof(*snapshot->worker_refs));
    if (snapshot->worker_refs != NULL) atomic_store(snapshot->worker_refs, 1);
    reader->whole_at = snapshot->whole_at = snapshot->read_at;
    snapshot->workers_ms = snapshot->at_ms;
    reader->whole_ms = rv_now_ms() - began;
    snapshot->queue_at = rv_zalloc_array(snapshot->queue_count + 1, sizeof(*snapshot->queue_at));
    for (size_t i = 0; snapshot->queue_at != NULL && i < snapshot->queue_count; i++)
        snapshot->queue_at[i] = snapshot->at_ms;
}

/* Everything but the first queues is that of `old`. False: no memory; nothing was taken. */
static bool read_part(web_snapshot *snapshot, const web_snapshot *old, reeve_client *client)
{
    size_t *order = web_queue_order(old);

    snapshot->queues = rv_memdup(old->queues, (old->queue_count + 1) * sizeof(*old->queues));
    snapshot->queue_at = rv_memdup(old->queue_at, (old->queue_count + 1) * sizeof(*old->queue_at));
    snapshot->serving = rv_memdup(old->serving, (old->queue_count + 1) * sizeof(*old->serving));
    if (order == NULL || snapshot->queues == NULL || snapshot->queue_at == NULL || snapshot->serving == NULL) {
        rv_free(order);
        rv_free(snapshot->queues);
        rv_free(snapshot->queue_at);
        rv_free(snapshot->serving);
        snapshot->queues = NULL;
        snapshot->queue_at = NULL;
        snapshot->serving = NULL;
        return false;
    }
    snapshot->status = REEVE_OK;
    snapshot->queue_count = old->queue_count;
    snapshot->workers = old->workers;
    snapshot->worker_count = old->worker_count;
    snapshot->worker_refs = old->worker_refs;
    snapshot->workers_ms = old->workers_ms;
    snapshot->whole_at = old->whole_at;
    (void)atomic_fetch_add(snapshot->worker_refs, 1);
    for (size_t i = 0; i < old->queue_count && i < PART_READ && snapshot->status == REEVE_OK; i++) {
        snapshot->status = reeve_queue(client, old->queues[order[i]].name, &snapshot->queues[order[i]]);
        snapshot->queue_at[order[i]] = snapshot->at_ms;
    }
    rv_free(order);
    return true;
}

static bool is_whole_due(const struct web_reader *reader, const web_snapshot *snapshot, const web_snapshot *old,
                         int64_t age_max)
{
    int64_t pause = reader->whole_ms * SHARE, age = snapshot->read_at - reader->whole_at;

    if (old == NULL || old->status != REEVE_OK || old->worker_refs == NULL) return true;
    if (old->queue_count <= FEW && old->worker_count <= FEW) return true;
    return age >= age_max || age >= (pause < WHOLE_EVERY_MS ? pause : WHOLE_EVERY_MS);
}

static void read_with(struct web_reader *reader, web_snapshot *snapshot, const web_snapshot *old, reeve_client *client,
                      int64_t age_max)
{
    if (is_whole_due(reader, snapshot, old, age_max) || !read_part(snapshot, old, client))
        read_whole(reader, snapshot, client);
    if (snapshot->status != REEVE_OK)
        (void)snprintf(snapshot->words, sizeof(snapshot->words), "%s", reeve_client_error(client));
    else
        read_rest(reader, snapshot, client);
}

web_snapshot *web_reader_read(struct web_reader *reader, const web_snapshot *old, int64_t age_max)
{
    web_snapshot *snapshot = rv_zalloc(sizeof(*snapshot));
    int64_t began = rv_now_us();
    reeve_client *client;

    if (snapshot == NULL) return NULL;
    snapshot->refs = 1;
    snapshot->at_ms = rv_wall_ms();
    snapshot->read_at = rv_now_ms();
    client = web_clients_take(reader->web->clients, &snapshot->status, snapshot->words, sizeof(snapshot->words));
    if (client != NULL) {
        read_with(reader, snapshot, old, client, age_max);
        web_clients_give(reader->web->clients, client);
    } else {
        snapshot->whole_at = rv_now_ms(); /* those who wait have this answer: none of them tries again */
    }
    bool good = (snapshot->queue_count == 0 || snapshot->queue_at != NULL) && track_queues(reader, snapshot) &&
                count_serving(snapshot);
    snapshot->took_us = rv_now_us() - began;
    if (good) return snapshot;
    web_snapshot_free(snapshot);
    return NULL;
}

struct web_reader *web_reader_open(web_server *web)
{
    struct web_reader *reader = rv_zalloc(sizeof(*reader));

    if (reader != NULL) reader->web = web;
    return reader;
}

void web_reader_close(struct web_reader *reader)
{
    if (reader == NULL) return;
    rv_free(reader->tracks);
    rv_free(reader);
}
