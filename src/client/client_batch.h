/*
 * client_batch.h - the callbacks of a batch, for those who add members.
 */
#ifndef RV_CLIENT_CLIENT_BATCH_H
#define RV_CLIENT_CLIENT_BATCH_H

#include "client/client.h"
#include "reeve/depend.h"

/* Fails with REEVE_EINVAL unless the batch has a callback. */
reeve_status rv_client_batch_check(reeve_client *client, const reeve_batch *batch);

#define RV_BATCH_CALLBACKS 3

/* The handle of a callback: 0 is `success`, 1 is `complete`, 2 is `death`. */
char *rv_client_batch_handle(reeve_batch *batch, size_t index);

/* The parts of that handle, the queue being the exact name of the partition that has the callback where the queue is
 * divided; "": the batch does not have this callback. */
reeve_status rv_client_batch_callback(reeve_client *client, const reeve_batch *batch, size_t index,
                                      char queue[REEVE_QUEUE_MAX + 1], char id[REEVE_ID_MAX]);

/* Whether a callback has been released: it needs no more parents. */
bool rv_client_batch_is_past(reeve_status status);

/* Makes the callbacks wait for the parents. *ret_some: after an error, whether some of the edges may exist now. */
reeve_status rv_client_batch_add_parents(reeve_client *client, const reeve_batch *batch, reeve_parent *parents,
                                         size_t count, bool *ret_some);

/* Calls a function for each member that has not ended for the callback, until it fails. */
typedef reeve_status (*rv_batch_member_fn)(const char *handle, void *context);
reeve_status rv_client_batch_each_left(reeve_client *client, const char *handle, rv_batch_member_fn each,
                                       void *context);

#endif
