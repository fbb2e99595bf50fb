/*
 * topology.h - where to connect: resolves a URL to the address of the server that holds the data now.
 *
 * The seam for Sentinel (asks for the master's address) and Cluster (asks for the owner of a slot): a connection asks
 * here at every attempt to open, so that a failover is a reconnect.
 */
#ifndef RV_TOPOLOGY_H
#define RV_TOPOLOGY_H

#include "redis/url.h"

typedef struct rv_address {
    const char *path; /* unix socket, or NULL */
    const char *host; /* borrowed from the URL */
    int port;
    rv_tls *tls; /* borrowed from the URL; NULL: plain text, */
    bool secret; /* which must not be: the URL was not secured (rv_url_secure), and is only looked at */
} rv_address;

/* REEVE_OK, REEVE_EUNSUPPORTED (the build or version cannot speak to this kind of URL, with words). */
reeve_status rv_topology_resolve(const rv_url *url, rv_address *ret, rv_error *error);

#endif
