/*
 * bench.h - `reeve bench`: what the kinds of measurement share.
 *
 * A kind is one file and one row: its round is called as often as --rounds says, on an empty namespace, and notes its
 * figures. It measures with the library as any program would use it: the public client and worker, with all that they
 * promise. The Redis is one of its own without persistence, unless --redis names another.
 *
 * Functions that return int return CLI_DONE, or the exit status of a failure that was said.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "cli/cli.h"
#include "figures.h"
#include "reeve/worker.h"

typedef struct bench_options {
    int64_t tasks; /* 0: as the kind has it */
    int threads;
    int batch;
    int64_t payload;
    int rounds;
    bool keep;
    int64_t result; /* bytes; -1: none */
    int64_t backlog;
    int groups;
    int queues;
    int slow;
    int64_t slow_ms;
    int64_t handler_ms, handler_us; /* at most one is set; both 0: the default of the kind */
    bool cpu;
    bool mixed;
    bool force;
    const char *handler; /* a plugin: tasks run in its handler of this type, with this payload; NULL: they do nothing */
    const char *type;
    const char *handler_payload;
} bench_options;

typedef struct bench_run {
    cli_context *cli; /* cli->client is open, cli->redis and cli->ns are set */
    const bench_options *options;
    int64_t tasks;
    bool own; /* the server is ours: it may be flushed */
    bench_figures figures;
    double *samples; /* room for bench->tasks values */
    char *bytes;     /* --payload many, for every task */
    rv_buf payload;  /* in their place, with --handler */
} bench_run;

typedef struct bench_kind {
    const char *name;
    const char *summary;
    int64_t tasks; /* default of --tasks; 0: bench_workload_tasks */
    int (*round)(bench_run *bench);
} bench_kind;

extern const bench_kind bench_backlog, bench_drain, bench_enqueue, bench_groups, bench_heartbeat, bench_latency,
    bench_memory, bench_mixed, bench_pull, bench_queues, bench_schedule, bench_work;

/* ---- Redis (redis.c) -------------------------------------------------------------------------------------------- */

/* A number of INFO's section; 0 when Redis does not tell. */
int bench_info(bench_run *bench, const char *section, const char *field, double *ret);
/* The processor time of Redis, all its threads, in seconds. */
int bench_redis_cpu(bench_run *bench, double *ret);
/* How many scripts were called so far, and how many commands in all, those of scripts among them. */
int bench_redis_calls(bench_run *bench, double *ret_scripts, double *ret_commands);
/* MEMORY USAGE of all keys of the namespace, every element counted. */
int bench_key_bytes(bench_run *bench, double *ret);
/* Whether the namespace has keys. */
int bench_any_keys(bench_run *bench, bool *ret);
/* Removes every key of the namespace. */
int bench_remove_keys(bench_run *bench);
/* How far Redis's clock is ahead of this machine's, in microseconds. */
int bench_clock_ahead(bench_run *bench, int64_t *ret_us);

/* ---- work (work.c) ---------------------------------------------------------------------------------------------- */

/* What a handler that does nothing is called. */
#define BENCH_NOOP "noop"

/* Tasks to fill a queue with. */
typedef struct bench_load {
    const char *queue;
    const char *type; /* NULL: BENCH_NOOP */
    int64_t count;
    int groups;     /* spread over so many; 0: none */
    int queues;     /* spread over so many, named by bench_queue_name; 0: all in queue */
    size_t at_once; /* so many a call; 0: 1000 */
} bench_load;

#define BENCH_QUEUE_NAME 32
const char *bench_queue_name(char ret[BENCH_QUEUE_NAME], int number);

int bench_fill(bench_run *bench, const bench_load *load);
int bench_pause(bench_run *bench, const char *queue);
int bench_resume(bench_run *bench, const char *queue);
/* Completed tasks of the queue are kept, or not at all: by --keep and --result. */
int bench_set_keep(bench_run *bench, const char *queue);

/* A worker with the no-op handler on a queue (or queues, see bench_queue_name), by --threads and --batch. It need not
 * be connected yet. handler: another one, or NULL. *ret is NULL on failure. */
typedef struct bench_crew {
    const char *queue;
    int queues;                    /* 0: just queue */
    unsigned threads;              /* 0: by --threads */
    int64_t session_ms;            /* 0: the default */
    const reeve_handler *handlers; /* besides the no-op */
    size_t handler_count;
    void (*on_begin)(void *user); /* bench_measure_drain calls it before the measured tasks begin; or NULL */
    void *on_begin_user;
} bench_crew;

int bench_hire(bench_run *bench, const bench_crew *crew, reeve_worker **ret);
/* Waits until the worker is connected and none of its threads is busy. */
int bench_settle(bench_run *bench, reeve_worker *worker);
/* Waits until the worker has completed so many tasks since its start. */
int bench_await(bench_run *bench, reeve_worker *worker, int64_t completed);
/* Stops and destroys; what runs longer than a second is given back. NULL is fine. */
void bench_dismiss(reeve_worker *worker);

/* CLI_DONE, or an exit status once the user has interrupted. */
int bench_go_on(const bench_run *bench);

/* ---- a measured stretch (meter.c) ------------------------------------------------------------------------------- */

typedef struct bench_meter {
    double seconds, redis_cpu, own_cpu; /* sums over stretches; while one goes on, less what they were at its begin */
    double script_calls, commands;      /* the same, as bench_redis_calls has them */
} bench_meter;

int bench_meter_begin(bench_run *bench, bench_meter *meter);
int bench_meter_end(bench_run *bench, bench_meter *meter);
/* PREFIXtasks_per_s, redis_us, redis_busy, and WHO_us (this process's processor time a task). */
void bench_meter_note(bench_run *bench, const bench_meter *meter, const char *prefix, const char *who, int64_t tasks);

double bench_now(void);      /* seconds, monotonic */
int64_t bench_wall_us(void); /* since the epoch */

/* Fills the queue, drains it with a crew of --threads that has warmed up, and adds the drain to meter. The queue is
 * empty before and after. */
int bench_measure_drain(bench_run *bench, const bench_load *load, const bench_crew *crew, bench_meter *meter);

#endif
