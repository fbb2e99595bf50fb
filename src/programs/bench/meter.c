#include "bench.h"

#include <sys/resource.h>
#include <time.h>

double bench_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double own_cpu(void)
{
    struct rusage used;

    (void)getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

int bench_meter_begin(bench_run *bench, bench_meter *meter)
{
    double redis_cpu = 0, scripts, commands;
    int status = bench_redis_calls(bench, &scripts, &commands);

    if (status == CLI_DONE) status = bench_redis_cpu(bench, &redis_cpu);
    meter->script_calls -= scripts;
    meter->commands -= commands;
    meter->redis_cpu -= redis_cpu;
    meter->own_cpu -= own_cpu();
    meter->seconds -= bench_now();
    return status;
}

int bench_meter_end(bench_run *bench, bench_meter *meter)
{
    double redis_cpu, scripts = 0, commands = 0;
    int status;

    meter->seconds += bench_now();
    meter->own_cpu += own_cpu();
    status = bench_redis_cpu(bench, &redis_cpu);
    meter->redis_cpu += redis_cpu;
    if (status == CLI_DONE) status = bench_redis_calls(bench, &scripts, &commands);
    meter->script_calls += scripts;
    meter->commands += commands;
    return status;
}

void bench_meter_note(bench_run *bench, const bench_meter *meter, const char *prefix, const char *who, int64_t tasks)
{
    bench_figures *figures = &bench->figures;
    double count = (double)tasks;

    bench_note(figures, prefix, "tasks_per_s", "tasks/s", count / meter->seconds);
    bench_note(figures, prefix, "redis_us", "us CPU/task", meter->redis_cpu / count * 1e6);
    bench_note(figures, prefix, "redis_busy", "of the time", meter->redis_cpu / meter->seconds);
    bench_note(figures, prefix, who, "us CPU/task", meter->own_cpu / count * 1e6);
}
