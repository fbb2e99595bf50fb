/*
 * run_task.c - from a leased item to an outcome: finds the handler, prepares the thread for it, calls it, and decides
 * what its answer means (another attempt or death).
 */
#include <string.h>

#include "base/id.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "handlers/dependencies.h"
#include "handlers/layers_run.h"
#include "protocol/canary.h"
#include "protocol/settlement.h"
#include "running/admission.h"
#include "running/at_most_once.h"
#include "running/block_task.h"
#include "running/chain_place.h"
#include "running/failure_log.h"
#include "running/flight.h"
#include "running/forked.h"
#include "running/invocation.h"
#include "running/isolated.h"
#include "running/run_task.h"
#include "running/task_host.h"
#include "running/wakeup.h"

/* What found the handler is at most as long as a type. */
static void set_own_type(reeve_task *task, const rv_envelope *envelope)
{
    size_t length = envelope->type_length < REEVE_TYPE_MAX ? envelope->type_length : REEVE_TYPE_MAX;
    memcpy(task->own_type, envelope->type, length);
    task->own_type[length] = '\0';
    task->type = task->own_type;
}

void rv_run_task_prepare(rv_thread *t, reeve_task *task, rv_task_host *host, rv_item *item, const rv_handler *handler)
{
    const rv_envelope *envelope = &item->lease.envelope;
    rv_task_begin(task);
    task->queue = t->pool->queue_sessions[item->lease.queue]->queue;
    task->id = item->lease.id;
    task->type = handler != NULL ? handler->handler.type : "";
    if (handler != NULL && handler->is_pattern) set_own_type(task, envelope);
    task->payload = envelope->payload;
    task->options = item->options;
    task->attempt = item->lease.failures + 1;
    task->crashes = item->lease.crashes;
    task->enqueued_ms = envelope->at_ms;
    task->thread_state = NULL;
    if (host->context != t) *host = rv_task_host_make(t);
    host->result_max = &t->pool->queue_sessions[item->lease.queue]->result_max;
    host->payload_max = &t->pool->queue_sessions[item->lease.queue]->payload_max;
    task->host = host;
}

bool rv_run_task_set_up(rv_thread *t, const rv_handler *handler)
{
    if (t->isolated != NULL) return true; /* its process does that */
    if (handler->handler.thread_start != NULL && !t->set_up[handler->index]) {
        int failed = handler->handler.thread_start(handler->handler.user, &t->states[handler->index]);
        rv_take_thread_back(t->worker);
        if (failed != 0) return false;
        t->set_up[handler->index] = true;
    }
    return true;
}

reeve_outcome rv_run_task_fail_setup(reeve_task *task, const rv_handler *handler)
{
    return rv_task_failed(task, REEVE_OUTCOME_RETRY, "setup", "the handler of type %s could not set up this thread",
                          handler->handler.type);
}

bool rv_run_task_is_barred(reeve_task *task, const rv_item *item, const rv_attempt_policy *policy)
{
    if (policy->malformed != NULL) {
        (void)rv_task_failed(task, REEVE_OUTCOME_FAIL, "malformed", "%s", policy->malformed);
        return true;
    }
    int64_t deadline_ms = item->lease.envelope.deadline_ms;
    if (deadline_ms > 0 && item->lease.since_ms + item->gate_us / 1000 >= deadline_ms) {
        (void)rv_task_failed(task, REEVE_OUTCOME_FAIL, "expired", "not begun by its deadline");
        return true;
    }
    if (policy->bound_to != NULL && item->lease.crashes == 0) {
        (void)rv_task_failed(task, REEVE_OUTCOME_FAIL, "worker", "it was for the worker %.100s, which did not end it",
                             policy->bound_to);
        return true;
    }
    if (item->lease.crashes < policy->max_crashes) return false;
    /* Another task may have caused the crashes. This one runs once more, alone, which shows whether it does. */
    if (!item->lease.crashed_alone && policy->max_crashes > 1) return false;
    if (item->lease.crashes == 1)
        (void)rv_task_failed(task, REEVE_OUTCOME_FAIL, "crash", "a worker died while it held this task");
    else
        (void)rv_task_failed(task, REEVE_OUTCOME_FAIL, "crash", "%u workers died while they held this task",
                             item->lease.crashes);
    return true;
}

void rv_run_task_set_limits(rv_thread *t, rv_item *item, const rv_attempt_policy *policy)
{
    if (policy->timeout_ms <= 0 && policy->heartbeat_ms <= 0) return;
    rv_lock(&t->batch.lock);
    item->timeout_ms = policy->timeout_ms;
    item->timeout_at_ms = policy->timeout_ms > 0 ? rv_deadline(policy->timeout_ms) : RV_FOREVER;
    item->heartbeat_ms = policy->heartbeat_ms;
    item->grace_ms = policy->grace_ms;
    rv_unlock(&t->batch.lock);
    rv_wakeup_keeper_at(t->worker, rv_task_host_note_life(t, item));
}

reeve_outcome rv_run_task_not_begun(reeve_task *task, rv_item *item)
{
    item->unbegun = true;
    return reeve_task_give_back(task);
}

static void run_isolated(rv_thread *t, const rv_handler *handler)
{
    reeve_task *const tasks[] = {&t->task};
    rv_isolated_run(t, handler, tasks, 1);
}

/* Calls the handler, after admission. The time limits begin with the call, because settling a task that runs at most
 * once may take as long as an outage of Redis. */
static reeve_outcome call_handler(rv_thread *t, rv_item *item, const rv_handler *handler,
                                  const rv_attempt_policy *policy, bool *ret_counts)
{
    /* Also checked before admission: only a wait can have changed the answer. */
    if (item->gate_us > 0 && rv_run_task_is_barred(&t->task, item, policy)) {
        *ret_counts = false;
        return t->task.outcome;
    }
    if (policy->once && !rv_at_most_once_settle(t, item, policy)) return rv_run_task_not_begun(&t->task, item);
    t->task.past = policy->once;
    if (policy->once) rv_flight_clear(item);
    rv_flight_begin(item, policy->max_crashes);
    rv_run_task_set_limits(t, item, policy);
    if (t->isolated != NULL)
        run_isolated(t, handler);
    else
        (void)rv_layers_run(handler->layers, &t->task, &handler->handler);
    rv_take_thread_back(t->worker);
    if (item->accepted) rv_at_most_once_end(t, item, policy);
    return t->task.outcome;
}

static reeve_outcome call_in_turn(rv_thread *t, rv_item *item, const rv_handler *handler,
                                  const rv_attempt_policy *policy, bool *ret_counts)
{
    if (!rv_run_task_set_up(t, handler)) return rv_run_task_fail_setup(&t->task, handler);
    t->task.thread_state = t->states[handler->index];
    if (!rv_admission_enter(t, handler, policy->max_crashes, &item, 1)) return rv_run_task_not_begun(&t->task, item);
    t->entered = handler;
    reeve_outcome outcome = call_handler(t, item, handler, policy, ret_counts);
    t->entered = NULL;
    rv_admission_leave(t, handler);
    return outcome;
}

static bool is_canary(const rv_envelope *envelope, const rv_handler *handler)
{
    return (handler == NULL || handler->is_pattern) && envelope->type_length == strlen(RV_CANARY_TYPE) &&
           memcmp(envelope->type, RV_CANARY_TYPE, envelope->type_length) == 0;
}

/* Runs the task, unless it has no handler or has crashed too many workers. */
static reeve_outcome attempt(rv_thread *t, rv_item *item, const rv_handler *handler, const rv_attempt_policy *policy,
                             bool *ret_counts)
{
    const rv_envelope *envelope = &item->lease.envelope;
    *ret_counts = true;
    if (atomic_load(&t->cancelled)) return reeve_task_snooze(&t->task, 1);
    if (rv_run_task_is_barred(&t->task, item, policy)) {
        *ret_counts = false;
        return t->task.outcome;
    }
    if (is_canary(envelope, handler)) return reeve_task_done(&t->task, NULL, 0);
    if (handler == NULL && !rv_valid_type(envelope->type, envelope->type_length)) {
        *ret_counts = false;
        return rv_task_failed(&t->task, REEVE_OUTCOME_FAIL, "malformed", "its type is not a type");
    }
    if (handler == NULL) {
        return rv_task_failed(&t->task, REEVE_OUTCOME_RETRY, "no_handler",
                              "this worker has no handler for type %.*s: load its plugin", (int)envelope->type_length,
                              envelope->type);
    }
    return call_in_turn(t, item, handler, policy, ret_counts);
}

/* Without memory for its texts, a failed attempt keeps its outcome. A completed task runs again, because its result
 * or its chained tasks would be missing. */
static void do_without_memory(rv_settlement *s)
{
    s->kind = "memory";
    s->message = "no memory to keep the outcome";
    if (s->outcome != REEVE_OUTCOME_DONE) return;
    s->outcome = REEVE_OUTCOME_RETRY;
    s->delay_ms = 1000;
    s->has_result = false;
    s->result = s->chained = (reeve_bytes){0};
    s->chained_count = 0;
}

/* The tasks that it chains, in the partitions of their queues. */
static void place_chained(rv_thread *t, const reeve_task *task, rv_settlement *s, rv_buf *placed)
{
    if (s->chained_count == 0 || !atomic_load_explicit(&t->worker->has_partitions, memory_order_relaxed)) return;
    const rv_task_host host = rv_task_host_make(t); /* the task's own may wait for the caller: consumer/pulled_host.h */
    if (rv_chain_place(t->worker, &host, task->queue, s->chained, s->chained_count, placed))
        s->chained = (reeve_bytes){placed->data, placed->length};
}

/* Makes the settlement of an outcome. */
static void decide(rv_thread *t, const reeve_task *task, rv_item *item, reeve_outcome outcome,
                   const rv_attempt_policy *policy, bool counts)
{
    rv_settlement s = {.id = item->lease.id,
                       .id_length = item->lease.id_length,
                       .outcome = outcome,
                       .counts = counts,
                       .has_info = item->lease.has_info,
                       .checkpoint = item->lease.has_checkpoint,
                       .deadline = item->lease.envelope.deadline_ms > 0,
                       .begun = !item->unbegun,
                       .counted = policy->max_snoozes > 0 && task->delay_ms > 0,
                       .records_run = policy->records_runs,
                       .keeps_record = policy->keeps_record,
                       .unique = policy->unique,
                       .crashed = task->crashed && outcome == REEVE_OUTCOME_FAIL && !item->accepted,
                       .max_crashes = (unsigned)policy->max_crashes,
                       .backtrace = task->backtrace != NULL ? task->backtrace : ""};
    rv_buf placed;
    rv_buf_init(&placed, SIZE_MAX);
    s.delay_ms = task->delay_ms;
    if (outcome == REEVE_OUTCOME_DONE) {
        s.has_result = task->result.length > 0;
        s.result = (reeve_bytes){.data = task->result.data, .length = task->result.length};
        s.chained = rv_dependencies_chained(task->dependencies, &s.chained_count);
        place_chained(t, task, &s, &placed);
    } else if (outcome != REEVE_OUTCOME_SNOOZE) {
        s.kind = task->kind;
        s.message = task->message;
    }
    if (outcome == REEVE_OUTCOME_RETRY)
        rv_attempt_policy_decide_retry(policy, &item->lease, &s,
                                       rv_attempt_policy_now(policy, &item->lease, t->worker));
    bool plain = outcome == REEVE_OUTCOME_DONE && !s.has_result && s.chained_count == 0;
    if (outcome != REEVE_OUTCOME_SNOOZE && !plain) {
        bool copied = rv_settlement_copy(&item->settlement, &item->kept, &s);
        rv_buf_fini(&placed);
        if (copied) return;
        do_without_memory(&s);
    }
    item->settlement = s;
}

static bool ends_well(reeve_outcome outcome)
{
    return outcome == REEVE_OUTCOME_DONE || outcome == REEVE_OUTCOME_CANCEL || outcome == REEVE_OUTCOME_DISCARD;
}

/* The script cancels such a task unless it is completed: any other outcome is no failure. */
static reeve_outcome give_up_cancelled(rv_thread *t, reeve_task *task, const rv_item *item, reeve_outcome outcome)
{
    if (ends_well(outcome) || !atomic_load(rv_invocation_cancelled(t, item))) return outcome;
    return reeve_task_snooze(task, 1); /* a delay, so that it is not put to the front first */
}

/* The task was settled as completed before it ran: a failure is only counted and logged. */
static void settled_before(const reeve_task *task, rv_item *item)
{
    rv_settlement *s = &item->settlement;
    s->failed = s->outcome == REEVE_OUTCOME_RETRY || s->outcome == REEVE_OUTCOME_FAIL;
    if (s->failed) {
        rv_log(REEVE_LOG_WARN, "task.failed", "the task failed: it runs at most once, no other attempt follows",
               "queue", task->queue, "task", s->id, "type", task->type, "kind", s->kind, "error", s->message, NULL);
    }
    s->outcome = REEVE_OUTCOME_DONE;
}

void rv_run_task_settle(rv_thread *t, reeve_task *task, rv_item *item, const rv_handler *handler,
                        rv_attempt_policy *policy, reeve_outcome outcome, bool counts)
{
    rv_queue_session *queue_session = t->pool->queue_sessions[item->lease.queue];
    if (!item->unbegun) outcome = rv_attempt_policy_limit_snoozes(policy, &item->lease, task, outcome, &counts);
    outcome = give_up_cancelled(t, task, item, outcome);
    /* The policy of the queue may have changed while the task ran: the policy at the time of the failure applies. */
    if (outcome == REEVE_OUTCOME_RETRY) rv_attempt_policy_choose(policy, item, handler, queue_session);
    bool settled = item->accepted;
    rv_block_task_settle(t, item, task);
    decide(t, task, item, outcome, policy, counts);
    if (settled)
        settled_before(task, item);
    else if (outcome != REEVE_OUTCOME_DONE)
        rv_failure_log(task->queue, &item->lease, &item->settlement);
}

#define TRY_AGAIN_MS 1000
#define LOGGED_AGAIN_MS 60000

void rv_run_task_no_memory(rv_thread *t, rv_item *item)
{
    item->settlement = rv_settlement_give_back(&item->lease);
    item->settlement.delay_ms = TRY_AGAIN_MS;
    item->unbegun = true;
    int64_t now_ms = rv_now_ms();
    if (t->no_memory_ms > 0 && now_ms - t->no_memory_ms < LOGGED_AGAIN_MS) return;
    t->no_memory_ms = now_ms;
    rv_log(REEVE_LOG_WARN, "task.no_memory", "no memory to run a task: it goes back, and is tried again in a second",
           "queue", t->pool->queue_sessions[item->lease.queue]->queue, "task", item->lease.id, NULL);
}

void rv_run_task(rv_thread *t, rv_item *item)
{
    rv_attempt_policy policy;
    bool counts;
    const rv_envelope *envelope = &item->lease.envelope;
    rv_queue_session *queue_session = t->pool->queue_sessions[item->lease.queue];
    const rv_handler *handler = rv_handler_table_find(&t->set->handlers, envelope->type, envelope->type_length);
    if (!rv_attempt_policy_read(item, queue_session)) {
        rv_run_task_no_memory(t, item);
        return;
    }
    rv_attempt_policy_choose(&policy, item, handler, queue_session);
    rv_run_task_prepare(t, &t->task, &t->host, item, handler);
    reeve_outcome outcome = attempt(t, item, handler, &policy, &counts);
    rv_run_task_settle(t, &t->task, item, handler, &policy, outcome, counts);
}

void rv_run_task_end_early(rv_thread *t, rv_item *item, const char *why)
{
    rv_attempt_policy policy;
    const rv_envelope *envelope = &item->lease.envelope;
    const rv_handler *handler = rv_handler_table_find(&t->set->handlers, envelope->type, envelope->type_length);
    rv_attempt_policy_choose(&policy, item, handler, t->pool->queue_sessions[item->lease.queue]);
    reeve_outcome outcome = rv_task_failed(&t->task, REEVE_OUTCOME_RETRY, "handler", "%s", why);
    rv_at_most_once_end(t, item, &policy);
    rv_run_task_settle(t, &t->task, item, handler, &policy, outcome, true);
}
