/*
 * namesakes.h - other live workers with the name of this one, looked for when it starts.
 */
#ifndef RV_UPKEEP_NAMESAKES_H
#define RV_UPKEEP_NAMESAKES_H

#include "running/worker_state.h"

/*
 * Logs a warning (worker.same_name) for the first live worker of another process that has the same name: requests to
 * the name, as by `reeve signal`, are for both. Workers that are quiet or stopping do not count: this one replaces them.
 * Of many workers, the first NAMESAKES_MAX that Redis names are looked at. Where Redis does not answer, nothing is
 * logged. On the connection of the heartbeats, before its thread starts.
 */
void rv_namesakes_warn(const reeve_worker *worker, rv_conn *conn, int64_t deadline);

#endif
