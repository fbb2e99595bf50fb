/*
 * outgoing.h - tasks on their way through the layers at an enqueue (reeve/layer.h).
 */
#ifndef RV_PROTOCOL_OUTGOING_H
#define RV_PROTOCOL_OUTGOING_H

#include "base/chunks.h"
#include "base/siphash.h"
#include "protocol/layers.h"
#include "protocol/size_limits.h"

struct reeve_outgoing {
    rv_chunks *chunks; /* what layers have made; of all tasks of the call */
    reeve_task_spec *spec;
    const reeve_layer *layer; /* the one that is called */
    rv_error *error;
    rv_siphash_key digest_key; /* zero: no layer has set one */
};

/* Whether the list has a layer for enqueues at all. */
bool rv_outgoing_has(const rv_layers *layers);

/*
 * Checks a spec but for the length of its payload, and calls the layers, the last one first, which change it. The
 * caller checks the result, and frees it with rv_outgoing_fini when it is no longer used. outgoing begins zeroed, and
 * may take several specs.
 */
reeve_status rv_outgoing_apply(reeve_outgoing *outgoing, const rv_layers *layers, const reeve_size_limits *size_limits,
                               reeve_task_spec *spec, rv_error *error);

void rv_outgoing_fini(reeve_outgoing *outgoing);

#endif
