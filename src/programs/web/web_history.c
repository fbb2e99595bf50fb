#include "web_history.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "client/minutes.h"
#include "protocol/tally.h"
#include "web_clients.h"
#include "web_snapshot.h"

#define MINUTES 1440
#define QUARTER_MS INT64_C(900000)
#define QUARTERS 96
#define DAYS 30
#define DAY_MS INT64_C(86400000)
#define DAY_FRESH_MS 120000 /* reading one takes Redis some 50 ms */
#define MONTH_FRESH_MS 300000
#define FAILED_FRESH_MS 2000 /* who waited behind a call that failed does not call again */

/* The answer to one range. */
typedef struct answer {
    pthread_mutex_t lock; /* held while it is read: others wait for it */
    int64_t until;        /* monotonic; 0: nothing is known */
    reeve_status status;
    char words[256];
    char *json;
    size_t length;
} answer;

struct web_history {
    answer day, month;
};

struct web_history *web_history_open(void)
{
    struct web_history *history = rv_zalloc(sizeof(*history));

    if (history == NULL) return NULL;
    rv_lock_init(&history->day.lock);
    rv_lock_init(&history->month.lock);
    return history;
}

void web_history_close(struct web_history *history)
{
    if (history == NULL) return;
    free(history->day.json);
    free(history->month.json);
    rv_lock_fini(&history->day.lock);
    rv_lock_fini(&history->month.lock);
    rv_free(history);
}

/* ---- which queues ---------------------------------------------------------------------------------------------- */

typedef struct busiest {
    char name[WEB_HISTORY_QUEUES][REEVE_QUEUE_MAX + 1];
    size_t count, of;
} busiest;

static int by_completed(const void *one, const void *other)
{
    uint64_t a = (*(const reeve_queue_info *const *)one)->completed_total;
    uint64_t b = (*(const reeve_queue_info *const *)other)->completed_total;

    return a < b ? 1 : a > b ? -1 : 0;
}

static reeve_status find_busiest(web_call *call, busiest *ret, char *words, size_t size)
{
    web_snapshot *snapshot = web_snapshots_get(call->web->snapshots, WEB_ANY_AGE);
    reeve_status status = snapshot == NULL ? REEVE_ENOMEM : snapshot->status;

    (void)snprintf(words, size, "%s", snapshot == NULL ? "no memory, or the server stops" : snapshot->words);
    if (status == REEVE_OK) {
        const reeve_queue_info **order = rv_zalloc_array(snapshot->queue_count + 1, sizeof(const reeve_queue_info *));
        for (size_t i = 0; order != NULL && i < snapshot->queue_count; i++) order[i] = &snapshot->queues[i];
        if (order != NULL) qsort(order, snapshot->queue_count, sizeof(const reeve_queue_info *), by_completed);
        ret->of = snapshot->queue_count;
        for (; order != NULL && ret->count < ret->of && ret->count < WEB_HISTORY_QUEUES; ret->count++)
            memcpy(ret->name[ret->count], order[ret->count]->name, sizeof(ret->name[0]));
        rv_free(order);
    }
    web_snapshots_release(call->web->snapshots, snapshot);
    return status;
}

static void write_head(cli_json *json, const char *range, const busiest *queues)
{
    cli_json_text(json, "range", range);
    cli_json_uint(json, "queues", queues->count);
    cli_json_uint(json, "of_queues", queues->of);
    cli_json_open_array(json, "points");
}

/* ---- the last day: quarters of an hour ------------------------------------------------------------------------- */

/* The last day of all queues: numbers, and times. */
typedef struct day_sums {
    reeve_minute numbers[QUARTERS];
    rv_five_minutes times[QUARTERS];
} day_sums;

static void add_minutes(reeve_minute *quarters, const reeve_minute *list)
{
    int64_t first = list[MINUTES - 1].at_ms / QUARTER_MS - QUARTERS + 1;

    for (size_t i = 0; i < MINUTES; i++) {
        int64_t at = list[i].at_ms / QUARTER_MS - first;
        if (at < 0 || at >= QUARTERS) continue;
        reeve_minute *sum = &quarters[at];
        sum->completed += list[i].completed;
        sum->failed += list[i].failed;
        sum->dead += list[i].dead;
        sum->waits += list[i].waits;
        sum->wait_ms += list[i].wait_ms;
        sum->runs += list[i].runs;
        sum->run_us += list[i].run_us;
    }
    for (int64_t at = 0; at < QUARTERS; at++) quarters[at].at_ms = (first + at) * QUARTER_MS;
}

static void write_wide_times(cli_json *json, const char *name, const rv_wide_times *of, unsigned unit_us)
{
    uint64_t count = rv_wide_times_count(of);

    cli_json_open(json, name);
    cli_json_uint(json, "count", count);
    cli_json_real(json, "mean_ms", count > 0 ? (double)of->sum * unit_us / 1000 / (double)count : 0);
    if (count > 0) {
        cli_json_real(json, "p50_ms", rv_wide_times_percentile(of, unit_us, 50));
        cli_json_real(json, "p95_ms", rv_wide_times_percentile(of, unit_us, 95));
        cli_json_real(json, "p99_ms", rv_wide_times_percentile(of, unit_us, 99));
    }
    cli_json_close(json);
}

static void write_quarter(cli_json *json, const reeve_minute *of, const rv_five_minutes *times)
{
    cli_json_open(json, NULL);
    cli_json_int(json, "at_ms", of->at_ms);
    cli_json_uint(json, "completed", of->completed);
    cli_json_uint(json, "failed", of->failed);
    cli_json_uint(json, "dead", of->dead);
    write_wide_times(json, "wait", &times->wait, RV_WAIT_UNIT_US);
    write_wide_times(json, "run", &times->run, RV_RUN_UNIT_US);
    cli_json_close(json);
}

static reeve_status add_queue(reeve_client *client, const char *queue, day_sums *sums)
{
    reeve_minute *list = NULL;
    rv_five_minutes *fives = NULL;
    reeve_status status = rv_minutes_read(client, queue, MINUTES, &list, &fives);

    if (status != REEVE_OK) return status;
    add_minutes(sums->numbers, list);
    for (size_t i = 0; i < QUARTERS; i++) sums->times[i].at_ms = sums->numbers[i].at_ms;
    rv_minutes_add_times(sums->times, QUARTERS, QUARTER_MS, fives, MINUTES / 5);
    reeve_stats_minutes_free(list);
    rv_free(fives);
    return REEVE_OK;
}

static reeve_status read_day(reeve_client *client, const busiest *queues, cli_json *json)
{
    day_sums *sums = rv_zalloc(sizeof(*sums));
    reeve_status status = sums == NULL ? REEVE_ENOMEM : REEVE_OK;

    for (size_t i = 0; i < queues->count && status == REEVE_OK; i++) status = add_queue(client, queues->name[i], sums);
    write_head(json, "day", queues);
    for (size_t i = 0; i < QUARTERS && queues->count > 0 && sums != NULL; i++)
        write_quarter(json, &sums->numbers[i], &sums->times[i]);
    cli_json_close_array(json);
    rv_free(sums);
    return status;
}

/* ---- the last month: days -------------------------------------------------------------------------------------- */

/* Adds a queue's days to those of the queues before. */
static reeve_status add_days(reeve_day *sums[DAYS], const reeve_day *list)
{
    for (size_t day = 0; day < DAYS; day++) {
        reeve_day pair[2] = {list[day]}, *sum = NULL;
        if (sums[day] != NULL) pair[1] = *sums[day];
        reeve_status status = reeve_stats_sum(pair, sums[day] == NULL ? 1 : 2, &sum);
        if (status != REEVE_OK) return status;
        if (sums[day] != NULL) reeve_stats_free(sums[day], 1);
        sums[day] = sum;
    }
    return REEVE_OK;
}

static void write_times(cli_json *json, const char *name, const reeve_times *of)
{
    cli_json_open(json, name);
    cli_json_uint(json, "count", of->count);
    cli_json_real(json, "mean_ms", of->mean_ms);
    if (of->count > 0) {
        cli_json_real(json, "p50_ms", reeve_stats_percentile(of, 50));
        cli_json_real(json, "p95_ms", reeve_stats_percentile(of, 95));
        cli_json_real(json, "p99_ms", reeve_stats_percentile(of, 99));
        cli_json_real(json, "max_ms", of->max_ms);
    }
    cli_json_close(json);
}

static void write_day(cli_json *json, const reeve_day *of)
{
    cli_json_open(json, NULL);
    cli_json_int(json, "at_ms", of->day * DAY_MS);
    cli_json_uint(json, "completed", of->completed);
    cli_json_uint(json, "failed", of->failed);
    cli_json_uint(json, "dead", of->dead);
    write_times(json, "wait", &of->wait);
    write_times(json, "run", &of->run);
    cli_json_close(json);
}

static reeve_status read_month(reeve_client *client, const busiest *queues, cli_json *json)
{
    reeve_day *sums[DAYS] = {NULL};
    reeve_status status = REEVE_OK;

    for (size_t i = 0; i < queues->count && status == REEVE_OK; i++) {
        reeve_day *list = NULL;
        status = reeve_stats(client, queues->name[i], 1 - DAYS, DAYS, &list);
        if (status != REEVE_OK) break;
        status = add_days(sums, list);
        reeve_stats_free(list, DAYS);
    }
    write_head(json, "month", queues);
    for (size_t day = 0; day < DAYS; day++) {
        if (sums[day] != NULL) write_day(json, sums[day]);
        if (sums[day] != NULL) reeve_stats_free(sums[day], 1);
    }
    cli_json_close_array(json);
    return status;
}

/* ---- the route ------------------------------------------------------------------------------------------------- */

static void read_answer(web_call *call, answer *of, bool month)
{
    busiest queues = {.count = 0};
    reeve_client *client = NULL;
    cli_json json;

    free(of->json);
    of->json = NULL;
    of->status = find_busiest(call, &queues, of->words, sizeof(of->words));
    if (of->status == REEVE_OK)
        client = web_clients_take_waiting(call->web->clients, NULL, &of->status, of->words, sizeof(of->words));
    FILE *out = client == NULL ? NULL : open_memstream(&of->json, &of->length);
    if (out != NULL) {
        cli_json_begin(&json, out);
        of->status = month ? read_month(client, &queues, &json) : read_day(client, &queues, &json);
        cli_json_end(&json);
        if (of->status != REEVE_OK) (void)snprintf(of->words, sizeof(of->words), "%s", reeve_client_error(client));
        if (fclose(out) != 0) of->status = REEVE_ENOMEM;
    } else if (client != NULL) {
        of->status = REEVE_ENOMEM;
    }
    if (client != NULL) web_clients_give(call->web->clients, client);
    of->until = rv_deadline(of->status != REEVE_OK ? FAILED_FRESH_MS : month ? MONTH_FRESH_MS : DAY_FRESH_MS);
}

void web_run_history(web_call *call)
{
    char text[16];
    const char *range = web_query(call, "range", text, sizeof(text));
    bool month = range != NULL && strcmp(range, "month") == 0;

    if (!month && (range == NULL || strcmp(range, "day") != 0)) {
        web_refuse(call, 400, "invalid", "range: expected day or month");
        return;
    }
    answer *of = month ? &call->web->history->month : &call->web->history->day;
    rv_lock(&of->lock);
    if (rv_now_ms() >= of->until) read_answer(call, of, month);
    if (of->status == REEVE_OK)
        (void)fwrite(of->json, 1, of->length, call->out);
    else
        web_refuse_words(call, of->status, of->words);
    rv_unlock(&of->lock);
}
