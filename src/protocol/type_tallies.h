/*
 * type_tallies.h - the part of a tally (tally.h) that tells the types of tasks apart.
 */
#ifndef RV_PROTOCOL_TYPE_TALLIES_H
#define RV_PROTOCOL_TYPE_TALLIES_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/definition.h"
#include "protocol/settlement.h"
#include "redis/conn.h"
#include "reeve/stats.h"

/* The maximum number of types in a tally; further types count as the type "". heartbeat.lua applies the same limit to
 * a day. */
#define RV_TALLY_TYPES RV_DAY_TYPES_MAX
/* The arguments of heartbeat.lua for one type: its name and numbers. */
#define RV_TALLY_TYPE_ARGS 12

/* How long things took: all zero if there were none. */
typedef struct rv_range {
    uint64_t count;
    uint64_t sum;
    uint64_t min;
    uint64_t max;
} rv_range;

typedef struct rv_type_tally {
    char type[REEVE_TYPE_MAX + 1];
    size_t length;
    uint64_t completed;
    uint64_t failed;
    uint64_t dead;
    rv_range wait; /* ms */
    rv_range run;  /* us */
} rv_type_tally;

typedef struct rv_type_tallies {
    rv_type_tally *list;
    size_t count;
    size_t capacity;
    size_t last; /* the type that was counted last: most often the next one, too */
} rv_type_tallies;

void rv_type_tallies_add_range(rv_range *range, uint64_t value);

/* The numbers of a type, to be added to. NULL: no memory. */
rv_type_tally *rv_type_tallies_find(rv_type_tallies *types, const char *type, size_t length);
void rv_type_tallies_fini(rv_type_tallies *types);

/* Appends the arguments, RV_TALLY_TYPE_ARGS for each type. */
void rv_type_tallies_build(rv_conn *conn, const rv_type_tallies *types);

#endif
