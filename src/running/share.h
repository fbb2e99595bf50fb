/*
 * share.h - one call of turn.lua for several threads of a pool, or of pools of the same queues. While a thread calls
 * Redis, others that have finished their tasks wait for the end of that call; then the first of them calls for all of
 * them (company.h). It settles the outcomes of all, and leases tasks for each.
 *
 * Redis executes one script at a time, and most of the cost of a short turn does not depend on the number of its
 * tasks. So a thread loses little when it waits for the call that is under way, and the calls grow with the load by
 * themselves. Databases share the write of a commit in the same way ("group commit"); that one thread performs the
 * operations of others that wait is known as "flat combining" (Flat Combining and the Synchronization-Parallelism
 * Tradeoff, SPAA 2010).
 *
 * Threads share a turn only if theirs would ask the same queues in the same order (queue_order.h). So each is leased
 * what it would have been leased if they had taken their turns one after the other, and charges its own order. A pool
 * has several shares for that: an order is found in one of them by its hash, and each order is in three, so that three calls
 * can be under way at the same time.
 *
 * Only the connection is shared. Every lease has the name of the thread that it is for, and a thread whose turn was
 * lost with the connection of another one recovers by itself, on its own connection. A thread waits here only while
 * another one is in a call. If that takes long, for instance on a connection that is dead without a sign, those whose
 * turns are not in it call by themselves. After a loss nobody waits: all recover at the same time.
 */
#ifndef RV_RUNNING_SHARE_H
#define RV_RUNNING_SHARE_H

#include "running/worker_state.h"

/* What the threads of a pool with so many queues share. False: no memory; then there is nothing to finish. */
bool rv_share_init(rv_sharing *sharing, reeve_order order, size_t queues);
void rv_share_fini(rv_sharing *sharing);
reeve_status rv_share_init_turn(rv_shared_turn *shared, rv_error *error);
void rv_share_fini_turn(rv_shared_turn *shared);

/*
 * The thread is about to take a turn, for `want` tasks. May wait for the calls of other threads. RV_SHARE_CALLS: the
 * thread calls rv_share_end once, at the latest when its turn ends; it may take those who wait with it (company.h)
 * before it sends its call.
 */
rv_share_role rv_share_begin(rv_thread *thread, unsigned want);

/* The call took so long. After some long ones nobody shares for a while: replies that come slowly over one connection
 * come faster over many, and a thread that waits for another one's reply does nothing meanwhile. */
void rv_share_note_call(rv_thread *thread, int64_t took_ms);

/* The turn of a thread that took it by itself is over. */
void rv_share_note_alone(rv_thread *thread);

/* Lets the next thread call, if one waits. */
void rv_share_end(rv_thread *thread);

/* For the thread that calls: removes up to `max` of those who wait, linked in their order; each must be answered. */
rv_thread *rv_share_remove(rv_share *share, size_t max);

/* Ends the wait of a thread, which is its own master again. */
void rv_share_answer(rv_thread *thread, rv_share_role role);

/* A thread recovers: tasks that were leased before may be lost. Until it has taken a turn by itself, no thread shares
 * one. */
void rv_share_note_loss(rv_thread *thread);
/* How often that happened in the pools that share with the thread's, for rv_shared_turn.losses. */
unsigned rv_share_losses(const rv_thread *thread);

#endif
