#include "running/batch_handler_run.h"

#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "handlers/layers_run.h"
#include "running/admission.h"
#include "running/at_most_once.h"
#include "running/flight.h"
#include "running/forked.h"
#include "running/invocation.h"
#include "running/isolated.h"
#include "running/run_task.h"

static bool make_room(rv_thread *t, size_t count)
{
    size_t room = t->call_room == 0 ? 16 : t->call_room;
    while (room < count) room *= 2;
    if (t->call_room >= count) return true;
    rv_invocation *calls = rv_realloc_array(t->calls, room, sizeof(*calls));
    if (calls == NULL) return false;
    t->calls = calls;
    reeve_task **tasks = rv_realloc_array(t->call_tasks, room, sizeof(*tasks));
    if (tasks == NULL) return false;
    t->call_tasks = tasks;
    memset(calls + t->call_room, 0, (room - t->call_room) * sizeof(*calls));
    for (size_t i = t->call_room; i < room; i++) rv_task_init(&calls[i].task);
    t->call_room = room;
    return true;
}

void rv_batch_handler_run_fini(rv_thread *t)
{
    rv_free(t->calls); /* its tasks own no memory between calls */
    rv_free(t->call_tasks);
    rv_free(t->picked);
    t->calls = NULL;
    t->call_tasks = NULL;
    t->picked = NULL;
}

/* Prepares the task of an item. */
static void begin_call(rv_thread *t, rv_invocation *call, rv_item *item)
{
    rv_run_task_prepare(t, &call->task, &call->host, item, item->batch_handler);
    call->host.stop = &call->stop;
    call->host.cancelled = &call->cancelled;
    call->host.cancel_reason = call->cancel_reason;
    call->cancel_reason[0] = '\0';
    call->item = item;
    rv_lock(&t->batch.lock);
    atomic_store(&call->stop, item->cancelled || atomic_load(&t->stop));
    atomic_store(&call->cancelled, item->cancelled);
    item->call = call;
    rv_unlock(&t->batch.lock);
}

/* Decides whether a task may run, before and after the wait at the gate. */
static void bar(rv_thread *t, rv_invocation *call, const rv_handler *handler, bool ready)
{
    rv_attempt_policy policy;
    rv_item *item = call->item;
    if (call->task.outcome != REEVE_OUTCOME_NONE) return;
    rv_attempt_policy_choose(&policy, item, handler, t->pool->queue_sessions[item->lease.queue]);
    call->counts = true;
    call->task.thread_state = t->states[handler->index];
    if (atomic_load(&call->cancelled)) {
        (void)reeve_task_snooze(&call->task, 1);
    } else if (rv_run_task_is_barred(&call->task, item, &policy)) {
        call->counts = false;
    } else if (!ready) {
        (void)rv_run_task_fail_setup(&call->task, handler);
    }
}

/* Checks a task again after admission. One that runs at most once is settled now. */
static void admit(rv_thread *t, rv_invocation *call, const rv_handler *handler)
{
    rv_attempt_policy policy;
    rv_item *item = call->item;
    bar(t, call, handler, true);
    if (call->task.outcome != REEVE_OUTCOME_NONE) return;
    rv_attempt_policy_choose(&policy, item, handler, t->pool->queue_sessions[item->lease.queue]);
    if (policy.once && !rv_at_most_once_settle(t, item, &policy)) {
        (void)rv_run_task_not_begun(&call->task, item);
        return;
    }
    if (policy.once) rv_flight_clear(item);
    rv_flight_begin(item, policy.max_crashes);
}

/* The limits of all tasks begin with the call, because settling one of them may take as long as an outage of Redis. */
static void set_limits(rv_thread *t, const rv_invocation *call, const rv_handler *handler)
{
    rv_attempt_policy policy;
    rv_item *item = call->item;
    if (call->task.outcome != REEVE_OUTCOME_NONE) return;
    rv_attempt_policy_choose(&policy, item, handler, t->pool->queue_sessions[item->lease.queue]);
    rv_run_task_set_limits(t, item, &policy);
}

/* Lists the tasks that have no outcome yet. */
static size_t list_tasks(rv_thread *t, size_t count)
{
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        if (t->calls[i].task.outcome == REEVE_OUTCOME_NONE) t->call_tasks[listed++] = &t->calls[i].task;
    }
    return listed;
}

static void give_all_back(rv_thread *t, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rv_invocation *call = &t->calls[i];
        if (call->task.outcome == REEVE_OUTCOME_NONE) (void)rv_run_task_not_begun(&call->task, call->item);
    }
}

/* Calls the handler, unless no task is left for it. */
static void call_handler(rv_thread *t, const rv_handler *handler, size_t count)
{
    if (list_tasks(t, count) == 0) return;
    rv_attempt_policy policy;
    const rv_item *first = t->picked[0];
    rv_attempt_policy_choose(&policy, first, handler, t->pool->queue_sessions[first->lease.queue]);
    if (!rv_admission_enter(t, handler, policy.max_crashes, t->picked, count)) {
        give_all_back(t, count);
        return;
    }
    t->entered = handler;
    for (size_t i = 0; i < count; i++) admit(t, &t->calls[i], handler);
    for (size_t i = 0; i < count; i++) set_limits(t, &t->calls[i], handler);
    size_t listed = list_tasks(t, count);
    if (listed > 0 && t->isolated != NULL)
        rv_isolated_run(t, handler, t->call_tasks, listed);
    else if (listed > 0)
        rv_layers_run_batch(handler->layers, t->call_tasks, listed, &handler->handler);
    rv_take_thread_back(t->worker);
    t->entered = NULL;
    rv_admission_leave(t, handler);
}

static void end_call(rv_thread *t, rv_invocation *call, const rv_handler *handler)
{
    rv_attempt_policy policy;
    rv_item *item = call->item;
    reeve_outcome outcome = rv_task_take_batch(&call->task, handler->handler.type);
    rv_attempt_policy_choose(&policy, item, handler, t->pool->queue_sessions[item->lease.queue]);
    rv_at_most_once_end(t, item, &policy);
    rv_run_task_settle(t, &call->task, item, handler, &policy, outcome, call->counts);
    rv_lock(&t->batch.lock);
    item->call = NULL;
    rv_unlock(&t->batch.lock);
    rv_task_fini(&call->task);
}

void rv_batch_handler_run_end_early(rv_thread *t, const char *why)
{
    for (size_t i = 0; i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (item->call == NULL) continue;
        reeve_task *task = &item->call->task;
        if (task->outcome == REEVE_OUTCOME_NONE) (void)rv_task_failed(task, REEVE_OUTCOME_RETRY, "handler", "%s", why);
        end_call(t, item->call, item->batch_handler);
    }
}

/* Reads the options of the picked items. Those for which there is no memory go back. Returns how many are left. */
static size_t read_options(rv_thread *t, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        rv_item *item = t->picked[i];
        if (rv_attempt_policy_read(item, t->pool->queue_sessions[item->lease.queue]))
            t->picked[left++] = item;
        else
            rv_run_task_no_memory(t, item);
    }
    return left;
}

void rv_batch_handler_run(rv_thread *t, size_t count)
{
    const rv_handler *handler = t->picked[0]->batch_handler;
    if (!make_room(t, count)) {
        for (size_t i = 0; i < count; i++) rv_run_task_no_memory(t, t->picked[i]);
        return;
    }
    count = read_options(t, count);
    if (count == 0) return;
    for (size_t i = 0; i < count; i++) begin_call(t, &t->calls[i], t->picked[i]);
    bool ready = rv_run_task_set_up(t, handler);
    for (size_t i = 0; i < count; i++) bar(t, &t->calls[i], handler, ready);
    call_handler(t, handler, count);
    for (size_t i = 0; i < count; i++) end_call(t, &t->calls[i], handler);
}
