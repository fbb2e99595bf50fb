/*
 * status.h - the statuses that all functions return, rules for structs, and hooks for the log and memory.
 *
 * REEVE_OK is 0. Output parameters are named `ret`, or their names begin with ret_. They are written only on success
 * unless a comment says otherwise. "Any thread" in a comment means that any number of threads may make the call at the
 * same time.
 *
 * Structs. Programs and plugins that were compiled with one version of reeve work with the library of another version:
 *
 *   - A struct that a program fills, and that may grow, begins with the field `size`. Set it to the sizeof of the
 *     struct, or leave it 0. New fields are only appended, and 0 in a new field selects the behaviour of the versions
 *     before it.
 *   - A size smaller than the library's means an older version: the fields that it lacks count as 0. A larger size
 *     means a later version: the struct is accepted if all fields that this library does not know are 0. Otherwise
 *     the call fails with REEVE_EINVAL (for a plugin: REEVE_EPLUGIN), and the message names both sizes.
 *   - With a `size` of 0 the sizeof of the calling program applies. Each function that takes such a struct is also a
 *     macro, which passes that sizeof to the function of the same name with the suffix _sized. In an array of such
 *     structs, the library takes that sizeof as the size of each element. Callers that do not use the macro, for
 *     instance in another language, must set `size`.
 *   - Structs without a `size` do not change as long as the library has the same soname. Structs that only the
 *     library allocates may get further fields at their end.
 */
#ifndef REEVE_STATUS_H
#define REEVE_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All statuses: X(name, number, text). The numbers are part of the ABI: append only. */
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
    X(EUNIQUE, 21, "another task holds the unique key")       \
    X(BUFFERED, 22, "kept in the buffer until Redis is back") \
    X(EFULL, 23, "the buffer is full")                        \
    X(UNCONFIRMED, 24, "enqueued, but not confirmed by enough replicas")

/* The result of a call; REEVE_STATUS_MAP has the meaning of each value. 0 (REEVE_OK) is success. */
typedef enum reeve_status {
#define REEVE_STATUS_ENUM(name, number, text) REEVE_##name = number,
    REEVE_STATUS_MAP(REEVE_STATUS_ENUM)
#undef REEVE_STATUS_ENUM
} reeve_status;

/* The text of a status; "unknown status" for any other number. Never NULL. Any thread. */
REEVE_API const char *reeve_status_text(reeve_status status);

/* Bytes that are owned elsewhere. data may be NULL when length is 0. A final zero byte is not required. */
typedef struct reeve_bytes {
    const void *data;
    size_t length;
} reeve_bytes;

/* ---- log ------------------------------------------------------------------------------------------------------- */

/* The severity of a log record, in increasing order. As a threshold, REEVE_LOG_OFF logs nothing. */
typedef enum reeve_log_level {
    REEVE_LOG_DEBUG,
    REEVE_LOG_INFO,
    REEVE_LOG_WARN,
    REEVE_LOG_ERROR,
    REEVE_LOG_OFF
} reeve_log_level;

/* A key and its value in a log record. */
typedef struct reeve_log_field {
    const char *key;
    const char *value;
} reeve_log_field;

/* One log record. All pointers are valid only during the callback. */
typedef struct reeve_log_record {
    reeve_log_level level;
    int64_t time_ms;     /* ms since the epoch, by this machine's clock */
    const char *event;   /* a short and stable id of the message, such as "redis.lost" */
    const char *message; /* text for people */
    const reeve_log_field *fields;
    size_t field_count;
} reeve_log_record;

/*
 * A log callback. The library can call it on any thread, but makes only one call at a time. The callback must not
 * call functions of this library; log records that it causes are dropped. No exception and no longjmp may leave it.
 * Records never contain passwords.
 *
 * The thread that logs waits until the callback returns, and so do other threads that log meanwhile, including a
 * worker's heartbeat thread and reeve_worker_stop. A callback that can block, for instance on a pipe whose reader
 * stalls, should copy the record into a bounded queue that a thread of the program empties, as reeve-worker does.
 */
typedef void (*reeve_log_fn)(const reeve_log_record *record, void *user);

/*
 * Sets the log callback of the process and the lowest level that it receives. By default, and with NULL, nothing is
 * logged. When the function returns, no call of the previous callback is under way. Any thread.
 */
REEVE_API void reeve_log_set(reeve_log_fn fn, void *user, reeve_log_level min_level);

/*
 * Writes a record to the same log, for use in handlers, layers and plugins. `event` is a short and stable id, such as
 * "thumbs.slow". At most 24 fields are written; `fields` may be NULL when field_count is 0. A level that is not
 * logged costs almost nothing. Any thread, but not the callback itself.
 */
REEVE_API void reeve_log_write(reeve_log_level level, const char *event, const char *message,
                               const reeve_log_field *fields, size_t field_count);

/*
 * Log callbacks that write one line for each record to the FILE * in `user`, in logfmt or JSON, and flush it. Use
 * them for files and terminals. Do not use them for a pipe: its reader can stall, or can go away, which raises
 * SIGPIPE. In JSON, values of keys that are counts or have a unit ("tasks", "attempt", "delay_ms") are numbers; ids
 * and names are strings, even if they consist of digits.
 */
REEVE_API void reeve_log_to_logfmt(const reeve_log_record *record, void *user);
REEVE_API void reeve_log_to_json(const reeve_log_record *record, void *user);

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Replacements for malloc, realloc and free, with the same contracts. All three are required. */
typedef struct reeve_memory_hooks {
    void *(*allocate)(size_t size, void *user);
    void *(*reallocate)(void *pointer, size_t size, void *user);
    void (*release)(void *pointer, void *user);
    void *user;
} reeve_memory_hooks;

/*
 * Replaces the allocator of this library; NULL restores malloc. The struct is copied. Libraries that reeve uses, such
 * as hiredis, are not affected. Call the function before any other function of the library, on one thread. It does not
 * block. REEVE_EINVAL: the library has already allocated memory, or one of the three functions is NULL.
 */
REEVE_API reeve_status reeve_memory_set(const reeve_memory_hooks *hooks);

#ifdef __cplusplus
}
#endif
#endif
