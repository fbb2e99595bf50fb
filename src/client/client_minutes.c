/*
 * client_minutes.c - what workers settled in each of the last minutes, from the hashes minutes:<hour>.
 */
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
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

/* False: no such reply. */
static bool read_minutes(reeve_minute *list, unsigned minutes, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count % 2 != 1) return false;
    int64_t now_ms = rv_reply_within(reply->items[0], 0, INT64_MAX, -1);
    if (now_ms < 0) return false;
    int64_t first = now_ms / MINUTE_MS - minutes + 1;
    for (unsigned i = 0; i < minutes; i++) list[i].at_ms = (first + i) * MINUTE_MS;
    for (size_t i = 1; i < reply->count; i += 2) {
        int64_t at = rv_reply_within(reply->items[i], first, first + minutes - 1, -1);
        if (at >= 0) read_minute(&list[at - first], reply->items[i + 1]);
    }
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

/* The minutes of the partitions, added up; the minute may change between two of them. */
static reeve_status minutes_spread(reeve_client *client, rv_spread *spread, unsigned minutes, reeve_minute **ret)
{
    reeve_minute *sum = NULL, *part;
    reeve_status status = REEVE_OK;
    while (status == REEVE_OK && rv_spread_next(spread)) {
        status = reeve_stats_minutes(client, spread->name, minutes, sum == NULL ? &sum : &part);
        if (status != REEVE_OK || spread->next == 1) continue;
        for (unsigned i = 0; i < minutes; i++) {
            int64_t at = (part[i].at_ms - sum[0].at_ms) / 60000;
            if (at >= 0 && at < minutes) add_minute(&sum[at], &part[i]);
        }
        reeve_stats_minutes_free(part);
    }
    if (status == REEVE_OK)
        *ret = sum;
    else
        reeve_stats_minutes_free(sum);
    return status;
}

reeve_status reeve_stats_minutes(reeve_client *client, const char *queue, unsigned minutes, reeve_minute **ret)
{
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    if (minutes < 1 || minutes > REEVE_STATS_MINUTES_MAX)
        return rv_fail(&client->error, REEVE_EINVAL, "statistics of %u minutes: from 1 to %d", minutes,
                       REEVE_STATS_MINUTES_MAX);
    rv_spread spread;
    if (rv_spread_begin(&spread, client, queue)) return minutes_spread(client, &spread, minutes, ret);
    reeve_minute *list = rv_zalloc_array(minutes, sizeof(*list));
    if (list == NULL)
        return rv_fail(&client->error, REEVE_ENOMEM, "no memory for the statistics of %u minutes", minutes);
    char count[24];
    const rv_reply *reply;
    (void)snprintf(count, sizeof(count), "%u", minutes);
    rv_simple_call call = {.script = &rv_script_minutes, .queue = queue, .args = {count}, .count = 1};
    reeve_status status = rv_client_script(client, &call, &reply, NULL);
    if (status == REEVE_OK && !read_minutes(list, minutes, reply)) status = rv_client_odd_reply(client, "minutes");
    if (status == REEVE_OK)
        *ret = list;
    else
        rv_free(list);
    return status;
}

void reeve_stats_minutes_free(reeve_minute *list)
{
    rv_free(list);
}
