/*
 * consumer_layers.h - the layers of a consumer (reeve/layer.h): before the program gets tasks, and when it settles them.
 *
 * The functions of layers are called outside of the gate, because those of task.h pass it.
 */
#ifndef RV_CONSUMER_CONSUMER_LAYERS_H
#define RV_CONSUMER_CONSUMER_LAYERS_H

#include "consumer/consumer_state.h"

/* Calls `before` for tasks that the program is about to get. Those that have an outcome then are settled. Returns how
 * many are left, in their order, at the beginning of the array. */
unsigned rv_consumer_layers_before(reeve_consumer *consumer, reeve_task **tasks, unsigned count);

/* Calls `after`, once, if `outcome` is that of the task. */
void rv_consumer_layers_after(const reeve_consumer *consumer, reeve_task *task, reeve_outcome outcome);

#endif
