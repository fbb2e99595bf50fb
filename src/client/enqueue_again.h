/*
 * enqueue_again.h - tasks whose ids exist (if_exists of reeve_task_spec).
 */
#ifndef RV_CLIENT_ENQUEUE_AGAIN_H
#define RV_CLIENT_ENQUEUE_AGAIN_H

#include "client/client.h"

/*
 * After a call of rv_client_enqueue_run that refused tasks with REEVE_EEXISTS: those that are to be ignored have
 * succeeded, and those that are to come again do so where the earlier task has ended. Sets client->error to the first
 * failure that is left, and returns its status.
 */
reeve_status rv_enqueue_again(reeve_client *client, const reeve_task_spec *specs, size_t count,
                              reeve_enqueued *results);

#endif
