/*
 * buffer.h - enqueue while Redis is away. A client with a buffer keeps tasks in memory, or in a file, while it cannot
 * reach Redis, and delivers them when Redis is back: in the order of their enqueues, and each once.
 *
 *     reeve_client_options options = {.buffer_path = "/var/lib/shop/tasks.buffer"};
 *     reeve_client_open(&client, &options);               also while Redis is away
 *     status = reeve_enqueue(client, &spec, id);
 *     if (status == REEVE_OK) ...                         the task is in Redis
 *     if (status == REEVE_BUFFERED) ...                   the task is in the buffer
 *
 * When. reeve_enqueue and reeve_enqueue_many try to reach Redis for up to `buffer_wait_ms` of reeve_client_options. If
 * they cannot, or if Redis refuses writes for the time being (as a replica or while it loads its data), the tasks get
 * the status REEVE_BUFFERED. For the next second the client puts tasks into the buffer at once. Then the next call
 * tries again. While the buffer has tasks, new ones go behind them. A task has its id at once. A delay (in_ms) and
 * an expiry (expires_in_ms) count from the call, by this machine's clock.
 *
 * Delivery. The next call that enqueues a task delivers the buffer, and so does reeve_client_flush. A program that may
 * be idle for long calls reeve_client_flush now and then. The library starts no thread for it. `reeve flush FILE`
 * delivers the file of a program that is gone.
 *
 * A task that Redis refuses at the delivery, because its id exists, its unique key is held, or a parent is unknown, is
 * dropped: `buffer_refused` of reeve_client_options is called for it, and the log has a warning. So is a task for which
 * it is unknown whether an earlier delivery, whose reply was lost, enqueued it: see REEVE_ELOST at reeve_enqueue.
 *
 * File. It belongs to one client of one process at a time (flock) and to one namespace. What a call has put there
 * survives a crash of the program and, as the call waits until it is on the disk, of the machine. Each record has a
 * checksum; a record at the end that was written in part is dropped when the file is opened. A file with another damage
 * is refused and left as it is. In memory there is a copy of what waits.
 *
 * Only tasks of reeve_enqueue and reeve_enqueue_many are buffered. Batches, tasks with more than REEVE_PARENTS_MAX
 * parents, and all other calls need Redis.
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
    int64_t oldest_ms;  /* when the first of them came, by this machine's clock; -1: none waits */
    uint64_t delivered; /* tasks that were enqueued from it, since the client was opened */
    uint64_t refused;   /* tasks that were dropped because Redis refused them */
    uint64_t unknown;   /* tasks that were dropped because it is unknown whether they were enqueued */
} reeve_buffer_info;

/* Gets the state of the buffer; all is 0 for a client without one. Does not block. */
REEVE_API reeve_status reeve_client_buffer(reeve_client *client, reeve_buffer_info *ret);

/*
 * Delivers the tasks of the buffer, for at most timeout_ms; a negative timeout_ms is no limit. REEVE_OK: the buffer is
 * empty. REEVE_ETIMEOUT: tasks are left because the time was over. Otherwise the status of the call that failed,
 * such as REEVE_ECONNECT; the tasks stay in the buffer.
 */
REEVE_API reeve_status reeve_client_flush(reeve_client *client, int64_t timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
