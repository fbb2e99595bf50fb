/*
 * buffer.h - enqueue while Redis is away. A client with a buffer keeps tasks in memory, or in a file, while it cannot
 * reach Redis, and delivers them when Redis is back: in the order of their enqueues, and each once.
 *
 *     reeve_client_options options = {.buffer_path = "/var/lib/shop/tasks.buffer"};
 *     reeve_client_open(&client, &options);               succeeds even if Redis cannot be reached
 *     status = reeve_enqueue(client, &spec, id);
 *     if (status == REEVE_OK) ...                         the task is in Redis
 *     if (status == REEVE_BUFFERED) ...                   the task is in the buffer
 *
 * When. reeve_enqueue and reeve_enqueue_many try to reach Redis for up to `buffer_wait_ms` of reeve_client_options. If
 * they cannot, or if Redis refuses writes for the time being (as a replica or while it loads its data), the tasks get
 * the status REEVE_BUFFERED. For one second, the client then puts tasks into the buffer without trying to reach Redis.
 * The first call after that second tries again. While the buffer has tasks, new tasks are appended to it. A buffered
 * task already has its id. A delay (in_ms) and an expiry (expires_in_ms) count from the call, by this machine's clock.
 *
 * If Redis refuses the tasks of a queue for another reason, for instance because its user has no rights to the queue,
 * these tasks stay in the buffer, and the client logs a warning. It tries again after ten seconds, or when
 * reeve_client_flush is called. Tasks of other queues do not wait for them.
 *
 * Delivery. The next call that enqueues a task first delivers the buffer. reeve_client_flush also delivers it. The
 * library starts no thread for this, so a program that enqueues rarely should call reeve_client_flush from time to
 * time. `reeve flush FILE` delivers the file of a program that no longer runs.
 *
 * A task that Redis refuses at the delivery, because its id exists, its unique key is held, or a parent is unknown, is
 * dropped: the client calls `buffer_refused` of reeve_client_options for it, and logs a warning. If the reply of an
 * earlier delivery was lost, it can be unknown whether a task was enqueued (see REEVE_ELOST at reeve_enqueue). Such a
 * task is dropped in the same way.
 *
 * File. The file belongs to one client of one process at a time (flock) and to one namespace. Each call waits until its
 * tasks are on the disk, so they survive a crash of the program or of the machine. Each record has a checksum. What the
 * last call wrote only in part is dropped when the file is opened. A file that is damaged in another way is refused,
 * and not changed. The client also has a copy of the tasks in memory. Before a task is sent, it is marked in the file.
 * If the disk is full, the mark is written in place; if the file cannot be changed at all, nothing is sent
 * (REEVE_ESYSTEM).
 *
 * Replicas. The delivery does not wait for `wait_replicas` or `wait_disk`: a delivered task is dropped from the buffer
 * as soon as Redis has it, and a failover right then can lose it.
 *
 * Only tasks of reeve_enqueue and reeve_enqueue_many are buffered. Task batches (depend.h), tasks with more than
 * REEVE_PARENTS_MAX parents, and all other calls need Redis.
 */
#ifndef REEVE_BUFFER_H
#define REEVE_BUFFER_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Default of buffer_bytes, if buffer_path is set: 64 MiB. */
#define REEVE_BUFFER_BYTES_DEFAULT (INT64_C(64) * 1024 * 1024)

/* The state of a client's buffer. */
typedef struct reeve_buffer_info {
    uint64_t tasks;     /* tasks that wait in it */
    uint64_t bytes;     /* their size */
    int64_t oldest_ms;  /* when the oldest of them was enqueued, by this machine's clock; -1: there are none */
    uint64_t delivered; /* tasks that were enqueued from it, since the client was opened */
    uint64_t refused;   /* tasks that were dropped because Redis refused them */
    uint64_t unknown;   /* tasks that were dropped because it is unknown whether they were enqueued */
} reeve_buffer_info;

/* Gets the state of the buffer; all fields are 0 for a client without a buffer. Does not block. */
REEVE_API reeve_status reeve_client_buffer(reeve_client *client, reeve_buffer_info *ret);

/*
 * Delivers the tasks of the buffer, for at most timeout_ms, but at least 100 ms; a negative timeout_ms means no limit.
 * If timeout_ms is 0, the call sends nothing. REEVE_OK: the buffer is empty. REEVE_ETIMEOUT: the time has passed, and
 * the buffer still has tasks. Otherwise the status of the call that failed, such as REEVE_ECONNECT; the tasks stay in
 * the buffer.
 */
REEVE_API reeve_status reeve_client_flush(reeve_client *client, int64_t timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
