/*
 * signal.h - tasks that wait for an event from outside, such as an approval or a webhook.
 *
 * A task waits for a signal if it has the parent "!NAME" (reeve_task_spec.after, reeve_add_dependency):
 *
 *     const reeve_parent approval = {.handle = "!approval"};
 *     spec.after = &approval;
 *     spec.after_count = 1;
 *
 * The task is blocked until a program sends the signal, and until its other parents have ended. A task can wait for
 * several signals. If it has a deadline, and the signals do not arrive before it, it dies with kind "expired". Only one
 * thread at a time may use a client.
 */
#ifndef REEVE_SIGNAL_H
#define REEVE_SIGNAL_H

#include "client.h"
#include "depend.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum length of the name of a signal: [A-Za-z0-9._-]. */
#define REEVE_SIGNAL_NAME_MAX 64

/*
 * Sends a signal to a task, with data for its handler (data.length 0: none), at most size_limits.payload bytes. The
 * data are copied. Blocks for a round trip.
 *
 *   REEVE_EEXISTS    the task has already received this signal; the data of the first one stay
 *   REEVE_ESTATE     the task does not wait for this signal, is running, or has ended
 *   REEVE_ENOTFOUND  there is no such task
 *   REEVE_EINVAL, REEVE_ETOOBIG, and the errors of every call (client.h)
 */
REEVE_API reeve_status reeve_signal_task(reeve_client *client, const char *queue, const char *id, const char *name,
                                         reeve_bytes data);

/*
 * In a handler: gets the data of a signal that the task received. One round trip. ret->data is NULL if the task did not
 * wait for this signal, and "" if the signal had no data. The bytes are valid until the next call of this function or
 * of reeve_task_parent_result, or the end of the handler. REEVE_EINVAL: the name is not valid. REEVE_ELOST,
 * REEVE_EREDIS, REEVE_ENOMEM.
 */
REEVE_API reeve_status reeve_task_signal(reeve_task *task, const char *name, reeve_bytes *ret);

#ifdef __cplusplus
}
#endif
#endif
