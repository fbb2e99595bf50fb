/*
 * layers_run.h - calls a handler with the layers around it.
 *
 * A worker's list is fixed when it starts; then each handler gets the layers that are around it (rv_handler.layers), so
 * that a task whose type has none costs one comparison, and one that has some costs calls but no memory: what
 * reeve_next_run needs lies on the stack.
 */
#ifndef RV_HANDLERS_LAYERS_RUN_H
#define RV_HANDLERS_LAYERS_RUN_H

#include "protocol/layers.h"
#include "reeve/plugin.h"

/* Runs a handler, also a batch handler with just this task, with these layers (NULL: none) around it. */
reeve_outcome rv_layers_run(const reeve_layer *const *layers, reeve_task *task, const reeve_handler *handler);

/* Runs a batch handler with these layers (NULL: none) around it. Each task then has its outcome, or none. */
void rv_layers_run_batch(const reeve_layer *const *layers, reeve_task *const *tasks, size_t count,
                         const reeve_handler *handler);

/* Calls `before` of the layers that fit the task's type, until one chooses an outcome. Returns how many of the list the
 * task has passed. */
size_t rv_layers_run_before(const rv_layers *layers, reeve_task *task);

/* Calls `after` of these, the last one first. */
void rv_layers_run_after(const rv_layers *layers, size_t passed, reeve_task *task);

#endif
