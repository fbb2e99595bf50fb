/*
 * round.h - the turns of a thread whose queues are in several hash slots of a Redis Cluster (pool_slots.h): which queues the
 * next turn asks, and whose outcomes it settles. Plain arithmetic, no I/O. Where the pool's queues are in one slot, a turn
 * asks all that the order chose, and a round is one turn. For the thread itself.
 */
#ifndef RV_RUNNING_ROUND_H
#define RV_RUNNING_ROUND_H

#include "running/worker_state.h"

/*
 * Chooses the queues of the next turn: sets first_place, place_count and, of several slots, round.slot and round.twice.
 * begin: as in rv_queue_order_choose, the turn need not ask all queues.
 */
void rv_round_choose(rv_thread *thread, bool begin);

/* The place, in the order of the queues, of the nth queue of the turn. */
static inline size_t rv_round_place(const rv_thread *thread, size_t nth)
{
    return thread->round.twice ? thread->first_place : thread->first_place + nth;
}

/* The queue, in the pool, of the nth queue of the turn. */
static inline size_t rv_round_queue(const rv_thread *thread, size_t nth)
{
    return rv_queue_order_queue(&thread->order, rv_round_place(thread, nth));
}

/* Whether the turn settles outcomes of this queue. */
static inline bool rv_round_settles(const rv_thread *thread, size_t queue)
{
    return thread->pool->slots == NULL || thread->pool->slots[queue] == thread->round.slot;
}

/* Whether the turn takes the place of a thread that was woken for one of its queues. */
bool rv_round_is_woken(const rv_thread *thread);

/* After a turn: whether the next turn goes on with the round. again: a session of the turn was gone. */
bool rv_round_goes_on(rv_thread *thread, bool again);

/* The thread was woken for these slots (by number): the next round asks their queues alone. */
void rv_round_note_woken(rv_thread *thread, const bool *slots);

/* Of an ended round: chooses the next queues, of one slot, that the thread was woken for and did not ask. False: there are
 * none. */
bool rv_round_next_left(rv_thread *thread);

/* The next turn begins a round. False: the thread was woken for queues that it did not ask. */
bool rv_round_end(rv_thread *thread);

#endif
