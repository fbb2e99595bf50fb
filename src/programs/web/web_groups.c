/*
 * web_groups.c - queues by the first part of their names: those of "mail.in" and "mail.out" are "mail.*". A queue without such a
 * neighbour stands for itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "web_snapshot.h"

/* Queues [first, end) of a snapshot, which are by name. */
typedef struct group {
    size_t first, end;
    size_t rank; /* of the queue that is worst off */
} group;

/* The length of "mail." in "mail.in"; 0: the name has no such part. */
static size_t prefix_length(const char *name)
{
    const char *dot = strchr(name, '.');

    return dot == NULL || dot == name ? 0 : (size_t)(dot - name) + 1;
}

static bool are_together(const reeve_queue_info *one, const reeve_queue_info *other)
{
    size_t length = prefix_length(one->name);

    return length > 0 && length == prefix_length(other->name) && memcmp(one->name, other->name, length) == 0;
}

static int by_rank(const void *one, const void *other)
{
    const group *a = one, *b = other;

    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* The groups, the worst off first; the caller frees them. NULL: no memory. */
static group *make_groups(const web_snapshot *snapshot, size_t *ret_count)
{
    size_t *order = web_queue_order(snapshot), count = 0;
    size_t *rank = rv_zalloc_array(snapshot->queue_count + 1, sizeof(*rank));
    group *list = rv_zalloc_array(snapshot->queue_count + 1, sizeof(*list));

    if (order == NULL || rank == NULL || list == NULL) {
        rv_free(list);
        list = NULL;
    } else {
        for (size_t i = 0; i < snapshot->queue_count; i++) rank[order[i]] = i;
        for (size_t i = 0; i < snapshot->queue_count; i++) {
            if (i == 0 || !are_together(&snapshot->queues[i - 1], &snapshot->queues[i]))
                list[count++] = (group){.first = i, .rank = rank[i]};
            group *last = &list[count - 1];
            last->end = i + 1;
            if (rank[i] < last->rank) last->rank = rank[i];
        }
        qsort(list, count, sizeof(*list), by_rank);
    }
    rv_free(order);
    rv_free(rank);
    *ret_count = count;
    return list;
}

/* Tasks that completed in each slot of the last five minutes. */
static void write_spark(cli_json *json, const web_snapshot *snapshot, const group *of)
{
    int64_t last = snapshot->tracks[of->first].slot, first = last;

    for (size_t i = of->first; i < of->end; i++)
        if (snapshot->tracks[i].first_slot < first) first = snapshot->tracks[i].first_slot;
    cli_json_open_array(json, "spark");
    for (int64_t slot = first + 1; slot <= last; slot++) {
        uint64_t sum = 0;
        for (size_t i = of->first; i < of->end; i++) {
            const web_track *track = &snapshot->tracks[i];
            if (slot > track->first_slot) sum += web_track_step(track, track->completed, slot);
        }
        (void)fprintf(json->out, "%s%llu", slot > first + 1 ? "," : "", (unsigned long long)sum);
    }
    cli_json_close_array(json);
}

static void write_sums(cli_json *json, const web_snapshot *snapshot, const group *of)
{
    uint64_t count[REEVE_STATE_COUNT] = {0}, unserved = 0, paused = 0;
    double completed = 0, failed = 0;
    int64_t oldest = -1;

    for (size_t i = of->first; i < of->end; i++) {
        const reeve_queue_info *info = &snapshot->queues[i];
        const web_track *track = &snapshot->tracks[i];
        for (int state = 0; state < REEVE_STATE_COUNT; state++) count[state] += info->count[state];
        unserved += info->count[REEVE_STATE_READY] > 0 && snapshot->serving[i].workers == 0;
        paused += info->paused || info->pause_until_ms > snapshot->at_ms;
        completed += web_track_rate(track, track->completed, 12);
        failed += web_track_rate(track, track->failed, 12);
        if (info->oldest_ready_ms > 0 && (oldest < 0 || info->oldest_ready_ms < oldest)) oldest = info->oldest_ready_ms;
    }
    for (int state = 0; state < REEVE_STATE_COUNT; state++)
        cli_json_uint(json, reeve_state_name((reeve_state)state), count[state]);
    cli_json_maybe(json, "oldest_ready_ms", oldest);
    cli_json_uint(json, "unserved", unserved);
    cli_json_uint(json, "paused", paused);
    cli_json_real(json, "completed_per_s", completed);
    cli_json_real(json, "failed_per_s", failed);
}

static void write_group(cli_json *json, const web_snapshot *snapshot, const group *of)
{
    const char *name = snapshot->queues[of->first].name;
    char prefix[REEVE_QUEUE_MAX + 1];

    cli_json_open(json, NULL);
    if (of->end - of->first == 1) {
        cli_json_null(json, "prefix");
        cli_json_open_array(json, "queues");
        web_queue_write(json, snapshot, of->first);
        cli_json_close_array(json);
    } else {
        (void)snprintf(prefix, sizeof(prefix), "%.*s", (int)prefix_length(name), name);
        cli_json_text(json, "prefix", prefix);
        cli_json_uint(json, "count", of->end - of->first);
        write_sums(json, snapshot, of);
        write_spark(json, snapshot, of);
    }
    cli_json_close(json);
}

void web_run_queue_groups(web_call *call)
{
    int64_t limit, offset;
    size_t count = 0;
    cli_json json;

    if (!web_query_number(call, "limit", 1, 1000, 100, &limit)) return;
    if (!web_query_number(call, "offset", 0, INT64_MAX, 0, &offset)) return;
    web_snapshot *snapshot = web_snapshots_get(call->web->snapshots, WEB_ANY_AGE);
    bool good = snapshot != NULL && snapshot->status == REEVE_OK;
    group *list = good ? make_groups(snapshot, &count) : NULL;
    if (snapshot != NULL && !good) {
        web_refuse_words(call, snapshot->status, snapshot->words);
    } else if (list == NULL) {
        web_refuse(call, 503, "busy", "no memory, or the server stops");
    } else {
        cli_json_begin(&json, call->out);
        cli_json_open_array(&json, "groups");
        for (size_t i = 0; i < count; i++)
            if ((int64_t)i >= offset && (int64_t)i - offset < limit) write_group(&json, snapshot, &list[i]);
        cli_json_close_array(&json);
        cli_json_uint(&json, "total", count);
        cli_json_end(&json);
    }
    rv_free(list);
    web_snapshots_release(call->web->snapshots, snapshot);
}
