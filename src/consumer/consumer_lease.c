/*
 * consumer_lease.c - leasing: turns and waits of the consumer's thread, as thread.c takes them for a worker.
 */
#include <string.h>

#include "base/id.h"
#include "base/lock.h"
#include "consumer/consumer.h"
#include "consumer/consumer_gate.h"
#include "consumer/consumer_layers.h"
#include "consumer/consumer_watch.h"
#include "consumer/pulled.h"
#include "protocol/partition.h"
#include "running/batch_pass.h"
#include "running/thread_state.h"
#include "running/thread_wait.h"
#include "running/turn.h"

/* Tasks that the thread was handed while another call had it. */
static bool any_waiting(const reeve_consumer *c)
{
    return rv_batch_count(&c->thread->batch, RV_ITEM_WAITING) > 0;
}

static reeve_status take_turn(reeve_consumer *c, unsigned want)
{
    if (!rv_turn_run(c->thread, want)) return rv_consumer_gate_gave_up(c);
    c->finished_bytes = 0;
    return REEVE_OK;
}

/* Waits in Redis, until a task comes, another call comes, or the time is up. */
static void wait_in_redis(reeve_consumer *c, unsigned want)
{
    if (!rv_consumer_gate_begin_wait(c)) return;
    rv_thread_wait(c->thread, want);
    rv_consumer_gate_end_wait(c);
}

static bool may_wait(const reeve_consumer *c)
{
    const rv_thread *t = c->thread;
    return rv_thread_state_waits(t) && !rv_pulled_any_finished(c) && rv_conn_is_open(t->conn) &&
           rv_conn_epoch(t->conn) == t->epoch;
}

/* A turn, or a wait for which the last turn was the preparation. False: gave up. */
static bool go_on(reeve_consumer *c, unsigned want)
{
    rv_thread *t = c->thread;
    if (!may_wait(c)) return rv_turn_run(t, want);
    wait_in_redis(c, want);
    /* A wait that ended without a task tells to look for one. */
    return t->state != RV_THREAD_TURN || any_waiting(c) || rv_turn_run(t, want);
}

/* Redis is to hand the thread no task after the call. What it was handed until then is leased. */
static void leave_idle(reeve_consumer *c)
{
    rv_thread *t = c->thread;
    while (rv_thread_state_is_registered(t) && rv_conn_is_open(t->conn)) {
        if (!rv_turn_leave_idle(t) || t->state != RV_THREAD_IDLE) break;
        rv_thread_wait(t, 1); /* it was handed something: the list has it */
    }
    if (t->state == RV_THREAD_RECOVER) (void)rv_turn_run(t, 0);
}

/* Sends the outcomes of tasks that were not admitted. */
static void flush_barred(reeve_consumer *c)
{
    if (rv_pulled_any_finished(c)) (void)rv_turn_run(c->thread, 0);
}

static bool is_interrupted(reeve_consumer *c)
{
    return atomic_exchange(&c->interrupted, false);
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many tasks of `max` the program may get now. */
static unsigned room_for(const reeve_consumer *c, unsigned max)
{
    return c->held < c->max ? smaller(max, c->max - c->held) : 0;
}

static reeve_status refuse_full(reeve_consumer *c)
{
    return rv_fail(&c->error, REEVE_ESTATE, "the program holds %u tasks: at most %u", c->held, c->max);
}

/* until: of the wait (monotonic ms). */
static reeve_status lease(reeve_consumer *c, reeve_task **ret, unsigned max, int64_t until, unsigned *ret_count)
{
    rv_thread *t = c->thread;
    reeve_status status = REEVE_OK;
    unsigned want = room_for(c, max);
    t->passes = until <= rv_now_ms();
    t->wait_until_ms = until;
    if (!any_waiting(c)) status = take_turn(c, want);
    if (status == REEVE_OK) t->woken = false;
    while (status == REEVE_OK && (*ret_count = rv_pulled_admit(c, ret, want)) == 0) {
        if (rv_now_ms() >= until) break;
        if (is_interrupted(c)) {
            status = REEVE_EINTERRUPTED;
            break;
        }
        rv_consumer_gate_yield(c);
        want = room_for(c, max); /* other threads of the program may have leased tasks meanwhile */
        if (want == 0)
            status = refuse_full(c);
        else if (!any_waiting(c) && !go_on(c, want))
            status = rv_consumer_gate_gave_up(c);
    }
    t->passes = true;
    t->until_ms = rv_deadline(c->worker->command_ms);
    if (status == REEVE_OK || status == REEVE_EINTERRUPTED || want == 0) leave_idle(c);
    if (*ret_count == 0 && want > 0) *ret_count = rv_pulled_admit(c, ret, want);
    if (want == 0) rv_batch_pass_give_back(t);
    flush_barred(c);
    return *ret_count > 0 ? REEVE_OK : status;
}

static reeve_status lease_any(reeve_consumer *c, reeve_task **ret, unsigned max, int64_t wait_ms, unsigned *ret_count)
{
    reeve_status status = rv_consumer_gate_enter(c, wait_ms);
    if (status != REEVE_OK) return status;
    *ret_count = 0;
    rv_consumer_watch_begin_lease(c);
    int64_t until = rv_consumer_watch_is_on(c) ? 0 : wait_ms < 0 ? RV_FOREVER : rv_deadline(wait_ms);
    if (c->held >= c->max) {
        status = refuse_full(c);
    } else {
        status = rv_consumer_heartbeat_when_due(c);
    }
    if (status == REEVE_OK) {
        rv_pulled_note_company(c);
        status = lease(c, ret, max, until, ret_count);
    }
    rv_consumer_watch_end_lease(c, *ret_count < max);
    rv_consumer_gate_leave(c);
    return status;
}

/* A call whose tasks were all ended by layers goes on. */
reeve_status reeve_consumer_lease(reeve_consumer *c, reeve_task **ret, unsigned max, int64_t wait_ms,
                                  unsigned *ret_count)
{
    if (c == NULL || ret == NULL || max == 0 || ret_count == NULL) return REEVE_EINVAL;
    int64_t until = wait_ms < 0 ? RV_FOREVER : rv_deadline(wait_ms);
    for (;;) {
        unsigned count = 0;
        reeve_status status = lease_any(c, ret, max, wait_ms, &count);
        *ret_count = count;
        if (status != REEVE_OK || count == 0) return status;
        *ret_count = rv_consumer_layers_before(c, ret, count);
        int64_t left = until - rv_now_ms();
        if (*ret_count > 0 || left <= 0) return REEVE_OK;
        if (wait_ms > 0) wait_ms = left;
    }
}

/* ---- one task, by its id --------------------------------------------------------------------------------------- */

static reeve_status refuse(reeve_consumer *c, const char *queue, const char *id)
{
    const char *why = c->thread->named_refusal;
    if (strcmp(why, "none") == 0) return rv_fail(&c->error, REEVE_ENOTFOUND, "there is no task %s/%s", queue, id);
    if (strcmp(why, "paused") == 0) return rv_fail(&c->error, REEVE_EREFUSED, "the queue %s is paused", queue);
    if (strcmp(why, "limit") == 0)
        return rv_fail(&c->error, REEVE_EREFUSED, "%s/%s may not start now: a limit or a pause holds it back", queue,
                       id);
    if (strcmp(why, "put off") == 0)
        return rv_fail(&c->error, REEVE_EREFUSED, "%s/%s may not start beside what this consumer holds or held", queue,
                       id);
    return rv_fail(&c->error, REEVE_EREFUSED, "%s/%s is %s, not ready", queue, id, why);
}

/* A turn that has outcomes to send leases nothing; the next one does. A thread of the program that waits for any task
 * may have the consumer's thread in `idle`: what that was handed is for the thread that waits, unless it is this one. */
static reeve_status lease_named(reeve_consumer *c, size_t queue, const char *id, reeve_task **ret)
{
    rv_thread *t = c->thread;
    reeve_status status = REEVE_OK;
    t->passes = true;
    leave_idle(c);
    bool found = rv_pulled_admit_id(c, ret, queue, id);
    t->named_queue = queue;
    t->named_refusal[0] = '\0';
    while (status == REEVE_OK && !found && t->named_refusal[0] == '\0') {
        t->named = id;
        status = take_turn(c, 1);
        t->named = NULL;
        found = rv_pulled_admit_id(c, ret, queue, id);
        flush_barred(c);
    }
    if (found) return REEVE_OK;
    return status != REEVE_OK ? status : refuse(c, t->pool->queue_sessions[queue]->queue, id);
}

static bool serves(const reeve_consumer *c, const char *queue)
{
    const rv_pool *pool = c->thread->pool;
    for (size_t i = 0; i < pool->queue_session_count; i++)
        if (rv_partition_is_of(pool->queue_sessions[i]->queue, queue)) return true;
    return false;
}

/* A layer may have ended the task instead of giving it to the program. */
static reeve_status pass_layers(reeve_consumer *c, const char *queue, const char *id, reeve_task **ret)
{
    reeve_task *task = *ret;
    if (rv_consumer_layers_before(c, &task, 1) == 1) return REEVE_OK;
    *ret = NULL;
    return rv_fail(&c->error, REEVE_EREFUSED, "a layer has settled %s/%s before the program got it", queue, id);
}

/* One of the partitions of a divided queue has the task. */
static reeve_status lease_from_partitions(reeve_consumer *c, const char *queue, const char *id, reeve_task **ret)
{
    const rv_pool *pool = c->thread->pool;
    reeve_status status = REEVE_ENOTFOUND;
    for (size_t i = 0; status == REEVE_ENOTFOUND && i < pool->queue_session_count; i++)
        if (rv_partition_is_of(pool->queue_sessions[i]->queue, queue)) status = lease_named(c, i, id, ret);
    if (status == REEVE_ENOTFOUND) (void)rv_fail(&c->error, status, "there is no task %s/%s", queue, id);
    return status;
}

reeve_status reeve_consumer_lease_id(reeve_consumer *c, const char *queue, const char *id, reeve_task **ret)
{
    if (c == NULL || queue == NULL || id == NULL || ret == NULL) return REEVE_EINVAL;
    reeve_status status = rv_consumer_gate_enter(c, 0);
    if (status != REEVE_OK) return status;
    if (!serves(c, queue))
        status = rv_fail(&c->error, REEVE_EINVAL, "the consumer does not serve the queue %s", queue);
    else if (!rv_valid_id(id, strlen(id)))
        status = rv_fail(&c->error, REEVE_EINVAL, "the id is not valid");
    else if (c->held >= c->max)
        status = rv_fail(&c->error, REEVE_ESTATE, "the program holds %u tasks: at most %u", c->held, c->max);
    else
        status = rv_consumer_heartbeat_when_due(c);
    if (status == REEVE_OK) {
        rv_pulled_note_company(c);
        status = lease_from_partitions(c, queue, id, ret);
    }
    rv_consumer_gate_leave(c);
    return status == REEVE_OK ? pass_layers(c, queue, id, ret) : status;
}

void reeve_consumer_interrupt(reeve_consumer *c)
{
    if (c == NULL) return;
    atomic_store(&c->interrupted, true);
    rv_waker_ring(&c->thread->waker);
}
