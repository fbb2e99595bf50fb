/*
 * lost.c - sees that a connection has ended, and ends the one that was lost before, where it still stands.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "redis/conn_private.h"

/* Clocks of two machines count the seconds of a connection's age. */
#define SLACK_S 2

/*
 * Whether a line of CLIENT LIST is of that connection. A server that was started anew counts from 1 again, and others may
 * have our name; but none of its connections is as old as ours.
 */
static bool is_lost_one(const rv_conn *conn, const char *line)
{
    char name[160], figures[24];
    int64_t age;
    (void)snprintf(name, sizeof(name), " name=%.128s ", conn->name ? conn->name : "");
    const char *at = strstr(line, " age=");
    if (!strstr(line, name) || !at) return false;
    rv_copy_text(figures, sizeof(figures), at + 5);
    figures[strcspn(figures, " ")] = '\0';
    return rv_parse_int(figures, 0, RV_REPLY_NUMBER_MAX, &age) &&
           age + SLACK_S >= (rv_now_ms() - conn->lost_opened_ms) / 1000;
}

static reeve_status call_client(rv_conn *conn, const char *what, int64_t id, int64_t deadline, const rv_reply **ret)
{
    rv_conn_discard(conn);
    rv_cmd(conn, 4);
    rv_args(conn, "CLIENT");
    rv_args(conn, what);
    rv_args(conn, "ID");
    rv_argi(conn, id);
    return rv_conn_call(conn, deadline, ret);
}

void rv_conn_end_lost(rv_conn *conn, int64_t deadline)
{
    const rv_reply *reply;
    int64_t id = conn->lost_id;
    conn->lost_id = 0;
    if (id == 0 || id == conn->id) return;
    if (call_client(conn, "LIST", id, deadline, &reply) != REEVE_OK) return;
    if (rv_reply_is(reply, RV_TEXT) && is_lost_one(conn, reply->text))
        (void)call_client(conn, "KILL", id, deadline, &reply);
}

/* What came unasked is the reply to nothing, and those after it would stand for other commands. */
void rv_conn_check_end(rv_conn *conn)
{
    if (!rv_transport_is_open(&conn->transport) || conn->owed > 0 || conn->subscribed) return;
    if (rv_transport_has_news(&conn->transport)) rv_conn_drop(conn, true);
}
