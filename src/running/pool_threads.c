#include "running/pool_threads.h"

#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "running/admission.h"
#include "running/flight.h"
#include "running/os_thread.h"
#include "running/pool_slots.h"
#include "running/thread.h"
#include "running/wakeup.h"

/* ---- places ---------------------------------------------------------------------------------------------------- */

static reeve_status add_thread(rv_pool *pool, reeve_worker *worker, rv_error *error)
{
    rv_thread *t = rv_zalloc(sizeof(*t));
    if (t == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a thread");
    reeve_status status = rv_thread_init(t, pool, worker, worker->numbers + 1, error);
    void *threads = status == REEVE_OK ? rv_grown_add(&pool->all_threads, pool->thread_count, t) : NULL;
    if (status == REEVE_OK && threads == NULL) status = rv_fail(error, REEVE_ENOMEM, "no memory for a thread");
    if (status != REEVE_OK) {
        rv_thread_fini(t);
        rv_free(t);
        return status;
    }
    worker->numbers++;
    atomic_store(&pool->threads, threads);
    atomic_fetch_add(&pool->thread_count, 1);
    return REEVE_OK;
}

reeve_status rv_pool_threads_make(rv_pool *pool, reeve_worker *worker, rv_error *error)
{
    reeve_status status = rv_pool_slots_find(pool, worker, error);
    while (status == REEVE_OK && pool->thread_count < pool->target) status = add_thread(pool, worker, error);
    return status;
}

/* A place whose thread has ended, or a new one. NULL: error says why. */
static rv_thread *find_place(rv_pool *pool, reeve_worker *worker, rv_error *error)
{
    for (unsigned i = 0; i < pool->thread_count; i++) {
        rv_thread *t = rv_worker_pool_thread(pool, i);
        /* The caller may be the thread that just ended: it cannot wait for itself. */
        if (!t->alive && !(t->started && pthread_equal(t->id, pthread_self())) && rv_thread_fits(t)) return t;
    }
    if (add_thread(pool, worker, error) != REEVE_OK) return NULL;
    return rv_worker_pool_thread(pool, pool->thread_count - 1);
}

/* ---- one pool; all with the worker's lock ---------------------------------------------------------------------- */

/* Counts of the threads of a pool, without those that are stuck and have a spare thread in their place. */
typedef struct crew {
    unsigned alive;   /* they run */
    unsigned staying; /* and do not retire */
    unsigned running; /* they run a task and do not retire */
    unsigned leaving; /* they run a task, and retire */
} crew;

static crew count(const rv_pool *pool)
{
    crew c = {0};
    for (unsigned i = 0; i < pool->thread_count; i++) {
        const rv_thread *t = rv_worker_pool_thread(pool, i);
        if (t->spared) continue;
        c.alive += t->alive;
        bool retires = atomic_load(&t->retires);
        bool runs = atomic_load_explicit(&t->activity, memory_order_relaxed) == RV_ACTIVITY_RUNS;
        c.staying += t->alive && !retires;
        c.running += runs && !retires;
        c.leaving += runs && retires;
    }
    return c;
}

/* Of the pools of a line together. */
static crew count_line(reeve_worker *worker, size_t line)
{
    crew sum = {0};
    for (size_t i = 0; i < worker->pool_count; i++) {
        if (rv_worker_pool(worker, i)->line != line) continue;
        crew c = count(rv_worker_pool(worker, i));
        sum.alive += c.alive;
        sum.leaving += c.leaving;
    }
    return sum;
}

static reeve_status start_thread(rv_pool *pool, reeve_worker *worker, rv_error *error)
{
    rv_thread *t = find_place(pool, worker, error);
    if (t == NULL) return error->status;
    /* It has counted itself out, and returns. */
    if (t->started) rv_lock_check(pthread_join(t->id, NULL));
    t->started = false;
    if (!rv_thread_adopt(t)) return rv_fail(error, REEVE_ENOMEM, "no memory for a thread");
    atomic_store(&t->retires, false);
    rv_flight_seat(t);
    /* The thread may end early, and another one takes its place and its id: not before these stand. */
    reeve_status status = rv_os_thread_start(&t->id, rv_thread_main, t, t->name, error);
    t->started = t->alive = status == REEVE_OK;
    if (!t->alive) rv_flight_unseat(t);
    if (!t->alive) return status;
    worker->threads_alive++;
    atomic_fetch_add(&pool->sharing->threads, 1);
    return REEVE_OK;
}

/* The last of those that run nothing, else the last: it retires. */
static void retire_one(rv_pool *pool)
{
    rv_thread *chosen = NULL;
    for (unsigned i = pool->thread_count; i-- > 0;) {
        rv_thread *t = rv_worker_pool_thread(pool, i);
        if (!t->alive || t->spared || atomic_load(&t->retires)) continue;
        if (chosen == NULL) chosen = t;
        if (atomic_load(&t->activity) == RV_ACTIVITY_RUNS) continue;
        chosen = t;
        break;
    }
    if (chosen == NULL) return;
    atomic_store(&chosen->retires, true);
    rv_waker_ring(&chosen->waker);
}

/* One that retires and still runs stays, unless its handlers were replaced. False: there is none. */
static bool keep_one(rv_pool *pool, const reeve_worker *worker)
{
    for (unsigned i = 0; i < pool->thread_count; i++) {
        rv_thread *t = rv_worker_pool_thread(pool, i);
        if (!t->alive || t->spared || t->set != worker->set || !atomic_load(&t->retires)) continue;
        atomic_store(&t->retires, false);
        rv_waker_ring(&t->waker);
        return true;
    }
    return false;
}

static reeve_status balance_pool(rv_pool *pool, reeve_worker *worker, rv_error *error)
{
    unsigned target = atomic_load(&pool->removed) ? 0 : atomic_load(&pool->target), staying = count(pool).staying;
    while (staying < target && keep_one(pool, worker)) staying++;
    for (; staying > target; staying--) retire_one(pool);
    unsigned alive = staying < target ? count_line(worker, pool->line).alive : 0;
    for (; staying < target && alive < target; alive++, staying++) {
        reeve_status status = start_thread(pool, worker, error);
        if (status != REEVE_OK) return status;
    }
    return REEVE_OK;
}

static reeve_status balance(reeve_worker *worker, rv_error *error)
{
    rv_phase phase = rv_worker_phase(worker);
    reeve_status status = REEVE_OK;
    if (phase == RV_PHASE_CREATED || phase >= RV_PHASE_STOPPING || worker->is_consumer) return REEVE_OK;
    /* Pools that were removed first: the places of their threads are free for others. */
    for (size_t i = 0; i < worker->pool_count; i++)
        if (atomic_load(&rv_worker_pool(worker, i)->removed))
            (void)balance_pool(rv_worker_pool(worker, i), worker, error);
    for (size_t i = 0; i < worker->pool_count && status == REEVE_OK; i++)
        if (!atomic_load(&rv_worker_pool(worker, i)->removed))
            status = balance_pool(rv_worker_pool(worker, i), worker, error);
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

reeve_status rv_pool_threads_balance(reeve_worker *worker, rv_error *error)
{
    rv_lock(&worker->lock);
    reeve_status status = balance(worker, error);
    rv_unlock(&worker->lock);
    rv_admission_recheck(worker); /* a thread that retires waits for no gate */
    return status;
}

reeve_status rv_pool_threads_renew(reeve_worker *worker, rv_error *error)
{
    rv_lock(&worker->lock);
    for (size_t i = 0; i < worker->pool_count; i++) {
        const rv_pool *pool = rv_worker_pool(worker, i);
        for (unsigned j = 0; j < pool->thread_count; j++) {
            rv_thread *t = rv_worker_pool_thread(pool, j);
            if (!t->alive || t->set == worker->set) continue;
            atomic_store(&t->retires, true);
            rv_waker_ring(&t->waker);
        }
    }
    rv_unlock(&worker->lock);
    return rv_pool_threads_balance(worker, error);
}

/* With the worker's lock. */
static reeve_status count_out(rv_thread *t, rv_error *error)
{
    reeve_worker *worker = t->worker;
    t->alive = false;
    rv_flight_unseat(t);
    worker->threads_alive--;
    atomic_fetch_sub(&t->pool->sharing->threads, 1);
    reeve_status status = balance(worker, error);
    rv_lock_check(pthread_cond_broadcast(&worker->thread_ended));
    return status;
}

/* Returns whether the thread ends: at once, or else if it is to. */
static bool end_thread(rv_thread *t, bool at_once)
{
    reeve_worker *worker = t->worker;
    rv_error error = {0};
    reeve_status status = REEVE_OK;
    rv_lock(&worker->lock);
    bool ends = at_once || rv_thread_phase(t) >= RV_PHASE_STOPPING;
    if (ends) status = count_out(t, &error);
    bool goes_on = rv_worker_phase(worker) < RV_PHASE_STOPPING;
    rv_unlock(&worker->lock);
    if (status != REEVE_OK)
        rv_log(REEVE_LOG_ERROR, "thread.missing", "could not start a thread: the pool has fewer than it is to have",
               "worker", worker->id, "error", error.text, NULL);
    if (ends && goes_on) rv_wakeup_look_at_queues(worker);
    return ends;
}

bool rv_pool_threads_end(rv_thread *t)
{
    return end_thread(t, false);
}

void rv_pool_threads_lose(rv_thread *t)
{
    (void)end_thread(t, true);
}

unsigned rv_pool_threads_alive(rv_pool *pool, reeve_worker *worker)
{
    rv_lock(&worker->lock);
    unsigned alive = count(pool).alive;
    rv_unlock(&worker->lock);
    return alive;
}

unsigned rv_pool_threads_busy(rv_pool *pool, reeve_worker *worker)
{
    unsigned target = atomic_load(&pool->target);
    rv_lock(&worker->lock);
    crew c = count(pool);
    unsigned leaving = count_line(worker, pool->line).leaving;
    rv_unlock(&worker->lock);
    unsigned taken = c.staying > c.running ? c.staying : c.running; /* the thread of a consumer is not alive */
    unsigned places = target > taken ? target - taken : 0;
    return c.running + (leaving < places ? leaving : places);
}
