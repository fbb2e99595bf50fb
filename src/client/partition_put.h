/*
 * partition_put.h - writes the layout of a divided queue (protocol/partition.h), unless another operator has changed it
 * since it was read.
 */
#ifndef RV_CLIENT_PARTITION_PUT_H
#define RV_CLIENT_PARTITION_PUT_H

#include "client/client.h"

/*
 * Puts `layout` where `read` is in force; a queue that is not divided has a layout with count, before and served 1. Then
 * the client reads all layouts again. *ret_done is false if another layout is in force: nothing was written then. Safe
 * to send twice. changed: the layout's time of change becomes Redis's time of the call.
 */
reeve_status rv_partition_put(reeve_client *client, const rv_partition_layout *read, rv_partition_layout *layout,
                              bool changed, bool *ret_done);

/* The time of Redis, in milliseconds since 1970. */
reeve_status rv_partition_put_time(reeve_client *client, int64_t *ret_ms);

#endif
