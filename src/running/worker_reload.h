/*
 * worker_reload.h - reeve_worker_reload: the plugins of a worker are loaded again, and the program reads its settings.
 */
#ifndef RV_RUNNING_WORKER_RELOAD_H
#define RV_RUNNING_WORKER_RELOAD_H

#include "running/worker_state.h"

/* As reeve_worker_reload, with what has changed, or why nothing has, in words. Not for a worker's own threads that run
 * handlers. One at a time: a second call waits. */
reeve_status rv_worker_reload(reeve_worker *worker, rv_buf *words, rv_error *error);

#endif
