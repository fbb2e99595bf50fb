#include "client/confirm.h"

/* WAIT ends by itself: the rest is for its reply. */
#define SLACK_MS 2000

static bool refuse(rv_error *error, const char *reason)
{
    (void)rv_fail(error, REEVE_UNCONFIRMED, "enqueued, but not confirmed by replicas: %s", reason);
    return false;
}

bool rv_confirm_replicas(reeve_client *client, unsigned epoch, rv_error *error)
{
    const rv_reply *reply;
    rv_conn *conn = client->conn;
    if (!rv_conn_is_open(conn) || rv_conn_epoch(conn) != epoch)
        return refuse(error, "the connection was lost meanwhile, perhaps by a failover");
    rv_conn_discard(conn);
    rv_cmd(conn, 3);
    rv_args(conn, "WAIT");
    rv_argi(conn, client->wait_replicas);
    rv_argi(conn, client->wait_replicas_ms);
    if (rv_conn_call(conn, rv_deadline(client->wait_replicas_ms + SLACK_MS), &reply) != REEVE_OK)
        return refuse(error, rv_conn_error(conn)->text);
    int64_t count = rv_reply_int(reply, 0);
    if (count >= client->wait_replicas) return true;
    (void)rv_fail(error, REEVE_UNCONFIRMED,
                  "enqueued, but %lld of %u replicas confirmed it within %lld ms: see INFO replication",
                  (long long)count, client->wait_replicas, (long long)client->wait_replicas_ms);
    return false;
}
