#include "redis/cluster_wait.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "redis/route.h"

/* CLIENT UNBLOCK does nothing while the server has not read the command that is to end: so it is sent again when the
 * answer does not come within this time. */
#define ENDS_MS 20
#define ENDS_TRIES 25

/* The connection of one slot. */
typedef struct waiting {
    int slot;
    rv_link *link;   /* to the node that had the slot last */
    size_t command;  /* its place among those of this wait */
    bool is_pending; /* the command was sent, and its answer has not come */
} waiting;

struct rv_waits {
    waiting *list;
    size_t count;
    struct pollfd *polled; /* one for each, and two */
    int *slots;            /* scratch: by command */
};

void rv_cluster_wait_close(rv_cluster_links *links)
{
    for (size_t i = 0; links->waits != NULL && i < links->waits->count; i++) {
        waiting *w = &links->waits->list[i];
        if (w->link == NULL) continue;
        if (w->is_pending) w->link->conn->owed = 1;
        rv_conn_close(w->link->conn);
        w->is_pending = false;
    }
}

void rv_cluster_wait_fini(rv_cluster_links *links)
{
    struct rv_waits *waits = links->waits;
    if (waits == NULL) return;
    for (size_t i = 0; i < waits->count; i++) rv_cluster_links_free(waits->list[i].link);
    rv_free(waits->list);
    rv_free(waits->polled);
    rv_free(waits->slots);
    rv_free(waits);
    links->waits = NULL;
}

/* ---- the connections ------------------------------------------------------------------------------------------- */

static reeve_status no_memory(rv_conn *conn)
{
    return rv_fail(&conn->error, REEVE_ENOMEM, "no memory to wait for several nodes of the cluster");
}

/* Room for so many commands. */
static reeve_status make_room(rv_conn *conn, size_t commands)
{
    rv_cluster_links *links = conn->links;
    if (links->waits == NULL) links->waits = rv_zalloc(sizeof(*links->waits));
    struct rv_waits *waits = links->waits;
    if (waits == NULL) return no_memory(conn);
    size_t most = waits->count + commands;
    waiting *list = rv_realloc_array(waits->list, most, sizeof(*list));
    if (list != NULL) waits->list = list;
    struct pollfd *polled = rv_realloc_array(waits->polled, most + 2, sizeof(*polled));
    if (polled != NULL) waits->polled = polled;
    int *slots = rv_realloc_array(waits->slots, commands, sizeof(*slots));
    if (slots != NULL) waits->slots = slots;
    return list != NULL && polled != NULL && slots != NULL ? REEVE_OK : no_memory(conn);
}

static waiting *find(struct rv_waits *waits, int slot)
{
    for (size_t i = 0; i < waits->count; i++)
        if (waits->list[i].slot == slot) return &waits->list[i];
    waits->list[waits->count] = (waiting){.slot = slot};
    return &waits->list[waits->count++];
}

/* Connects it to the node that has the slot now. */
static reeve_status connect_one(rv_conn *conn, waiting *w, int64_t deadline)
{
    int node = rv_cluster_links_node_for(conn, w->slot);
    if (w->link != NULL && w->link->node != node) {
        rv_cluster_links_free(w->link);
        w->link = NULL;
    }
    reeve_status status = w->link == NULL ? rv_cluster_links_make(conn, node, &w->link) : REEVE_OK;
    if (status != REEVE_OK) return status;
    rv_conn_check_end(w->link->conn);
    if (rv_conn_is_open(w->link->conn)) return REEVE_OK;
    status = rv_conn_open(w->link->conn, deadline);
    if (status != REEVE_OK) return rv_fail(&conn->error, status, "%s", rv_conn_error(w->link->conn)->text);
    rv_conn_end_lost(w->link->conn, deadline);
    return REEVE_OK;
}

static reeve_status send_one(rv_conn *conn, size_t command, int64_t deadline)
{
    waiting *w = find(conn->links->waits, conn->links->waits->slots[command]);
    w->command = command;
    reeve_status status = connect_one(conn, w, deadline);
    if (status != REEVE_OK) return status;
    rv_conn *to = w->link->conn;
    rv_conn_discard(to);
    rv_conn_release_held(to);
    rv_command_forward(&to->commands, &conn->commands, command);
    status = rv_command_check(&to->commands, &conn->error);
    if (status != REEVE_OK) return status;
    rv_exchange what = {.deadline = deadline};
    rv_exchange_send(&what, &to->commands);
    status = rv_conn_exchange(to, &what);
    rv_command_clear(&to->commands);
    w->is_pending = true;
    if (status == REEVE_OK) rv_reply_reader_idle(&to->reader);
    return status == REEVE_OK ? status : rv_fail(&conn->error, REEVE_ELOST, "%s", rv_conn_error(to)->text);
}

static reeve_status send_all(rv_conn *conn, int64_t deadline)
{
    size_t count = conn->commands.count;
    reeve_status status = rv_command_check(&conn->commands, &conn->error);
    if (status == REEVE_OK) status = make_room(conn, count);
    if (status != REEVE_OK) return status;
    rv_route_all(&conn->commands, conn->links->waits->slots);
    rv_cluster_links_refresh(conn, deadline);
    for (size_t i = 0; status == REEVE_OK && i < count; i++) status = send_one(conn, i, deadline);
    return status;
}

/* ---- the answers ----------------------------------------------------------------------------------------------- */

/* What one of the commands was answered. */
typedef struct answer {
    bool has_come;
    bool is_nil;
    char error[256]; /* "": it is none */
} answer;

static void keep_answer(size_t index, const rv_reply *reply, void *context)
{
    answer *a = context;
    (void)index;
    a->has_come = true;
    a->is_nil = !rv_reply_is(reply, RV_ARRAY);
    if (rv_reply_is(reply, RV_ERROR)) (void)snprintf(a->error, sizeof(a->error), "%s", reply->text);
}

/* A node that gives a slot away ends the waits for its keys with MOVED. */
static reeve_status refuse(rv_conn *conn, const waiting *w, const char *error)
{
    unsigned slot;
    rv_cluster_node node;
    if (rv_cluster_map_redirect(error, w->link->host, &slot, &node) == RV_REDIRECT_MOVED) {
        rv_cluster_links_note_moved(conn, slot, &node);
        return rv_fail(&conn->error, REEVE_ELOST, "another node serves the hash slot of this queue now");
    }
    return rv_fail(&conn->error, REEVE_EREDIS, "Redis answered: %s%s", error, rv_refusal_advice(error));
}

/* Takes the answer if it comes until then; *ret_count grows if it has come. */
static reeve_status take(rv_conn *conn, waiting *w, int64_t until, bool *ret_answered, size_t *ret_count)
{
    answer a = {0};
    rv_conn *from = w->link->conn;
    rv_exchange what = {.replies = 1, .deadline = until, .on_reply = keep_answer, .context = &a};
    reeve_status status = rv_conn_exchange(from, &what);
    if (status == REEVE_ETIMEOUT) return REEVE_OK;
    if (status != REEVE_OK) return rv_fail(&conn->error, REEVE_ELOST, "%s", rv_conn_error(from)->text);
    rv_reply_reader_settle(&from->reader);
    w->is_pending = false;
    (*ret_count)++;
    ret_answered[w->command] = !a.is_nil;
    return a.error[0] == '\0' ? REEVE_OK : refuse(conn, w, a.error);
}

/* Sleeps until bytes come over one of the connections, the waker is rung, or the time has come. */
static reeve_status sleep_until(rv_conn *conn, int64_t until)
{
    struct rv_waits *waits = conn->links->waits;
    nfds_t n = 0, waker, quit;
    for (size_t i = 0; i < waits->count; i++) {
        const waiting *w = &waits->list[i];
        waits->polled[n++] = (struct pollfd){.fd = w->is_pending ? w->link->conn->transport.fd : -1, .events = POLLIN};
    }
    waker = n;
    waits->polled[n++] = (struct pollfd){.fd = conn->waker != NULL ? conn->waker->fd : -1, .events = POLLIN};
    quit = n;
    waits->polled[n++] =
        (struct pollfd){.fd = conn->transport.quit != NULL ? conn->transport.quit->fd : -1, .events = POLLIN};
    (void)poll(waits->polled, n, rv_poll_timeout(until));
    if (waits->polled[quit].revents != 0) return rv_fail(&conn->error, REEVE_ETIMEOUT, "the worker ends");
    if (waits->polled[waker].revents != 0)
        return rv_fail(&conn->error, REEVE_EINTERRUPTED, "interrupted while waiting for Redis");
    return REEVE_OK;
}

/* Takes the answers that are there. */
static reeve_status take_all(rv_conn *conn, int64_t until, bool *ret_answered, size_t *ret_count)
{
    struct rv_waits *waits = conn->links->waits;
    reeve_status status = REEVE_OK;
    for (size_t i = 0; status == REEVE_OK && i < waits->count; i++)
        if (waits->list[i].is_pending) status = take(conn, &waits->list[i], until, ret_answered, ret_count);
    return status;
}

static reeve_status wait_for_one(rv_conn *conn, int64_t deadline, bool *ret_answered, size_t *ret_count)
{
    for (;;) {
        reeve_status status = take_all(conn, rv_now_ms(), ret_answered, ret_count);
        if (status != REEVE_OK || *ret_count > 0 || rv_now_ms() >= deadline) return status;
        status = sleep_until(conn, deadline);
        if (status != REEVE_OK) return status;
    }
}

/* ---- the end --------------------------------------------------------------------------------------------------- */

typedef struct unblocking {
    rv_conn *conn;
    reeve_status status;
} unblocking;

static void look_at_unblocked(size_t index, const rv_reply *reply, void *context)
{
    unblocking *u = context;
    (void)index;
    if (rv_reply_is(reply, RV_ARRAY))
        for (size_t i = 0; i < reply->count; i++) look_at_unblocked(i, rv_reply_at(reply, i), context);
    if (!rv_reply_is(reply, RV_ERROR) || u->status != REEVE_OK) return;
    u->status = rv_fail(&u->conn->error, REEVE_EREDIS,
                        "Redis answered: %s: threads that wait for several nodes need CLIENT UNBLOCK", reply->text);
}

/* Whether this is the first of those that are pending at its node. */
static bool is_first(const struct rv_waits *waits, size_t i)
{
    if (!waits->list[i].is_pending) return false;
    for (size_t j = 0; j < i; j++)
        if (waits->list[j].is_pending && waits->list[j].link->node == waits->list[i].link->node) return false;
    return true;
}

/*
 * Sends what ends those that wait at this node. A Redis before 8.2 ends itself ("Unknown btype") when CLIENT UNBLOCK
 * meets a command that waits for the end of CLIENT PAUSE, as in a planned failover. So it stands in a transaction with a
 * command that may write: Redis executes none of it before the end of the pause.
 */
static reeve_status send_unblock(rv_conn *conn, int node, int64_t deadline)
{
    rv_link *link;
    struct rv_waits *waits = conn->links->waits;
    reeve_status status = rv_cluster_links_reach(conn, node, RV_ROUTE_ANY, deadline, &link);
    if (status != REEVE_OK) return status;
    rv_conn *to = link->conn;
    rv_conn_discard(to);
    rv_conn_release_held(to);
    rv_cmd(to, 1);
    rv_args(to, "MULTI");
    rv_cmd(to, 3);
    rv_args(to, "EVAL");
    rv_args(to, "return 0");
    rv_argi(to, 0);
    for (size_t i = 0; i < waits->count; i++) {
        const waiting *w = &waits->list[i];
        if (!w->is_pending || w->link->node != node) continue;
        rv_cmd(to, 3);
        rv_args(to, "CLIENT");
        rv_args(to, "UNBLOCK");
        rv_argi(to, rv_conn_id(w->link->conn));
    }
    rv_cmd(to, 1);
    rv_args(to, "EXEC");
    rv_exchange what = {.deadline = deadline};
    rv_exchange_send(&what, &to->commands);
    status = rv_command_check(&to->commands, &conn->error);
    if (status == REEVE_OK) status = rv_conn_exchange(to, &what);
    to->owed = to->commands.count;
    rv_command_clear(&to->commands);
    return status == REEVE_OK ? status : rv_fail(&conn->error, REEVE_ELOST, "%s", rv_conn_error(to)->text);
}

static reeve_status read_unblocked(rv_conn *conn, int node, int64_t deadline)
{
    rv_link *link;
    unblocking u = {.conn = conn};
    reeve_status status = rv_cluster_links_reach(conn, node, RV_ROUTE_ANY, deadline, &link);
    if (status != REEVE_OK) return status;
    rv_conn *from = link->conn;
    rv_exchange what = {.replies = from->owed, .deadline = deadline, .on_reply = look_at_unblocked, .context = &u};
    status = rv_conn_exchange(from, &what);
    if (status != REEVE_OK) return rv_fail(&conn->error, REEVE_ELOST, "%s", rv_conn_error(from)->text);
    from->owed = 0;
    rv_reply_reader_settle(&from->reader);
    return u.status;
}

/* Ends those that are pending, at all nodes at once. On failure links may owe replies: the connection is to be closed. */
static reeve_status unblock_all(rv_conn *conn)
{
    struct rv_waits *waits = conn->links->waits;
    reeve_status status = REEVE_OK;
    int64_t deadline = rv_deadline(conn->command_ms);
    for (size_t i = 0; status == REEVE_OK && i < waits->count; i++)
        if (is_first(waits, i)) status = send_unblock(conn, waits->list[i].link->node, deadline);
    for (size_t i = 0; status == REEVE_OK && i < waits->count; i++)
        if (is_first(waits, i)) status = read_unblocked(conn, waits->list[i].link->node, deadline);
    return status;
}

static size_t count_pending(const struct rv_waits *waits)
{
    size_t count = 0;
    for (size_t i = 0; i < waits->count; i++) count += waits->list[i].is_pending;
    return count;
}

static reeve_status end_others(rv_conn *conn, bool *ret_answered)
{
    struct rv_waits *waits = conn->links->waits;
    size_t count = 0;
    reeve_status status = REEVE_OK;
    for (int tries = 0; status == REEVE_OK && count_pending(waits) > 0; tries++) {
        if (tries == ENDS_TRIES) return rv_fail(&conn->error, REEVE_ELOST, "Redis did not end a wait in time");
        status = unblock_all(conn);
        if (status == REEVE_OK) status = take_all(conn, rv_deadline(ENDS_MS), ret_answered, &count);
    }
    return status;
}

reeve_status rv_cluster_wait_any(rv_conn *conn, int64_t deadline, bool *ret_answered)
{
    size_t count = 0;
    for (size_t i = 0; i < conn->commands.count; i++) ret_answered[i] = false;
    reeve_status status = send_all(conn, rv_deadline(conn->command_ms));
    rv_command_clear(&conn->commands);
    if (status == REEVE_OK) status = wait_for_one(conn, deadline, ret_answered, &count);
    if (status == REEVE_OK) status = end_others(conn, ret_answered);
    if (status == REEVE_OK) return status;
    rv_cluster_links_close(conn);
    rv_cluster_links_lose(conn);
    return status;
}
