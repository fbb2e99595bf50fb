/*
 * outdated.h - a newer release has raised the version of the namespace's data (protocol/format.h) while this worker
 * runs.
 */
#ifndef RV_UPKEEP_OUTDATED_H
#define RV_UPKEEP_OUTDATED_H

#include "redis/reply.h"
#include "running/worker_state.h"

/*
 * The reply to rv_format_note. Of a version that this release does not know: logs it once; from then on the worker
 * leases nothing and maintains no queue, as in the phase quiet. What runs goes on, and heartbeats keep its sessions.
 */
void rv_outdated_note(reeve_worker *worker, const rv_reply *reply);

#endif
