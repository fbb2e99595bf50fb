#include "workload.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#define RUN_US_DEFAULT 1000
#define LONG_FACTOR \
    10 /* of a mixed workload: how much longer a long task takes, and how many tasks have one long one */
#define STRETCH_US 1500000.0
#define TASKS_MAX 200000
#define TASKS_A_THREAD 4
#define TRIAL_STEPS 100000
#define TRIALS 50

static int64_t run_us(const bench_options *options)
{
    if (options->handler_us > 0) return options->handler_us;
    return options->handler_ms > 0 ? options->handler_ms * 1000 : RUN_US_DEFAULT;
}

/* ---- computing -------------------------------------------------------------------------------------------------- */

/* A chain of multiplications: no compiler shortens it, and it needs neither memory nor the kernel. */
static void compute(uint64_t steps)
{
    volatile uint64_t result;
    uint64_t value = 1;

    for (uint64_t i = 0; i < steps; i++) value = value * 6364136223846793005u + 1442695040888963407u;
    result = value;
    (void)result;
}

static double thread_cpu_us(void)
{
    struct timespec used;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e6 + (double)used.tv_nsec / 1e3;
}

/* The fastest trial counts: whatever else the machine does makes a trial slower, never faster. */
static double measure_steps_per_us(void)
{
    double best = 1;

    for (int i = 0; i < TRIALS; i++) {
        double began = thread_cpu_us(), took;

        compute(TRIAL_STEPS);
        took = thread_cpu_us() - began;
        if (took > 0 && TRIAL_STEPS / took > best) best = TRIAL_STEPS / took;
    }
    return best;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------ */

void bench_workload_init(bench_workload *work, const bench_options *options)
{
    *work = (bench_workload){.run_us = run_us(options), .computes = options->cpu, .mixed = options->mixed};
    work->steps_per_us = measure_steps_per_us();
}

int64_t bench_workload_tasks(const bench_options *options)
{
    double mean_us = (double)run_us(options), at_once = options->threads;
    int64_t min = (int64_t)options->threads * TASKS_A_THREAD, count;

    if (options->mixed) mean_us += mean_us * (LONG_FACTOR - 1) / LONG_FACTOR;
    if (options->cpu && at_once > (double)sysconf(_SC_NPROCESSORS_ONLN))
        at_once = (double)sysconf(_SC_NPROCESSORS_ONLN);
    count = (int64_t)(at_once * STRETCH_US / mean_us);
    if (count > TASKS_MAX) count = TASKS_MAX;
    return count < min ? min : count;
}

const char *bench_workload_unit(const bench_workload *work)
{
    if (work->mixed) return work->computes ? "us run time, mixed, computing" : "us run time, mixed";
    return work->computes ? "us run time, computing" : "us run time, sleeping";
}

static void sleep_us(int64_t us)
{
    struct timespec rest = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR) {}
}

void bench_workload_run(const bench_workload *work, int64_t number)
{
    bool is_long = work->mixed && number % LONG_FACTOR == 0;
    int64_t us = is_long ? work->run_us * LONG_FACTOR : work->run_us;

    if (work->computes || (work->mixed && number % 2 == 1))
        compute((uint64_t)((double)us * work->steps_per_us));
    else
        sleep_us(us);
}
