/*
 * topology.h - where to connect: resolves a URL to the address of the server that holds the data now.
 *
 * The seam for Sentinel (asks for the master's address) and Cluster (asks for the owner of a slot): a connection asks
 * here at every attempt to open, so that a failover is a reconnect. A URL of one server needs no object; the others
 * have one, which rv_url_secure makes and all connections of the URL share. Any thread may call these functions; a
 * URL of one server is resolved without any wait.
 */
#ifndef RV_TOPOLOGY_H
#define RV_TOPOLOGY_H

#include "base/buf.h"
#include "redis/address.h"
#include "redis/url.h"
#include "redis/waker.h"

typedef struct rv_topology_ask {
    int64_t deadline;      /* monotonic ms, for questions to servers */
    const rv_waker *waker; /* ends the wait when it is rung: REEVE_EINTERRUPTED; may be NULL */
    const rv_waker *quit;  /* once rung, the deadline has passed; may be NULL */
    int slot;              /* of the keys, in a cluster; -1: any node */
} rv_topology_ask;

/* Whether this build can use this kind of URL; connects to nothing. REEVE_OK, REEVE_EUNSUPPORTED with words. An
 * embedded server counts as unsupported: it has to be joined first. */
reeve_status rv_topology_check(const rv_url *url, rv_error *error);

/* The object of a URL; NULL for kinds that need none, or that this build cannot use. REEVE_OK, REEVE_ENOMEM. */
reeve_status rv_topology_create(rv_topology **ret, const rv_url *url, rv_error *error);
void rv_topology_destroy(rv_topology *topology); /* after the last connection; NULL is fine */

/* The server to connect to. REEVE_OK, REEVE_EUNSUPPORTED (as rv_topology_check), REEVE_ECONNECT (no server could
 * tell; with the reason), REEVE_EINTERRUPTED, REEVE_ENOMEM. */
reeve_status rv_topology_resolve(const rv_url *url, const rv_topology_ask *ask, rv_address *ret, rv_error *error);

/* The deadline of one attempt to connect to a resolved address: earlier than `deadline` where a later question can
 * give another address. */
int64_t rv_topology_attempt(const rv_url *url, int64_t deadline);
/* The server at a resolved address cannot be reached, or is not the master. True: a later question can give another
 * address, so that it makes sense to ask again until the deadline. */
bool rv_topology_failed(const rv_url *url, const rv_address *address);
/* A connection to a resolved address was opened, and the server is what was looked for. Where another one was in use
 * before, all connections of the URL are to be opened anew: `address` is current then, and theirs are not. */
void rv_topology_opened(const rv_url *url, rv_address *address);

/* False: the data have moved since this address was resolved, and a connection to it is to be opened anew. Does not
 * block. */
bool rv_topology_is_current(const rv_url *url, const rv_address *address);
/* How often the connections of the URL had to be opened anew: 0 for one server. */
unsigned rv_topology_moves(const rv_url *url);

/* Adds the servers that are asked where the data are, "host:port, host:port", the one that answered last first. Nothing
 * for a URL of one server. */
void rv_topology_write_servers(const rv_url *url, rv_buf *out);

#endif
