#include "running/share.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"

/* A turn with larger outcomes costs Redis so much that little is saved by sharing it. */
#define BYTES_MAX 4096
/* The tasks that a thread is about to lease are expected to be as large as those that it has run. With larger ones a
 * shared reply would take long on its one connection. */
#define LEASE_BYTES_MAX 16384
/* A thread waits so long for the call of another one; then it calls by itself. That call may be on a connection that
 * is dead without a sign. */
#define WAIT_MS 100
/* After so many calls in a row that took longer than that, the threads call by themselves for so many times as long, at
 * most so long. One alone may be the work of a busy machine. */
#define SLOW_CALLS 2
#define ALONE_TIMES 20
#define ALONE_MAX_MS 10000
/* So many calls in a row that a thread took by itself meanwhile, and that were this fast, show that only a stall of Redis
 * or of the machine made the shared calls long: threads share again. This is believed once in a while: over a link on
 * which large replies take long, calls of single threads are always fast. */
#define FAST_CALLS 4
#define FAST_MS (WAIT_MS / 2)
#define BELIEVED_AGAIN_MS (2 * ALONE_MAX_MS)
/* The threads form so many sets by their numbers, and those of a set share their calls: while Redis executes the call of
 * one set, those of the others are being prepared. More sets make Redis spend more for little; with two, a few threads
 * that lease one task at a time leave Redis idle for a fifth of the time. */
#define CALLS_AT_ONCE 3
/* How many orders of the queues of a pool share at the same time. */
#define SHARES_MAX 16

/* ---- life ------------------------------------------------------------------------------------------------------ */

bool rv_share_init(rv_sharing *sharing, reeve_order order, size_t queues)
{
    size_t count = queues == 1 || order == REEVE_ORDER_STRICT ? CALLS_AT_ONCE : SHARES_MAX;
    sharing->shares = rv_zalloc_array(count, sizeof(*sharing->shares));
    if (sharing->shares == NULL) return false;
    sharing->count = count;
    for (size_t i = 0; i < count; i++) rv_lock_init(&sharing->shares[i].lock);
    return true;
}

void rv_share_fini(rv_sharing *sharing)
{
    for (size_t i = 0; i < sharing->count; i++) rv_lock_fini(&sharing->shares[i].lock);
    rv_free(sharing->shares);
    memset(sharing, 0, sizeof(*sharing));
}

reeve_status rv_share_init_turn(rv_shared_turn *shared, rv_error *error)
{
    rv_arena_init(&shared->arena);
    if (sem_init(&shared->answered, 0, 0) != 0) return rv_fail(error, REEVE_ESYSTEM, "no semaphore for a thread");
    shared->is_set_up = true;
    return REEVE_OK;
}

void rv_share_fini_turn(rv_shared_turn *shared)
{
    rv_arena_fini(&shared->arena);
    if (shared->is_set_up) (void)sem_destroy(&shared->answered);
    shared->is_set_up = false;
}

/* ---- who may share --------------------------------------------------------------------------------------------- */

/* Whether all items have finished, and their outcomes are small. A task that waits for others of its batch handler has
 * not finished: its thread takes turns by itself. */
static bool is_small(const rv_batch *batch, unsigned want)
{
    size_t bytes = 0, lease_bytes = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const rv_item *item = &batch->items[i];
        if (item->state != RV_ITEM_FINISHED) return false;
        bytes += item->settlement.result.length + item->settlement.chained.length;
        lease_bytes += item->lease.envelope.header_length + item->lease.envelope.payload.length;
    }
    return bytes <= BYTES_MAX && lease_bytes / batch->count * want <= LEASE_BYTES_MAX;
}

static bool may_share(const rv_thread *t, unsigned want)
{
    const rv_pool *pool = t->pool;
    return t->named == NULL && pool->slots == NULL && pool->sharing->threads > 1 && want > 0 &&
           want <= RV_SHARED_EACH && t->batch.count > 0 && t->batch.count <= RV_SHARED_EACH &&
           t->state == RV_THREAD_TURN && rv_thread_phase(t) == RV_PHASE_RUNNING && rv_conn_is_open(t->conn) &&
           rv_conn_epoch(t->conn) == t->epoch && t->shared.losses == rv_share_losses(t) && is_small(&t->batch, want);
}

/* ---- waiting --------------------------------------------------------------------------------------------------- */

static void append(rv_share *share, rv_thread *t)
{
    t->shared.next = NULL;
    if (share->first == NULL)
        share->first = t;
    else
        share->last->shared.next = t;
    share->last = t;
}

/* The first of those who wait, or NULL. */
static rv_thread *remove_first(rv_share *share)
{
    rv_thread *first = share->first;
    if (first != NULL) share->first = first->shared.next;
    return first;
}

void rv_share_answer(rv_thread *t, rv_share_role role)
{
    t->shared.role = role;
    rv_lock_check(sem_post(&t->shared.answered));
}

static void answer_all(rv_thread *first, rv_share_role role)
{
    for (rv_thread *t = first, *next; t != NULL; t = next) {
        next = t->shared.next;
        rv_share_answer(t, role);
    }
}

/* Whether the thread still waited; then nobody answers it. */
static bool withdraw(rv_thread *t)
{
    rv_share *share = t->shared.share;
    rv_thread *before = NULL;
    rv_lock(&share->lock);
    rv_thread *one = share->first;
    for (; one != NULL && one != t; one = one->shared.next) before = one;
    if (one != NULL) {
        share->is_slow = true;
        if (share->last == t) share->last = before;
        if (before == NULL)
            share->first = t->shared.next;
        else
            before->shared.next = t->shared.next;
    }
    rv_unlock(&share->lock);
    return one != NULL;
}

/* By the wall clock: what a step of it shortens or prolongs is the wait for a call that does not last long itself. */
static struct timespec end_of_wait(void)
{
    struct timespec end;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += WAIT_MS * 1000000L;
    end.tv_sec += end.tv_nsec / 1000000000L;
    end.tv_nsec %= 1000000000L;
    return end;
}

static rv_share_role wait_for_answer(rv_thread *t)
{
    const struct timespec end = end_of_wait();
    int failed;
    while ((failed = sem_timedwait(&t->shared.answered, &end)) != 0 && errno == EINTR) continue;
    if (failed != 0) {
        rv_lock_check(errno != ETIMEDOUT ? errno : 0);
        if (withdraw(t)) return RV_SHARE_ALONE;
        while (sem_wait(&t->shared.answered) != 0) rv_lock_check(errno != EINTR);
    }
    return t->shared.role;
}

/* The caller holds the lock. */
static bool is_off(const rv_share *share)
{
    return share->alone_until_ms > 0 && rv_now_ms() < share->alone_until_ms;
}

rv_share_role rv_share_begin(rv_thread *t, unsigned want)
{
    rv_sharing *sharing = t->pool->sharing;
    rv_share_role role = RV_SHARE_ALONE;
    if (!may_share(t, want)) return role;
    rv_queue_order_choose(&t->order, false);
    size_t order = rv_queue_order_hash(&t->order);
    rv_share *share = &sharing->shares[(order + t->number % CALLS_AT_ONCE) % sharing->count];
    t->shared.share = share;
    t->shared.want = want;
    t->shared.alone_ms = 0;
    rv_arena_rewind(&t->shared.arena);
    rv_lock(&share->lock);
    if (is_off(share)) {
        t->shared.alone_ms = rv_now_ms();
    } else if (!share->calls) {
        role = RV_SHARE_CALLS;
        share->calls = true;
    } else if (!share->is_slow) {
        role = RV_SHARE_WAITS;
        append(share, t);
    }
    rv_unlock(&share->lock);
    return role == RV_SHARE_WAITS ? wait_for_answer(t) : role;
}

/* Up to `max` of those who wait, in order. */
rv_thread *rv_share_remove(rv_share *share, size_t max)
{
    rv_thread **end = &share->first;
    rv_lock(&share->lock);
    rv_thread *taken = share->first;
    for (size_t count = 0; *end != NULL && count < max; count++) end = &(*end)->shared.next;
    rv_thread *rest = *end;
    *end = NULL;
    share->first = rest;
    rv_unlock(&share->lock);
    return taken;
}

void rv_share_note_call(rv_thread *t, int64_t took_ms)
{
    rv_share *share = t->shared.share;
    if (took_ms < WAIT_MS) share->slow_calls = 0; /* only the thread that calls reads and writes it */
    if (took_ms < WAIT_MS || ++share->slow_calls < SLOW_CALLS) return;
    int64_t alone_ms = took_ms < ALONE_MAX_MS / ALONE_TIMES ? took_ms * ALONE_TIMES : ALONE_MAX_MS;
    rv_lock(&share->lock);
    share->alone_until_ms = rv_now_ms() + alone_ms;
    share->fast_calls = 0;
    rv_unlock(&share->lock);
}

void rv_share_note_alone(rv_thread *t)
{
    rv_share *share = t->shared.share;
    if (t->shared.alone_ms == 0) return;
    int64_t now = rv_now_ms(), took_ms = now - t->shared.alone_ms;
    t->shared.alone_ms = 0;
    rv_lock(&share->lock);
    share->fast_calls = took_ms < FAST_MS ? share->fast_calls + 1 : 0;
    if (share->fast_calls >= FAST_CALLS && share->alone_until_ms > now && now >= share->believed_ms) {
        share->alone_until_ms = now;
        share->believed_ms = now + BELIEVED_AGAIN_MS;
    }
    rv_unlock(&share->lock);
}

void rv_share_end(rv_thread *t)
{
    rv_share *share = t->shared.share;
    rv_lock(&share->lock);
    rv_thread *next = share->first, *others = NULL;
    if (next != NULL && (next->shared.losses != rv_share_losses(t) || is_off(share))) {
        others = next;
        share->first = next = NULL;
    }
    (void)remove_first(share);
    share->calls = next != NULL;
    share->is_slow = false;
    rv_unlock(&share->lock);
    if (next != NULL) rv_share_answer(next, RV_SHARE_CALLS);
    answer_all(others, RV_SHARE_ALONE);
}

void rv_share_note_loss(rv_thread *t)
{
    atomic_fetch_add(&t->pool->sharing->losses, 1);
}

unsigned rv_share_losses(const rv_thread *t)
{
    return atomic_load(&t->pool->sharing->losses);
}
