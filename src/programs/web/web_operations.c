#include "web_operations.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/text.h"
#include "web_asked.h"
#include "web_audit.h"
#include "web_clients.h"

#define QUEUE(call) ((call)->params.value[0])
#define LISTED 50
#define RUNNING_MAX 4

typedef enum op_phase { FREE, COUNTING, WORKING, DONE, CANCELLED, FAILED } op_phase;
static const char *const phase_names[] = {"free", "counting", "running", "done", "cancelled", "failed"};

typedef struct operation {
    web_server *web;
    uint64_t number;
    op_phase phase;
    reeve_action action;
    char queue[REEVE_QUEUE_MAX + 1];
    char user[65];
    char *request; /* the filter, as it came */
    web_filter *filter;
    reeve_state state;
    uint64_t total;  /* counted before it began */
    double expected; /* by who asked for it; -1: any number */
    reeve_bulk_result result;
    int64_t began_ms, ended_ms; /* since the epoch */
    char words[256];
    bool cancel;
    reeve_client *client; /* with which it counts, or works */
    pthread_t thread;
    bool joinable;
    bool left; /* the thread takes the lock no more: it can be joined with the lock held */
} operation;

struct web_operations {
    web_server *web;
    pthread_mutex_t lock;
    operation list[LISTED];
    uint64_t number;
};

/* ---- running --------------------------------------------------------------------------------------------------- */

static bool is_running(const operation *of)
{
    return of->phase == COUNTING || of->phase == WORKING;
}

static bool progress(const reeve_bulk_result *swept, void *user)
{
    operation *of = user;
    struct web_operations *operations = of->web->operations;

    rv_lock(&operations->lock);
    of->result = *swept;
    bool goes_on = !of->cancel;
    rv_unlock(&operations->lock);
    return goes_on;
}

static void end(operation *of, op_phase phase, const char *words)
{
    struct web_operations *operations = of->web->operations;
    char outcome[128];

    rv_lock(&operations->lock);
    of->phase = phase;
    of->ended_ms = rv_wall_ms();
    rv_copy_text(of->words, sizeof(of->words), words);
    (void)snprintf(outcome, sizeof(outcome), "%s: %llu of %llu", phase_names[phase],
                   (unsigned long long)of->result.done, (unsigned long long)of->total);
    rv_unlock(&operations->lock);
    web_audit_words(of->user, web_asked_actions[of->action], of->queue, outcome);
}

static void work(operation *of, reeve_client *client, const reeve_filter *filter)
{
    reeve_bulk_result result = {0};

    rv_lock(&of->web->operations->lock);
    of->phase = WORKING;
    rv_unlock(&of->web->operations->lock);
    reeve_status status = reeve_bulk_update(client, of->queue, of->action, filter, progress, of, &result);
    rv_lock(&of->web->operations->lock);
    of->result = result;
    rv_unlock(&of->web->operations->lock);
    if (status == REEVE_OK)
        end(of, DONE, "");
    else
        end(of, status == REEVE_EINTERRUPTED ? CANCELLED : FAILED,
            status == REEVE_EINTERRUPTED ? "" : reeve_client_error(client));
}

/* The last that its thread does with it. */
static void leave(operation *of)
{
    rv_lock(&of->web->operations->lock);
    of->client = NULL;
    of->left = true;
    rv_unlock(&of->web->operations->lock);
}

/* False: it was cancelled. */
static bool set_client(operation *of, reeve_client *client)
{
    rv_lock(&of->web->operations->lock);
    of->client = client;
    bool cancelled = of->cancel;
    rv_unlock(&of->web->operations->lock);
    return !cancelled;
}

/* It ends before its next step. The lock is held. */
static void cancel(operation *of)
{
    of->cancel = true;
    if (of->client != NULL) reeve_client_interrupt(of->client);
}

/* Counts, and works unless there are more or fewer than expected. */
static void count_and_work(operation *of, reeve_client *client)
{
    const reeve_filter filter = cli_filter_in(&of->filter->filter, of->state);
    reeve_bulk_result counted = {0};
    reeve_status status = reeve_bulk_update_preview(client, of->queue, of->action, &filter, &counted, NULL, NULL);

    rv_lock(&of->web->operations->lock);
    of->total = status == REEVE_OK ? counted.done : 0;
    bool cancelled = of->cancel || status == REEVE_EINTERRUPTED;
    rv_unlock(&of->web->operations->lock);
    if (cancelled)
        end(of, CANCELLED, "");
    else if (status != REEVE_OK)
        end(of, FAILED, reeve_client_error(client));
    else if (of->expected >= 0 && (double)counted.done != of->expected)
        end(of, FAILED, "the number of tasks has changed; nothing was done");
    else
        work(of, client, &filter);
}

static void *run(void *user)
{
    operation *of = user;
    char words[256] = "";
    reeve_status status;
    reeve_client *client = web_clients_take_waiting(of->web->clients, NULL, &status, words, sizeof(words));

    struct web_clients *clients = of->web->clients;
    if (client == NULL)
        end(of, FAILED, words);
    else if (set_client(of, client))
        count_and_work(of, client);
    else
        end(of, CANCELLED, "");
    leave(of);
    if (client != NULL) web_clients_give(clients, client);
    return NULL;
}

/* ---- the list -------------------------------------------------------------------------------------------------- */

/* The lock is held, or nobody else is left; the thread takes it no more. */
static void empty(operation *of)
{
    if (of->joinable) (void)pthread_join(of->thread, NULL);
    rv_free(of->filter);
    cJSON_free(of->request);
    memset(of, 0, sizeof(*of));
}

/* A free place, or that of the oldest one that has ended; NULL: too many run. */
static operation *find_place(struct web_operations *operations)
{
    operation *oldest = NULL;
    unsigned running = 0;

    for (size_t i = 0; i < LISTED; i++) {
        operation *of = &operations->list[i];
        if (is_running(of))
            running++;
        else if ((of->left || of->number == 0) && (oldest == NULL || of->number < oldest->number))
            oldest = of;
    }
    return running < RUNNING_MAX ? oldest : NULL;
}

static void write_one(cli_json *json, const operation *of)
{
    cli_json_open(json, NULL);
    cli_json_uint(json, "operation", of->number);
    cli_json_text(json, "phase", phase_names[of->phase]);
    cli_json_text(json, "action", web_asked_actions[of->action]);
    cli_json_text(json, "queue", of->queue);
    cli_json_text(json, "state", reeve_state_name(of->state));
    cli_json_raw(json, "filter", of->request);
    cli_json_text(json, "user", of->user);
    cli_json_uint(json, "total", of->total);
    cli_json_uint(json, "seen", of->result.seen);
    cli_json_uint(json, "done", of->result.done);
    cli_json_uint(json, "refused", of->result.refused);
    cli_json_int(json, "began_ms", of->began_ms);
    cli_json_maybe(json, "ended_ms", of->ended_ms > 0 ? of->ended_ms : -1);
    cli_json_text(json, "error", of->words[0] == '\0' ? NULL : of->words);
    cli_json_close(json);
}

struct web_operations *web_operations_open(web_server *web)
{
    struct web_operations *operations = rv_zalloc(sizeof(*operations));

    if (operations == NULL) return NULL;
    operations->web = web;
    rv_lock_init(&operations->lock);
    return operations;
}

void web_operations_close(struct web_operations *operations)
{
    if (operations == NULL) return;
    rv_lock(&operations->lock);
    for (size_t i = 0; i < LISTED; i++) cancel(&operations->list[i]);
    rv_unlock(&operations->lock);
    for (size_t i = 0; i < LISTED; i++) empty(&operations->list[i]);
    rv_lock_fini(&operations->lock);
    rv_free(operations);
}

/* ---- routes ---------------------------------------------------------------------------------------------------- */

/* Deleting many takes an administrator, and the number. */
static bool may(web_call *call, const web_asked *asked)
{
    if (asked->action != REEVE_ACTION_DELETE) return true;
    if (call->who.role < WEB_ADMIN)
        web_refuse(call, 403, "role", "deleting takes the role admin");
    else if (asked->expected < 0)
        web_refuse(call, 400, "invalid", "\"expected\" is missing: the number of tasks that are to be deleted");
    else
        return true;
    return false;
}

/* The filter goes to the operation. */
static void start(web_call *call, web_asked *asked)
{
    struct web_operations *operations = call->web->operations;
    cli_json json = {.out = call->out};

    rv_lock(&operations->lock);
    operation *of = find_place(operations);
    if (of != NULL) {
        empty(of);
        *of = (operation){.web = call->web,
                          .number = ++operations->number,
                          .phase = COUNTING,
                          .action = asked->action,
                          .state = asked->state,
                          .filter = asked->filter,
                          .request = asked->request,
                          .expected = asked->expected,
                          .began_ms = rv_wall_ms()};
        *asked = (web_asked){0};
        rv_copy_text(of->queue, sizeof(of->queue), QUEUE(call));
        rv_copy_text(of->user, sizeof(of->user), call->who.name);
        of->joinable = pthread_create(&of->thread, NULL, run, of) == 0;
        of->left = !of->joinable;
        if (!of->joinable) of->phase = FAILED;
        call->http->status = 202;
        write_one(&json, of);
    }
    rv_unlock(&operations->lock);
    if (of == NULL) web_refuse(call, 503, "busy", "%d operations run; wait for one of them", RUNNING_MAX);
}

void web_run_operate(web_call *call)
{
    web_asked asked = {0};

    if (web_asked_read(call, &asked) && may(call, &asked)) start(call, &asked);
    web_asked_free(&asked);
}

void web_run_operations(web_call *call)
{
    struct web_operations *operations = call->web->operations;
    cli_json json;

    cli_json_begin(&json, call->out);
    cli_json_open_array(&json, "operations");
    rv_lock(&operations->lock);
    for (uint64_t number = operations->number; number > 0 && number + LISTED > operations->number; number--)
        for (size_t i = 0; i < LISTED; i++)
            if (operations->list[i].number == number) write_one(&json, &operations->list[i]);
    rv_unlock(&operations->lock);
    cli_json_close_array(&json);
    cli_json_end(&json);
}

static void with_number(web_call *call, bool cancels)
{
    struct web_operations *operations = call->web->operations;
    cli_json json = {.out = call->out};
    int64_t number = -1;
    bool found = false, may_cancel = true;

    (void)rv_parse_int(call->params.value[0], 1, INT64_MAX, &number);
    rv_lock(&operations->lock);
    for (size_t i = 0; i < LISTED; i++) {
        operation *of = &operations->list[i];
        if (of->number == 0 || of->number != (uint64_t)number) continue;
        found = true;
        may_cancel = of->action != REEVE_ACTION_DELETE || call->who.role >= WEB_ADMIN;
        if (cancels && !may_cancel) break;
        if (cancels) cancel(of);
        write_one(&json, of);
    }
    rv_unlock(&operations->lock);
    if (cancels && !may_cancel) web_refuse(call, 403, "role", "to cancel a deletion takes the role admin");
    if (!found) web_refuse(call, 404, "not_found", "there is no such operation");
}

void web_run_operation(web_call *call)
{
    with_number(call, false);
}

void web_run_operation_cancel(web_call *call)
{
    with_number(call, true);
}
