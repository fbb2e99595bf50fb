/*
 * client_minutes.c - what workers settled in each of the last minutes, and the times of each five minutes, from the hashes
 * minutes:<hour>.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "client/minutes.h"
#include "client/spread.h"
#include "protocol/scripts.h"
#include "reeve/stats.h"

#define MINUTE_MS INT64_C(60000)
/* Numbers of a minute, as heartbeat.lua writes them. */
enum { COMPLETED, FAILED, DEAD, WAITS, WAIT_MS, RUNS, RUN_US, NUMBERS };

/* What another program wrote is left out. */
static void read_minute(reeve_minute *minute, const rv_reply *text)
{
    long long numbers[NUMBERS];
    if (!rv_reply_is(text, RV_TEXT) || !rv_parse_numbers(text->text, numbers, NUMBERS, NULL)) return;
    for (size_t i = 0; i < NUMBERS; i++) {
        if (numbers[i] < 0) return;
    }
    minute->completed = (uint64_t)numbers[COMPLETED];
    minute->failed = (uint64_t)numbers[FAILED];
    minute->dead = (uint64_t)numbers[DEAD];
    minute->waits = (uint64_t)numbers[WAITS];
    minute->wait_ms = (uint64_t)numbers[WAIT_MS];
    minute->runs = (uint64_t)numbers[RUNS];
    minute->run_us = (uint64_t)numbers[RUN_US];
}

/* What is read: the minutes up to the present one, and the five minutes up to the present ones. */
typedef struct lists {
    unsigned minutes, fives;
    reeve_minute *list;
    rv_five_minutes *times; /* NULL: no times are read */
} lists;

static void free_lists(lists *of)
{
    rv_free(of->list);
    rv_free(of->times);
}

static bool alloc_lists(lists *of, unsigned minutes, bool with_times)
{
    *of = (lists){.minutes = minutes, .fives = with_times ? minutes / 5 : 0};
    of->list = rv_zalloc_array(minutes, sizeof(*of->list));
    if (with_times) of->times = rv_zalloc_array(of->fives + 1, sizeof(*of->times));
    if (of->list != NULL && (of->times != NULL || !with_times)) return true;
    free_lists(of);
    return false;
}

static void read_list(lists *of, const rv_reply *found, int64_t now_ms)
{
    int64_t first = now_ms / MINUTE_MS - of->minutes + 1;

    for (unsigned i = 0; i < of->minutes; i++) of->list[i].at_ms = (first + i) * MINUTE_MS;
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int64_t at = rv_reply_within(found->items[i], first, first + of->minutes - 1, -1);
        if (at >= 0) read_minute(&of->list[at - first], found->items[i + 1]);
    }
}

static void read_times(lists *of, const rv_reply *found, int64_t now_ms)
{
    int64_t first = now_ms / RV_MINUTES_FIVE_MS - of->fives + 1;

    for (unsigned i = 0; i < of->fives; i++) of->times[i].at_ms = (first + i) * RV_MINUTES_FIVE_MS;
    for (size_t i = 0; i + 2 < found->count; i += 3) {
        const rv_reply *name = found->items[i + 1], *text = found->items[i + 2];
        int64_t at = of->fives == 0 ? -1 : rv_reply_within(found->items[i], first, first + of->fives - 1, -1);
        if (at < 0 || !rv_reply_is(name, RV_TEXT) || !rv_reply_is(text, RV_TEXT)) continue;
        rv_five_minutes *five = &of->times[at - first];
        rv_wide_times_read(strcmp(name->text, "wait") == 0 ? &five->wait : &five->run, text->text);
    }
}

/* False: no such reply. */
static bool read_reply(lists *of, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count != 3) return false;
    int64_t now_ms = rv_reply_within(reply->items[0], 0, INT64_MAX, -1);
    if (now_ms < 0 || !rv_reply_is(reply->items[1], RV_ARRAY) || !rv_reply_is(reply->items[2], RV_ARRAY)) return false;
    read_list(of, reply->items[1], now_ms);
    if (of->times != NULL) read_times(of, reply->items[2], now_ms);
    return true;
}

static void add_minute(reeve_minute *sum, const reeve_minute *part)
{
    sum->completed += part->completed;
    sum->failed += part->failed;
    sum->dead += part->dead;
    sum->waits += part->waits;
    sum->wait_ms += part->wait_ms;
    sum->runs += part->runs;
    sum->run_us += part->run_us;
}

void rv_minutes_add_times(rv_five_minutes *sums, size_t count, int64_t each_ms, const rv_five_minutes *list,
                          size_t list_count)
{
    for (size_t i = 0; i < list_count && count > 0; i++) {
        if (list[i].at_ms < sums[0].at_ms) continue;
        int64_t at = (list[i].at_ms - sums[0].at_ms) / each_ms;
        if (at >= (int64_t)count) return;
        rv_wide_times_add(&sums[at].wait, &list[i].wait);
        rv_wide_times_add(&sums[at].run, &list[i].run);
    }
}

/* The lists of the partitions, added up; the minute may change between two of them. */
static reeve_status read_spread(reeve_client *client, rv_spread *spread, lists *sum)
{
    reeve_status status = REEVE_OK;
    while (status == REEVE_OK && rv_spread_next(spread)) {
        lists part = {.minutes = sum->minutes, .fives = sum->fives};
        status =
            rv_minutes_read(client, spread->name, sum->minutes, &part.list, sum->times != NULL ? &part.times : NULL);
        if (status != REEVE_OK) break;
        for (unsigned i = 0; spread->next == 1 && i < sum->minutes; i++) sum->list[i].at_ms = part.list[i].at_ms;
        for (unsigned i = 0; spread->next == 1 && i < sum->fives; i++) sum->times[i].at_ms = part.times[i].at_ms;
        for (unsigned i = 0; i < sum->minutes; i++) {
            int64_t at = (part.list[i].at_ms - sum->list[0].at_ms) / MINUTE_MS;
            if (at >= 0 && at < sum->minutes) add_minute(&sum->list[at], &part.list[i]);
        }
        rv_minutes_add_times(sum->times, sum->fives, RV_MINUTES_FIVE_MS, part.times, part.fives);
        free_lists(&part);
    }
    return status;
}

static reeve_status read_one(reeve_client *client, const char *queue, lists *ret)
{
    char count[24];
    const rv_reply *reply;
    (void)snprintf(count, sizeof(count), "%u", ret->minutes);
    rv_simple_call call = {
        .script = &rv_script_minutes, .queue = queue, .args = {count, "times"}, .count = ret->times != NULL ? 2 : 1};
    reeve_status status = rv_client_script(client, &call, &reply, NULL);
    if (status == REEVE_OK && !read_reply(ret, reply)) status = rv_client_odd_reply(client, "minutes");
    return status;
}

reeve_status rv_minutes_read(reeve_client *client, const char *queue, unsigned minutes, reeve_minute **ret,
                             rv_five_minutes **ret_times)
{
    rv_spread spread;
    lists read;
    bool divided = rv_spread_begin(&spread, client, queue);
    if (!alloc_lists(&read, minutes, ret_times != NULL))
        return rv_fail(&client->error, REEVE_ENOMEM, "no memory for the statistics of %u minutes", minutes);
    reeve_status status = divided ? read_spread(client, &spread, &read) : read_one(client, queue, &read);
    if (status != REEVE_OK) {
        free_lists(&read);
        return status;
    }
    *ret = read.list;
    if (ret_times != NULL) *ret_times = read.times;
    return REEVE_OK;
}

reeve_status reeve_stats_minutes(reeve_client *client, const char *queue, unsigned minutes, reeve_minute **ret)
{
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    if (minutes < 1 || minutes > REEVE_STATS_MINUTES_MAX)
        return rv_fail(&client->error, REEVE_EINVAL, "statistics of %u minutes: from 1 to %d", minutes,
                       REEVE_STATS_MINUTES_MAX);
    return rv_minutes_read(client, queue, minutes, ret, NULL);
}

void reeve_stats_minutes_free(reeve_minute *list)
{
    rv_free(list);
}
