/*
 * receive.c - messages of a connection in subscribe mode. It may be silent for long, and TCP does not tell a silent
 * peer from one that a proxy or firewall has cut off: a PING does. Any reply to it shows that the connection is alive.
 */
#include "redis/cluster_listen.h"
#include "redis/conn_private.h"

#define PING "*1\r\n$4\r\nPING\r\n"

void rv_conn_set_pings(rv_conn *conn, int64_t every_ms, int64_t answer_ms)
{
    conn->ping_every_ms = every_ms;
    conn->ping_answer_ms = answer_ms;
}

/* When to send a PING, or when its answer is overdue. */
static int64_t next_look(const rv_conn *conn)
{
    if (conn->ping_every_ms <= 0) return RV_FOREVER;
    return conn->pinged_ms > 0 ? conn->pinged_ms + conn->ping_answer_ms : conn->heard_ms + conn->ping_every_ms;
}

static void keep_reply(size_t index, const rv_reply *reply, void *context)
{
    (void)index;
    *(const rv_reply **)context = reply;
}

static reeve_status receive_until(rv_conn *conn, int64_t deadline, const rv_reply **ret)
{
    rv_exchange what = {
        .replies = 1, .deadline = deadline, .waker = conn->waker, .idle = true, .on_reply = keep_reply, .context = ret};
    return rv_conn_exchange(conn, &what);
}

/* So few bytes leave at once, unless nothing has left for long. */
static reeve_status send_ping(rv_conn *conn)
{
    rv_exchange what = {.data = PING, .length = sizeof(PING) - 1, .deadline = rv_deadline(conn->ping_answer_ms)};
    reeve_status status = rv_conn_exchange(conn, &what);
    conn->pinged_ms = rv_now_ms();
    return status;
}

/* The time of a look has come: sends a PING, or finds that its answer is overdue. */
static reeve_status look(rv_conn *conn)
{
    if (conn->pinged_ms == 0) return send_ping(conn);
    return rv_fail(&conn->error, REEVE_ELOST, "Redis did not answer a PING in time");
}

/* A reply to PING: ["pong", ""], or an error. */
static bool is_answer(const rv_reply *reply)
{
    return rv_reply_is(reply, RV_ERROR) || rv_reply_is_text(rv_reply_at(reply, 0), "pong");
}

/* The next message, or an answer to a PING. */
static reeve_status receive(rv_conn *conn, int64_t deadline, const rv_reply **ret)
{
    for (;;) {
        int64_t at = next_look(conn);
        /* What has come is read first: the process may have been frozen. */
        reeve_status status = receive_until(conn, at < deadline ? at : deadline, ret);
        if (status != REEVE_ETIMEOUT || rv_now_ms() < at) return status;
        status = look(conn);
        if (status != REEVE_OK) return status;
    }
}

reeve_status rv_conn_receive(rv_conn *conn, int64_t deadline, const rv_reply **ret)
{
    const rv_reply *reply = NULL;
    if (conn->links) return rv_cluster_listen_receive(conn, deadline, ret);
    *ret = NULL;
    if (deadline == 0) deadline = rv_deadline(conn->command_ms);
    for (;;) {
        rv_conn_release_held(conn);
        if (!rv_conn_is_open(conn))
            return rv_fail(&conn->error, REEVE_ECONNECT, "not connected to Redis (%s)", conn->url->redacted);
        reeve_status status = receive(conn, deadline, &reply);
        if (status == REEVE_ETIMEOUT || status == REEVE_EINTERRUPTED) return status;
        if (status != REEVE_OK) return rv_conn_break(conn, status);
        bool answers = conn->pinged_ms > 0 && is_answer(reply);
        conn->held = true;
        conn->heard_ms = rv_now_ms();
        conn->pinged_ms = 0;
        if (answers) continue;
        *ret = reply;
        return REEVE_OK;
    }
}
