/*
 * layers.h - layers around handlers (reeve/layer.h): lists of them, which of them are around a type, and the way in.
 *
 * A worker's list is fixed when it starts; then each handler gets the layers that are around it (rv_handler.layers), so
 * that a task whose type has none costs one comparison, and one that has some costs calls but no memory: what
 * reeve_next_run needs lies on the stack.
 */
#ifndef RV_HANDLERS_LAYERS_H
#define RV_HANDLERS_LAYERS_H

#include "base/error.h"
#include "handlers/plugin.h"
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

/*
 * Those around a type, outermost first, ended by NULL: *ret is freed by rv_free and leads into layers; NULL when there
 * are none. False: no memory.
 */
bool rv_layers_choose(const reeve_layer ***ret, const rv_layers *layers, const char *type);

/* Runs a handler with these layers (NULL: none) around it. */
reeve_outcome rv_layers_run(const reeve_layer *const *layers, reeve_task *task, const reeve_handler *handler);

#endif
