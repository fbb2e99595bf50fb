#include "redis/cluster_calls.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "redis/cluster_links.h"
#include "redis/cluster_listen.h"
#include "redis/route.h"

#define REDIRECTS_MAX 4 /* of one command in one call */
#define FEW 8           /* so many commands are planned without memory of their own */

typedef enum step { TO_SEND, DONE, REDIRECTED } step;

/* What becomes of one command. */
typedef struct planned {
    int slot;
    int node; /* of this round */
    step step;
    bool in_transaction;
    size_t nth; /* the command that goes to the node as the one with this index: not of this one */
} planned;

/* One rv_conn_exec. */
typedef struct plan {
    rv_conn *conn;
    rv_on_reply on_reply;
    void *context;
    planned *commands;
    size_t count;
    rv_link *link;    /* over which commands are under way */
    size_t under_way; /* how many of them: their indexes are in `nth`, from the first one of `commands` on */
    bool redirects;   /* whether MOVED may be followed once more */
    bool sent;        /* something was sent */
    rv_error error;   /* the first failure */
} plan;

/* ---- error replies that tell of another node ------------------------------------------------------------------- */

static const rv_reply *passing(rv_conn *conn, const char *what, const rv_reply *reply)
{
    rv_cluster_links *links = conn->links;
    (void)snprintf(links->words, sizeof(links->words), "TRYAGAIN %s (%.120s)", what, reply->text);
    links->refusal = (rv_reply){.type = RV_ERROR, .text = links->words, .length = strlen(links->words)};
    return &links->refusal;
}

const rv_reply *rv_cluster_calls_translate(rv_conn *conn, const rv_reply *reply)
{
    if (rv_reply_has_error_code(reply, "ASK"))
        return passing(conn, "the hash slot of this queue is being moved to another node", reply);
    if (rv_reply_has_error_code(reply, "MOVED"))
        return passing(conn, "another node serves the hash slot of this queue", reply);
    return reply;
}

/* Notes the new owner. */
static bool learn(rv_conn *conn, const rv_link *link, const rv_reply *reply)
{
    unsigned slot;
    rv_cluster_node node;
    if (!rv_reply_is(reply, RV_ERROR)) return false;
    if (rv_cluster_map_redirect(reply->text, link->host, &slot, &node) != RV_REDIRECT_MOVED) return false;
    rv_cluster_links_note_moved(conn, slot, &node);
    return true;
}

/* ---- many commands --------------------------------------------------------------------------------------------- */

static void on_link_reply(size_t index, const rv_reply *reply, void *context)
{
    plan *p = context;
    if (index >= p->under_way) return;
    size_t i = p->commands[index].nth;
    planned *command = &p->commands[i];
    bool moved = learn(p->conn, p->link, reply);
    if (moved && p->redirects && !command->in_transaction) {
        command->step = REDIRECTED;
        return;
    }
    if (p->on_reply) p->on_reply(i, rv_cluster_calls_translate(p->conn, reply), p->context);
}

static void note_failure(plan *p, reeve_status status, const char *words)
{
    if (p->error.status == REEVE_OK) (void)rv_fail(&p->error, status, "%s", words);
}

/* Takes the commands for one node. *ret_slot: that of the connection's home, where one of them is for it. */
static void gather(plan *p, int node, int *ret_slot)
{
    p->under_way = 0;
    *ret_slot = RV_ROUTE_ANY;
    for (size_t i = 0; i < p->count; i++) {
        planned *command = &p->commands[i];
        if (command->node != node || command->step != TO_SEND) continue;
        command->step = DONE;
        p->commands[p->under_way++].nth = i;
        if (rv_cluster_links_is_home(p->conn, command->slot)) *ret_slot = command->slot;
    }
}

/* The commands for one node go over its link. */
static void send_to(plan *p, int node, int64_t deadline)
{
    int slot;
    rv_conn *conn = p->conn;
    gather(p, node, &slot);
    reeve_status status = rv_cluster_links_reach(conn, node, slot, deadline, &p->link);
    if (status != REEVE_OK) {
        note_failure(p, status, conn->error.text);
        return;
    }
    rv_conn *to = p->link->conn;
    rv_conn_discard(to);
    for (size_t i = 0; i < p->under_way; i++) rv_command_forward(&to->commands, &conn->commands, p->commands[i].nth);
    p->sent = p->link->is_used = true;
    status = rv_conn_exec(to, deadline, on_link_reply, p);
    if (status != REEVE_OK) note_failure(p, status, rv_conn_error(to)->text);
    rv_cluster_links_note_end(conn, p->link);
}

/* Sends what is to be sent: to nodes with an open link first, so that those do not wait for one that does not answer. */
static void send_round(plan *p, int64_t deadline)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < p->count; i++) {
            if (p->commands[i].step != TO_SEND) continue;
            int node = p->commands[i].node;
            if (pass == 0 && !rv_cluster_links_is_up(p->conn, node)) continue;
            send_to(p, node, deadline);
        }
    }
}

/* Chooses nodes for all commands, or for those that were redirected. False: there are none. */
static bool begin_round(plan *p, bool first)
{
    bool any = false;
    for (size_t i = 0; i < p->count; i++) {
        planned *command = &p->commands[i];
        if (!first && command->step != REDIRECTED) continue;
        command->step = TO_SEND;
        command->node = rv_cluster_links_node_for(p->conn, command->slot);
        any = true;
    }
    return any;
}

static reeve_status run_plan(plan *p, int64_t deadline)
{
    bool more = true;
    for (int round = 0; round < REDIRECTS_MAX && more; round++) {
        p->redirects = round + 1 < REDIRECTS_MAX;
        rv_cluster_links_refresh(p->conn, deadline);
        more = begin_round(p, round == 0);
        send_round(p, deadline);
    }
    if (p->error.status == REEVE_OK) return REEVE_OK;
    reeve_status status = p->error.status;
    /* What was sent to other nodes was carried out. */
    if (p->sent && status == REEVE_ECONNECT) status = REEVE_ELOST;
    return rv_fail(&p->conn->error, status, "%s", p->error.text);
}

/* In memory of the caller's, or its own. */
static reeve_status make_plan(plan *p, planned *few)
{
    rv_conn *conn = p->conn;
    p->count = conn->commands.count;
    p->commands = few;
    int few_slots[FEW], *slots = few_slots;
    bool few_marks[FEW], *marks = few_marks;
    if (p->count > FEW) {
        p->commands = rv_zalloc_array(p->count, sizeof(*p->commands));
        slots = rv_zalloc_array(p->count, sizeof(*slots));
        marks = rv_zalloc_array(p->count, sizeof(*marks));
    }
    bool done = p->commands != NULL && slots != NULL && marks != NULL;
    if (done) {
        rv_route_all(&conn->commands, slots);
        rv_route_mark_transactions(&conn->commands, marks);
        for (size_t i = 0; i < p->count; i++) p->commands[i] = (planned){.slot = slots[i], .in_transaction = marks[i]};
    }
    if (slots != few_slots) rv_free(slots);
    if (marks != few_marks) rv_free(marks);
    return done ? REEVE_OK : rv_fail(&conn->error, REEVE_ENOMEM, "no memory for a call to the cluster");
}

static reeve_status check_ready(rv_conn *conn)
{
    reeve_status status = rv_command_check(&conn->commands, &conn->error);
    if (status != REEVE_OK) return status;
    if (rv_cluster_links_are_open(conn)) return REEVE_OK;
    return rv_fail(&conn->error, REEVE_ECONNECT, "not connected to Redis (%s)", conn->url->redacted);
}

static int64_t deadline_or_usual(const rv_conn *conn, int64_t deadline)
{
    return deadline == 0 ? rv_deadline(conn->command_ms) : deadline;
}

reeve_status rv_cluster_calls_exec(rv_conn *conn, int64_t deadline, rv_on_reply on_reply, void *context)
{
    planned few[FEW];
    plan p = {.conn = conn, .on_reply = on_reply, .context = context, .commands = few};
    reeve_status status = check_ready(conn);
    if (status == REEVE_OK && conn->commands.count > 0) status = make_plan(&p, few);
    if (status == REEVE_OK) status = run_plan(&p, deadline_or_usual(conn, deadline));
    if (p.commands != few) rv_free(p.commands);
    rv_command_clear(&conn->commands);
    return status;
}

/* ---- one command ----------------------------------------------------------------------------------------------- */

/* The words of the link's failure; a reply that is an error in other words where it tells of another node. */
static reeve_status take_result(rv_conn *conn, rv_link *link, reeve_status status, const rv_reply **ret)
{
    rv_cluster_links_note_end(conn, link);
    conn->links->last = link;
    if (status == REEVE_OK) return status;
    const rv_reply *told = *ret != NULL ? rv_cluster_calls_translate(conn, *ret) : NULL;
    if (told == *ret) return rv_fail(&conn->error, status, "%s", rv_conn_error(link->conn)->text);
    *ret = told;
    return rv_fail(&conn->error, status, "Redis answered: %s%s", told->text, rv_refusal_advice(told->text));
}

/* Puts what was built into the link to the node of this slot. */
static reeve_status forward(rv_conn *conn, int slot, int64_t deadline, rv_link **ret)
{
    rv_cluster_links_refresh(conn, deadline);
    reeve_status status = rv_cluster_links_reach(conn, rv_cluster_links_node_for(conn, slot), slot, deadline, ret);
    if (status != REEVE_OK) return status;
    rv_conn_discard((*ret)->conn);
    (*ret)->is_used = true;
    for (size_t i = 0; i < conn->commands.count; i++) rv_command_forward(&(*ret)->conn->commands, &conn->commands, i);
    return REEVE_OK;
}

static reeve_status call_once(rv_conn *conn, int slot, int64_t deadline, bool *ret_moved, const rv_reply **ret)
{
    rv_link *link;
    *ret_moved = false;
    reeve_status status = forward(conn, slot, deadline, &link);
    if (status != REEVE_OK) return status;
    link->conn->begins_by = conn->begins_by;
    status = rv_conn_call(link->conn, deadline, ret);
    link->conn->begins_by = 0;
    *ret_moved = status == REEVE_EREDIS && learn(conn, link, *ret);
    return take_result(conn, link, status, ret);
}

/* WAIT replies with a number, WAITAOF with that of the server itself and that of its replicas. */
static bool is_less(const rv_reply *one, const rv_reply *other)
{
    if (!rv_reply_is(one, RV_ARRAY)) return rv_reply_int(one, 0) < rv_reply_int(other, 0);
    int64_t own = rv_reply_int(rv_reply_at(one, 0), 0), others_own = rv_reply_int(rv_reply_at(other, 0), 0);
    if (own != others_own) return own < others_own;
    return rv_reply_int(rv_reply_at(one, 1), 0) < rv_reply_int(rv_reply_at(other, 1), 0);
}

/* WAIT counts the replicas of a node that have received what its own connection wrote there: each node is asked to which
 * commands went since the last WAIT, and *ret is the reply with the smallest number. */
static reeve_status call_wait(rv_conn *conn, int64_t deadline, const rv_reply **ret)
{
    rv_cluster_links *links = conn->links;
    rv_link *least = NULL;
    for (size_t i = 0; i < links->count; i++) {
        const rv_reply *reply = NULL;
        rv_link *link = links->list[i];
        if (!rv_cluster_links_is_up(conn, (int)i) || !link->is_used) continue;
        link->is_used = false;
        rv_conn_discard(link->conn);
        rv_command_forward(&link->conn->commands, &conn->commands, 0);
        reeve_status status = take_result(conn, link, rv_conn_call(link->conn, deadline, &reply), &reply);
        if (status != REEVE_OK) *ret = reply;
        if (status != REEVE_OK) return status;
        if (least != NULL && !is_less(reply, *ret)) continue;
        least = link;
        *ret = reply;
    }
    if (least == NULL) return rv_fail(&conn->error, REEVE_ECONNECT, "no connected node of the cluster was used before");
    links->last = least;
    return REEVE_OK;
}

reeve_status rv_cluster_calls_call(rv_conn *conn, int64_t deadline, const rv_reply **ret)
{
    int slot;
    bool moved = true;
    *ret = NULL;
    deadline = deadline_or_usual(conn, deadline);
    reeve_status status = check_ready(conn);
    if (status == REEVE_OK && conn->commands.count != 1)
        status = rv_fail(&conn->error, REEVE_EINVAL, "a call takes exactly one command, not %zu", conn->commands.count);
    if (status == REEVE_OK) {
        rv_route_all(&conn->commands, &slot);
        if (slot == RV_ROUTE_ALL)
            status = rv_cluster_listen_subscribe(conn, deadline, ret);
        else if (rv_route_is_wait(&conn->commands, 0))
            status = call_wait(conn, deadline, ret);
        else
            for (int i = 0; i < REDIRECTS_MAX && moved; i++) status = call_once(conn, slot, deadline, &moved, ret);
    }
    rv_command_clear(&conn->commands);
    return status;
}

/* ---- several commands for one node; the first may block --------------------------------------------------------- */

/* A node that gives a slot away ends the waits for its keys with MOVED: for the caller that is a lost connection, of
 * which it is not known what it did, and the next one leads to the new owner. */
static reeve_status end_wait(rv_conn *conn, rv_link *link, reeve_status status, const rv_reply **ret)
{
    static const char before[] = "Redis answered: ";
    const char *words = rv_conn_error(link->conn)->text;
    bool answered = status == REEVE_EREDIS && strncmp(words, before, sizeof(before) - 1) == 0;
    const rv_reply told = {.type = RV_ERROR, .text = answered ? words + sizeof(before) - 1 : ""};
    if (answered && learn(conn, link, &told)) {
        *ret = NULL;
        conn->links->open = false;
        return rv_fail(&conn->error, REEVE_ELOST, "another node serves the hash slot of this queue now");
    }
    return take_result(conn, link, status, ret);
}

/* Puts what was built, which is all for the slot of the first command, into the link to its node. */
static reeve_status forward_all(rv_conn *conn, int64_t deadline, rv_link **ret)
{
    int few_slots[FEW];
    reeve_status status = check_ready(conn);
    if (status == REEVE_OK && (conn->commands.count == 0 || conn->commands.count > FEW))
        status = rv_fail(&conn->error, REEVE_EINVAL, "a call for one node takes from 1 to %d commands", FEW);
    if (status == REEVE_OK) {
        rv_route_all(&conn->commands, few_slots);
        status = forward(conn, few_slots[0], deadline, ret);
    }
    rv_command_clear(&conn->commands);
    return status;
}

reeve_status rv_cluster_calls_blocking(rv_conn *conn, int64_t deadline, const rv_reply **ret)
{
    rv_link *link = NULL;
    *ret = NULL;
    deadline = deadline_or_usual(conn, deadline);
    reeve_status status = forward_all(conn, deadline, &link);
    if (status != REEVE_OK) return status;
    status = rv_conn_call_blocking(link->conn, deadline, ret);
    return end_wait(conn, link, status, ret);
}

/* Another owner of the slot is found at the next call. */
reeve_status rv_cluster_calls_last(rv_conn *conn, int64_t deadline, rv_on_reply on_reply, void *context,
                                   const rv_reply **ret)
{
    rv_link *link = NULL;
    *ret = NULL;
    deadline = deadline_or_usual(conn, deadline);
    reeve_status status = forward_all(conn, deadline, &link);
    if (status != REEVE_OK) return status;
    status = rv_conn_call_last(link->conn, deadline, on_reply, context, ret);
    return end_wait(conn, link, status, ret);
}

reeve_status rv_cluster_calls_resume(rv_conn *conn, int64_t deadline, const rv_reply **ret)
{
    rv_link *link = conn->links->last;
    *ret = NULL;
    if (link == NULL) return rv_fail(&conn->error, REEVE_ESTATE, "no blocking command is under way");
    return end_wait(conn, link, rv_conn_resume(link->conn, deadline, ret), ret);
}
