#include "running/bound.h"

#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/partition.h"
#include "running/phase.h"
#include "running/thread_state.h"
#include "running/turn.h"

#define BOUND_MAX 1000 /* of a worker that wait for its threads, and of those that were leased */
#define UNSERVED_NOW "no pool serves the queue any more"
#define TURNS_MAX 10 /* of one lease: a turn may have to settle outcomes first, or to begin a session */

/* LEASED: it stays in the list, so that a repeated request for it is known as one, whatever has become of the task. */
typedef enum bound_phase { WAITS, IS_TAKEN, LEASED } bound_phase;

/* A task that is to be leased. In the list of the keeper, under the lock of its thread. */
typedef struct rv_bound {
    struct rv_bound *next;
    rv_pool *pool;
    size_t queue; /* of the pool */
    bound_phase phase;
    char id[REEVE_ID_MAX];
} rv_bound;

/* ---- the keeper ------------------------------------------------------------------------------------------------ */

static bool find_queue(const rv_pool *pool, const char *queue, size_t *ret)
{
    for (size_t i = 0; i < pool->queue_session_count; i++) {
        *ret = i;
        if (strcmp(pool->queue_sessions[i]->queue, queue) == 0) return true;
    }
    return false;
}

static rv_pool *find_pool(reeve_worker *worker, const char *queue, size_t *ret_queue)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        if (!pool->removed && pool->target > 0 && find_queue(pool, queue, ret_queue)) return pool;
    }
    return NULL;
}

typedef enum appended { APPENDED, APPENDED_BEFORE, UNSERVED, WITHOUT_HANDLERS, TOO_MANY } appended;

/* A thread that runs its batch looks here before its next turn; one that waits in Redis, or is about to, is interrupted. */
static void wake_threads(rv_pool *pool)
{
    for (unsigned i = 0; i < pool->thread_count; i++) {
        rv_thread *t = rv_worker_pool_thread(pool, i);
        if (atomic_load(&t->activity) == RV_ACTIVITY_NONE) rv_waker_ring(&t->waker);
    }
}

/* Where a new one goes in the list. APPENDED_BEFORE: the client has asked twice. The lock is held. */
static appended find_end(reeve_worker *worker, const char *id, rv_bound ***ret_end)
{
    size_t waiting = 0;
    appended done = APPENDED;
    rv_bound **end = &worker->keeper.bound;
    for (; *end != NULL; end = &(*end)->next) {
        waiting += (*end)->phase == WAITS;
        if (strcmp((*end)->id, id) == 0) done = APPENDED_BEFORE;
    }
    *ret_end = end;
    return done == APPENDED && waiting >= BOUND_MAX ? TOO_MANY : done;
}

/* The pool is chosen under the lock, so that rv_bound_move sees the task if the pool is removed afterwards. */
static appended append(reeve_worker *worker, rv_bound *bound, const char *queue)
{
    rv_bound **end;
    rv_lock(&worker->keeper.thread.lock);
    bound->pool = find_pool(worker, queue, &bound->queue);
    appended done = UNSERVED;
    if (bound->pool != NULL) done = worker->is_consumer ? WITHOUT_HANDLERS : find_end(worker, bound->id, &end);
    if (done == APPENDED) {
        *end = bound;
        atomic_fetch_add(&bound->pool->bound, 1);
        wake_threads(bound->pool); /* (without the lock it may be freed already) */
    }
    rv_unlock(&worker->keeper.thread.lock);
    return done;
}

static reeve_status status_of(appended done, const char *queue, rv_error *error)
{
    switch (done) {
    case UNSERVED:
        return rv_fail(error, REEVE_ENOTFOUND, "no pool of it serves the queue %s", queue);
    case WITHOUT_HANDLERS:
        return rv_fail(error, REEVE_ESTATE, "it is a consumer, without handlers");
    case TOO_MANY:
        return rv_fail(error, REEVE_ESTATE, "%d broadcast tasks already wait for its threads", BOUND_MAX);
    case APPENDED:
    case APPENDED_BEFORE:
        break;
    }
    return REEVE_OK;
}

reeve_status rv_bound_add(reeve_worker *worker, const char *queue, const char *id, rv_error *error)
{
    if (rv_worker_phase(worker) != RV_PHASE_RUNNING) return rv_fail(error, REEVE_ESTATE, "it takes no new tasks");
    rv_bound *bound = rv_zalloc(sizeof(*bound));
    if (bound == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for another task");
    rv_copy_text(bound->id, sizeof(bound->id), id);
    appended done = append(worker, bound, queue);
    if (done != APPENDED) rv_free(bound);
    return status_of(done, queue, error);
}

/* ---- a change of pools ----------------------------------------------------------------------------------------- */

/* The lock is held. */
static void drop(rv_keeper *keeper, const rv_bound *bound)
{
    rv_bound **at = &keeper->bound;
    while (*at != bound) at = &(*at)->next;
    rv_bound *gone = *at;
    *at = gone->next;
    rv_free(gone);
}

static void log_missed(const char *queue, const char *id, const char *why)
{
    rv_log(REEVE_LOG_WARN, "broadcast.missed", "a broadcast task was not leased", "queue", queue, "task", id, "why",
           why, NULL);
}

/* Nobody has it. It waits for a thread of a pool that serves its queue; false: there is none. The lock is held. */
static bool wait_elsewhere(reeve_worker *worker, rv_bound *bound)
{
    size_t place = 0;
    rv_pool *pool = find_pool(worker, bound->pool->queue_sessions[bound->queue]->queue, &place);
    if (pool == NULL) return false;
    bound->pool = pool;
    bound->queue = place;
    bound->phase = WAITS;
    atomic_fetch_add(&pool->bound, 1);
    wake_threads(pool);
    return true;
}

/* Those that no pool serves any more, out of the list. The lock is held. */
static rv_bound *move_all(reeve_worker *worker)
{
    rv_bound *missed = NULL;
    for (rv_bound **at = &worker->keeper.bound; *at != NULL;) {
        rv_bound *bound = *at;
        bool moves = bound->phase == WAITS && atomic_load(&bound->pool->removed);
        if (moves) atomic_fetch_sub(&bound->pool->bound, 1);
        if (!moves || wait_elsewhere(worker, bound)) {
            at = &bound->next;
            continue;
        }
        *at = bound->next;
        bound->next = missed;
        missed = bound;
    }
    return missed;
}

void rv_bound_move(reeve_worker *worker)
{
    rv_lock(&worker->keeper.thread.lock);
    rv_bound *missed = move_all(worker);
    rv_unlock(&worker->keeper.thread.lock);
    while (missed != NULL) {
        rv_bound *bound = missed;
        missed = bound->next;
        log_missed(bound->pool->queue_sessions[bound->queue]->queue, bound->id, UNSERVED_NOW);
        rv_free(bound);
    }
}

void rv_bound_fini(reeve_worker *worker)
{
    for (rv_bound *bound = worker->keeper.bound, *next; bound != NULL; bound = next) {
        next = bound->next;
        rv_free(bound);
    }
    worker->keeper.bound = NULL;
}

/* ---- a thread -------------------------------------------------------------------------------------------------- */

static rv_bound *take(rv_thread *t)
{
    rv_keeper *keeper = &t->worker->keeper;
    rv_lock(&keeper->thread.lock);
    rv_bound *bound = keeper->bound;
    while (bound != NULL && (bound->pool != t->pool || bound->phase != WAITS)) bound = bound->next;
    if (bound != NULL) {
        bound->phase = IS_TAKEN;
        atomic_fetch_sub(&t->pool->bound, 1);
    }
    rv_unlock(&keeper->thread.lock);
    return bound;
}

/* The oldest one that was leased; NULL: there are no more than are kept. The lock is held. */
static const rv_bound *find_surplus(const rv_keeper *keeper)
{
    const rv_bound *oldest = NULL;
    size_t leased = 0;
    for (const rv_bound *at = keeper->bound; at != NULL; at = at->next) {
        if (at->phase != LEASED) continue;
        if (leased++ == 0) oldest = at;
    }
    return leased > BOUND_MAX ? oldest : NULL;
}

static void note_leased(rv_keeper *keeper, rv_bound *bound)
{
    rv_lock(&keeper->thread.lock);
    bound->phase = LEASED;
    const rv_bound *surplus = find_surplus(keeper);
    if (surplus != NULL) drop(keeper, surplus);
    rv_unlock(&keeper->thread.lock);
}

/* A thread that ends before Redis said no leaves it to others. */
static void note_missed(rv_thread *t, rv_bound *bound)
{
    rv_keeper *keeper = &t->worker->keeper;
    char id[REEVE_ID_MAX];
    const char *why = NULL, *queue = t->pool->queue_sessions[bound->queue]->queue;
    rv_copy_text(id, sizeof(id), bound->id);
    if (t->named_refusal[0] != '\0')
        why = t->named_refusal;
    else if (rv_worker_phase(t->worker) != RV_PHASE_RUNNING)
        why = "the worker stops";
    rv_lock(&keeper->thread.lock);
    if (why == NULL && !wait_elsewhere(t->worker, bound)) why = UNSERVED_NOW;
    if (why != NULL) drop(keeper, bound);
    rv_unlock(&keeper->thread.lock);
    if (why != NULL) log_missed(queue, id, why);
}

static bool lease(rv_thread *t, const rv_bound *bound)
{
    bool goes_on = true;
    t->fresh = 0;
    t->named_queue = bound->queue;
    t->named_refusal[0] = '\0';
    for (int i = 0; goes_on && i < TURNS_MAX && rv_thread_phase(t) == RV_PHASE_RUNNING; i++) {
        t->named = bound->id;
        goes_on = rv_turn_run(t, 1);
        t->named = NULL;
        if (t->fresh > 0 || t->named_refusal[0] != '\0') break;
    }
    return goes_on;
}

bool rv_bound_lease(rv_thread *t)
{
    rv_bound *bound = take(t);
    if (bound == NULL) return true;
    bool passes = t->passes;
    /* Redis may hand it another task meanwhile: recovery ends its registration, and returns that task. */
    if (rv_thread_state_is_registered(t)) rv_thread_state_enter(t, RV_THREAD_RECOVER);
    t->passes = true;
    bool goes_on = lease(t, bound);
    t->passes = passes;
    if (t->fresh > 0)
        note_leased(&t->worker->keeper, bound);
    else
        note_missed(t, bound);
    return goes_on;
}
