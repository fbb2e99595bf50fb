/*
 * client_stats.c - what workers flushed, read: from hashes of sums, one a day (docs/protocol.md), to days in numbers.
 */
#include "reeve/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "client/spread.h"
#include "client/stats_types.h"
#include "protocol/scripts.h"
#include "protocol/tally.h"

static void begin_day(reeve_day *day, int64_t number)
{
    memset(day, 0, sizeof(*day));
    day->day = number;
    day->days = 1;
    day->wait.unit_us = RV_WAIT_UNIT_US;
    day->run.unit_us = RV_RUN_UNIT_US;
}

/* ---- kinds ----------------------------------------------------------------------------------------------------- */

/* NULL: no memory. */
static reeve_kind_stats *kind_of(reeve_day *day, const char *kind)
{
    for (size_t i = 0; i < day->kind_count; i++) {
        if (strcmp(day->kinds[i].kind, kind) == 0) return &day->kinds[i];
    }
    reeve_kind_stats *kinds = rv_realloc_array(day->kinds, day->kind_count + 1, sizeof(*kinds));
    if (kinds == NULL) return NULL;
    day->kinds = kinds;
    reeve_kind_stats *added = &kinds[day->kind_count++];
    memset(added, 0, sizeof(*added));
    rv_copy_text(added->kind, sizeof(added->kind), kind);
    return added;
}

static bool add_kind(reeve_day *day, const char *kind, uint64_t retried, uint64_t dead)
{
    reeve_kind_stats *known = kind_of(day, kind);
    if (known == NULL) return false;
    known->retried += retried;
    known->dead += dead;
    return true;
}

/* The most frequent first, all others last. */
static int by_number(const void *a, const void *b)
{
    const reeve_kind_stats *left = a, *right = b;
    uint64_t more = left->retried + left->dead, less = right->retried + right->dead;
    if ((left->kind[0] == '\0') != (right->kind[0] == '\0')) return left->kind[0] == '\0' ? 1 : -1;
    if (more != less) return more > less ? -1 : 1;
    return strcmp(left->kind, right->kind);
}

static void finish_day(reeve_day *day)
{
    rv_times_reckon(&day->wait);
    rv_times_reckon(&day->run);
    if (day->kind_count > 1) qsort(day->kinds, day->kind_count, sizeof(*day->kinds), by_number);
    rv_stats_types_sort(day);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static void read_time(reeve_times *times, const char *name, uint64_t number)
{
    int64_t index;
    if (strcmp(name, "count") == 0)
        times->count = number;
    else if (strcmp(name, "sum") == 0)
        times->sum = number;
    else if (strcmp(name, "min") == 0)
        times->min_ms = (double)number * times->unit_us / 1000;
    else if (strcmp(name, "max") == 0)
        times->max_ms = (double)number * times->unit_us / 1000;
    else if (strncmp(name, "squares", 7) == 0 && rv_parse_int(name + 7, 0, 2, &index))
        times->squares[index] = number;
    else if (rv_parse_int(name, 0, REEVE_STATS_BUCKETS - 1, &index))
        times->histogram[index] = number;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* What this version does not know is left out. False: no memory. */
static bool read_field(reeve_day *day, const char *name, uint64_t number)
{
    if (begins_with(name, "retried:")) return add_kind(day, name + 8, number, 0);
    if (begins_with(name, "dead:")) return add_kind(day, name + 5, 0, number);
    if (begins_with(name, "wait:"))
        read_time(&day->wait, name + 5, number);
    else if (begins_with(name, "run:"))
        read_time(&day->run, name + 4, number);
    else if (strcmp(name, "completed") == 0)
        day->completed = number;
    else if (strcmp(name, "failed") == 0)
        day->failed = number;
    else if (strcmp(name, "retried") == 0)
        day->retried = number;
    else if (strcmp(name, "dead") == 0)
        day->dead = number;
    else if (strcmp(name, "crashed") == 0)
        day->crashed = number;
    return true;
}

static bool read_day(reeve_day *day, const rv_reply *fields)
{
    for (size_t i = 0; rv_reply_is(fields, RV_ARRAY) && i + 1 < fields->count; i += 2) {
        if (!rv_stats_types_read(day, fields->items[i], fields->items[i + 1])) return false;
        uint64_t number = rv_reply_sum(fields->items[i + 1]);
        if (!rv_reply_is(fields->items[i], RV_TEXT) || number == 0) continue;
        if (!read_field(day, fields->items[i]->text, number)) return false;
    }
    finish_day(day);
    return true;
}

#define FIRST_DAY_MOST 100000000

/* Days that are read so far. */
typedef struct read_so_far {
    reeve_day *list;
    unsigned done;
    int64_t first; /* the first of all days, as soon as `done` is not 0 */
} read_so_far;

/* Reads a reply of a part of the days; at most `max`. */
static reeve_status read_days(reeve_client *client, const rv_reply *reply, unsigned max, read_so_far *so_far)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 2 || reply->count - 1 > max)
        return rv_client_odd_reply(client, "stats");
    int64_t first = rv_reply_within(reply->items[0], -FIRST_DAY_MOST, FIRST_DAY_MOST, 0);
    if (so_far->done == 0) so_far->first = first;
    for (size_t i = 1; i < reply->count; i++) {
        reeve_day *day = &so_far->list[so_far->done];
        begin_day(day, so_far->first + so_far->done);
        so_far->done++;
        if (!read_day(day, reply->items[i])) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for statistics");
    }
    return REEVE_OK;
}

/* Asks for the days that are left. Days behind the first call are named by their numbers, which the next day does
 * not change. */
static reeve_status ask_days(reeve_client *client, const char *queue, int64_t first_day, unsigned left,
                             read_so_far *so_far)
{
    char first[24], count[24];
    const rv_reply *reply;
    (void)snprintf(first, sizeof(first), "%lld", (long long)first_day);
    (void)snprintf(count, sizeof(count), "%u", left);
    rv_simple_call call = {.script = &rv_script_stats, .queue = queue, .args = {first, count}, .count = 2};
    reeve_status status = rv_client_script(client, &call, &reply, NULL);
    return status == REEVE_OK ? read_days(client, reply, left, so_far) : status;
}

/* The days of the partitions, added up. */
static reeve_status stats_spread(reeve_client *client, rv_spread *spread, int64_t first_day, unsigned days,
                                 reeve_day **ret)
{
    reeve_day *parts = rv_zalloc_array((size_t)spread->count * days, sizeof(*parts));
    reeve_day *sums = rv_zalloc_array(days, sizeof(*sums));
    size_t read = 0;
    reeve_status status = parts != NULL && sums != NULL ? REEVE_OK : REEVE_ENOMEM;
    while (status == REEVE_OK && rv_spread_next(spread)) {
        reeve_day *list;
        status = reeve_stats(client, spread->name, first_day, days, &list);
        if (status != REEVE_OK) break;
        first_day = list[0].day;
        for (unsigned i = 0; i < days; i++) parts[(size_t)i * spread->count + read] = list[i];
        rv_free(list); /* what the days point to is in `parts` now */
        read++;
    }
    for (unsigned i = 0; status == REEVE_OK && i < days; i++) {
        reeve_day *sum;
        status = reeve_stats_sum(&parts[(size_t)i * spread->count], read, &sum);
        if (status != REEVE_OK) break;
        sums[i] = *sum;
        rv_free(sum);
    }
    reeve_stats_free(parts, parts != NULL ? (size_t)spread->count * days : 0);
    if (status == REEVE_ENOMEM) (void)rv_fail(&client->error, status, "no memory for the statistics of %u days", days);
    if (status == REEVE_OK)
        *ret = sums;
    else
        reeve_stats_free(sums, sums != NULL ? days : 0);
    return status;
}

reeve_status reeve_stats(reeve_client *client, const char *queue, int64_t first_day, unsigned days, reeve_day **ret)
{
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    if (days < 1 || days > REEVE_STATS_DAYS_MAX)
        return rv_fail(&client->error, REEVE_EINVAL, "statistics of %u days: from 1 to %d", days, REEVE_STATS_DAYS_MAX);
    if (first_day > FIRST_DAY_MOST || first_day < -FIRST_DAY_MOST)
        return rv_fail(&client->error, REEVE_EINVAL, "there is no day %lld", (long long)first_day);
    rv_spread spread;
    if (rv_spread_begin(&spread, client, queue)) return stats_spread(client, &spread, first_day, days, ret);
    read_so_far so_far = {.list = rv_zalloc_array(days, sizeof(*so_far.list))};
    if (so_far.list == NULL)
        return rv_fail(&client->error, REEVE_ENOMEM, "no memory for the statistics of %u days", days);
    reeve_status status = REEVE_OK;
    while (status == REEVE_OK && so_far.done < days) {
        int64_t from = so_far.done == 0 ? first_day : so_far.first + so_far.done;
        status = ask_days(client, queue, from, days - so_far.done, &so_far);
    }
    if (status == REEVE_OK)
        *ret = so_far.list;
    else
        reeve_stats_free(so_far.list, so_far.done);
    return status;
}

void reeve_stats_free(reeve_day *list, size_t count)
{
    if (list == NULL) return;
    for (size_t i = 0; i < count; i++) {
        rv_free(list[i].kinds);
        rv_free(list[i].types);
    }
    rv_free(list);
}

/* ---- adding up ------------------------------------------------------------------------------------------------- */

static bool add_day(reeve_day *sum, const reeve_day *more)
{
    bool good = true;
    if (more->day < sum->day) sum->day = more->day;
    sum->completed += more->completed;
    sum->failed += more->failed;
    sum->retried += more->retried;
    sum->dead += more->dead;
    sum->crashed += more->crashed;
    rv_times_merge(&sum->wait, &more->wait);
    rv_times_merge(&sum->run, &more->run);
    for (size_t i = 0; good && i < more->kind_count; i++)
        good = add_kind(sum, more->kinds[i].kind, more->kinds[i].retried, more->kinds[i].dead);
    for (size_t i = 0; good && i < more->type_count; i++) good = rv_stats_types_add(sum, &more->types[i]);
    return good;
}

reeve_status reeve_stats_sum(const reeve_day *list, size_t count, reeve_day **ret)
{
    reeve_day *sum = rv_zalloc(sizeof(*sum));
    int64_t end = 0;
    bool good = sum != NULL;
    if (good) begin_day(sum, count > 0 ? list[0].day : 0);
    for (size_t i = 0; good && i < count; i++) {
        good = add_day(sum, &list[i]);
        if (i == 0 || list[i].day + list[i].days > end) end = list[i].day + list[i].days;
    }
    if (!good) {
        reeve_stats_free(sum, sum != NULL);
        return REEVE_ENOMEM;
    }
    sum->days = count > 0 ? (unsigned)(end - sum->day) : 0;
    finish_day(sum);
    *ret = sum;
    return REEVE_OK;
}
