/*
 * workload.h - what the handlers of `reeve bench work` do: they sleep or compute for a given time.
 *
 * bench_workload_run may be called by any number of threads at once.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include "bench.h"

typedef struct bench_workload {
    int64_t run_us; /* run time of a task; of most tasks if mixed */
    bool computes;  /* tasks compute; else they sleep */
    bool mixed;     /* every second task computes, and every tenth takes ten times as long */
    double steps_per_us;
} bench_workload;

/* Reads the options, and measures for some milliseconds how fast this machine computes. */
void bench_workload_init(bench_workload *work, const bench_options *options);
/* Number of tasks that some threads finish in one to two seconds, if nothing holds them up. */
int64_t bench_workload_tasks(const bench_options *options);
/* Describes the run time, as the unit of a figure. A literal. */
const char *bench_workload_unit(const bench_workload *work);
/* Does the work of the task with this number, from 0 on. Blocks for its run time. */
void bench_workload_run(const bench_workload *work, int64_t number);

#endif
