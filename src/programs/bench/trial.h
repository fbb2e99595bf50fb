/*
 * trial.h - one step of `reeve tune`: a worker with some threads runs a plugin's handler on a queue of a scratch Redis.
 *
 * The queue is either full from the start, which shows how many tasks per second the threads run, or tasks come at a steady
 * rate, which shows how long they wait.
 */
#ifndef BENCH_TRIAL_H
#define BENCH_TRIAL_H

#include "cli/cli.h"
#include "reeve/worker.h"

/* What is the same in all steps. */
typedef struct bench_subject {
    cli_context *cli;
    const char *redis; /* the scratch server */
    const char *plugin;
    const char *plugin_dir; /* or NULL */
    const char *type;
    reeve_bytes payload;
    int64_t run_us;    /* about how long a task takes */
    int64_t window_ms; /* how long a step takes, at most */
    unsigned steps;    /* number of steps so far: each has a queue of its own */
} bench_subject;

typedef struct bench_trial {
    unsigned threads;
    unsigned batch;
    double arrivals; /* tasks per second that come; 0: the queue is full */
    /* the results: */
    double rate; /* tasks per second that ended */
    double cpu;  /* processors that the process used, on the mean */
    double utilisation;
    double run_ms;                   /* mean */
    double wait_p50_ms, wait_p95_ms; /* from the time when a task came until its handler began */
    bool fell_behind;                /* tasks came faster than they ended */
    uint64_t failed;
} bench_trial;

/* CLI_DONE, or the exit status of a failure that was reported. */
int bench_trial_run(bench_subject *subject, bench_trial *trial);

#endif
