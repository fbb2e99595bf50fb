#include "protocol/session.h"

#include "protocol/scripts.h"

static void begin(rv_conn *conn, const rv_script *script, const rv_prefix *prefix, size_t args)
{
    rv_cmd_script(conn, script, 1, args);
    rv_arg(conn, prefix->text, prefix->length);
}

static uint64_t count_at(const rv_reply *reply, size_t index)
{
    return rv_reply_sum(rv_reply_at(reply, index));
}

static void begin_beat(rv_conn *conn, const rv_prefix *prefix, size_t more, const char *session, int64_t session_ms)
{
    begin(conn, &rv_script_heartbeat, prefix, 2 + more);
    rv_args(conn, session);
    rv_argi(conn, session_ms);
}

void rv_beat_build(rv_conn *conn, const rv_prefix *prefix, const char *session, int64_t session_ms)
{
    begin_beat(conn, prefix, 0, session, session_ms);
}

void rv_beat_build_flush(rv_conn *conn, const rv_prefix *prefix, const char *session, int64_t session_ms,
                         const rv_tally *tally, uint64_t number)
{
    begin_beat(conn, prefix, 1 + rv_tally_args(tally), session, session_ms);
    rv_argi(conn, (int64_t)number);
    rv_tally_build(conn, tally);
}

bool rv_beat_read(rv_beat_reply *ret, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 2) return false;
    ret->alive = count_at(reply, 0) == 1;
    ret->held = count_at(reply, 1);
    ret->woken = count_at(reply, 2) == 1;
    return true;
}

void rv_leave_build(rv_conn *conn, const rv_prefix *prefix, const char *session, unsigned most)
{
    begin(conn, &rv_script_end_session, prefix, 2);
    rv_args(conn, session);
    rv_argi(conn, most);
}

void rv_leave_build_next(rv_conn *conn, const rv_prefix *prefix, const char *session, unsigned most,
                         const rv_leave_turns turns)
{
    begin(conn, &rv_script_end_session, prefix, 3);
    rv_args(conn, session);
    rv_argi(conn, most);
    rv_args(conn, turns);
}

void rv_leave_read_turns(const rv_reply *reply, rv_leave_turns ret)
{
    const rv_reply *turns = rv_reply_at(reply, 2);
    rv_copy_text(ret, sizeof(rv_leave_turns), rv_reply_is(turns, RV_TEXT) ? turns->text : "");
}

bool rv_leave_read(const rv_reply *reply, uint64_t *ret_given_back, bool *ret_more)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 2) return false;
    *ret_given_back = count_at(reply, 0);
    *ret_more = count_at(reply, 1) == 1;
    return true;
}

void rv_tend_build(rv_conn *conn, const rv_prefix *prefix, unsigned most, int64_t session_ms)
{
    begin(conn, &rv_script_maintain, prefix, session_ms > 0 ? 2 : 1);
    rv_argi(conn, most);
    if (session_ms > 0) rv_argi(conn, session_ms);
}

bool rv_tend_read(rv_tend_reply *ret, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 7) return false;
    int64_t now = rv_reply_int(reply->items[0], 0), next = rv_reply_int(reply->items[2], -1);
    ret->more = count_at(reply, 1) == 1;
    ret->next_in_ms = next < 0 ? -1 : next > now ? next - now : 0;
    ret->promoted = count_at(reply, 3);
    ret->recovered = count_at(reply, 4);
    ret->trimmed = count_at(reply, 5);
    ret->session = rv_reply_is(reply->items[6], RV_TEXT) ? reply->items[6]->text : "";
    ret->policy = rv_reply_at(reply, 7);
    ret->now_ms = now;
    ret->due = rv_reply_at(reply, 8);
    ret->outbox = count_at(reply, 9);
    ret->result_max = rv_reply_int(rv_reply_at(reply, 10), 0);
    int64_t spared = rv_reply_int(rv_reply_at(reply, 12), 0);
    ret->spared_ms = spared > now ? spared - now : 0;
    ret->unsent = rv_reply_int(rv_reply_at(reply, 11), 0) == 1;
    ret->unread = rv_reply_int(rv_reply_at(reply, 13), 0) == 1;
    return true;
}

bool rv_tend_due_at(const rv_tend_reply *tended, size_t index, rv_tend_due *ret)
{
    const rv_reply *name = rv_reply_at(tended->due, 3 * index), *due = rv_reply_at(tended->due, 3 * index + 1);
    const rv_reply *line = rv_reply_at(tended->due, 3 * index + 2);
    if (!rv_reply_is(name, RV_TEXT) || !rv_reply_is(line, RV_TEXT)) return false;
    *ret =
        (rv_tend_due){.name = name->text, .due_ms = rv_reply_int(due, 0), .line = line->text, .length = line->length};
    return true;
}
