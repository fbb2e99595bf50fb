/*
 * http_listen.h - the listening socket of an HTTP server, at an address of base/listen_address.h.
 */
#ifndef RV_WEB_HTTP_LISTEN_H
#define RV_WEB_HTTP_LISTEN_H

#include <stdbool.h>

#include "base/error.h"

typedef struct rv_http_listen {
    int fd;         /* -1: not open */
    bool loopback;  /* only processes of this machine can connect */
    bool is_unix;   /* a unix socket */
    char text[160]; /* the address in force, such as "127.0.0.1:8420", or "unix:/run/reeve.sock" */
    char path[108]; /* of a unix socket, which rv_http_listen_close removes */
} rv_http_listen;

/* Binds and listens. Port 0 takes a free port. The socket of a server that is gone is replaced. REEVE_EINVAL: no such
 * address; REEVE_ESYSTEM: it cannot be bound. */
reeve_status rv_http_listen_open(rv_http_listen *ret, const char *address, rv_error *error);

/* Closes the socket and removes its file. */
void rv_http_listen_close(rv_http_listen *listen);

#endif
