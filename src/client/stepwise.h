/*
 * stepwise.h - a task with more parents than one call takes.
 */
#ifndef RV_CLIENT_STEPWISE_H
#define RV_CLIENT_STEPWISE_H

#include "client/client.h"

/*
 * reeve_enqueue for such a spec: the task is enqueued blocked (REEVE_PARENT_OPEN), gets its parents in steps, and is
 * released. An identical task that exists and is not released yet is continued.
 */
reeve_status rv_stepwise_enqueue(reeve_client *client, const reeve_task_spec *spec, reeve_enqueued *ret);

/*
 * After a call failed with this status (client->error): takes back the task that waits for REEVE_PARENT_OPEN, if it is
 * there, so that it is not left blocked for ever. *ret_gone: it is certain that no such task stays. Else returns a
 * status of which the outcome is unknown (rv_client_enqueue_is_unknown), and the message names the task.
 */
reeve_status rv_stepwise_take_back(reeve_client *client, const reeve_task_spec *spec, const char *id,
                                   reeve_status status, bool *ret_gone);

/* The same, of a task that was enqueued by this call for certain. */
reeve_status rv_stepwise_take_back_named(reeve_client *client, const char *queue, const char *id, reeve_status status,
                                         bool *ret_gone);

/* The letter of the policy (lua/lib/dependency_edges.lua) by which a task waits for REEVE_PARENT_OPEN; '\0': it does not,
 * or is not there. */
reeve_status rv_stepwise_policy(reeve_client *client, const char *queue, const char *id, char *ret);

#endif
