#include "protocol/end_session_call.h"

#include "base/error.h"
#include "protocol/scripts.h"

static uint64_t count_at(const rv_reply *reply, size_t index)
{
    return rv_reply_sum(rv_reply_at(reply, index));
}

void rv_end_session_call_build(rv_conn *conn, const rv_prefix *prefix, const char *session, unsigned max)
{
    rv_cmd_script(conn, &rv_script_end_session, 1, 2);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
    rv_argi(conn, max);
}

void rv_end_session_call_build_next(rv_conn *conn, const rv_prefix *prefix, const char *session, unsigned max,
                                    const rv_end_session_turns turns)
{
    rv_cmd_script(conn, &rv_script_end_session, 1, 3);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
    rv_argi(conn, max);
    rv_args(conn, turns);
}

void rv_end_session_call_read_turns(const rv_reply *reply, rv_end_session_turns ret)
{
    const rv_reply *turns = rv_reply_at(reply, 2);
    rv_copy_text(ret, sizeof(rv_end_session_turns), rv_reply_is(turns, RV_TEXT) ? turns->text : "");
}

bool rv_end_session_call_read(const rv_reply *reply, uint64_t *ret_given_back, bool *ret_more)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 2) return false;
    *ret_given_back = count_at(reply, 0);
    *ret_more = count_at(reply, 1) == 1;
    return true;
}
