#include "protocol/heartbeat_call.h"

#include "protocol/scripts.h"

static uint64_t count_at(const rv_reply *reply, size_t index)
{
    return rv_reply_sum(rv_reply_at(reply, index));
}

static void begin_heartbeat(rv_conn *conn, const rv_prefix *prefix, size_t more, const char *session,
                            int64_t session_ms)
{
    rv_cmd_script(conn, &rv_script_heartbeat, 1, 2 + more);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
    rv_argi(conn, session_ms);
}

void rv_heartbeat_call_build(rv_conn *conn, const rv_prefix *prefix, const char *session, int64_t session_ms)
{
    begin_heartbeat(conn, prefix, 0, session, session_ms);
}

void rv_heartbeat_call_build_flush(rv_conn *conn, const rv_prefix *prefix, const char *session, int64_t session_ms,
                                   const rv_tally *tally, uint64_t number)
{
    begin_heartbeat(conn, prefix, 1 + rv_tally_args(tally), session, session_ms);
    rv_argi(conn, (int64_t)number);
    rv_tally_build(conn, tally);
}

bool rv_heartbeat_call_read(rv_heartbeat_reply *ret, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 2) return false;
    ret->alive = count_at(reply, 0) == 1;
    ret->held = count_at(reply, 1);
    ret->woken = count_at(reply, 2) == 1;
    return true;
}
