#include "running/thread_place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpu_list.h"
#include "base/log.h"
#include "base/text.h"

static void log_refused(rv_thread *t, const char *message, const char *name, const char *value)
{
    int failed = errno;
    if (atomic_exchange(&t->pool->unplaced, true)) return;
    rv_log(REEVE_LOG_WARN, "thread.place", message, "worker", t->worker->id, "pool", t->pool->name, name, value,
           "error", strerror(failed), NULL);
}

static void take_processors(rv_thread *t)
{
    cpu_set_t set;
    if (!rv_cpu_list_parse(t->pool->cpus, &set) || sched_setaffinity(0, sizeof(set), &set) != 0)
        log_refused(t, "the threads of a pool run on all processors: the system refused those of the pool", "cpus",
                    t->pool->cpus);
}

static void take_niceness(rv_thread *t)
{
    char number[24];
    /* On Linux, each thread has a niceness of its own. */
    if (setpriority(PRIO_PROCESS, 0, t->pool->nice) == 0) return;
    (void)snprintf(number, sizeof(number), "%d", t->pool->nice);
    log_refused(t, "the threads of a pool keep the niceness of the process: the system refused that of the pool",
                "nice", number);
}

void rv_thread_place(rv_thread *t)
{
    atomic_store(&t->tid, (int)syscall(SYS_gettid));
    if (t->pool->cpus != NULL) take_processors(t);
    if (t->pool->nice != 0) take_niceness(t);
}

/* "<ns on a processor> <ns ready to run> <times>" */
static int64_t read_processor_us(int tid)
{
    char path[64], line[100];
    long long ns[2] = {0, 0};
    (void)snprintf(path, sizeof(path), "/proc/%d/schedstat", tid);
    FILE *file = fopen(path, "re");
    if (file == NULL) return -1;
    bool read = fgets(line, sizeof(line), file) != NULL && rv_parse_numbers(line, ns, 2, NULL);
    (void)fclose(file);
    return read ? (int64_t)((ns[0] + ns[1]) / 1000) : -1;
}

static int64_t measure(int tid, rv_measured *measured)
{
    int64_t now = tid > 0 ? read_processor_us(tid) : -1;
    if (now < 0) return -1;
    int64_t before = measured->tid == tid ? measured->processor_us : now;
    measured->tid = tid;
    measured->processor_us = now;
    return now - before;
}

int64_t rv_thread_place_measure(rv_thread *t)
{
    int64_t own = measure(atomic_load(&t->tid), &t->measured[0]);
    int64_t of_runner = measure(atomic_load(&t->runner_pid), &t->measured[1]);
    return own >= 0 && of_runner > 0 ? own + of_runner : own;
}
