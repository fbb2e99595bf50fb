#include "running/alone.h"

#include <errno.h>
#include <string.h>

#include "base/backoff.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "protocol/scripts.h"
#include "running/admission.h"
#include "running/recovery.h"
#include "running/redis_report.h"

#define SUSPECT_CRASHES 2 /* as in lib/flagged.lua */
#define DOUBLINGS_MAX 12
#define TRY_AGAIN_MS 1000

void rv_alone_init(rv_alone *alone)
{
    rv_lock_init(&alone->lock);
    rv_lock_check(pthread_cond_init(&alone->changed, NULL));
}

void rv_alone_fini(rv_alone *alone)
{
    rv_lock_fini(&alone->lock);
    rv_lock_check(pthread_cond_destroy(&alone->changed));
}

bool rv_alone_is_due(const rv_item *item, unsigned max_crashes)
{
    unsigned crashes = item->lease.crashes;
    return crashes >= SUSPECT_CRASHES || (crashes > 0 && max_crashes > 1 && crashes + 1 >= max_crashes);
}

static int64_t patience_ms(unsigned crashes)
{
    unsigned doublings = crashes > SUSPECT_CRASHES ? crashes - SUSPECT_CRASHES : 0;
    return (int64_t)RV_ALONE_MS << (doublings < DOUBLINGS_MAX ? doublings : DOUBLINGS_MAX);
}

/* ---- what runs ------------------------------------------------------------------------------------------------- */

static bool runs(rv_thread *t)
{
    rv_lock(&t->batch.lock);
    bool runs = t->batch.running != RV_NONE;
    rv_unlock(&t->batch.lock);
    return runs;
}

static bool others_run(const rv_thread *t)
{
    const reeve_worker *worker = t->worker;
    for (size_t i = 0; i < worker->pool_count; i++) {
        for (unsigned j = 0; j < rv_worker_pool(worker, i)->thread_count; j++) {
            rv_thread *other = rv_worker_pool_thread(rv_worker_pool(worker, i), j);
            if (other != t && runs(other)) return true;
        }
    }
    return false;
}

static bool gives_up(const rv_thread *t)
{
    return rv_thread_phase(t) != RV_PHASE_RUNNING || atomic_load(&t->stop);
}

/* Returns whether nothing else runs. */
static bool wait_for_others(const rv_thread *t, int64_t deadline)
{
    rv_alone *alone = &t->worker->alone;
    struct timespec until = {.tv_sec = deadline / 1000, .tv_nsec = deadline % 1000 * 1000000};
    int failed = 0;
    rv_lock(&alone->lock);
    bool waits = others_run(t);
    while (waits && failed == 0 && !gives_up(t)) {
        failed = pthread_cond_clockwait(&alone->changed, &alone->lock, CLOCK_MONOTONIC, &until);
        rv_lock_check(failed != 0 && failed != ETIMEDOUT);
        waits = others_run(t);
    }
    rv_unlock(&alone->lock);
    return !waits;
}

void rv_alone_recheck(reeve_worker *worker)
{
    rv_lock(&worker->alone.lock);
    rv_lock_check(pthread_cond_broadcast(&worker->alone.changed));
    rv_unlock(&worker->alone.lock);
}

/* Lets the held threads check again whether they may begin, and how long they wait. */
static void wake_held(reeve_worker *worker)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        for (unsigned j = 0; j < rv_worker_pool(worker, i)->thread_count; j++) {
            rv_thread *other = rv_worker_pool_thread(rv_worker_pool(worker, i), j);
            if (atomic_load(&other->activity) == RV_ACTIVITY_HELD) rv_waker_ring(&other->waker);
        }
    }
}

/* With the lock: whether this task runs alone or waits to do so. Its owner may have the next one in the meantime. */
static bool is_current(const rv_alone *alone, const rv_alone_task *task)
{
    return atomic_load(&alone->owner) != NULL && alone->task.number == task->number;
}

/* Lets other threads begin, unless they may already. */
static void release(reeve_worker *worker, const rv_alone_task *task)
{
    rv_alone *alone = &worker->alone;
    rv_lock(&alone->lock);
    bool current = is_current(alone, task);
    if (current) atomic_store(&alone->owner, NULL);
    rv_unlock(&alone->lock);
    if (current) wake_held(worker);
}

/* ---- what Redis is told ---------------------------------------------------------------------------------------- */

static reeve_status tell(rv_thread *t, const rv_alone_task *task, const char *how, bool *ret_held)
{
    const rv_reply *reply;
    rv_cmd_script(t->conn, &rv_script_suspect, 1, 3);
    rv_arg(t->conn, task->prefix->text, task->prefix->length);
    rv_args(t->conn, task->session);
    rv_args(t->conn, task->id);
    rv_args(t->conn, how);
    reeve_status status = rv_conn_call(t->conn, 0, &reply);
    *ret_held = status == REEVE_OK && rv_reply_int(reply, 0) == 1;
    return status;
}

/* Repeats the call until Redis accepts it or the worker leaves. */
static void insist(rv_thread *t, const rv_alone_task *task, const char *how)
{
    bool held;
    for (unsigned tries = 1; rv_worker_phase(t->worker) < RV_PHASE_LEAVING; tries++) {
        if (!rv_recovery_connect(t)) return;
        reeve_status status = tell(t, task, how, &held);
        if (status == REEVE_OK) return;
        if (status == REEVE_ELOST) rv_recovery_note_loss(t);
        if (status != REEVE_EREDIS) continue;
        rv_redis_report_refusal(t->worker, "Redis refused the note that a task runs alone: the worker tries again",
                                rv_conn_error(t->conn)->text);
        rv_waker_silence(&t->waker);
        rv_waker_wait(&t->waker, rv_deadline(rv_backoff_reconnect(tries, rv_random_unit())));
    }
}

/* ---- the owner ------------------------------------------------------------------------------------------------- */

/* The thread becomes the owner, with its running item. False: there is another. */
static bool become_owner(rv_thread *t, const rv_item *item, rv_alone_task *ret)
{
    rv_alone *alone = &t->worker->alone;
    rv_lock(&alone->lock);
    bool vacant = atomic_load(&alone->owner) == NULL;
    if (vacant) {
        rv_alone_task *task = &alone->task;
        alone->until_ms = RV_FOREVER;
        alone->ending = false;
        task->number++;
        task->prefix = &t->pool->queue_sessions[item->lease.queue]->prefix;
        memcpy(task->session, t->batch.sessions[item->lease.queue], sizeof(task->session));
        rv_copy_text(task->id, sizeof(task->id), item->lease.id);
        *ret = *task;
        atomic_store(&alone->owner, t);
    }
    rv_unlock(&alone->lock);
    return vacant;
}

static void set_end(reeve_worker *worker, const rv_alone_task *task, int64_t until_ms)
{
    rv_lock(&worker->alone.lock);
    if (is_current(&worker->alone, task)) worker->alone.until_ms = until_ms;
    rv_unlock(&worker->alone.lock);
    wake_held(worker);
}

bool rv_alone_note(rv_thread *t, const rv_item *item, const char *how)
{
    rv_alone_task task = {.prefix = &t->pool->queue_sessions[item->lease.queue]->prefix};
    bool held = false;
    memcpy(task.session, t->batch.sessions[item->lease.queue], sizeof(task.session));
    rv_copy_text(task.id, sizeof(task.id), item->lease.id);
    if (rv_recovery_connect(t)) (void)tell(t, &task, how, &held);
    return held;
}

bool rv_alone_enter(rv_thread *t, const rv_item *item)
{
    rv_alone_task task;
    int64_t patience = patience_ms(item->lease.crashes);
    bool held = false;
    if (!become_owner(t, item, &task)) return false;
    rv_admission_recheck(t->worker); /* threads that wait at a gate do not begin */
    bool is_alone = wait_for_others(t, rv_deadline(patience));
    if (!gives_up(t) && rv_recovery_connect(t)) (void)tell(t, &task, is_alone ? "alone" : "beside", &held);
    if (!held || !is_alone) release(t->worker, &task);
    if (held && is_alone) set_end(t->worker, &task, rv_deadline(patience));
    return held;
}

void rv_alone_leave(rv_thread *t, bool by_itself)
{
    rv_alone *alone = &t->worker->alone;
    rv_alone_task task;
    if (!rv_alone_is_owner(t)) return;
    rv_lock(&alone->lock);
    bool owner = rv_alone_is_owner(t); /* another thread may have become the owner in the meantime */
    if (owner) task = alone->task;
    rv_unlock(&alone->lock);
    if (!owner) return;
    t->insists = true;
    insist(t, &task, by_itself ? "clear" : "over");
    t->insists = false;
    release(t->worker, &task);
}

/* ---- everybody else -------------------------------------------------------------------------------------------- */

/* True for one thread when others may begin: that thread notes this in Redis first. False: they may begin at
 * *ret_until_ms. */
static bool is_over(rv_alone *alone, int64_t *ret_until_ms, rv_alone_task *ret)
{
    rv_lock(&alone->lock);
    bool over = atomic_load(&alone->owner) != NULL && alone->until_ms <= rv_now_ms() && !alone->ending;
    *ret_until_ms = alone->ending ? RV_FOREVER : alone->until_ms;
    if (over) {
        alone->ending = true;
        *ret = alone->task;
    }
    rv_unlock(&alone->lock);
    return over;
}

static void let_others_begin(rv_thread *t, const rv_alone_task *task)
{
    rv_alone *alone = &t->worker->alone;
    bool held;
    if (rv_recovery_connect(t) && tell(t, task, "beside", &held) == REEVE_OK) {
        release(t->worker, task);
        return;
    }
    rv_lock(&alone->lock);
    if (is_current(alone, task)) {
        alone->ending = false;
        alone->until_ms = rv_deadline(TRY_AGAIN_MS);
    }
    rv_unlock(&alone->lock);
}

void rv_alone_hold(rv_thread *t)
{
    rv_alone_task task;
    int64_t until_ms;
    atomic_store(&t->activity, RV_ACTIVITY_HELD);
    rv_waker_silence(&t->waker);
    if (is_over(&t->worker->alone, &until_ms, &task)) {
        let_others_begin(t, &task);
    } else if (rv_alone_bars(t) && rv_thread_phase(t) == RV_PHASE_RUNNING) {
        rv_waker_wait(&t->waker, until_ms);
    }
    atomic_store(&t->activity, RV_ACTIVITY_NONE);
}
