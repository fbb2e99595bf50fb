/*
 * broadcast.h - a task for each live worker of a queue, such as "reload your caches".
 *
 * Each worker with handlers that serves the queue and is alive at the time of the call gets a task of its own, and runs
 * it once. Workers that start later do not run it. Consumers (consumer.h) do not take part.
 *
 *   - A worker is alive if `reeve workers` lists it and it answers within the time of the call. A worker that has just
 *     started, or is connecting to Redis, is asked again until it answers or this time is over. A worker that is quiet,
 *     is stopping, or has no threads for the queue refuses. The task of a worker that refuses, or gives no answer, is
 *     cancelled.
 *   - Only that worker runs the task, on the first of its threads that is free. The task starts before the tasks that
 *     wait in the queue, even if the queue is paused or at a limit.
 *   - It is an ordinary task with one attempt: its result, error, log and events are those of any task.
 *   - It dies with kind "expired" if its worker ends before the task starts, or has no free thread before the deadline.
 *     It dies with kind "crash" if the worker dies while it runs the task. It dies with kind "worker" if the worker
 *     gives it back, for instance when the worker stops, or if its handler snoozes it and another worker then leases
 *     it.
 *
 * Each task has the id "<uuid>.<id of the worker>". The UUIDv7 is new for each call, and the same for all its tasks. If
 * the queue has partitions, they are in partition 0.
 */
#ifndef REEVE_BROADCAST_H
#define REEVE_BROADCAST_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The task of one worker. */
typedef struct reeve_broadcast_task {
    char worker[64];       /* id of the worker */
    char name[256];        /* its name, cut to fit */
    char id[REEVE_ID_MAX]; /* of the task, in the queue of the broadcast */
    bool accepted;         /* false: the worker does not run it, and the task is cancelled */
    char reason[256];      /* why it is not accepted, else "" */
} reeve_broadcast_task;

/*
 * Enqueues a task for each live worker of spec->queue, and waits until all have accepted or refused theirs, for up to
 * wait_ms. It does not wait for the end of the tasks: reeve_wait does. *ret is an array of *ret_count tasks, one for
 * each worker; free it with reeve_broadcast_free.
 *
 * The spec sets queue, type and payload, and may set priority, timeout_ms, heartbeat_ms, tags, meta, keep_ms, on_dead,
 * at_most_once, max_snoozes, cost, and deadline_ms or expires_in_ms. Without deadline_ms and expires_in_ms the tasks
 * expire after ten minutes. All other options are refused, because they would have no effect: the call chooses the ids
 * and the workers, and each task has one attempt. `attempts` and max_crashes may be 1.
 *
 *   REEVE_ENOTFOUND  no live worker serves the queue
 *   REEVE_EINVAL     the spec sets another option, or an option is not valid; reeve_client_error names the option
 *   and the errors of reeve_enqueue_many and reeve_ask_workers: those of the tasks that a worker has accepted run, all
 *   others are cancelled, with the error as their reason. While Redis is away they cannot be: then they expire
 */
REEVE_API reeve_status reeve_broadcast(reeve_client *client, const reeve_task_spec *spec, int64_t wait_ms,
                                       reeve_broadcast_task **ret, size_t *ret_count);

/* Frees the array. NULL is ignored. Any thread. */
REEVE_API void reeve_broadcast_free(reeve_broadcast_task *list);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_broadcast_sized(reeve_client *client, const reeve_task_spec *spec, int64_t wait_ms,
                                             reeve_broadcast_task **ret, size_t *ret_count, size_t spec_size);
#define reeve_broadcast(...) reeve_broadcast_sized(__VA_ARGS__, sizeof(reeve_task_spec))

#ifdef __cplusplus
}
#endif
#endif
