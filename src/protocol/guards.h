/*
 * guards.h - the guards in force (reeve/guards.h), and what is said when one refuses. No I/O.
 */
#ifndef RV_PROTOCOL_GUARDS_H
#define RV_PROTOCOL_GUARDS_H

#include <stddef.h>

#include "base/error.h"
#include "reeve/guards.h"

/* The standards, none of them zero. */
extern const reeve_guards rv_guards_standard;

/* *ret: what was said, and the standard where nothing was. REEVE_EINVAL, with words: one that cannot be. */
reeve_status rv_guards_choose(reeve_guards *ret, const reeve_guards *said, rv_error *error);

/* "payload=64K,tags=8": sets these in *ret; sizes with K, M or G count 1024s. REEVE_EINVAL, with words. */
reeve_status rv_guards_parse(reeve_guards *ret, const char *text, rv_error *error);

/*
 * Refuses with REEVE_ETOOBIG: "<what and its size>: at most <limit> (<what raises it>)". guards: chosen ones; at: the
 * guard's offset in them.
 */
reeve_status rv_guard_refuse(rv_error *error, const reeve_guards *guards, size_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define RV_GUARD(field) offsetof(reeve_guards, field)

/* A text that is not NULL is not longer; the words name it: what "text". */
reeve_status rv_guard_name(rv_error *error, const reeve_guards *guards, size_t at, const char *what, const char *text);

#endif
