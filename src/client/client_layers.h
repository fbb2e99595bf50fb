/*
 * client_layers.h - enqueues through the layers of a client (reeve/layer.h).
 */
#ifndef RV_CLIENT_CLIENT_LAYERS_H
#define RV_CLIENT_CLIENT_LAYERS_H

#include "client/client.h"

/* rv_client_enqueue_run of tasks that go through the layers first. */
reeve_status rv_client_layers_enqueue(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                      reeve_enqueued *results);

#endif
