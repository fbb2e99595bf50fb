/*
 * handler_change.h - the handlers of a running worker are replaced, with their plugins, layers and policies.
 *
 * A thread runs one set of handlers from its start to its end. When another set takes the place of the worker's, each
 * thread retires: it ends when its running task has, tasks that it has not begun go back to their queues, and a thread
 * that runs the new set takes its place. A set is closed, and the plugins that only it uses are unloaded, when the last
 * of its threads has ended and was joined; a thread of its own waits for that, since hooks of plugins may take long.
 */
#ifndef RV_RUNNING_HANDLER_CHANGE_H
#define RV_RUNNING_HANDLER_CHANGE_H

#include "running/worker_state.h"

/* The worker owns the set on success. Blocks for no task. Any thread but the worker's. REEVE_ESTATE: the worker does not
 * run. REEVE_ENOMEM. */
reeve_status rv_handler_change_replace(reeve_worker *worker, rv_handler_set *set, rv_error *error);

/* All threads of the worker have ended and were joined: waits until the old sets are closed. */
void rv_handler_change_join(reeve_worker *worker);

/* Afterwards: closes the last one. */
void rv_handler_change_close_all(reeve_worker *worker);

#endif
