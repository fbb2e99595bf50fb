#include "totals.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"

#define NUMBER_SIZE 24

static const char *number(char text[NUMBER_SIZE], uint64_t value)
{
    (void)snprintf(text, NUMBER_SIZE, "%" PRIu64, value);
    return text;
}

void host_totals_log(reeve_worker *worker, int64_t started_ms, const char *event, const char *message)
{
    reeve_worker_stats stats;
    char leased[NUMBER_SIZE], completed[NUMBER_SIZE], failed[NUMBER_SIZE], dead[NUMBER_SIZE], back[NUMBER_SIZE];
    char refused[NUMBER_SIZE], threads[NUMBER_SIZE], busy[NUMBER_SIZE], seconds[NUMBER_SIZE];

    reeve_worker_get_stats(worker, &stats);
    rv_log(REEVE_LOG_INFO, event, message, "seconds", number(seconds, (uint64_t)(rv_now_ms() - started_ms) / 1000),
           "leased", number(leased, stats.leased), "completed", number(completed, stats.completed), "failed",
           number(failed, stats.failed), "dead", number(dead, stats.dead), "given_back", number(back, stats.given_back),
           "refused", number(refused, stats.refused), "threads", number(threads, stats.threads), "busy",
           number(busy, stats.busy), "connected", stats.connected ? "yes" : "no", NULL);
}
