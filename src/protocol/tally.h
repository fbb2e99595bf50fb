/*
 * tally.h - what a worker adds up of one queue and day until it is flushed with a heartbeat (heartbeat.lua). No
 * threads in here.
 */
#ifndef RV_PROTOCOL_TALLY_H
#define RV_PROTOCOL_TALLY_H

#include "protocol/definition.h"
#include "protocol/settlement.h"
#include "protocol/times.h"
#include "protocol/type_tallies.h"
#include "redis/conn.h"

/* The maximum number of kinds of errors in a tally; further kinds count as the kind "". heartbeat.lua applies the
 * same limit to a day. */
#define RV_TALLY_KINDS RV_ERROR_KINDS_MAX

#define RV_DAY_MS INT64_C(86400000)
#define RV_WAIT_UNIT_US 1000
#define RV_RUN_UNIT_US 1

typedef struct rv_tally {
    struct rv_tally *next;
    int64_t day; /* since the epoch, UTC */
    uint64_t completed;
    uint64_t failed;
    uint64_t retried;
    uint64_t dead;
    rv_times wait; /* ms */
    rv_times run;  /* us */
    reeve_kind_stats *kinds;
    size_t kind_count;
    size_t kind_capacity;
    rv_type_tallies types;
} rv_tally;

/* NULL: no memory. */
rv_tally *rv_tally_new(int64_t day);
void rv_tally_free(rv_tally *tally);

/* An attempt that ended with an outcome that was accepted. */
typedef struct rv_attempt {
    const char *type;
    size_t type_length;
    int64_t wait_ms; /* -1: does not count */
    int64_t run_us;  /* 0: its handler did not run */
} rv_attempt;

void rv_tally_add(rv_tally *tally, const rv_settlement *outcome, const rv_attempt *attempt);

/* How many arguments of heartbeat.lua it makes, and these: day, numbers of sums and of kinds of errors, name and number
 * of each sum, for each kind its name and two numbers, and for each type what type_tallies.h appends. */
size_t rv_tally_args(const rv_tally *tally);
void rv_tally_build(rv_conn *conn, const rv_tally *tally);

#endif
