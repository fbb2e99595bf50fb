/*
 * aftermath.h - what a supervisor does in Redis when the process of a worker has died: it settles the tasks that had
 * finished, reports the crash for the task that caused it, gives back all others without blame, and ends the sessions.
 *
 * All of it may be repeated: each outcome names the lease that it is for, and what the sessions no longer hold is
 * refused. When Redis cannot be reached, the sessions expire, and reap.lua brings their tasks back.
 */
#ifndef RV_AFTERMATH_H
#define RV_AFTERMATH_H

#include "redis/url.h"
#include "running/flight.h"

typedef struct rv_aftermath {
    const rv_url *target;
    const char *ns;
    const rv_flight_header *flight; /* of a process that has died; it is not trusted */
    size_t size;                    /* bytes that can be read there */
    int64_t died_ms;                /* wall clock, for a death without a record of its signal; 0: not known */
    const char *message;            /* of the crash; at most REEVE_MESSAGE_MAX bytes */
    const char *backtrace;          /* or "" */
} rv_aftermath;

typedef struct rv_aftermath_counts {
    unsigned settled; /* tasks that had finished */
    unsigned unkept;  /* of tasks that had finished, whose outcomes were too large to be kept: they run again */
    unsigned crashed; /* tasks for which a crash was counted */
    bool is_cause;    /* it was one, and it caused the crash */
    uint64_t given_back;
    char blamed[REEVE_HANDLE_MAX]; /* one of the crashed; "": there is none */
} rv_aftermath_counts;

/* Whether the process had begun to work: else there is nothing to settle. */
bool rv_aftermath_has_work(const rv_flight_header *flight, size_t size);

/* Blocks until it is done, or until the deadline (monotonic ms). REEVE_OK: all is done. Else the error says what Redis
 * answered, and the call may be repeated. */
reeve_status rv_aftermath_settle(const rv_aftermath *aftermath, int64_t deadline, rv_aftermath_counts *ret,
                                 rv_error *error);

#endif
