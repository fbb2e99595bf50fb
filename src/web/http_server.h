/*
 * http_server.h - an HTTP server on libmicrohttpd: a thread for each connection, and limits on all that a client sends.
 *
 * A request is first shown to `begin`, with its headers only; then its body is read, up to a limit; then `handle`
 * writes the answer. A client that is slow, or sends too much, holds one connection, for a limited time, and nothing
 * else. The server adds the headers that keep browsers from misusing the answers (Content-Security-Policy and others).
 */
#ifndef RV_WEB_HTTP_SERVER_H
#define RV_WEB_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "http_listen.h"

typedef struct rv_http_server rv_http_server;
typedef struct rv_http_request rv_http_request;

/* Writes the next part of a streamed answer, at most `size` bytes; may block. Returns the length, or -1 at the end. */
typedef ssize_t (*rv_http_stream_fn)(void *stream, char *ret, size_t size);

struct MHD_Connection;

struct rv_http_request {
    const char *method;
    const char *path;         /* encoded, without the query */
    const char *peer;         /* the address of the client, "unix", or "" */
    const char *body;         /* zero-terminated; NULL: none */
    size_t length;            /* of the body */
    void *user;               /* the handlers' own */
    FILE *out;                /* where `handle` writes the answer */
    unsigned status;          /* default: 200 */
    const char *type;         /* of the answer; default: application/json */
    bool gzipped;             /* the answer is compressed */
    const char *cache;        /* Cache-Control; default: no-store */
    const char *etag;         /* NULL: none */
    bool encrypted;           /* it came by HTTPS */
    char cookie[256];         /* Set-Cookie; "": none */
    bool challenge;           /* WWW-Authenticate: Bearer */
    unsigned retry_after;     /* Retry-After, in seconds; 0: none */
    rv_http_stream_fn stream; /* in place of `out` */
    void (*stream_free)(void *);
    void *stream_user;
    struct rv_http_inside *inside;
};

typedef struct rv_http_handlers {
    bool (*begin)(rv_http_request *request, void *user); /* false: the answer is written, and the body is not read */
    void (*handle)(rv_http_request *request, void *user);
    void (*end)(rv_http_request *request, void *user); /* frees request->user; called once for each `begin` */
    void *user;
} rv_http_handlers;

typedef struct rv_http_options {
    const rv_http_listen *listen; /* stays the caller's, and open */
    rv_http_handlers handlers;
    const char *cert;          /* HTTPS: the file of the certificate and its chain, PEM; NULL: HTTP */
    const char *key;           /* with cert: that of its private key */
    unsigned connections;      /* at a time */
    unsigned connections_each; /* of one address; 0: no limit */
    size_t body_max;           /* bytes of a body */
    size_t bodies_max;         /* bytes of all bodies that are being read */
    unsigned request_seconds;  /* a request that is not complete by then is cut off */
    unsigned idle_seconds;     /* a connection without traffic */
} rv_http_options;

/* Starts the threads. REEVE_EINVAL: cert or key cannot be used; REEVE_ESYSTEM, REEVE_ENOMEM. */
reeve_status rv_http_server_start(rv_http_server **ret, const rv_http_options *options, rv_error *error);

/*
 * Reads cert and key again: connections that come from now on get the certificate that the files have now. Those that
 * there are go on with theirs; if they outlast another renewal, that ends them. Does nothing for HTTP. One thread at a
 * time. REEVE_EINVAL: the files cannot be used; the certificate stays. REEVE_ENOMEM.
 */
reeve_status rv_http_server_renew(rv_http_server *server, rv_error *error);

/* Accepts no more connections, waits for the threads, and frees the server. Streams must have ended, or end soon. */
void rv_http_server_stop(rv_http_server *server);

/*
 * For a handler that waits: `gone` is called once, on another thread, when the client has closed the connection, or its
 * direction to the server, and when the server stops. After rv_http_server_unwatch it is not called any more; true: it was.
 * One watch at a time for a request.
 */
void rv_http_server_watch(rv_http_request *request, void (*gone)(void *user), void *user);
bool rv_http_server_unwatch(rv_http_request *request);

/* A header of the request, or NULL, the first one of its name; a parameter of its query, encoded, or NULL. */
const char *rv_http_server_header(const rv_http_request *request, const char *name);
const char *rv_http_server_query(const rv_http_request *request, const char *name);

/* Whether a header comes more than once. */
bool rv_http_server_header_repeats(const rv_http_request *request, const char *name);

/* Calls `each` for every header of that name, until it returns false. */
void rv_http_server_each_header(const rv_http_request *request, const char *name,
                                bool (*each)(void *user, const char *value), void *user);

/* Calls `each` for every parameter of the query; value: encoded, "" when there is none. */
void rv_http_server_each_query(const rv_http_request *request,
                               void (*each)(void *user, const char *name, const char *value), void *user);

#endif
