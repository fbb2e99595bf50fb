/*
 * topology_private.h - what the kinds of topologies share: each has these functions, and its own fields after them.
 */
#ifndef RV_TOPOLOGY_PRIVATE_H
#define RV_TOPOLOGY_PRIVATE_H

#include <stdatomic.h>

#include "redis/topology.h"

typedef struct rv_topology_ops {
    reeve_status (*resolve)(rv_topology *topology, const rv_url *url, const rv_topology_ask *ask, rv_address *ret,
                            rv_error *error);
    bool (*failed)(rv_topology *topology, const rv_address *address); /* NULL: nothing is to be done */
    void (*destroy)(rv_topology *topology);
} rv_topology_ops;

struct rv_topology {
    const rv_topology_ops *ops;
    atomic_uint generation; /* grows when all connections are to be opened anew */
};

#endif
