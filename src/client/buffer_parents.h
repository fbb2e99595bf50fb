/*
 * buffer_parents.h - tasks of a client's buffer that wait for tasks in divided queues: which partitions these are in is
 * asked when the tasks are delivered, because Redis may be away before.
 */
#ifndef RV_CLIENT_BUFFER_PARENTS_H
#define RV_CLIENT_BUFFER_PARENTS_H

#include "client/buffer.h"

/*
 * Before a call that delivers the first `count` tasks of the buffer: ret has their options, with the handles of parents
 * as scripts know them, for each task whose options change; NULL for the others. Each is freed by cJSON_free, also after
 * an error. Asks Redis only for tasks with parents, and opens the connection for them. Errors of rv_client_exec,
 * REEVE_ENOMEM: client->error.
 */
reeve_status rv_buffer_parents_locate(reeve_client *client, size_t count, char **ret);

#endif
