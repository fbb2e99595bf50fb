/*
 * worker_conn.h - the connections of a worker's threads to Redis: one set of options for all of them.
 */
#ifndef RV_RUNNING_WORKER_CONN_H
#define RV_RUNNING_WORKER_CONN_H

#include "running/worker_state.h"

/*
 * Creates a connection, which is not opened yet. Its name in Redis is "reeve-<worker>-<role>". waker: ends its waits,
 * or NULL. command_ms: the deadline of a call. REEVE_ENOMEM, with words.
 */
reeve_status rv_worker_conn_create(rv_conn **ret, const reeve_worker *worker, const char *role, const rv_waker *waker,
                                   int64_t command_ms, rv_error *error);

#endif
