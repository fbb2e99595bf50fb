/*
 * settlement.h - the outcome of a task, as a turn reports it to Redis.
 */
#ifndef RV_PROTOCOL_SETTLEMENT_H
#define RV_PROTOCOL_SETTLEMENT_H

#include <string.h>

#include "base/buf.h"
#include "protocol/lease.h"
#include "reeve/client.h"
#include "reeve/task.h"

/* What became of a task. All pointers are borrowed. */
typedef struct rv_settlement {
    const char *id;
    size_t id_length;      /* of one that is malformed: it may have zero bytes; 0: up to its zero byte */
    reeve_outcome outcome; /* any but none */
    bool has_info;         /* done: info:<id> exists, so that it must be looked after */
    bool checkpoint;       /* done: it has one, which goes now; only with has_info */
    bool unique;           /* done: the task holds a lock, which goes now */
    bool keeps_key;        /* done, of one that begins now: its key is free with once.lua, not with this */
    bool failed;           /* done: settled before its handler ran (at_most_once.h), which then failed */
    bool has_result;
    reeve_bytes result;
    bool deadline;         /* done: it had one */
    bool records_run;      /* done: when it began, and where, is kept with its record */
    bool keeps_record;     /* done: it has a retention of its own (keep_ms) */
    bool begun;            /* snooze: its handler ran */
    bool counted;          /* snooze: its number has a limit */
    int64_t delay_ms;      /* retry, snooze */
    bool counts;           /* fail: it is a failure of an attempt */
    bool crashed;          /* with REEVE_OUTCOME_FAIL: its process died while it ran; message says of what */
    unsigned max_crashes;  /* crashed: it dies with so many; 0: it is not known that it caused this one */
    const char *backtrace; /* crashed: a frame a line; "": not known */
    const char *kind;
    const char *message; /* cancel: the reason */
    reeve_bytes chained; /* done: its chained tasks (rv_settlement_chain) */
    size_t chained_count;
} rv_settlement;

/* The length of its id, also of one that has zero bytes. */
static inline size_t rv_settlement_id_length(const rv_settlement *s)
{
    return s->id_length > 0 ? s->id_length : strlen(s->id);
}

/* The only place that makes a settlement which gives a leased task back, to the front of its queue. */
static inline rv_settlement rv_settlement_give_back(const rv_lease *lease)
{
    return (rv_settlement){.id = lease->id, .id_length = lease->id_length, .outcome = REEVE_OUTCOME_SNOOZE};
}

/* What one accepted outcome adds to counters, each 0 or 1. given_back: also one that comes later (a snooze). */
typedef struct rv_settlement_count {
    unsigned completed, retried, failed, dead, given_back;
} rv_settlement_count;

/* The only place that decides how an outcome is counted in the statistics of workers, queues and kinds of errors. */
static inline rv_settlement_count rv_settlement_counts(const rv_settlement *s)
{
    bool done = s->outcome == REEVE_OUTCOME_DONE, dead = s->outcome == REEVE_OUTCOME_FAIL && !s->crashed;
    bool retried = s->outcome == REEVE_OUTCOME_RETRY;
    return (rv_settlement_count){.completed = done,
                                 .retried = retried,
                                 .failed = retried || (dead && s->counts) || (done && s->failed),
                                 .dead = dead,
                                 .given_back = s->outcome == REEVE_OUTCOME_SNOOZE};
}

/* Appends a chained task to rv_settlement.chained: what turn.lua takes of a checked spec. */
void rv_settlement_chain(rv_buf *out, const reeve_task_spec *spec, const char *id);

/* The same of one that was written before, with another handle. */
void rv_settlement_chain_parts(rv_buf *out, const char *handle, reeve_bytes options, reeve_bytes envelope);

/* One argument of a chained task; the first one starts at settlement->chained.data. Each task has
 * RV_SETTLEMENT_CHAINED_ARGS of them. Returns where the next one starts. */
#define RV_SETTLEMENT_CHAINED_ARGS 3
const char *rv_settlement_chained_argument(const char *at, reeve_bytes *ret);

/* A copy of a settlement whose words and result lie in one block of memory, *ret_kept. False: no memory. */
bool rv_settlement_copy(rv_settlement *ret, void **ret_kept, const rv_settlement *from);

#endif
