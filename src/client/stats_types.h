/*
 * stats_types.h - the part of a day's statistics that tells the types of tasks apart.
 */
#ifndef RV_CLIENT_STATS_TYPES_H
#define RV_CLIENT_STATS_TYPES_H

#include <stdbool.h>

#include "redis/reply.h"
#include "reeve/stats.h"

/* Reads a field of stats:<day> into the day, if it is one of a type. False: no memory. */
bool rv_stats_types_read(reeve_day *day, const rv_reply *name, const rv_reply *numbers);

/* Adds the numbers of a type to those of the day. False: no memory. */
bool rv_stats_types_add(reeve_day *day, const reeve_type_stats *more);

/* The types with the longest total run time first, "" last. */
void rv_stats_types_sort(reeve_day *day);

#endif
