#include "running/thread.h"
#include "running/stuck.h"

#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "protocol/definition.h"
#include "running/admission.h"
#include "running/alone.h"
#include "running/batch_handler.h"
#include "running/batch_handler_run.h"
#include "running/batch_pass.h"
#include "running/bound.h"
#include "running/flight.h"
#include "running/forked.h"
#include "running/isolated.h"
#include "running/os_thread.h"
#include "running/pool_demand.h"
#include "running/pool_threads.h"
#include "running/run_task.h"
#include "running/share.h"
#include "running/thread_place.h"
#include "running/thread_state.h"
#include "running/thread_wait.h"
#include "running/turn.h"
#include "running/worker_conn.h"

/* ---- main ------------------------------------------------------------------------------------------------------ */

static void tear_down(rv_thread *t)
{
    rv_isolated_end(t);
    const rv_handlers *handlers = &t->set->handlers;
    for (size_t i = 0; i < handlers->count; i++) {
        const reeve_handler *handler = &handlers->list[i]->handler;
        bool was_set_up = t->set_up[i];
        t->set_up[i] = false;
        if (was_set_up && handler->thread_stop != NULL) handler->thread_stop(handler->user, t->states[i]);
        rv_take_thread_back(t->worker);
    }
}

/* Waits or takes a turn. A thread that is to run its batch is first taken out of `idle`, because a task that it is
 * handed would wait behind the batch; what it was handed before joins the batch. False when the worker leaves. */
static bool take_turn(rv_thread *t, bool running)
{
    unsigned want = running ? rv_batch_handler_want(t) : 0;
    bool settled = rv_batch_count(&t->batch, RV_ITEM_FINISHED) == 0;
    bool same = rv_conn_is_open(t->conn) && rv_conn_epoch(t->conn) == t->epoch;
    if (running && rv_thread_state_is_registered(t) && rv_batch_handler_has_ripe(t)) {
        if (!rv_turn_leave_idle(t)) return false;
        if (t->state != RV_THREAD_IDLE) return true;
        rv_thread_wait(t, want);
    } else if (rv_thread_state_waits(t) && want > 0 && settled && same) {
        rv_thread_wait(t, want);
    } else {
        return rv_turn_run(t, want);
    }
    /* A wait that ended without a task tells the thread to look for one, before it runs its batch. */
    return t->state != RV_THREAD_TURN || t->fresh > 0 || rv_turn_run(t, want);
}

/* Whether the thread looks which tasks of its batch may run; those of a worker that takes no more go back. It does not
 * while it may be registered in Redis, as after a wait whose reply was lost. */
static bool looks_at_batch(const rv_thread *t)
{
    if (t->batch.count == 0) return false;
    if (rv_thread_phase(t) != RV_PHASE_RUNNING) return true;
    return t->state == RV_THREAD_RECOVER ? t->fresh > 0 : !rv_thread_state_is_registered(t);
}

static _Thread_local const reeve_worker *own_worker;

bool rv_thread_is_inside(const reeve_worker *worker)
{
    return own_worker == worker;
}

/* Redis may hand a task to a thread that is registered, and it is asked what a lost call did. */
static bool is_to_go_on(const rv_thread *t)
{
    return rv_thread_phase(t) < RV_PHASE_STOPPING || t->batch.count > 0 || t->state == RV_THREAD_RECOVER ||
           rv_thread_state_is_registered(t);
}

static bool is_held(rv_thread *t)
{
    return rv_alone_bars(t) || (t->isolated != NULL && !rv_isolated_is_able(t));
}

static void hold(rv_thread *t)
{
    if (rv_alone_bars(t) || t->isolated == NULL)
        rv_alone_hold(t);
    else
        rv_isolated_hold(t);
}

static void run_until_the_end(rv_thread *t)
{
    while (is_to_go_on(t)) {
        bool running = rv_thread_phase(t) == RV_PHASE_RUNNING && !is_held(t);
        /* It may have been handed a task: recovery removes its registration and returns that task. */
        if (!running && rv_thread_state_is_registered(t)) rv_thread_state_enter(t, RV_THREAD_RECOVER);
        if (running && rv_bound_any(t->pool)) {
            if (!rv_bound_lease(t)) break;
        } else if (running || t->batch.count > 0 || t->state == RV_THREAD_RECOVER) {
            if (!take_turn(t, running)) break;
        } else if (rv_thread_phase(t) == RV_PHASE_RUNNING) {
            hold(t);
        } else {
            rv_thread_wait_for_end(t);
        }
        if (looks_at_batch(t)) rv_batch_pass_run(t);
    }
    rv_thread_wait_pass_on(t);
    tear_down(t);
}

/* With the worker's lock, where a handler ended the thread. */
static void count_out(reeve_worker *worker)
{
    worker->threads_alive--;
    rv_lock_check(pthread_cond_broadcast(&worker->thread_ended));
}

/* ---- a handler that ends its thread ---------------------------------------------------------------------------- */

#define ENDED_THREAD "it ended the thread that it ran on (pthread_exit)"

/* The running task has failed; the tasks that have not begun go back. */
static void end_running(rv_thread *t)
{
    const rv_handler *entered = t->entered;
    rv_item *item = &t->batch.items[t->batch.running];
    t->insists = false;
    if (item->batch_handler != NULL)
        rv_batch_handler_run_end_early(t, ENDED_THREAD);
    else
        rv_run_task_end_early(t, item, ENDED_THREAD);
    t->entered = NULL;
    if (entered != NULL) rv_admission_leave(t, entered);
    (void)rv_batch_pass_note_finished(t, 1);
    rv_batch_pass_give_back(t);
    atomic_store(&t->activity, RV_ACTIVITY_NONE);
    rv_pool_demand_note_run(t, false);
}

/* Another thread continues with the state of this one. Both count as alive for a moment, so that nobody joins before
 * the new id is set. If none can be started, this thread settles the last outcomes. */
static bool take_place(rv_thread *t)
{
    reeve_worker *worker = t->worker;
    rv_error error = {0};
    (void)pthread_detach(pthread_self());
    rv_lock(&worker->lock);
    worker->threads_alive++;
    bool started = rv_os_thread_start(&t->id, rv_thread_main, t, t->name, &error) == REEVE_OK;
    t->started = started;
    rv_unlock(&worker->lock);
    if (started) return true;
    rv_log(REEVE_LOG_ERROR, "thread.ended", "could not start a thread in place of one that a handler ended", "thread",
           t->name, "error", error.text, NULL);
    (void)rv_turn_run(t, 0);
    rv_lock(&worker->lock);
    count_out(worker);
    rv_unlock(&worker->lock);
    return false;
}

/* Runs when a handler, layer or hook calls pthread_exit: as a cleanup of it. */
static void end_early(void *argument)
{
    rv_thread *t = argument;
    reeve_worker *worker = t->worker;
    rv_end_if_forked(worker);
    rv_log(REEVE_LOG_ERROR, "thread.ended", "a handler ended its thread: a new thread takes its place", "thread",
           t->name, NULL);
    bool runs = t->batch.running != RV_NONE;
    if (runs) end_running(t);
    rv_stuck_return(t);
    tear_down(t);
    if (!runs || !take_place(t)) {
        rv_pool_threads_lose(t);
        return;
    }
    rv_lock(&worker->lock);
    count_out(worker);
    rv_unlock(&worker->lock);
}

/* Before its first task. When that fails, the task tries again, and says so. */
static void start_runner(rv_thread *t)
{
    rv_error error;
    if (t->isolated != NULL) (void)rv_isolated_start(t, &error);
}

void *rv_thread_main(void *argument)
{
    rv_thread *t = argument;
    own_worker = t->worker;
    rv_thread_place(t);
    rv_flight_enter_thread(t);
    /* A handler that cancels its thread would otherwise end it later, during a turn or while it holds a lock. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    start_runner(t);
    pthread_cleanup_push(end_early, t);
    do run_until_the_end(t);
    while (!rv_pool_threads_end(t));
    pthread_cleanup_pop(0);
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static bool allocate(rv_thread *t)
{
    size_t queues = t->pool->queue_session_count, handlers = t->worker->set->handlers.count;
    t->states = rv_zalloc_array(handlers + 1, sizeof(*t->states));
    t->set_up = rv_zalloc_array(handlers + 1, sizeof(*t->set_up));
    t->queues = rv_zalloc_array(queues, sizeof(*t->queues));
    t->sessions = rv_zalloc_array(queues, sizeof(*t->sessions));
    t->groups = rv_zalloc_array(queues, sizeof(*t->groups));
    t->round.woken = rv_zalloc_array(queues, sizeof(*t->round.woken));
    t->picked = rv_zalloc_array(t->batch.capacity, sizeof(rv_item *));
    t->outcomes = rv_zalloc_array(t->batch.capacity, sizeof(*t->outcomes));
    t->leases = rv_zalloc_array(t->batch.capacity, sizeof(*t->leases));
    return rv_queue_order_init(&t->order, t->pool->order, queues, t->pool->weights) &&
           rv_queue_order_set_families(&t->order, t->pool->families, t->number) && t->states != NULL &&
           t->set_up != NULL && t->queues != NULL && t->sessions != NULL && t->groups != NULL &&
           t->round.woken != NULL && t->outcomes != NULL && t->leases != NULL && t->picked != NULL;
}

/* The size of its batch, where a handler takes many tasks in a call. */
static unsigned batch_size(const rv_thread *t)
{
    unsigned many = rv_handler_table_batch_max(&t->worker->set->handlers);
    return many > t->pool->batch ? many : t->pool->batch;
}

bool rv_thread_fits(const rv_thread *t)
{
    return t->set == t->worker->set || t->batch.capacity >= (size_t)2 * batch_size(t);
}

bool rv_thread_adopt(rv_thread *t)
{
    const rv_handler_set *set = t->worker->set;
    if (t->set == set) return true;
    void **states = rv_zalloc_array(set->handlers.count + 1, sizeof(*states));
    bool *set_up = rv_zalloc_array(set->handlers.count + 1, sizeof(*set_up));
    if (states == NULL || set_up == NULL || (t->isolated != NULL && !rv_isolated_adopt(t))) {
        rv_free(states);
        rv_free(set_up);
        return false;
    }
    rv_free(t->states);
    rv_free(t->set_up);
    t->states = states;
    t->set_up = set_up;
    t->set = set;
    t->gathers = rv_handler_table_batch_max(&set->handlers) > 1;
    return true;
}

reeve_status rv_thread_init(rv_thread *t, rv_pool *pool, reeve_worker *worker, unsigned number, rv_error *error)
{
    memset(t, 0, sizeof(*t));
    t->worker = worker;
    t->pool = pool;
    t->set = worker->set;
    t->number = number;
    rv_batch_pass_init(t);
    t->gathers = rv_handler_table_batch_max(&worker->set->handlers) > 1;
    t->waker.fd = -1;
    snprintf(t->number_text, sizeof(t->number_text), "%u", number);
    snprintf(t->name, sizeof(t->name), "%.10s/%u", pool->name, number);
    rv_arena_init(&t->arena);
    rv_task_init(&t->task);
    reeve_status status = rv_waker_init(&t->waker, error);
    if (status == REEVE_OK) status = rv_share_init_turn(&t->shared, error);
    if (status == REEVE_OK) status = rv_batch_init(&t->batch, batch_size(t), pool->queue_session_count, error);
    if (status == REEVE_OK && !allocate(t)) status = rv_fail(error, REEVE_ENOMEM, "no memory for a thread");
    if (status == REEVE_OK)
        status = rv_worker_conn_create(&t->conn, worker, t->number_text, &t->waker, worker->command_ms, error);
    for (size_t i = 0; status == REEVE_OK && i < pool->queue_session_count; i++) {
        const rv_prefix *home = &pool->queue_sessions[i]->prefix;
        status = rv_conn_add_home(t->conn, home->text, home->length);
        if (status != REEVE_OK) return rv_fail(error, status, "%s", rv_conn_error(t->conn)->text);
    }
    if (status == REEVE_OK && pool->isolated) status = rv_isolated_init(t, error);
    return status;
}

void rv_thread_fini(rv_thread *t)
{
    rv_isolated_fini(t);
    rv_conn_destroy(t->conn);
    rv_batch_fini(&t->batch);
    rv_task_fini(&t->task);
    rv_arena_fini(&t->arena);
    rv_share_fini_turn(&t->shared);
    if (t->waker.fd >= 0) rv_waker_fini(&t->waker);
    rv_queue_order_fini(&t->order);
    rv_free(t->states);
    rv_free(t->set_up);
    rv_free(t->queues);
    rv_free(t->sessions);
    rv_free(t->groups);
    rv_free(t->round.woken);
    rv_free(t->outcomes);
    rv_free(t->leases);
    rv_batch_handler_run_fini(t);
    memset(t, 0, sizeof(*t));
    t->waker.fd = -1;
}
