/*
 * worker_metrics.h - the metrics of a worker, for programs that add metrics of their own.
 */
#ifndef RV_WORKER_WORKER_METRICS_H
#define RV_WORKER_WORKER_METRICS_H

#include "base/exposition.h"
#include "reeve/worker.h"

/* Writes all that reeve_worker_metrics writes, between the begin and the end of an exposition. Any thread. */
void rv_worker_metrics_write(reeve_worker *worker, rv_exposition *to);

#endif
