#include "running/stuck.h"

#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "running/isolated.h"
#include "running/pool_threads.h"

void rv_stuck_expect(rv_thread *t, int64_t now_ms)
{
    rv_batch *batch = &t->batch;
    if (batch->late_run_ms == batch->running_since_ms) return;
    batch->late_run_ms = batch->running_since_ms;
    batch->stuck_at_ms = now_ms + t->worker->grace_ms + rv_isolated_end_ms(t);
}

bool rv_stuck_is_due(rv_thread *t, int64_t now_ms)
{
    rv_batch *batch = &t->batch;
    if (batch->late_run_ms != batch->running_since_ms || now_ms < batch->stuck_at_ms) return false;
    batch->stuck_at_ms = RV_FOREVER;
    return true;
}

/* The spare threads are those in place of stuck ones. Returns whether the thread is stuck, and in *ret_spared whether
 * it has a spare one. It may have returned by now. */
static bool mark(rv_thread *t, bool *ret_spared)
{
    reeve_worker *worker = t->worker;
    rv_lock(&worker->lock);
    rv_lock(&t->batch.lock);
    bool is_stuck = t->batch.running != RV_NONE && t->batch.late_run_ms == t->batch.running_since_ms && t->alive &&
                    !atomic_load(&t->stuck);
    if (is_stuck) atomic_store(&t->stuck, true);
    rv_unlock(&t->batch.lock);
    bool spared = is_stuck && worker->spare_count < worker->spare_threads;
    t->spared = spared;
    worker->spare_count += spared;
    if (is_stuck) atomic_fetch_add(spared ? &worker->stuck_spared : &worker->stuck_unspared, 1);
    rv_unlock(&worker->lock);
    *ret_spared = spared;
    return is_stuck;
}

/* What runs on the thread; its item is the thread's own, and stays as it is while the batch is locked. */
static void describe(rv_thread *t, rv_stuck_task *ret)
{
    rv_batch *batch = &t->batch;
    *ret = (rv_stuck_task){0};
    rv_lock(&batch->lock);
    if (batch->running != RV_NONE) {
        const rv_lease *lease = &batch->items[batch->running].lease;
        ret->queue_session = t->pool->queue_sessions[lease->queue];
        rv_copy_text(ret->session, sizeof(ret->session), batch->sessions[lease->queue]);
        rv_copy_text(ret->id, sizeof(ret->id), lease->id);
        ret->ran_ms = rv_now_ms() - batch->running_since_ms;
    }
    rv_unlock(&batch->lock);
}

static void report(const rv_thread *t, bool spared, const rv_stuck_task *task)
{
    char ms[RV_NUMBER_TEXT] = "";
    if (task->queue_session != NULL) (void)rv_number_text(ms, (uint64_t)task->ran_ms);
    rv_log(REEVE_LOG_ERROR, "thread.stuck",
           spared ? "a handler does not return after its time limit: a spare thread takes the place of its thread"
                  : "a handler does not return after its time limit, and there is no spare thread",
           "worker", t->worker->id, "thread", t->name, "queue",
           task->queue_session != NULL ? task->queue_session->queue : "", "task", task->id, "ms", ms, NULL);
}

bool rv_stuck_note(rv_thread *t, rv_stuck_task *ret)
{
    reeve_worker *worker = t->worker;
    rv_error error = {0};
    bool spared = false;
    if (!mark(t, &spared)) return false;
    describe(t, ret);
    report(t, spared, ret);
    if (spared && rv_pool_threads_balance(worker, &error) != REEVE_OK)
        rv_log(REEVE_LOG_ERROR, "thread.missing", "could not start a spare thread", "worker", worker->id, "error",
               error.text, NULL);
    if (worker->on_stuck != NULL) worker->on_stuck(t->name, spared);
    return ret->queue_session != NULL;
}

void rv_stuck_return(rv_thread *t)
{
    reeve_worker *worker = t->worker;
    rv_error error = {0};
    if (!atomic_load_explicit(&t->stuck, memory_order_relaxed)) return;
    rv_lock(&worker->lock);
    bool spared = t->spared;
    atomic_store(&t->stuck, false);
    t->spared = false;
    worker->spare_count -= spared;
    atomic_fetch_sub(spared ? &worker->stuck_spared : &worker->stuck_unspared, 1);
    rv_unlock(&worker->lock);
    rv_log(REEVE_LOG_WARN, "thread.returned", "a handler that was stuck has returned", "worker", worker->id, "thread",
           t->name, NULL);
    (void)rv_pool_threads_balance(worker, &error);
}
