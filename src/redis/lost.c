/*
 * lost.c - detects that a connection has ended, and ends lost connections that the server still has.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "redis/cluster_links.h"
#include "redis/conn_private.h"

/* Clocks of two machines count the seconds of a connection's age. */
#define SLACK_S 2

static void add(rv_conn *conn, const rv_lost *lost)
{
    if (conn->loss_count == RV_LOST_MAX)
        memmove(conn->losses, conn->losses + 1, --conn->loss_count * sizeof(conn->losses[0]));
    conn->losses[conn->loss_count++] = *lost;
}

void rv_conn_note_lost(rv_conn *conn)
{
    const rv_lost lost = {.id = conn->id, .name = conn->name, .opened_ms = conn->opened_ms};
    if (conn->id != 0) add(conn, &lost);
}

void rv_conn_adopt_losses(rv_conn *conn, const rv_conn *other)
{
    if (conn->links) rv_cluster_links_adopt_losses(conn, other);
    for (size_t i = 0; i < other->loss_count; i++) add(conn, &other->losses[i]);
}

static int64_t number_behind(const char *line, const char *name)
{
    char figures[24];
    int64_t number;
    const char *at = strstr(line, name);
    if (at == NULL) return -1;
    rv_copy_text(figures, sizeof(figures), at + strlen(name));
    figures[strcspn(figures, " ")] = '\0';
    return rv_parse_int(figures, 0, RV_REPLY_NUMBER_MAX, &number) ? number : -1;
}

/*
 * The id, where a line of CLIENT LIST is of a connection that was lost; else 0. A server that was started anew counts
 * from 1 again, and others may have our name; but none of its connections is as old as ours.
 */
static int64_t lost_id(const rv_conn *conn, const char *line)
{
    char name[160];
    int64_t id = number_behind(line, "id="), age = number_behind(line, " age=");
    if (id <= 0 || age < 0) return 0;
    for (size_t i = 0; i < conn->loss_count; i++) {
        const rv_lost *lost = &conn->losses[i];
        if (lost->id != id || age + SLACK_S < (rv_now_ms() - lost->opened_ms) / 1000) continue;
        (void)snprintf(name, sizeof(name), " name=%.128s ", lost->name ? lost->name : "");
        if (strstr(line, name) != NULL) return id;
    }
    return 0;
}

/* A server that was started anew may have given one of these numbers to the open connection. */
static void forget_own(rv_conn *conn)
{
    size_t kept = 0;
    for (size_t i = 0; i < conn->loss_count; i++) {
        if (conn->losses[i].id != conn->id) conn->losses[kept++] = conn->losses[i];
    }
    conn->loss_count = kept;
}

/* Those that still stand. */
static reeve_status list_lost(rv_conn *conn, int64_t deadline, int64_t *ids, size_t *ret_count)
{
    const rv_reply *reply;
    *ret_count = 0;
    rv_conn_discard(conn);
    rv_cmd(conn, conn->loss_count + 3);
    rv_args(conn, "CLIENT");
    rv_args(conn, "LIST");
    rv_args(conn, "ID");
    for (size_t i = 0; i < conn->loss_count; i++) rv_argi(conn, conn->losses[i].id);
    reeve_status status = rv_conn_call(conn, deadline, &reply);
    if (status != REEVE_OK || !rv_reply_is(reply, RV_TEXT)) return status;
    for (const char *at = reply->text; *at != '\0' && *ret_count < conn->loss_count; at += strspn(at, "\n")) {
        char line[1024];
        size_t length = strcspn(at, "\n");
        (void)snprintf(line, sizeof(line), "%.*s", (int)(length < sizeof(line) ? length : sizeof(line) - 1), at);
        int64_t id = lost_id(conn, line);
        if (id != 0) ids[(*ret_count)++] = id;
        at += length;
    }
    return REEVE_OK;
}

static void end_one(rv_conn *conn, int64_t id, int64_t deadline)
{
    const rv_reply *reply;
    rv_cmd(conn, 4);
    rv_args(conn, "CLIENT");
    rv_args(conn, "KILL");
    rv_args(conn, "ID");
    rv_argi(conn, id);
    (void)rv_conn_call(conn, deadline, &reply);
}

void rv_conn_end_lost(rv_conn *conn, int64_t deadline)
{
    int64_t ids[RV_LOST_MAX];
    size_t count;
    if (conn->links) {
        rv_cluster_links_end_lost(conn, deadline);
        return;
    }
    forget_own(conn);
    if (conn->loss_count == 0) return;
    (void)list_lost(conn, deadline, ids, &count);
    for (size_t i = 0; i < count && rv_conn_is_open(conn); i++) end_one(conn, ids[i], deadline);
    if (rv_conn_is_open(conn)) conn->loss_count = 0;
}

/* What came unasked is the reply to nothing, and those after it would stand for other commands. */
void rv_conn_check_end(rv_conn *conn)
{
    if (conn->links) rv_cluster_links_check_end(conn);
    if (!rv_transport_is_open(&conn->transport) || conn->owed > 0 || conn->subscribed) return;
    if (rv_transport_has_news(&conn->transport)) rv_conn_drop(conn, true);
}
