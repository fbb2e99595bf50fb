/*
 * http_path.h - paths and queries of requests: percent-encoding, and patterns such as "/api/v1/tasks/{queue}/{id}". No
 * I/O; any thread.
 */
#ifndef RV_WEB_HTTP_PATH_H
#define RV_WEB_HTTP_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define RV_HTTP_PARAMS 2       /* parts of a path that a pattern leaves open */
#define RV_HTTP_PARAM_SIZE 512 /* the longest of them, decoded, with its final zero byte */

typedef struct rv_http_params {
    char value[RV_HTTP_PARAMS][RV_HTTP_PARAM_SIZE];
    size_t count;
} rv_http_params;

/* Decodes %XX. False: it does not fit, an escape is not valid, or a byte would be zero. */
bool rv_http_path_decode(char *ret, size_t size, const char *text, size_t length);

/* Whether a path, still encoded, fits the pattern. A part in braces matches one part of the path, decoded: an encoded
 * slash is a part of it. */
bool rv_http_path_match(const char *pattern, const char *path, rv_http_params *ret);

#endif
