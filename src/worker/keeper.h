/*
 * keeper.h - the heartbeat thread: renews sessions and the worker's entry, relieves threads that are held up by a long
 * task, ends tasks whose time is up, hears the control channel, and says good-bye for the worker.
 */
#ifndef RV_KEEPER_H
#define RV_KEEPER_H

#include "worker/state.h"

reeve_status rv_keeper_init(reeve_worker *worker, rv_error *error);
reeve_status rv_keeper_start(reeve_worker *worker, rv_error *error);
void rv_keeper_join(reeve_worker *worker);
void rv_keeper_fini(reeve_worker *worker);

/* The keeper is needed at a time (monotonic ms): rings it if it would sleep longer. Any thread. */
void rv_keeper_expect(reeve_worker *worker, int64_t at_ms);

/* relief.c: takes over what waits behind long tasks, and tasks whose time is up; returns when to look again. */
int64_t rv_relieve(reeve_worker *worker);
/* relief.c: settles what was taken over; keeps what could not be delivered. */
void rv_deliver_handed(reeve_worker *worker);
/* relief.c: the session is gone: handlers that run under it should end. */
void rv_tell_lost(reeve_worker *worker, const rv_claim *claim, const char *session);

#endif
