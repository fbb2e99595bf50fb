/*
 * sentinel.h - the topology of a redis-sentinel:// URL: asks Sentinels which server is the master.
 *
 * Sentinels are asked in order, each for ANSWER_MS at most; the first that answers goes first the next time. The list
 * begins with those of the URL, and each answer adds the other Sentinels that the answering one knows. What a Sentinel
 * names is only believed once the server says by ROLE that it is a master (handshake.c): a Sentinel that was cut off
 * names an old one, and is asked last the next time.
 */
#ifndef RV_SENTINEL_H
#define RV_SENTINEL_H

#include "base/buf.h"
#include "redis/topology_private.h"

reeve_status rv_sentinel_create(rv_topology **ret, const rv_url *url, rv_error *error);

/* ---- for sentinel_watch.c -------------------------------------------------------------------------------------- */

typedef struct rv_sentinel_place {
    char host[RV_HOST_SIZE];
    int port;
    bool given; /* by the URL: it stays in the list */
} rv_sentinel_place;

/* Where a Sentinel is, with the URL's TLS. */
void rv_sentinel_address(const rv_url *url, const rv_sentinel_place *place, rv_address *ret);
/* The Sentinel that answered last. */
void rv_sentinel_first(rv_topology *topology, rv_sentinel_place *ret);
/* A Sentinel names this master. True: the connections are to another one, and are opened anew from now on. */
bool rv_sentinel_note_master(rv_topology *topology, const rv_url *url, const char *host, int port);

#endif
