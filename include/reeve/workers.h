/*
 * workers.h - live workers and the last crashes, and requests to workers: quiet, threads, reload and so on.
 *
 * The rules of client.h for clients, threads, times, blocking, and errors of every call apply. client.h includes this
 * file.
 */
#ifndef REEVE_WORKERS_H
#define REEVE_WORKERS_H

#include "status.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct reeve_client reeve_client; /* client.h */

/* A live worker. */
typedef struct reeve_worker_info {
    char *id;
    char *name;
    char *host;
    int64_t pid;
    char *version;
    int64_t started_ms;
    int64_t seen_ms; /* time of the last heartbeat */
    char *state;     /* "running", "quiet" (it leases no tasks), or "stopping" */
    unsigned threads;
    unsigned busy;         /* threads that ran a handler at the last heartbeat */
    uint64_t processed;    /* completed tasks and failed attempts since its start */
    uint64_t failed;       /* of these: failed attempts */
    int64_t memory_bytes;  /* resident memory at the last heartbeat; 0: unknown */
    int64_t round_trip_us; /* round trip time of the heartbeat before its last one; 0: unknown */
    char *running;         /* JSON: the attempts that ran at the last heartbeat, the longest first, at most 64:
                              [{"thread":"fast/1","queue":..,"id":..,"type":..,"for_ms":n}] */
    /* JSON: [{"name":..,"threads":n,"utilisation":x,"queues":[..]}]; "order" is present unless it is strict */
    char *pools;
    char *types;     /* JSON: ["..", ..], the types of its handlers, at most 200; NULL: unknown */
    bool types_more; /* true: it has handlers of more than 200 types */
    /* The share of their time for which its threads ran handlers, from 0 to 1, over about the last minute; -1:
     * unknown. */
    double utilisation;
    /* JSON: [{"name":..,"version":..,"path":..,"loaded":ms,"ends":false}], its plugins, at most 64. "ends" is true for
     * a version that was replaced, and in which tasks still run. NULL: unknown */
    char *plugins;
} reeve_worker_info;

/* Gets all live workers of the namespace as one array. Free it with reeve_workers_free. */
REEVE_API reeve_status reeve_workers(reeve_client *client, reeve_worker_info **ret, size_t *ret_count);
REEVE_API void reeve_workers_free(reeve_worker_info *list, size_t count);

/* The crash of a worker with a supervisor (reeve-worker --supervise) or a crash_dir (reeve_worker_options), or of a
 * runner of a pool with process isolation. Texts that are not known are "". */
typedef struct reeve_crash_info {
    int64_t at_ms;       /* time of the crash */
    char *worker;        /* its id */
    char *thread;        /* name of the thread that crashed */
    char *task;          /* handle of a task for which a crash was counted */
    char *type;          /* type of the task that the thread ran */
    char *message;       /* the signal, the address and the function; or how the process ended */
    char *backtrace;     /* the frames, one a line, the innermost first */
    uint64_t crashed;    /* number of tasks for which a crash was counted */
    uint64_t settled;    /* number of tasks that had finished, and were settled */
    uint64_t given_back; /* number of tasks that returned to their queues */
} reeve_crash_info;

/* Gets the last crashes of the namespace, at most 100, the latest first. Free the array with reeve_crashes_free. */
REEVE_API reeve_status reeve_crashes(reeve_client *client, reeve_crash_info **ret, size_t *ret_count);
REEVE_API void reeve_crashes_free(reeve_crash_info *list, size_t count);

/* What a worker answered (reeve_ask_workers). */
typedef struct reeve_answer {
    bool answered;   /* false: it gave no answer in time; `text` is the reason, or "" if that is unknown */
    bool done;       /* it has carried out the request; false with `answered`: it refused */
    char text[1024]; /* text for people: the changes, or the reason of a refusal; cut to fit */
} reeve_answer;

/*
 * Sends a request to running workers, and waits for their answers, for up to timeout_ms in all. `workers` are ids of
 * workers (reeve_workers). The request is one of these:
 *
 *     quiet                        take no new tasks
 *     resume                       take tasks again
 *     threads POOL MIN MAX         reeve_worker_set_threads
 *     add-queue POOL QUEUE WEIGHT  reeve_worker_add_queue
 *     remove-queue POOL QUEUE      reeve_worker_remove_queue
 *     log-level LEVEL              write messages from this level on: debug, info, warn, error or off
 *     stack [THREAD]               report the stacks of its threads, or of one, as JSON (docs/json.md, `stack`). The
 *                                  answer may be longer than reeve_answer.text: use reeve_ask_worker
 *     stop, reload, rotate-logs    stop; read the configuration again; open the log file again
 *
 * The program of the worker carries out `stack`, `stop`, `reload` and `rotate-logs` (reeve_worker_options.on_request).
 * reeve-worker carries out all four. Another program carries out those for which its on_request returns true. If
 * on_request is NULL or returns false, the worker itself carries out `reload`, by reeve_worker_reload, and refuses the
 * other three. ret_answers has room for `count` answers, in the order of the workers. The order in which the workers
 * carry out the request is not defined. A worker that gave no answer in time may have carried it out, or may do so
 * later. Any user of Redis who may publish to the channels of the namespace can make requests.
 *
 *   REEVE_OK       each worker has answered, or the time is over
 *   REEVE_EINVAL   the request is empty, longer than 500 bytes, or has a line feed; or count is more than 1000
 */
REEVE_API reeve_status reeve_ask_workers(reeve_client *client, const char *const *workers, size_t count,
                                         const char *request, int64_t timeout_ms, reeve_answer *ret_answers);

/*
 * Sends a request to one worker, as reeve_ask_workers does, and gets its whole answer: at most 1 MiB, in *ret_text,
 * which the caller frees with reeve_answer_free. *ret_done: the worker has carried the request out; false: it refused.
 *
 *   REEVE_ENOTFOUND  the worker has not subscribed to its channel: it has ended, or an access list forbids that
 *   REEVE_ETIMEOUT   no answer within timeout_ms
 */
REEVE_API reeve_status reeve_ask_worker(reeve_client *client, const char *worker, const char *request,
                                        int64_t timeout_ms, bool *ret_done, char **ret_text);

/* Frees an answer of reeve_ask_worker. NULL: does nothing. Any thread. */
REEVE_API void reeve_answer_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
