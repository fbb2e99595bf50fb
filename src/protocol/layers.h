/*
 * layers.h - lists of layers (reeve/layer.h), and which of them are around the handlers of a type. A worker, a client
 * and a test have a list each. handlers/layers_run.h calls those around a handler, protocol/outgoing.h those at an
 * enqueue.
 */
#ifndef RV_PROTOCOL_LAYERS_H
#define RV_PROTOCOL_LAYERS_H

#include <stdbool.h>

#include "base/error.h"
#include "reeve/layer.h"

typedef struct rv_layers {
    reeve_layer *list; /* outermost first; name and type are its own copies */
    size_t count;
} rv_layers;

/* REEVE_EINVAL: the layer is not valid. owner: the beginning of the error message ("plugin x.so: "). */
reeve_status rv_layers_check(const reeve_layer *layer, const char *owner, rv_error *error);

/* Adds a copy of a layer, further in than those before. REEVE_EINVAL, REEVE_ENOMEM. */
reeve_status rv_layers_add(rv_layers *layers, const reeve_layer *layer, rv_error *error);

/* Frees them and calls their free_user. */
void rv_layers_fini(rv_layers *layers);

/* Whether a layer applies to tasks of a type. */
bool rv_layers_fits(const reeve_layer *layer, const char *type);

/*
 * Those that may be called for a task of a handler, or (batch) of a batch handler, outermost first, ended by NULL.
 * `type` is that of the handler, which can be a pattern. *ret is freed by rv_free and leads into layers; NULL when there
 * are none. False: no memory.
 */
bool rv_layers_choose(const reeve_layer ***ret, const rv_layers *layers, const char *type, bool batch);

#endif
