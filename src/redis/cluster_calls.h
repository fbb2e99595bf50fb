/*
 * cluster_calls.h - calls over the links of a connection to a Redis Cluster; as the functions of rv_conn with these
 * names.
 */
#ifndef RV_CLUSTER_CALLS_H
#define RV_CLUSTER_CALLS_H

#include "redis/conn_private.h"

reeve_status rv_cluster_calls_exec(rv_conn *conn, int64_t deadline, rv_on_reply on_reply, void *context);
reeve_status rv_cluster_calls_call(rv_conn *conn, int64_t deadline, const rv_reply **ret);
reeve_status rv_cluster_calls_last(rv_conn *conn, int64_t deadline, rv_on_reply on_reply, void *context,
                                   const rv_reply **ret);
reeve_status rv_cluster_calls_blocking(rv_conn *conn, int64_t deadline, const rv_reply **ret);
reeve_status rv_cluster_calls_resume(rv_conn *conn, int64_t deadline, const rv_reply **ret);

/*
 * In the place of an error reply that tells of another node: what the caller of rv_conn is told, an error that passes
 * (TRYAGAIN). Other replies stay as they are.
 */
const rv_reply *rv_cluster_calls_translate(rv_conn *conn, const rv_reply *reply);

#endif
