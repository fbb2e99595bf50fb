/*
 * status.h - one enum for every outcome of a call, a text for each, and the hooks for log and memory.
 *
 * Zero is success. Outputs (parameters named ret_...) are written only on success unless a comment says otherwise.
 *
 * Structs. Programs and plugins that were compiled with one version work with the library of another one:
 *
 *   - A struct that a program fills and that may grow begins with the field `size`. Set it to the struct's sizeof, or
 *     leave it 0. New fields are only appended, and 0 in a field always selects what held before there was the field.
 *   - A smaller size is that of an older version: the fields that it lacks count as 0. A larger size is that of a later
 *     version: the struct is accepted if all fields that this library does not know are 0. Otherwise the call fails with
 *     REEVE_EINVAL (a plugin is refused with REEVE_EPLUGIN), and the error names both sizes.
 *   - Where `size` is 0, the sizeof of the calling program holds. It comes with the call: each function that takes such
 *     a struct is also a macro, which calls the function named ..._sized with that sizeof. In an array of structs the
 *     elements are that sizeof apart. Whoever calls the function itself (by a pointer, or from another language) sets
 *     `size`.
 *   - Structs without a size do not change while the library has the same soname; a struct that the library allocates,
 *     and that programs reach by a pointer, may get further fields at its end.
 */
#ifndef REEVE_STATUS_H
#define REEVE_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The one list of codes and texts: X(name, number, text). Numbers are part of the ABI; append only. */
#define REEVE_STATUS_MAP(X)                                   \
    X(OK, 0, "success")                                       \
    X(EINVAL, 1, "invalid argument")                          \
    X(ENOMEM, 2, "out of memory")                             \
    X(EURL, 3, "invalid Redis URL")                           \
    X(ECONNECT, 4, "cannot connect to Redis")                 \
    X(ELOST, 5, "connection to Redis lost before the reply")  \
    X(ETIMEOUT, 6, "deadline passed")                         \
    X(EREDIS, 7, "Redis answered with an error")              \
    X(EPROTO, 8, "unexpected reply from Redis")               \
    X(EEXISTS, 9, "a task with this id exists")               \
    X(ENOTFOUND, 10, "not found")                             \
    X(ESTATE, 11, "not possible in the task's present state") \
    X(EREFUSED, 12, "refused: the lease is no longer held")   \
    X(ETOOBIG, 13, "larger than the limit")                   \
    X(EINTERRUPTED, 14, "interrupted")                        \
    X(EPLUGIN, 15, "plugin cannot be loaded")                 \
    X(EDUPLICATE, 16, "registered twice")                     \
    X(ESYSTEM, 17, "system call failed")                      \
    X(EUNSUPPORTED, 18, "not supported by this build")        \
    X(EDEAD, 19, "the task is dead")                          \
    X(ECANCELLED, 20, "the task was cancelled")               \
    X(EUNIQUE, 21, "another task holds the unique key")

typedef enum reeve_status {
#define REEVE_STATUS_ENUM(name, number, text) REEVE_##name = number,
    REEVE_STATUS_MAP(REEVE_STATUS_ENUM)
#undef REEVE_STATUS_ENUM
} reeve_status;

/* The text of a status, "unknown status" for a number that is none. Any thread; never NULL. */
REEVE_API const char *reeve_status_text(reeve_status status);

/* A run of bytes that somebody else owns. Data may be NULL when length is zero; it need not end in a zero byte. */
typedef struct reeve_bytes {
    const void *data;
    size_t length;
} reeve_bytes;

/* ---- log ------------------------------------------------------------------------------------------------------- */

typedef enum reeve_log_level {
    REEVE_LOG_DEBUG,
    REEVE_LOG_INFO,
    REEVE_LOG_WARN,
    REEVE_LOG_ERROR,
    REEVE_LOG_OFF
} reeve_log_level;

/* One key and its value in a log record; both are text that ends in a zero byte. */
typedef struct reeve_log_field {
    const char *key;
    const char *value;
} reeve_log_field;

/* One log record. All pointers are valid only during the callback. */
typedef struct reeve_log_record {
    reeve_log_level level;
    int64_t time_ms;     /* wall clock, milliseconds since the epoch */
    const char *event;   /* a short, stable message id, for instance "redis.lost" */
    const char *message; /* words for people */
    const reeve_log_field *fields;
    size_t field_count;
} reeve_log_record;

/*
 * Receives the library's log. Called from any thread, one call at a time; must not call back into the library.
 * Passwords never appear in a record.
 *
 * The thread that logs waits until the callback returns, and so does each other thread that logs meanwhile: threads of
 * a worker, its heartbeats and reeve_worker_stop among them. A callback that may block (a pipe whose reader stalls, a
 * disk) should copy the record into a bounded queue that a thread of the program's own empties, as reeve-worker does.
 */
typedef void (*reeve_log_fn)(const reeve_log_record *record, void *user);

/*
 * Sets the process-wide log callback and the least level that reaches it. The library is silent by default; NULL makes
 * it silent again. Any thread; the old callback is not running any more when this returns.
 */
REEVE_API void reeve_log_set(reeve_log_fn fn, void *user, reeve_log_level least);

/*
 * Writes a record to the same log, for handlers, layers and plugins: they need not know where it goes. event is a
 * short, stable id ("thumbs.slow"); fields may be NULL when field_count is 0; at most 24 of them are written. Costs
 * next to nothing when the level is not wanted. Any thread, but not from the callback.
 */
REEVE_API void reeve_log_write(reeve_log_level level, const char *event, const char *message,
                               const reeve_log_field *fields, size_t field_count);

/* Ready-made callbacks: one line a record to the FILE* in user, as logfmt or as JSON. They write and flush before they
 * return: for files and terminals, not for a pipe whose reader may stall or go away (which also raises SIGPIPE). */
/* In JSON the value of a key that is a count or has a unit ("tasks", "attempt", "delay_ms") is a number; ids and names are
 * text even if they look like one. */
REEVE_API void reeve_log_to_logfmt(const reeve_log_record *record, void *user);
REEVE_API void reeve_log_to_json(const reeve_log_record *record, void *user);

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Replacements for malloc, realloc and free, with their contracts. All three or none. */
typedef struct reeve_memory_hooks {
    void *(*allocate)(size_t size, void *user);
    void *(*reallocate)(void *pointer, size_t size, void *user);
    void (*release)(void *pointer, void *user);
    void *user;
} reeve_memory_hooks;

/*
 * Replaces the library's allocator; NULL restores malloc. Call it before any other function of the library; later is
 * REEVE_EINVAL. (The libraries under reeve, such as hiredis, keep their own.)
 */
REEVE_API reeve_status reeve_memory_set(const reeve_memory_hooks *hooks);

#ifdef __cplusplus
}
#endif
#endif
