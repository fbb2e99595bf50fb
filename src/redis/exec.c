#include <string.h>

#include "redis/cluster_calls.h"
#include "redis/cluster_links.h"
#include "redis/cluster_wait.h"
#include "redis/conn_private.h"

/* One rv_conn_exec: what its replies are measured against. */
typedef struct execution {
    rv_conn *conn;
    rv_on_reply on_reply;
    void *context;
    size_t missing; /* commands whose script Redis does not know */
    size_t loads;   /* the number of SCRIPT LOAD with which the repetition begins */
    size_t cursor;  /* the repetition: where to look for the next missing one */
} execution;

reeve_status rv_conn_break(rv_conn *conn, reeve_status status)
{
    rv_conn_note_lost(conn);
    rv_conn_drop(conn, true);
    conn->lost = true;
    return rv_fail(&conn->error, status, "%s (%s)", conn->error.text, conn->url->redacted);
}

static reeve_status exchange(rv_conn *conn, rv_exchange *what)
{
    reeve_status status = rv_conn_exchange(conn, what);
    return status == REEVE_OK || status == REEVE_EINTERRUPTED ? status : rv_conn_break(conn, status);
}

static int64_t deadline_or_usual(const rv_conn *conn, int64_t deadline)
{
    return deadline == 0 ? rv_deadline(conn->command_ms) : deadline;
}

static reeve_status check_ready(rv_conn *conn)
{
    reeve_status status = rv_command_check(&conn->commands, &conn->error);
    if (status != REEVE_OK) return status;
    if (!rv_conn_is_open(conn))
        return rv_fail(&conn->error, REEVE_ECONNECT, "not connected to Redis (%s)", conn->url->redacted);
    if (conn->owed > 0) return rv_fail(&conn->error, REEVE_ESTATE, "a blocking command is still under way");
    return REEVE_OK;
}

void rv_conn_release_held(rv_conn *conn)
{
    if (conn->held) rv_reply_reader_settle(&conn->reader);
    conn->held = false;
}

/* ---- scripts that Redis does not know -------------------------------------------------------------------------- */

static void deliver(execution *run, size_t index, const rv_reply *reply)
{
    if (run->on_reply) run->on_reply(index, reply, run->context);
}

static void on_first_reply(size_t index, const rv_reply *reply, void *context)
{
    execution *run = context;
    rv_mark *mark = &run->conn->commands.marks[index];
    if (mark->script && rv_reply_has_error_code(reply, "NOSCRIPT")) {
        mark->missing = true;
        run->missing++;
    } else {
        deliver(run, index, reply);
    }
}

static void on_repeated_reply(size_t index, const rv_reply *reply, void *context)
{
    execution *run = context;
    rv_conn *conn = run->conn;
    if (index < run->loads) {
        if (rv_reply_is(reply, RV_ERROR)) (void)rv_fail(&conn->load_error, REEVE_EREDIS, "%s", reply->text);
        return;
    }
    while (!conn->commands.marks[run->cursor].missing) run->cursor++;
    /* The error of SCRIPT LOAD explains more than that the script is missing. */
    if (conn->load_error.status != REEVE_OK && rv_reply_has_error_code(reply, "NOSCRIPT")) {
        conn->load_reply = (rv_reply){.type = RV_ERROR, .text = conn->load_error.text};
        conn->load_reply.length = strlen(conn->load_reply.text);
        reply = &conn->load_reply;
    }
    deliver(run, run->cursor++, reply);
}

static bool is_first_use(const rv_commands *commands, size_t index)
{
    const rv_mark *marks = commands->marks;
    size_t i = 0;
    while (!marks[i].missing || marks[i].script != marks[index].script) i++;
    return i == index;
}

static size_t add_loads(const rv_commands *commands, rv_commands *again)
{
    for (size_t i = 0; i < commands->count; i++) {
        const rv_script *script = commands->marks[i].script;
        if (!commands->marks[i].missing || !is_first_use(commands, i)) continue;
        rv_command_begin(again, 3, NULL);
        rv_command_adds(again, "SCRIPT");
        rv_command_adds(again, "LOAD");
        rv_command_add(again, script->text, script->length);
    }
    return again->count;
}

static reeve_status copy_missing(const rv_commands *commands, rv_commands *again, rv_error *error)
{
    for (size_t i = 0; i < commands->count; i++) {
        if (commands->marks[i].missing) rv_command_repeat(again, commands, i);
    }
    if (again->fault == REEVE_ENOMEM) return rv_fail(error, REEVE_ENOMEM, "out of memory while sending a script again");
    return rv_command_check(again, error);
}

/* Loads the missing scripts and sends their commands once more, in a pipeline of their own. */
static reeve_status repeat_missing(rv_conn *conn, execution *run, int64_t deadline)
{
    rv_commands again;
    rv_command_init(&again);
    rv_error_clear(&conn->load_error);
    run->loads = add_loads(&conn->commands, &again);
    reeve_status status = copy_missing(&conn->commands, &again, &conn->error);
    if (status == REEVE_OK) {
        rv_exchange what = {
            .deadline = deadline, .replies = run->loads + run->missing, .on_reply = on_repeated_reply, .context = run};
        rv_exchange_send(&what, &again);
        status = exchange(conn, &what);
    }
    rv_command_fini(&again);
    return status;
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

static reeve_status send_all(rv_conn *conn, execution *run, int64_t deadline)
{
    rv_exchange what = {.deadline = deadline,
                        .begins_by = conn->begins_by,
                        .replies = conn->commands.count,
                        .spin = &conn->spin,
                        .on_reply = on_first_reply,
                        .context = run};
    rv_exchange_send(&what, &conn->commands);
    rv_spin_begin(&conn->spin);
    reeve_status status = exchange(conn, &what);
    rv_spin_end(&conn->spin);
    return status;
}

/* An extra reply means that earlier ones may belong to other commands. */
static reeve_status check_rest(rv_conn *conn)
{
    if (conn->subscribed || rv_reply_reader_is_at_rest(&conn->reader)) return REEVE_OK;
    (void)rv_fail(&conn->error, REEVE_EPROTO, "Redis sent more replies than commands");
    return rv_conn_break(conn, REEVE_EPROTO);
}

static reeve_status execute(rv_conn *conn, int64_t deadline, rv_on_reply on_reply, void *context)
{
    execution run = {.conn = conn, .on_reply = on_reply, .context = context};
    rv_conn_release_held(conn);
    deadline = deadline_or_usual(conn, deadline);
    reeve_status status = check_ready(conn);
    if (status == REEVE_OK) status = send_all(conn, &run, deadline);
    if (status == REEVE_OK && run.missing > 0) status = repeat_missing(conn, &run, deadline);
    rv_command_clear(&conn->commands);
    return status;
}

reeve_status rv_conn_exec(rv_conn *conn, int64_t deadline, rv_on_reply on_reply, void *context)
{
    if (conn->links) return rv_cluster_calls_exec(conn, deadline, on_reply, context);
    reeve_status status = execute(conn, deadline, on_reply, context);
    if (status == REEVE_OK) status = check_rest(conn);
    rv_reply_reader_settle(&conn->reader);
    return status;
}

static void keep_reply(size_t index, const rv_reply *reply, void *context)
{
    (void)index;
    *(const rv_reply **)context = reply;
}

static reeve_status check_single(rv_conn *conn)
{
    if (conn->commands.count == 1 || conn->commands.fault != REEVE_OK) return REEVE_OK;
    size_t count = conn->commands.count;
    rv_command_clear(&conn->commands);
    return rv_fail(&conn->error, REEVE_EINVAL, "a call takes exactly one command, not %zu", count);
}

static bool is_subscription(const rv_reply *reply)
{
    const rv_reply *kind = rv_reply_at(reply, 0);
    return rv_reply_is_text(kind, "subscribe") || rv_reply_is_text(kind, "psubscribe") ||
           rv_reply_is_text(kind, "ssubscribe");
}

/* What a call does with its one reply. */
static reeve_status finish_call(rv_conn *conn, const rv_reply *reply, const rv_reply **ret)
{
    if (is_subscription(reply)) conn->subscribed = true;
    reeve_status status = check_rest(conn);
    if (status != REEVE_OK) return status;
    conn->held = true;
    *ret = reply;
    if (reply->type != RV_ERROR) return REEVE_OK;
    return rv_fail(&conn->error, REEVE_EREDIS, "Redis answered: %s%s", reply->text, rv_refusal_advice(reply->text));
}

reeve_status rv_conn_call(rv_conn *conn, int64_t deadline, const rv_reply **ret)
{
    const rv_reply *reply = NULL;
    if (conn->links) return rv_cluster_calls_call(conn, deadline, ret);
    *ret = NULL;
    reeve_status status = check_single(conn);
    if (status == REEVE_OK) status = execute(conn, deadline, keep_reply, &reply);
    return status == REEVE_OK ? finish_call(conn, reply, ret) : status;
}

reeve_status rv_conn_call_begun_by(rv_conn *conn, int64_t begins_by, const rv_reply **ret)
{
    conn->begins_by = begins_by;
    reeve_status status = rv_conn_call(conn, 0, ret);
    conn->begins_by = 0;
    return status;
}

void rv_conn_take_reply(rv_conn *conn, rv_arena *mine)
{
    if (conn->links) conn = conn->links->last->conn;
    rv_arena taken = conn->reader.arena;
    rv_arena_rewind(mine);
    conn->reader.arena = *mine;
    *mine = taken;
}

/* The last reply, and whether one before it was an error (whose words are then the connection's). */
typedef struct last_reply {
    rv_conn *conn;
    rv_on_reply on_reply; /* of those before; or NULL */
    void *context;
    const rv_reply *reply;
    size_t before; /* replies before the last */
    bool failed;
} last_reply;

static void keep_last_reply(size_t index, const rv_reply *reply, void *context)
{
    last_reply *last = context;
    last->reply = reply;
    if (index >= last->before) return;
    if (last->on_reply != NULL && !rv_reply_is(reply, RV_ERROR)) last->on_reply(index, reply, last->context);
    if (!rv_reply_is(reply, RV_ERROR)) return;
    last->failed = true;
    (void)rv_fail(&last->conn->error, REEVE_EREDIS, "Redis answered: %s%s", reply->text,
                  rv_refusal_advice(reply->text));
}

static reeve_status wait_blocking(rv_conn *conn, int64_t deadline, last_reply *last)
{
    rv_exchange what = {.replies = conn->commands.count,
                        .deadline = deadline_or_usual(conn, deadline),
                        .waker = conn->waker,
                        .idle = true,
                        .on_reply = keep_last_reply,
                        .context = last};
    rv_exchange_send(&what, &conn->commands);
    last->before = what.replies - 1;
    reeve_status status = exchange(conn, &what);
    conn->owed = status == REEVE_EINTERRUPTED ? what.replies - what.got : 0;
    return status;
}

reeve_status rv_conn_call_blocking(rv_conn *conn, int64_t deadline, const rv_reply **ret)
{
    last_reply last = {.conn = conn};
    if (conn->links) return rv_cluster_calls_blocking(conn, deadline, ret);
    *ret = NULL;
    rv_conn_release_held(conn);
    reeve_status status = check_ready(conn);
    if (status == REEVE_OK && conn->commands.count == 0)
        status = rv_fail(&conn->error, REEVE_EINVAL, "a call takes a command");
    if (status == REEVE_OK) status = wait_blocking(conn, deadline, &last);
    rv_command_clear(&conn->commands);
    if (status != REEVE_OK) return status;
    return last.failed ? REEVE_EREDIS : finish_call(conn, last.reply, ret);
}

reeve_status rv_conn_call_last(rv_conn *conn, int64_t deadline, rv_on_reply on_reply, void *context,
                               const rv_reply **ret)
{
    last_reply last = {.conn = conn, .on_reply = on_reply, .context = context};
    if (conn->links) return rv_cluster_calls_last(conn, deadline, on_reply, context, ret);
    *ret = NULL;
    last.before = conn->commands.count - 1;
    if (conn->commands.count == 0) return rv_fail(&conn->error, REEVE_EINVAL, "a call takes a command");
    reeve_status status = execute(conn, deadline, keep_last_reply, &last);
    if (status != REEVE_OK) return status;
    if (!last.failed) return finish_call(conn, last.reply, ret);
    status = check_rest(conn);
    rv_reply_reader_settle(&conn->reader);
    return status == REEVE_OK ? REEVE_EREDIS : status;
}

reeve_status rv_conn_wait_any(rv_conn *conn, int64_t deadline, bool *ret_answered)
{
    if (conn->links) return rv_cluster_wait_any(conn, deadline, ret_answered);
    rv_command_clear(&conn->commands);
    return rv_fail(&conn->error, REEVE_ESTATE, "only a connection to a Redis Cluster waits for several nodes");
}

reeve_status rv_conn_resume(rv_conn *conn, int64_t deadline, const rv_reply **ret)
{
    const rv_reply *reply = NULL;
    if (conn->links) return rv_cluster_calls_resume(conn, deadline, ret);
    *ret = NULL;
    if (conn->owed == 0) return rv_fail(&conn->error, REEVE_ESTATE, "no blocking command is under way");
    rv_exchange what = {.replies = conn->owed,
                        .deadline = deadline_or_usual(conn, deadline),
                        .idle = true,
                        .on_reply = keep_reply,
                        .context = &reply};
    reeve_status status = exchange(conn, &what);
    conn->owed = 0;
    return status == REEVE_OK ? finish_call(conn, reply, ret) : status;
}
