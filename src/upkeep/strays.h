/*
 * strays.h - leases that Redis still has though the worker settled them.
 *
 * Redis may come back without its last writes: after a crash, or as a replica that was behind. A thread finds what then
 * stands under its name with its next turn (recovery.h); one that runs a long task does not turn for as long, and the
 * key of a task that runs at most once is freed by nobody. So the keeper looks for these once Redis was lost and is
 * there again.
 */
#ifndef RV_UPKEEP_STRAYS_H
#define RV_UPKEEP_STRAYS_H

#include "running/worker_state.h"

/* Looks at a page of a queue, on the keeper's open connection: what nobody holds is handed to the keeper, which gives it
 * back. While keeper.strays_left says that there is more. The keeper's thread. */
void rv_strays_look(reeve_worker *worker, int64_t deadline);

#endif
