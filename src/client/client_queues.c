/*
 * client_queues.c - queues in numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "client/client.h"
#include "client/overview.h"
#include "client/spread.h"
#include "protocol/definition.h"
#include "protocol/envelope.h"
#include "protocol/rates.h"
#include "protocol/scripts.h"

/* The places of stat.lua's reply. */
enum {
    PAUSED,
    COUNTS,
    TOTALS = COUNTS + REEVE_STATE_COUNT,
    HEAD = TOTALS + 6,
    NEXT_DUE,
    STAT_NOW,
    PAUSED_MS,
    HOLD,
    CONCURRENCY,
    RATE,
    GROUP_CONCURRENCY,
    GROUP_RATE,
    STAT_FIELDS
};

static uint64_t number_at(const rv_reply *reply, size_t index)
{
    return rv_reply_sum(rv_reply_at(reply, index));
}

static int64_t enqueued_at(const rv_reply *header)
{
    rv_envelope envelope;
    char text[512];
    if (header == NULL || header->length == 0) return -1;
    snprintf(text, sizeof(text), "%.*s\n", (int)(header->length < 500 ? header->length : 500), header->text);
    return rv_envelope_read(&envelope, text, strlen(text)) ? envelope.at_ms : -1;
}

static bool read_stat(const char *queue, const rv_reply *reply, reeve_queue_info *ret)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < STAT_FIELDS) return false;
    memset(ret, 0, sizeof(*ret));
    rv_copy_text(ret->name, sizeof(ret->name), queue);
    ret->paused = number_at(reply, PAUSED) == 1;
    for (size_t i = 0; i < REEVE_STATE_COUNT; i++) ret->count[i] = number_at(reply, COUNTS + i);
    ret->completed_total = number_at(reply, TOTALS);
    ret->failed_total = number_at(reply, TOTALS + 1);
    ret->dead_total = number_at(reply, TOTALS + 2);
    ret->crashed_total = number_at(reply, TOTALS + 3);
    ret->cancelled_total = number_at(reply, TOTALS + 4);
    ret->enqueued_total = number_at(reply, TOTALS + 5);
    ret->oldest_ready_ms = enqueued_at(rv_reply_at(reply, HEAD));
    ret->next_due_ms = rv_reply_within(rv_reply_at(reply, NEXT_DUE), 0, RV_REPLY_NUMBER_MAX, -1);
    ret->paused_ms = rv_rates_paused_since(rv_reply_at(reply, PAUSED_MS));
    ret->pause_until_ms = rv_reply_within(rv_reply_at(reply, HOLD), 0, RV_REPLY_NUMBER_MAX, -1);
    ret->concurrency = rv_reply_within(rv_reply_at(reply, CONCURRENCY), 0, RV_REPLY_NUMBER_MAX, 0);
    ret->rate = rv_rates_read(rv_reply_at(reply, RATE));
    ret->group_concurrency = rv_reply_within(rv_reply_at(reply, GROUP_CONCURRENCY), 0, RV_REPLY_NUMBER_MAX, 0);
    ret->group_rate = rv_rates_read(rv_reply_at(reply, GROUP_RATE));
    return true;
}

static int64_t earlier(int64_t one, int64_t other)
{
    return one < 0 || (other >= 0 && other < one) ? other : one;
}

static void add_rate(reeve_rate *sum, const reeve_rate *rate)
{
    bool limited = sum->count > 0 && rate->count > 0;
    sum->count = limited ? sum->count + rate->count : 0;
    sum->burst = limited ? sum->burst + rate->burst : 0;
}

/* What the partitions share is added up; limits of groups are the same in all of them. */
static void add_queue(reeve_queue_info *sum, const reeve_queue_info *part)
{
    bool limited = sum->concurrency > 0 && part->concurrency > 0;
    sum->paused = sum->paused && part->paused;
    for (size_t i = 0; i < REEVE_STATE_COUNT; i++) sum->count[i] += part->count[i];
    sum->completed_total += part->completed_total;
    sum->failed_total += part->failed_total;
    sum->dead_total += part->dead_total;
    sum->crashed_total += part->crashed_total;
    sum->cancelled_total += part->cancelled_total;
    sum->enqueued_total += part->enqueued_total;
    sum->oldest_ready_ms = earlier(sum->oldest_ready_ms, part->oldest_ready_ms);
    sum->next_due_ms = earlier(sum->next_due_ms, part->next_due_ms);
    sum->paused_ms = sum->paused ? earlier(sum->paused_ms, part->paused_ms) : -1;
    sum->pause_until_ms = earlier(sum->pause_until_ms, part->pause_until_ms);
    sum->concurrency = limited ? sum->concurrency + part->concurrency : 0;
    add_rate(&sum->rate, &part->rate);
}

static reeve_status queue_spread(reeve_client *client, rv_spread *spread, reeve_queue_info *ret)
{
    reeve_status status = REEVE_OK;
    reeve_queue_info part;
    while (status == REEVE_OK && rv_spread_next(spread)) {
        status = reeve_queue(client, spread->name, &part);
        if (status == REEVE_OK && spread->next == 1) *ret = part;
        if (status == REEVE_OK && spread->next > 1) add_queue(ret, &part);
    }
    rv_copy_text(ret->name, sizeof(ret->name), spread->queue);
    return status;
}

reeve_status reeve_queue(reeve_client *client, const char *queue, reeve_queue_info *ret)
{
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    rv_spread spread;
    if (rv_spread_begin(&spread, client, queue)) return queue_spread(client, &spread, ret);
    const rv_reply *reply;
    rv_simple_call call = {.script = &rv_script_stat, .queue = queue};
    reeve_status status = rv_client_script(client, &call, &reply, NULL);
    if (status != REEVE_OK) return status;
    return read_stat(queue, reply, ret) ? REEVE_OK : rv_client_odd_reply(client, "queue");
}

static void build_names(rv_conn *conn, bool again, const void *context)
{
    const char *ns = context;
    (void)again;
    rv_cmd(conn, 2);
    rv_args(conn, "SMEMBERS");
    rv_arg2(conn, ns, strlen(ns), ":queues", 7);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const reeve_queue_info *)a)->name, ((const reeve_queue_info *)b)->name);
}

static reeve_status read_names(reeve_client *client, reeve_queue_info **ret, size_t *ret_count)
{
    const rv_reply *reply;
    reeve_status status = rv_client_call(client, build_names, client->ns, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY)) return rv_client_odd_reply(client, "queues");
    reeve_queue_info *list = rv_zalloc_array(reply->count + 1, sizeof(*list));
    if (list == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for %zu queues", reply->count);
    for (size_t i = 0; i < reply->count; i++) rv_copy_text(list[i].name, sizeof(list[i].name), reply->items[i]->text);
    qsort(list, reply->count, sizeof(*list), by_name);
    *ret = list;
    *ret_count = reply->count;
    return REEVE_OK;
}

typedef struct stats {
    reeve_client *client;
    reeve_queue_info *list;
    size_t count;
    bool odd;
} stats;

static void build_stats(rv_conn *conn, bool again, const void *context)
{
    const stats *s = context;
    (void)again;
    for (size_t i = 0; i < s->count; i++) {
        rv_prefix prefix;
        rv_keys_set_prefix(&prefix, s->client->ns, s->list[i].name);
        rv_cmd_script(conn, &rv_script_stat, 1, 0);
        rv_arg(conn, prefix.text, prefix.length);
    }
}

static void on_stat(size_t index, const rv_reply *reply, void *context)
{
    stats *s = context;
    char name[REEVE_QUEUE_MAX + 1];
    if (index >= s->count) return;
    rv_copy_text(name, sizeof(name), s->list[index].name);
    if (!read_stat(name, reply, &s->list[index])) s->odd = true;
}

/* Partitions are added to their queue, behind which they stand; one whose queue is not divided stays. */
static void fold(reeve_client *client, reeve_queue_info *list, size_t *count)
{
    size_t kept = 0;
    if (client->partitions.count == 0) return;
    for (size_t i = 0; i < *count; i++) {
        char queue[REEVE_QUEUE_MAX + 1];
        rv_copy_text(queue, sizeof(queue), list[i].name);
        rv_partition_strip(queue);
        const rv_partition_layout *layout = rv_partition_map_find(&client->partitions, queue);
        bool is_part = layout != NULL && rv_partition_number(list[i].name) < layout->served;
        size_t at = 0;
        while (is_part && at < kept && strcmp(list[at].name, queue) != 0) at++;
        if (is_part && at < kept) {
            add_queue(&list[at], &list[i]);
            continue;
        }
        if (kept != i) list[kept] = list[i];
        if (is_part) rv_copy_text(list[kept].name, sizeof(list[kept].name), queue);
        kept++;
    }
    qsort(list, kept, sizeof(*list), by_name); /* (a name without its number may belong elsewhere) */
    *count = kept;
}

reeve_status reeve_queues(reeve_client *client, reeve_queue_info **ret, size_t *ret_count)
{
    if (client == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    stats s = {.client = client};
    (void)rv_partitions_find(client, ""); /* so that they are not old */
    reeve_status status = read_names(client, &s.list, &s.count);
    if (status == REEVE_OK) status = rv_client_exec(client, build_stats, &s, on_stat, &s, NULL);
    if (status == REEVE_OK && s.odd) status = rv_client_odd_reply(client, "queues");
    if (status != REEVE_OK) {
        rv_free(s.list);
        return status;
    }
    fold(client, s.list, &s.count);
    *ret = s.list;
    *ret_count = s.count;
    return REEVE_OK;
}

reeve_status rv_overview_read_queues(reeve_client *client, const rv_reply *reply, reeve_queue_info **ret,
                                     size_t *ret_count)
{
    size_t count = reply->count / 2;
    reeve_queue_info *list = rv_zalloc_array(count + 1, sizeof(*list));
    if (list == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for %zu queues", count);
    for (size_t i = 0; i < count; i++) {
        if (rv_reply_is(reply->items[2 * i], RV_TEXT) &&
            read_stat(reply->items[2 * i]->text, reply->items[2 * i + 1], &list[i]))
            continue;
        rv_free(list);
        return rv_client_odd_reply(client, "queues");
    }
    if (count > 0) qsort(list, count, sizeof(*list), by_name);
    fold(client, list, &count);
    *ret = list;
    *ret_count = count;
    return REEVE_OK;
}

void reeve_queues_free(reeve_queue_info *list)
{
    rv_free(list);
}
