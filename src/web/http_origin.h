/*
 * http_origin.h - whether a browser may make a request: against pages of other sites (Sec-Fetch-Site, Origin) and
 * against names that an attacker points to this machine (Host). No I/O; any thread.
 */
#ifndef RV_WEB_HTTP_ORIGIN_H
#define RV_WEB_HTTP_ORIGIN_H

#include <stdbool.h>

typedef struct rv_http_origin {
    const char *host;       /* the headers; NULL: absent */
    const char *origin;     /* Origin */
    const char *fetch_site; /* Sec-Fetch-Site */
    bool changes;           /* the request changes something */
    bool any_host;          /* Host may be any name: requests prove who they are, or come by a unix socket */
    const char *own_host;   /* a name besides those of the loopback address; NULL: none */
} rv_http_origin;

/* NULL: it may. Else why not, a literal. */
const char *rv_http_origin_refusal(const rv_http_origin *request);

#endif
