/*
 * task_policy.h - what is said of a task's attempts, as JSON: by the task itself in its header, and by its queue in the
 * field `policy` of the settings. Both have the same members, and only those that were given:
 *
 *     {"attempts":5,"crashes":2,"timeout":60000,"backoff":{"shape":0,"base":500,"cap":60000,"jitter":250}}
 *     {"backoff":{"shape":2,"jitter":100,"list":[1000,10000]}}
 *
 * Times are milliseconds, shapes are those of task.h, the jitter is in thousandths (0: the default; negative: none).
 */
#ifndef RV_PROTOCOL_TASK_POLICY_H
#define RV_PROTOCOL_TASK_POLICY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "reeve/client.h"

typedef struct cJSON cJSON;

/* What a worker acts on; zero where not given. */
typedef struct rv_task_policy {
    int attempts;
    int max_crashes;
    int64_t timeout_ms;
    int64_t heartbeat_ms; /* these: a task's */
    int64_t retry_for_ms;
    int max_snoozes;
    int64_t grace_ms; /* a queue's */
    int64_t keep_ms;  /* a task's, as the next two */
    bool once;
    bool unique;           /* it holds a lock that goes when it is settled */
    const char *worker;    /* a task's: the only worker that may run it, in the JSON that was taken; or NULL */
    const char *malformed; /* why the header is no task's (envelope_check.h); or NULL */
    bool records_runs;     /* a queue's */
    bool has_backoff;
    reeve_backoff backoff;
} rv_task_policy;

/*
 * REEVE_EINVAL when it is no JSON object; then *ret is zeroed but for `malformed`. REEVE_ENOMEM: nothing is known of
 * it, and *ret is zeroed. What makes no sense counts as not given.
 */
reeve_status rv_task_policy_read(rv_task_policy *ret, const char *json, size_t length);

/* The same of the parsed text; NULL: it is no JSON object. Does not allocate. */
void rv_task_policy_take(rv_task_policy *ret, const cJSON *json);

/* Appends a checked backoff. */
void rv_task_policy_write_backoff(rv_buf *out, const reeve_backoff *backoff);

/* How often a task may fail and crash: REEVE_EINVAL when a number is out of range. 0: not given. */
reeve_status rv_task_policy_check_attempts(int attempts, int crashes, rv_error *error);

#endif
