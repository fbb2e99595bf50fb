/*
 * address.h - the address of one server, as topology.h finds it and transport.h connects to it.
 */
#ifndef RV_ADDRESS_H
#define RV_ADDRESS_H

#include <stdbool.h>

#include "redis/tls.h"

#define RV_HOST_SIZE 256 /* a host name has at most 253 bytes */

typedef struct rv_address {
    const char *path;        /* borrowed from the URL: a unix socket; or NULL */
    char host[RV_HOST_SIZE]; /* where there is no path */
    int port;
    rv_tls *tls;         /* borrowed from the URL; NULL: plain text, */
    bool secret;         /* which must not be: the URL was not secured (rv_url_secure), and is only looked at */
    unsigned generation; /* of what the topology knew: rv_topology_is_current */
} rv_address;

#endif
