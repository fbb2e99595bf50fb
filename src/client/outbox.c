/*
 * outbox.c - messages of a queue to others (outbox.lua). A round fetches some, carries each with one call to the queue
 * that it is for, brings back what a parent's queue answered, and takes out those that were carried with the next
 * fetch. Several may carry the same messages at once, or one that was frozen for long: the target knows by its number
 * which it has received (lib/received.lua), and is told below which number none will come any more, which bounds what
 * it has to know. So nothing is lost or done twice wherever a round breaks off.
 */
#include "client/outbox.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/onward.h"
#include "protocol/fan_call.h"
#include "protocol/scripts.h"

#define ROUND 64
#define MESSAGES_MAX ((size_t)128 * 1024 * 1024)
#define CLIENT_ROUNDS 20
#define BACK_MAX 100
#define TELL_ROUNDS 16 /* of a queue that nobody serves */

/* A message in memory of the round's. */
typedef struct message {
    size_t start; /* in round.text */
    size_t length;
    char kind;
    char number[24];
    char child[REEVE_HANDLE_MAX]; /* T, V: the new task's handle */
    char parent[REEVE_HANDLE_MAX];
    char word[16];                      /* R: policy; E: state */
    char replacement[REEVE_HANDLE_MAX]; /* M: an id, or a handle */
    char edge[24];                      /* E, D, M: the number of the message that registered the edge; "": unknown */
    size_t options;                     /* T, V: where they begin */
    size_t options_length;
    char answer[16]; /* R: how the parent has ended */
    bool failed;     /* it stays */
    bool misread;    /* it is set aside */
    size_t commands; /* of the first pipeline */
} message;

typedef struct round_trip {
    rv_conn *conn;
    const char *ns;
    const char *queue;
    rv_buf text;
    message messages[ROUND];
    size_t count;
    size_t skip;      /* how many messages at the head stay for now, because their queues refuse them */
    int64_t from;     /* those that were set aside and have higher numbers are put back first; -1: none are */
    char floor[24];   /* below it no message will be carried any more; "0": not known */
    int64_t deadline; /* of all calls; 0: each has the usual one */
    rv_onward onward; /* where tasks may have ended by messages */
    rv_error *error;
} round_trip;

/* ---- reading --------------------------------------------------------------------------------------------------- */

static bool next_word(const char **at, const char *end, char *target, size_t size)
{
    const char *blank = memchr(*at, ' ', (size_t)(end - *at));
    if (blank == NULL) blank = end;
    size_t length = (size_t)(blank - *at);
    if (length == 0 || length >= size) return false;
    memcpy(target, *at, length);
    target[length] = '\0';
    *at = blank < end ? blank + 1 : end;
    return true;
}

static bool is_handle(const char *handle)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    return rv_keys_split_handle(handle, queue, id);
}

/* False when it is none that this version knows. */
static bool read_message(message *m, const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    char kind[2], number[24];
    if (!next_word(&at, end, kind, sizeof(kind)) || !next_word(&at, end, m->number, sizeof(m->number))) return false;
    m->kind = kind[0];
    if (!next_word(&at, end, m->child, sizeof(m->child)) || !is_handle(m->child)) return false;
    if (m->kind == 'T' || m->kind == 'V') {
        int64_t options;
        if (!next_word(&at, end, number, sizeof(number)) || !rv_parse_int(number, 0, end - at, &options)) return false;
        m->options = (size_t)(at - text);
        m->options_length = (size_t)options;
        return true;
    }
    if (!next_word(&at, end, m->parent, sizeof(m->parent)) || !is_handle(m->parent)) return false;
    if (m->kind == 'U') return true;
    if (m->kind == 'R') return next_word(&at, end, m->word, sizeof(m->word));
    if (m->kind == 'M')
        return next_word(&at, end, m->edge, sizeof(m->edge)) &&
               next_word(&at, end, m->replacement, sizeof(m->replacement));
    if (m->kind == 'D') return next_word(&at, end, m->edge, sizeof(m->edge));
    if (m->kind != 'E' || !next_word(&at, end, m->word, sizeof(m->word))) return false;
    return at == end || next_word(&at, end, m->edge, sizeof(m->edge));
}

/* The number below which no message will ever be carried; "0": it is not known. And up to which some were put back. */
static void note_floor(round_trip *r, const rv_reply *floor)
{
    char text[sizeof(r->floor)];
    int64_t number, from;
    const char *at = rv_reply_is(floor, RV_TEXT) ? floor->text : "", *end = at + strlen(at);
    bool known = next_word(&at, end, text, sizeof(text)) && rv_parse_int(text, 0, INT64_MAX, &number);
    rv_copy_text(r->floor, sizeof(r->floor), known ? text : "0");
    r->from = r->from >= 0 && known && rv_parse_int(at, r->from, INT64_MAX, &from) ? from : -1;
}

static void log_misread(const round_trip *r, const rv_reply *item)
{
    char text[200];
    rv_copy_text(text, sizeof(text), rv_reply_is(item, RV_TEXT) ? item->text : "");
    rv_utf8_clean(text, strlen(text));
    rv_log(REEVE_LOG_WARN, "outbox.unread", "a message to another queue is not valid for this release: it is set aside",
           "queue", r->queue, "message", text, NULL);
}

/* What cannot be understood is set aside; what follows is carried all the same. */
static reeve_status take_messages(round_trip *r, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 1)
        return rv_fail(r->error, REEVE_EPROTO, "outbox: unexpected reply");
    rv_buf_clear(&r->text);
    r->count = 0;
    for (size_t i = 1; i < reply->count && r->count < ROUND; i++) {
        const rv_reply *item = reply->items[i];
        message *m = &r->messages[r->count];
        *m = (message){.start = r->text.length, .length = item->length};
        m->misread = !rv_reply_is(item, RV_TEXT) || !read_message(m, item->text, item->length);
        m->failed = m->misread;
        if (m->misread) log_misread(r, item);
        rv_buf_add(&r->text, item->text, item->length);
        r->count++;
    }
    note_floor(r, reply->items[0]);
    return r->text.failed ? rv_fail(r->error, REEVE_ENOMEM, "no memory for messages") : REEVE_OK;
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

static reeve_status failed_call(round_trip *r, reeve_status status)
{
    return rv_fail(r->error, status, "%s", rv_conn_error(r->conn)->text);
}

/* The messages of one kind go into the call: carried ones, or those that are not understood. */
static void add_messages(round_trip *r, bool misread)
{
    for (size_t i = 0; i < r->count; i++) {
        const message *m = &r->messages[i];
        if (m->misread == misread && (misread || !m->failed)) rv_arg(r->conn, r->text.data + m->start, m->length);
    }
}

/* Takes out what was carried or is not understood, and fetches what comes next, behind those that stay. */
static reeve_status fetch(round_trip *r)
{
    char what[96];
    rv_prefix prefix;
    const rv_reply *reply;
    size_t carried = 0, misread = 0;
    for (size_t i = 0; i < r->count; i++) {
        carried += !r->messages[i].failed;
        misread += r->messages[i].misread;
    }
    r->skip += r->count - carried - misread;
    (void)snprintf(what, sizeof(what), "%d %zu %zu %d %" PRId64, ROUND, r->skip, misread, r->from >= 0 ? BACK_MAX : 0,
                   r->from >= 0 ? r->from : 0);
    rv_keys_set_prefix(&prefix, r->ns, r->queue);
    rv_cmd_script(r->conn, &rv_script_outbox, 1, 1 + carried + misread);
    rv_arg(r->conn, prefix.text, prefix.length);
    rv_args(r->conn, what);
    add_messages(r, false);
    add_messages(r, true);
    reeve_status status = rv_conn_call(r->conn, r->deadline, &reply);
    return status == REEVE_OK ? take_messages(r, reply) : failed_call(r, status);
}

/* Begins a script's call on the queue of a handle; *ret_id has the handle's id. */
static void begin(round_trip *r, const rv_script *script, const char *handle, size_t args, char id[REEVE_ID_MAX])
{
    char queue[REEVE_QUEUE_MAX + 1];
    rv_prefix prefix;
    (void)rv_keys_split_handle(handle, queue, id); /* checked when it was read */
    rv_keys_set_prefix(&prefix, r->ns, queue);
    rv_cmd_script(r->conn, script, 1, args);
    rv_arg(r->conn, prefix.text, prefix.length);
}

static void build_link(round_trip *r, const message *m)
{
    char id[REEVE_ID_MAX];
    begin(r, &rv_script_link, m->parent, 6, id);
    rv_args(r->conn, m->kind == 'R' ? "register" : m->kind == 'U' ? "unregister" : "release");
    rv_args(r->conn, id);
    rv_args(r->conn, m->child);
    rv_args(r->conn, m->kind == 'D' ? m->edge : m->word);
    rv_args(r->conn, m->number);
    rv_args(r->conn, r->floor);
}

/* edge: the number of the message that registered it. */
static void build_deliver(round_trip *r, const message *m, const char *state, const char *edge)
{
    char id[REEVE_ID_MAX];
    begin(r, &rv_script_deliver, m->child, 5, id);
    rv_args(r->conn, id);
    rv_args(r->conn, m->parent);
    rv_args(r->conn, state);
    rv_args(r->conn, edge);
    rv_args(r->conn, m->replacement);
}

static void build_task(round_trip *r, const message *m)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX], way[REEVE_QUEUE_MAX + 64];
    const char *options = r->text.data + m->start + m->options, *end = r->text.data + m->start + m->length;
    (void)rv_keys_split_handle(m->child, queue, id);
    rv_partition_canonicalize(queue);
    rv_cmd(r->conn, 3);
    rv_args(r->conn, "SADD");
    rv_arg2(r->conn, r->ns, strlen(r->ns), ":queues", 7);
    rv_args(r->conn, queue);
    begin(r, m->kind == 'V' ? &rv_script_arrive : &rv_script_enqueue, m->child, 4, id);
    (void)snprintf(way, sizeof(way), "%s%s %s %s", m->kind == 'V' ? "" : "carried ", r->queue, m->number, r->floor);
    rv_args(r->conn, way);
    rv_args(r->conn, id);
    rv_arg(r->conn, options, m->options_length);
    rv_arg(r->conn, options + m->options_length, (size_t)(end - options) - m->options_length);
}

static void build_first(round_trip *r, message *m)
{
    bool brings = m->kind == 'T' || m->kind == 'V';
    m->commands = brings ? 2 : 1;
    if (brings)
        build_task(r, m);
    else if (m->kind == 'E' || m->kind == 'M')
        build_deliver(r, m, m->kind == 'M' ? "moved" : m->word, m->edge);
    else
        build_link(r, m);
}

static void on_reply(size_t index, const rv_reply *reply, void *context)
{
    round_trip *r = context;
    size_t behind = index;
    message *m = NULL;
    /* The reply of a script that had to be loaded comes later: the index identifies it. */
    for (size_t i = 0; i < r->count && m == NULL; i++) {
        if (behind < r->messages[i].commands)
            m = &r->messages[i];
        else
            behind -= r->messages[i].commands;
    }
    if (m == NULL) return;
    if (rv_reply_is(reply, RV_ERROR)) {
        m->failed = true;
        if (r->error->status == REEVE_OK) (void)rv_fail(r->error, REEVE_EREDIS, "%s", reply->text);
    } else if (m->kind == 'R' && rv_reply_is(reply, RV_TEXT)) {
        rv_copy_text(m->answer, sizeof(m->answer), reply->text);
    }
}

/* A task may have ended because of such a message. */
static void note_onward(round_trip *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const message *m = &r->messages[i];
        bool ends = m->kind == 'E' && strcmp(m->word, "completed") != 0;
        if (!m->failed && (ends || m->kind == 'M' || m->kind == 'V')) rv_onward_add(&r->onward, m->child);
    }
}

static reeve_status carry_all(round_trip *r)
{
    for (size_t i = 0; i < r->count; i++) {
        if (!r->messages[i].failed) build_first(r, &r->messages[i]);
    }
    reeve_status status = rv_conn_exec(r->conn, r->deadline, on_reply, r);
    if (status != REEVE_OK) return failed_call(r, status);
    note_onward(r);
    /* What a parent's queue answered goes to the child. */
    size_t answers = 0;
    for (size_t i = 0; i < r->count; i++) {
        message *m = &r->messages[i];
        m->commands = !m->failed && m->kind == 'R' && m->answer[0] != '\0';
        if (m->commands == 0) continue;
        build_deliver(r, m, m->answer, m->number);
        m->kind = 'E';
        if (strcmp(m->answer, "completed") != 0) rv_onward_add(&r->onward, m->child);
        answers++;
    }
    if (answers == 0) return REEVE_OK;
    status = rv_conn_exec(r->conn, r->deadline, on_reply, r);
    return status == REEVE_OK ? status : failed_call(r, status);
}

/* Ends when there are no messages, or after max rounds. *ret_skip: how many stay at the head for now. */
static reeve_status carry_rounds(round_trip *r, unsigned max, size_t *ret_skip, size_t *ret_carried)
{
    rv_buf_init(&r->text, MESSAGES_MAX);
    rv_error_clear(r->error);
    reeve_status status = fetch(r), outcome = REEVE_OK;
    for (unsigned i = 0; i < max && status == REEVE_OK && r->count > 0; i++) {
        status = carry_all(r);
        if (status != REEVE_OK) break;
        for (size_t j = 0; j < r->count; j++) *ret_carried += !r->messages[j].failed;
        reeve_status refused = r->error->status;
        status = fetch(r);
        if (status != REEVE_OK) break;
        outcome = outcome == REEVE_OK ? refused : outcome;
    }
    *ret_skip = status == REEVE_OK && r->count > 0 ? r->skip : 0;
    rv_buf_fini(&r->text);
    return status == REEVE_OK ? outcome : status;
}

/* How a call carries. */
typedef struct carriage {
    const char *ns;
    const char *queue;
    unsigned max;
    int64_t deadline; /* as in round_trip */
    int64_t from;     /* the same */
    unsigned depth;   /* of queues that nobody serves, in a row */
    size_t skip;      /* where to begin, and to go on the next time: with the first one where the end was reached */
} carriage;

static reeve_status carry(rv_conn *conn, carriage *how, size_t *ret_carried, rv_error *error);

/* Tells and carries on in a queue that nobody serves. */
static void go_on(rv_conn *conn, const carriage *before, const char *queue)
{
    rv_prefix prefix;
    const rv_reply *reply;
    rv_fan_reply fanned = {.more = true};
    carriage how = {.ns = before->ns,
                    .queue = queue,
                    .max = before->max,
                    .deadline = before->deadline,
                    .from = -1,
                    .depth = before->depth + 1};
    rv_keys_set_prefix(&prefix, how.ns, queue);
    for (unsigned i = 0; i < TELL_ROUNDS && fanned.more; i++) {
        size_t carried = 0;
        rv_error error = {0};
        rv_fan_call_build(conn, &prefix, RV_FAN_CALL_MAX);
        if (rv_conn_call(conn, how.deadline, &reply) != REEVE_OK || !rv_fan_call_read(&fanned, reply)) return;
        how.skip = 0;
        if (fanned.outbox > 0) (void)carry(conn, &how, &carried, &error);
        if (!rv_conn_is_open(conn)) return;
    }
}

static reeve_status carry(rv_conn *conn, carriage *how, size_t *ret_carried, rv_error *error)
{
    size_t carried = 0;
    round_trip *r = rv_zalloc(sizeof(*r));
    if (ret_carried != NULL) *ret_carried = 0;
    if (r == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for messages");
    *r = (round_trip){.conn = conn,
                      .ns = how->ns,
                      .queue = how->queue,
                      .from = how->from,
                      .skip = how->skip,
                      .deadline = how->deadline,
                      .error = error};
    reeve_status status = carry_rounds(r, how->max, &how->skip, &carried);
    how->from = r->from;
    if (ret_carried != NULL) *ret_carried = carried;
    if (how->depth < RV_ONWARD_DEPTH && rv_conn_is_open(conn) &&
        rv_onward_look(&r->onward, conn, how->ns, how->deadline))
        for (size_t i = 0; i < r->onward.count && rv_conn_is_open(conn); i++) go_on(conn, how, r->onward.queues[i]);
    rv_free(r);
    return status;
}

reeve_status rv_outbox_carry(rv_conn *conn, const char *ns, const char *queue, unsigned max, size_t *ret_carried,
                             rv_error *error)
{
    return rv_outbox_carry_by(conn, ns, queue, max, 0, ret_carried, error);
}

reeve_status rv_outbox_carry_by(rv_conn *conn, const char *ns, const char *queue, unsigned max, int64_t deadline,
                                size_t *ret_carried, rv_error *error)
{
    carriage how = {.ns = ns, .queue = queue, .max = max, .deadline = deadline, .from = -1};
    return carry(conn, &how, ret_carried, error);
}

reeve_status rv_outbox_carry_on(rv_conn *conn, const char *ns, const char *queue, unsigned max, size_t *skip,
                                size_t *ret_carried, rv_error *error)
{
    carriage how = {.ns = ns, .queue = queue, .max = max, .from = -1, .skip = *skip};
    reeve_status status = carry(conn, &how, ret_carried, error);
    *skip = how.skip;
    return status;
}

reeve_status rv_outbox_carry_unread(rv_conn *conn, const char *ns, const char *queue, unsigned max, int64_t *from,
                                    size_t *ret_carried, rv_error *error)
{
    carriage how = {.ns = ns, .queue = queue, .max = max, .from = *from};
    reeve_status status = carry(conn, &how, ret_carried, error);
    *from = how.from;
    return status;
}

void rv_outbox_client_carry(reeve_client *client, const char *queue)
{
    rv_error error = {0};
    if (client->conn == NULL || !rv_conn_is_open(client->conn)) return;
    (void)rv_outbox_carry(client->conn, client->ns, queue, CLIENT_ROUNDS, NULL, &error);
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

typedef struct index_call {
    rv_prefix prefix;
    int index;
} index_call;

static void build_index(rv_conn *conn, bool again, const void *context)
{
    const index_call *call = context;
    (void)again;
    rv_cmd(conn, 3);
    rv_args(conn, "LINDEX");
    rv_arg2(conn, call->prefix.text, call->prefix.length, "outbox", 6);
    rv_argi(conn, call->index);
}

/* The number of the first message (index 0) or the last one (-1); 0: there is none. */
static reeve_status read_number(reeve_client *client, const char *queue, int index, int64_t *ret)
{
    const rv_reply *reply;
    index_call call = {.index = index};
    char digits[24] = "";
    rv_keys_set_prefix(&call.prefix, client->ns, queue);
    *ret = 0;
    reeve_status status = rv_client_call(client, build_index, &call, &reply, NULL);
    if (status != REEVE_OK || !rv_reply_is(reply, RV_TEXT) || reply->length < 3) return status;
    size_t length = strcspn(reply->text + 2, " ");
    if (length < sizeof(digits)) memcpy(digits, reply->text + 2, length);
    if (!rv_parse_int(digits, 0, INT64_MAX, ret)) *ret = 0;
    return REEVE_OK;
}

reeve_status rv_outbox_client_settle(reeve_client *client, const char *queue)
{
    int64_t last, first;
    reeve_status status = read_number(client, queue, -1, &last);
    while (status == REEVE_OK && last > 0) {
        size_t carried;
        rv_error error = {0};
        status = rv_outbox_carry(client->conn, client->ns, queue, CLIENT_ROUNDS, &carried, &error);
        if (status != REEVE_OK) return rv_fail(&client->error, status, "queue %s: %s", queue, error.text);
        status = read_number(client, queue, 0, &first);
        if (status != REEVE_OK || first == 0 || first > last) return status;
        if (carried == 0)
            return rv_fail(&client->error, REEVE_EREDIS, "queue %s: a message to another queue cannot be carried",
                           queue);
    }
    return status;
}
