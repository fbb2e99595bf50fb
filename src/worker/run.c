/*
 * run.c - from a leased item to an outcome: finds the handler, prepares the thread for it, calls it, and decides what
 * its answer means (another attempt or death).
 */
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "base/retry.h"
#include "worker/lock.h"
#include "worker/notice.h"
#include "worker/policy.h"
#include "worker/thread.h"

/* The keeper took the running task over: its time is up, and by now it may be running elsewhere. */
static bool is_handed(rv_thread *t, const rv_item *item)
{
    rv_lock(&t->batch.lock);
    bool handed = item->state == RV_ITEM_HANDED;
    rv_unlock(&t->batch.lock);
    return handed;
}

static reeve_status report_progress(reeve_task *task, int percent, const char *words, void *context)
{
    rv_thread *t = context;
    rv_item *item = &t->batch.items[t->batch.running];
    const rv_claim *claim = t->pool->claims[item->lease.queue];
    const rv_reply *reply;
    (void)task;
    if (is_handed(t, item)) return REEVE_EREFUSED;
    if (!rv_conn_is_open(t->conn) && rv_conn_open(t->conn, rv_deadline(1000)) != REEVE_OK) return REEVE_ELOST;
    rv_progress_build(t->conn, &claim->prefix, t->batch.sessions[item->lease.queue], item->lease.id, percent, words);
    item->lease.has_info = true; /* also when the reply is lost */
    reeve_status status = rv_conn_call(t->conn, 0, &reply);
    if (status != REEVE_OK) return status == REEVE_EREDIS ? status : REEVE_ELOST;
    if (rv_reply_int(reply, 0) == 1) return REEVE_OK;
    atomic_store(&t->stop, true);
    return REEVE_EREFUSED;
}

static reeve_status report_hold(reeve_task *task, const char *group, int64_t delay_ms, void *context)
{
    rv_thread *t = context;
    const rv_claim *claim = t->pool->claims[t->batch.items[t->batch.running].lease.queue];
    const rv_reply *reply;
    (void)task;
    if (!rv_conn_is_open(t->conn) && rv_conn_open(t->conn, rv_deadline(1000)) != REEVE_OK) return REEVE_ELOST;
    rv_hold_build(t->conn, &claim->prefix, group, delay_ms);
    reeve_status status = rv_conn_call(t->conn, 0, &reply);
    return status == REEVE_OK || status == REEVE_EREDIS ? status : REEVE_ELOST;
}

static void prepare_task(rv_thread *t, rv_item *item, const rv_handler *handler)
{
    reeve_task *task = &t->task;
    rv_envelope *envelope = &item->lease.envelope;
    rv_task_begin(task);
    /* The header's newline becomes its end: the envelope lies in memory of this thread's own. */
    ((char *)envelope->header)[envelope->header_length] = '\0';
    task->queue = t->pool->claims[item->lease.queue]->queue;
    task->id = item->lease.id;
    task->type = handler != NULL ? handler->handler.type : "";
    task->payload = envelope->payload;
    task->header = envelope->header;
    task->attempt = item->lease.failures + 1;
    task->crashes = item->lease.crashes;
    task->enqueued_ms = envelope->at_ms;
    task->thread_state = NULL;
    t->host = (rv_task_host){.progress = report_progress, .hold = report_hold, .context = t, .stop = &t->stop};
    task->host = &t->host;
}

static bool set_up(rv_thread *t, const rv_handler *handler)
{
    if (handler->handler.thread_start != NULL && !t->set_up[handler->index]) {
        if (handler->handler.thread_start(handler->handler.user, &t->states[handler->index]) != 0) return false;
        t->set_up[handler->index] = true;
    }
    t->task.thread_state = t->states[handler->index];
    return true;
}

static reeve_outcome call_handler(rv_thread *t, const rv_handler *handler)
{
    if (!set_up(t, handler)) {
        return rv_task_failed(&t->task, REEVE_OUTCOME_RETRY, "setup",
                              "the handler of type %s could not set up this thread", handler->handler.type);
    }
    if (handler->plugin != NULL) rv_plugin_enter(handler->plugin);
    reeve_outcome verb = rv_task_run(&t->task, &handler->handler);
    if (handler->plugin != NULL) rv_plugin_leave(handler->plugin);
    return verb;
}

/* Runs it, unless there is nobody to run it or it has brought down too many workers. */
static reeve_outcome attempt(rv_thread *t, const rv_item *item, const rv_handler *handler, const rv_policy *policy,
                             bool *ret_counts)
{
    const rv_envelope *envelope = &item->lease.envelope;
    *ret_counts = true;
    if (item->lease.crashes >= policy->max_crashes) {
        *ret_counts = false;
        return rv_task_failed(&t->task, REEVE_OUTCOME_FAIL, "crash", "%u workers died while they held this task",
                              item->lease.crashes);
    }
    if (handler == NULL) {
        return rv_task_failed(&t->task, REEVE_OUTCOME_RETRY, "no_handler",
                              "this worker has no handler for type %.*s: load its plugin", (int)envelope->type_length,
                              envelope->type);
    }
    return call_handler(t, handler);
}

/* What a request for another attempt comes to. */
static void decide_retry(rv_settlement *s, const rv_item *item, const rv_policy *policy)
{
    unsigned failures = item->lease.failures + 1;
    if (failures >= policy->max_attempts) {
        s->verb = REEVE_OUTCOME_FAIL;
    } else if (s->delay_ms < 0) {
        s->delay_ms = rv_backoff_delay(policy->backoff, failures, rv_random_unit());
    }
}

/* What the outcome means for the task; false when there was no memory to keep its words. */
static bool decide(rv_thread *t, rv_item *item, reeve_outcome verb, const rv_policy *policy, bool counts)
{
    reeve_task *task = &t->task;
    rv_settlement s = {.id = item->lease.id,
                       .verb = verb,
                       .counts = counts,
                       .has_info = item->lease.has_info,
                       .unique = policy->unique};
    s.delay_ms = task->delay_ms;
    if (verb == REEVE_OUTCOME_DONE) {
        s.has_result = task->result.length > 0;
        s.result = (reeve_bytes){.data = task->result.data, .length = task->result.length};
    } else if (verb != REEVE_OUTCOME_SNOOZE) {
        s.kind = task->kind;
        s.message = task->message;
    }
    if (verb == REEVE_OUTCOME_RETRY) decide_retry(&s, item, policy);
    if (verb == REEVE_OUTCOME_SNOOZE || (verb == REEVE_OUTCOME_DONE && !s.has_result)) {
        item->outcome = s;
        return true;
    }
    return rv_settlement_copy(&item->outcome, &item->kept, &s);
}

void rv_thread_run(rv_thread *t, rv_item *item)
{
    rv_policy policy;
    bool counts;
    const rv_envelope *envelope = &item->lease.envelope;
    const rv_handler *handler = rv_handlers_find(&t->worker->handlers, envelope->type, envelope->type_length);
    rv_claim *claim = t->pool->claims[item->lease.queue];
    rv_policy_choose(&policy, envelope, handler, claim);
    prepare_task(t, item, handler);
    if (policy.timeout_ms > 0) {
        int64_t until = rv_deadline(policy.timeout_ms);
        rv_lock(&t->batch.lock);
        t->batch.running_until_ms = until;
        item->timeout_ms = policy.timeout_ms;
        rv_unlock(&t->batch.lock);
        rv_keeper_expect(t->worker, until);
    }
    reeve_outcome verb = attempt(t, item, handler, &policy, &counts);
    /* (The queue's policy may have changed while it ran: what it says at the failure holds.) */
    if (verb == REEVE_OUTCOME_RETRY) rv_policy_choose(&policy, envelope, handler, claim);
    if (!decide(t, item, verb, &policy, counts)) {
        /* Without memory for its words the outcome is still the same, if need be without its result. */
        item->outcome = (rv_settlement){.id = item->lease.id,
                                        .verb = REEVE_OUTCOME_RETRY,
                                        .delay_ms = 1000,
                                        .kind = "memory",
                                        .message = "no memory to keep the outcome"};
    }
    rv_note_failure(t->task.queue, &item->lease, &item->outcome);
}
