/*
 * totals.h - a line in the log with what a worker has done since its start.
 */
#ifndef HOST_TOTALS_H
#define HOST_TOTALS_H

#include <stdint.h>

#include "reeve/worker.h"

/* started_ms: monotonic. */
void host_totals_log(reeve_worker *worker, int64_t started_ms, const char *event, const char *message);

#endif
