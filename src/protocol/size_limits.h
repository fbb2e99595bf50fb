/*
 * size_limits.h - the size limits in force (reeve/size_limits.h), and the error messages of refusals. No I/O.
 */
#ifndef RV_PROTOCOL_SIZE_LIMITS_H
#define RV_PROTOCOL_SIZE_LIMITS_H

#include <stddef.h>

#include "base/error.h"
#include "reeve/size_limits.h"

/* The standards, none of them zero. */
extern const reeve_size_limits rv_size_limits_default;

/* *ret: the given limits, and the default of each that is zero. REEVE_EINVAL, with a message: a limit out of range. */
reeve_status rv_size_limits_choose(reeve_size_limits *ret, const reeve_size_limits *given, rv_error *error);

/* "payload=64K,tags=8": sets these in *ret; sizes with K, M or G count 1024s. REEVE_EINVAL, with words. */
reeve_status rv_size_limits_parse(reeve_size_limits *ret, const char *text, rv_error *error);

/*
 * Refuses with REEVE_ETOOBIG: "<what and its size>: at most <limit> (<what raises it>)". size_limits: chosen ones; at:
 * the field's offset in them.
 */
reeve_status rv_size_limits_refuse(rv_error *error, const reeve_size_limits *size_limits, size_t at, const char *format,
                                   ...) __attribute__((format(printf, 4, 5)));
#define RV_SIZE_LIMIT(field) offsetof(reeve_size_limits, field)

/* A text that is not NULL is not longer; the words name it: what "text". */
reeve_status rv_size_limits_check_name(rv_error *error, const reeve_size_limits *size_limits, size_t at,
                                       const char *what, const char *text);

#endif
