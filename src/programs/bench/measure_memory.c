/*
 * measure_memory.c - what a waiting task costs Redis, and what a worker costs its machine: with 16 idle threads, and
 * with the same busy on payloads of 1 KiB.
 *
 * The worker runs in a child of its own, so that nothing else of this process is counted; parent and child take turns
 * by two pipes, a number a turn.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench.h"

#define QUEUE "memory"
#define WORKER_QUEUE "memory-worker"
#define THREADS 16
#define BUSY_PAYLOAD 1024
#define BUSY_TASKS 20000

/* ---- the tasks -------------------------------------------------------------------------------------------------- */

static int measure_tasks(bench_run *bench)
{
    bench_load load = {.queue = QUEUE, .count = 1000};
    double before, after, keys = 0;
    int status = bench_fill(bench, &load); /* so that scripts, connections and the queue itself do not count */

    load.count = bench->tasks;
    if (status == CLI_DONE) status = bench_info(bench, "memory", "used_memory", &before);
    if (status == CLI_DONE) status = bench_fill(bench, &load);
    if (status == CLI_DONE) status = bench_info(bench, "memory", "used_memory", &after);
    if (status == CLI_DONE) status = bench_key_bytes(bench, &keys);
    if (status != CLI_DONE) return status;
    bench_note(&bench->figures, "", "task_bytes", "bytes/task", (after - before) / (double)bench->tasks);
    bench_note(&bench->figures, "", "task_key_bytes", "bytes/task", keys / (double)(bench->tasks + 1000));
    return bench_remove_keys(bench);
}

/* ---- the worker, in the child ----------------------------------------------------------------------------------- */

/* A field of /proc/self/status, in KiB. */
static double own_kib(const char *field)
{
    char line[256];
    double value = 0;
    size_t length = strlen(field);
    FILE *file = fopen("/proc/self/status", "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, field, length) == 0 && line[length] == ':') value = strtod(line + length + 1, NULL);
    if (file != NULL) (void)fclose(file);
    return value;
}

static bool tell(int fd, double value)
{
    return write(fd, &value, sizeof(value)) == (ssize_t)sizeof(value);
}

static bool hear(int fd, double *ret)
{
    *ret = 0;
    return read(fd, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret);
}

static int work(bench_run *bench, int in, int out)
{
    reeve_worker *worker = NULL;
    double word;
    int status = bench_hire(bench, &(bench_crew){.queue = WORKER_QUEUE, .threads = THREADS}, &worker);

    if (status == CLI_DONE) status = bench_settle(bench, worker);
    if (status == CLI_DONE && (!tell(out, own_kib("VmRSS")) || !hear(in, &word))) status = CLI_REFUSED;
    if (status == CLI_DONE) status = bench_await(bench, worker, BUSY_TASKS);
    if (status == CLI_DONE && !tell(out, own_kib("VmHWM"))) status = CLI_REFUSED;
    bench_dismiss(worker);
    return status;
}

/* ---- its parent ------------------------------------------------------------------------------------------------- */

static int fill_for_worker(bench_run *bench)
{
    static char payload[BUSY_PAYLOAD];
    char *own = bench->bytes;
    bench_options options = *bench->options;
    const bench_options *given = bench->options;
    int status;

    memset(payload, 'x', sizeof(payload));
    options.payload = BUSY_PAYLOAD;
    bench->options = &options;
    bench->bytes = payload;
    status = bench_fill(bench, &(bench_load){.queue = WORKER_QUEUE, .count = BUSY_TASKS});
    bench->bytes = own;
    bench->options = given;
    return status;
}

static int attend(bench_run *bench, int in, int out)
{
    double idle, busy;
    int status;

    if (!hear(in, &idle)) return cli_fail(bench->cli, CLI_REFUSED, "the worker's process ended early");
    status = bench_pause(bench, WORKER_QUEUE);
    if (status == CLI_DONE) status = fill_for_worker(bench);
    if (status == CLI_DONE) status = bench_resume(bench, WORKER_QUEUE);
    if (status != CLI_DONE) return status;
    if (!tell(out, 1) || !hear(in, &busy)) return cli_fail(bench->cli, CLI_REFUSED, "the worker's process ended early");
    bench_note(&bench->figures, "", "worker_idle_mib", "MiB, 16 idle threads", idle / 1024);
    bench_note(&bench->figures, "", "worker_busy_mib", "MiB, 16 threads on 1 KiB payloads", busy / 1024);
    return CLI_DONE;
}

static int measure_worker(bench_run *bench)
{
    int down[2] = {-1, -1}, up[2] = {-1, -1};
    pid_t pid = -1;
    int status = bench_set_keep(bench, WORKER_QUEUE);

    if (status != CLI_DONE) return status;
    (void)fflush(NULL);
    if (pipe2(down, O_CLOEXEC) == 0 && pipe2(up, O_CLOEXEC) == 0) pid = fork();
    if (pid == 0) {
        (void)close(down[1]);
        (void)close(up[0]);
        _exit(work(bench, down[0], up[1]) == CLI_DONE ? 0 : 1);
    }
    (void)close(down[0]);
    (void)close(up[1]);
    status = pid > 0 ? attend(bench, up[0], down[1]) : cli_fail(bench->cli, CLI_REFUSED, "a process cannot be started");
    (void)close(down[1]);
    (void)close(up[0]);
    if (pid > 0) (void)waitpid(pid, NULL, 0);
    return status;
}

static int round_of(bench_run *bench)
{
    int status = measure_worker(bench); /* first: while this process is small */

    if (status == CLI_DONE) status = bench_remove_keys(bench);
    return status == CLI_DONE ? measure_tasks(bench) : status;
}

const bench_kind bench_memory = {"memory", "bytes of a waiting task in Redis; memory of a worker", 100000, round_of};
