/*
 * topology_private.h - what the kinds of topologies share: each has these functions, and its own fields after them.
 */
#ifndef RV_TOPOLOGY_PRIVATE_H
#define RV_TOPOLOGY_PRIVATE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "redis/topology.h"

typedef struct rv_topology_ops {
    reeve_status (*resolve)(rv_topology *topology, const rv_url *url, const rv_topology_ask *ask, rv_address *ret,
                            rv_error *error);
    /* NULL for these three: nothing is to be done. */
    bool (*failed)(rv_topology *topology, const rv_address *address);
    void (*opened)(rv_topology *topology, const rv_url *url, rv_address *address);
    void (*write_servers)(rv_topology *topology, rv_buf *out);
    void (*destroy)(rv_topology *topology);
} rv_topology_ops;

struct rv_topology {
    const rv_topology_ops *ops;
    atomic_uint generation; /* grows when all connections are to be opened anew */
};

#endif
