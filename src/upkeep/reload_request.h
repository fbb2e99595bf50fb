/*
 * reload_request.h - the request `reload` of a worker whose program does not carry it out by itself (on_request).
 *
 * Loading plugins and reading settings take too long for the keeper, so each such request has a thread of its own, one at
 * a time.
 */
#ifndef RV_UPKEEP_RELOAD_REQUEST_H
#define RV_UPKEEP_RELOAD_REQUEST_H

#include "running/worker_state.h"

/* Starts the reload, whose answer comes later. For the keeper. REEVE_ESTATE: another one is under way. REEVE_ENOMEM,
 * REEVE_ESYSTEM. */
reeve_status rv_reload_request_start(reeve_worker *worker, const char *id, rv_error *error);

/* Waits until the last one has ended. The keeper has ended. */
void rv_reload_request_join(reeve_worker *worker);

#endif
