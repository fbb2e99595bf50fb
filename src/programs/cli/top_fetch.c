/*
 * top_fetch.c - what the tabs of `reeve top` read from Redis.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "client/overview.h"
#include "reeve/cron.h"
#include "reeve/watch.h"
#include "task_view.h"
#include "top_model.h"
#include "when.h"

#define WORKERS_EVERY 5 /* refreshes: the records of workers are renewed every few seconds */
#define EVENTS_MAX 200
#define TASKS_MAX 1000

static void cell_number(cli_top_rows *rows, size_t column, uint64_t number)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%" PRIu64, number);
    cli_top_rows_cell(rows, column, text, (double)number);
}

static void cell_ago(cli_top_rows *rows, size_t column, int64_t time_ms)
{
    char text[CLI_WHEN_TEXT];

    cli_ago_text(time_ms, rv_wall_ms(), text);
    cli_top_rows_cell(rows, column, text, (double)time_ms);
}

/* ---- queues, and the totals of all tabs ------------------------------------------------------------------------------ */

static void add_queue(cli_top_rows *rows, const reeve_queue_info *queue)
{
    cli_top_rows_add(rows, queue->name);
    cli_top_rows_cell(rows, 1, queue->name, NAN);
    cli_top_rows_cell(rows, 2, queue->paused ? "yes" : "no", NAN);
    cell_number(rows, 3, queue->count[REEVE_STATE_READY]);
    cell_number(rows, 4, queue->count[REEVE_STATE_RUNNING]);
    cell_number(rows, 5, queue->count[REEVE_STATE_SCHEDULED]);
    cell_number(rows, 6, queue->count[REEVE_STATE_DEAD]);
    cell_number(rows, 7, queue->completed_total);
    cell_number(rows, 8, queue->failed_total);
    cell_ago(rows, 9, queue->oldest_ready_ms);
}

static void add_totals(cli_top_totals *totals, const reeve_queue_info *queue)
{
    int64_t oldest = queue->oldest_ready_ms;

    totals->ready += queue->count[REEVE_STATE_READY];
    totals->running += queue->count[REEVE_STATE_RUNNING];
    totals->scheduled += queue->count[REEVE_STATE_SCHEDULED];
    totals->dead += queue->count[REEVE_STATE_DEAD];
    totals->completed += queue->completed_total;
    totals->failed += queue->failed_total;
    if (oldest >= 0 && (totals->oldest_ready_ms < 0 || oldest < totals->oldest_ready_ms))
        totals->oldest_ready_ms = oldest;
}

static void set_rates(cli_top_totals *now, const cli_top_totals *before)
{
    double seconds = (double)(now->at_ms - before->at_ms) / 1000;

    if (before->at_ms == 0 || seconds <= 0) return;
    if (now->completed >= before->completed) now->done_rate = (double)(now->completed - before->completed) / seconds;
    if (now->failed >= before->failed) now->failed_rate = (double)(now->failed - before->failed) / seconds;
}

static void take_queues(cli_top *top, const rv_overview *read)
{
    cli_top_totals now = {.oldest_ready_ms = -1, .done_rate = -1, .failed_rate = -1};

    now.at_ms = rv_now_ms();
    now.queues = read->queue_count;
    now.workers = top->totals.workers;
    now.utilisation = top->totals.utilisation;
    for (size_t i = 0; i < read->queue_count; i++) {
        add_totals(&now, &read->queues[i]);
        if (top->tab == CLI_TOP_QUEUES) add_queue(&top->rows, &read->queues[i]);
    }
    if (top->queue[0] == '\0' && read->queue_count > 0)
        rv_copy_text(top->queue, sizeof(top->queue), read->queues[0].name);
    set_rates(&now, &top->totals);
    top->totals = now;
}

/* ---- workers --------------------------------------------------------------------------------------------------------- */

static void add_worker(cli_top_rows *rows, const reeve_worker_info *worker)
{
    char text[64];

    cli_top_rows_add(rows, worker->id);
    cli_top_rows_cell(rows, 1, worker->id, NAN);
    cli_top_rows_cell(rows, 2, worker->name, NAN);
    cli_top_rows_cell(rows, 3, worker->host, NAN);
    cli_top_rows_cell(rows, 4, worker->state, NAN);
    (void)snprintf(text, sizeof(text), "%u/%u", worker->busy, worker->threads);
    cli_top_rows_cell(rows, 5, text, worker->busy);
    (void)snprintf(text, sizeof(text), "%.0f%%", 100 * worker->utilisation);
    cli_top_rows_cell(rows, 6, worker->utilisation < 0 ? "" : text, worker->utilisation);
    cell_number(rows, 7, worker->processed);
    cell_number(rows, 8, worker->failed);
    (void)snprintf(text, sizeof(text), "%.1f MiB", (double)worker->memory_bytes / (1 << 20));
    cli_top_rows_cell(rows, 9, text, (double)worker->memory_bytes);
    cell_ago(rows, 10, worker->seen_ms);
}

static void take_workers(cli_top *top, const rv_overview *read)
{
    const reeve_worker_info *list = read->workers;
    unsigned threads = 0;
    double busy = 0;

    for (size_t i = 0; i < read->worker_count; i++) {
        if (list[i].utilisation >= 0) threads += list[i].threads;
        if (list[i].utilisation >= 0) busy += list[i].utilisation * list[i].threads;
        if (top->tab == CLI_TOP_WORKERS) add_worker(&top->rows, &list[i]);
    }
    top->totals.workers = read->worker_count;
    top->totals.utilisation = threads > 0 ? busy / threads : -1;
}

/* ---- tasks ----------------------------------------------------------------------------------------------------------- */

static void add_task(cli_top_rows *rows, const reeve_task_info *task)
{
    char handle[CLI_TOP_KEY];

    (void)snprintf(handle, sizeof(handle), "%s/%s", task->queue, task->id);
    cli_top_rows_add(rows, handle);
    cli_top_rows_cell(rows, 1, handle, NAN);
    cli_top_rows_cell(rows, 2, task->type, NAN);
    cli_top_rows_cell(rows, 3, reeve_state_name(task->state), NAN);
    cell_ago(rows, 4, cli_task_when(task));
    cell_number(rows, 5, task->failures);
    cli_top_rows_cell(rows, 6, task->error_message == NULL ? task->error_kind : task->error_message, NAN);
}

/* ---- recurring entries ------------------------------------------------------------------------------------------------ */

static void add_entry(cli_top_rows *rows, const reeve_cron_info *entry)
{
    char key[CLI_TOP_KEY];

    (void)snprintf(key, sizeof(key), "%s/%s", entry->queue, entry->name);
    cli_top_rows_add(rows, key);
    cli_top_rows_cell(rows, 1, key, NAN);
    cli_top_rows_cell(rows, 2, entry->spec, NAN);
    if (entry->ended)
        cli_top_rows_cell(rows, 3, "ended", NAN);
    else
        cell_ago(rows, 3, entry->next_ms);
    cli_top_rows_cell(rows, 4, entry->paused ? "yes" : "no", NAN);
    cli_top_rows_cell(rows, 5, entry->type, NAN);
}

/* ---- events ----------------------------------------------------------------------------------------------------------- */

static void add_event(cli_top *top, const reeve_event *event)
{
    char text[CLI_TOP_KEY], time[CLI_WHEN_TEXT];
    cli_top_rows *rows = &top->events;

    if (rows->count >= EVENTS_MAX) {
        for (size_t i = 0; i < CLI_TOP_COLUMNS; i++) rv_free(rows->list[0].cells[i]);
        memmove(rows->list, rows->list + 1, (--rows->count) * sizeof(*rows->list));
    }
    (void)snprintf(text, sizeof(text), "%s%s%s", top->queue, event->id != NULL ? "/" : "",
                   event->id != NULL ? event->id : "");
    cli_time_text(event->at_ms, event->at_ms, time);
    time[strcspn(time, " ")] = '\0';
    cli_top_rows_add(rows, text);
    cli_top_rows_cell(rows, 1, time, (double)event->at_ms);
    cli_top_rows_cell(rows, 2, event->what, NAN);
    cli_top_rows_cell(rows, 3, text, NAN);
    cli_top_rows_cell(rows, 4, event->worker, NAN);
    cli_top_rows_cell(rows, 5, event->kind, NAN);
}

static reeve_status fetch_events(cli_top *top)
{
    const reeve_watch_options options = {.queue = top->queue};
    const reeve_event *event;
    reeve_status status = REEVE_OK;

    if (top->queue[0] == '\0') return REEVE_OK;
    if (top->watch == NULL) status = reeve_watch_open(&top->watch, top->cli->client, &options);
    for (size_t i = 0; i < EVENTS_MAX && status == REEVE_OK; i++) {
        status = reeve_watch_next(top->watch, 0, &event);
        if (status == REEVE_OK) add_event(top, event);
    }
    for (size_t i = top->events.count; i-- > 0;) {
        const cli_top_row *row = &top->events.list[i];

        cli_top_rows_add(&top->rows, row->key);
        for (size_t j = 1; j < CLI_TOP_COLUMNS; j++)
            if (row->cells[j] != NULL) cli_top_rows_cell(&top->rows, j, row->cells[j], row->number[j]);
    }
    return status == REEVE_ETIMEOUT ? REEVE_OK : status;
}

/* ---- all of it --------------------------------------------------------------------------------------------------------- */

static bool lists_tasks(const cli_top *top)
{
    return top->tab == CLI_TOP_TASKS || top->tab == CLI_TOP_DEAD;
}

static void choose(rv_overview_request *ret, const cli_top *top)
{
    size_t wanted = top->first + 2 * top->visible;

    *ret = (rv_overview_request){.limit = wanted > TASKS_MAX ? TASKS_MAX : wanted};
    ret->workers = top->tab == CLI_TOP_WORKERS || top->refreshes % WORKERS_EVERY == 0;
    ret->cron = top->tab == CLI_TOP_CRON;
    ret->state = top->tab == CLI_TOP_DEAD ? REEVE_STATE_DEAD : top->state;
    if (lists_tasks(top) && top->queue[0] != '\0') ret->queue = top->queue;
}

static void take(cli_top *top, const rv_overview_request *request, const rv_overview *read)
{
    take_queues(top, read);
    if (request->workers) take_workers(top, read);
    for (size_t i = 0; i < read->task_count; i++) add_task(&top->rows, read->tasks[i]);
    for (size_t i = 0; i < read->cron_count; i++) add_entry(&top->rows, &read->cron[i]);
}

static reeve_status fetch(cli_top *top)
{
    rv_overview_request request;
    rv_overview read;
    reeve_status status;
    bool had_queue = top->queue[0] != '\0';

    choose(&request, top);
    status = rv_overview_read(top->cli->client, &request, &read);
    if (status != REEVE_OK) return status;
    take(top, &request, &read);
    rv_overview_free(&read);
    if (top->tab == CLI_TOP_LOG) return fetch_events(top);
    /* Now the queue is known whose tasks are shown. */
    return lists_tasks(top) && !had_queue && top->queue[0] != '\0' ? fetch(top) : REEVE_OK;
}

reeve_status cli_top_fetch(cli_top *top)
{
    int64_t begun = rv_now_us();
    reeve_status status = fetch(top);

    if (status == REEVE_OK) top->totals.cost_us = rv_now_us() - begun;
    return status;
}
