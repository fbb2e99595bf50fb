/*
 * offloaded.h - the outcomes that threads have handed to the keeper, as others see them. Any thread; nothing blocks.
 */
#ifndef RV_RUNNING_OFFLOADED_H
#define RV_RUNNING_OFFLOADED_H

#include "running/worker_state.h"

/* How many offloaded outcomes the keeper has settled so far. To be read before Redis is asked which leases exist. */
unsigned long rv_offloaded_settled(reeve_worker *worker);

/*
 * Finds out for which of some leases the keeper has an outcome that is not settled yet. False, and nothing is set,
 * when it has settled any since `settled` was read: the answer of Redis about these leases may be out of date.
 */
bool rv_offloaded_find(reeve_worker *worker, const rv_queue_session *queue_session, const char *session,
                       unsigned long settled, const rv_lease *leases, size_t count, bool *ret_held);

#endif
