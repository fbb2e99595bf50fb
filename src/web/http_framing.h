/*
 * http_framing.h - where a request ends: refuses what two HTTP programs, such as a proxy and this server, could read in
 * two ways, and bodies that are announced to be too large. No I/O; any thread.
 */
#ifndef RV_WEB_HTTP_FRAMING_H
#define RV_WEB_HTTP_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rv_http_framing {
    unsigned headers, hosts, lengths, encodings; /* how often each of them was sent; `headers` counts all */
    uint64_t length;                             /* Content-Length; UINT64_MAX: it is no number, or larger */
    bool chunked;                                /* the last Transfer-Encoding is chunked, and nothing else */
} rv_http_framing;

/* Takes a header into account; value may be NULL. */
void rv_http_framing_add(rv_http_framing *framing, const char *name, const char *value);

typedef struct rv_http_framing_refusal {
    unsigned status; /* 0: the request is good */
    const char *code, *message;
} rv_http_framing_refusal;

rv_http_framing_refusal rv_http_framing_check(const rv_http_framing *framing, size_t body_max);

#endif
