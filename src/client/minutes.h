/*
 * minutes.h - what workers settled in a queue in each of the last minutes, and how long tasks waited and ran in each five
 * of them.
 */
#ifndef RV_CLIENT_MINUTES_H
#define RV_CLIENT_MINUTES_H

#include "protocol/wide_times.h"
#include "reeve/stats.h"

#define RV_MINUTES_FIVE_MS INT64_C(300000)

typedef struct rv_five_minutes {
    int64_t at_ms;      /* when they began, by Redis's clock */
    rv_wide_times wait; /* ms */
    rv_wide_times run;  /* us */
} rv_five_minutes;

/* As reeve_stats_minutes, and *ret_times: `minutes` / 5 elements, of which the last one has not ended. The caller frees it
 * with rv_free. NULL: no times are read. */
reeve_status rv_minutes_read(reeve_client *client, const char *queue, unsigned minutes, reeve_minute **ret,
                             rv_five_minutes **ret_times);

/* Adds the times of a queue to those of others, by when they began. Both lists are in the order of time. */
void rv_minutes_add_times(rv_five_minutes *sums, size_t count, int64_t each_ms, const rv_five_minutes *list,
                          size_t list_count);

#endif
