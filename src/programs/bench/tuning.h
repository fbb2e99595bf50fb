/*
 * tuning.h - the steps of `reeve tune`, one after the other, and what follows from them.
 */
#ifndef BENCH_TUNING_H
#define BENCH_TUNING_H

#include "trial.h"

#define BENCH_STEPS_MAX 32

typedef struct bench_tuning {
    bench_subject subject;
    unsigned max_threads;
    double arrivals; /* tasks per second; 0: a share of the highest rate */
    unsigned processors;
    bench_trial steps[BENCH_STEPS_MAX]; /* first those of threads, then those of batches */
    size_t count;
    size_t best;        /* the step that is recommended */
    const char *reason; /* why; a literal */
} bench_tuning;

/* CLI_DONE, or the exit status of a failure that was reported. */
int bench_tuning_run(bench_tuning *tuning);

#endif
