#include "protocol/begin_session_call.h"

#include "protocol/scripts.h"

void rv_begin_session_call_build(rv_conn *conn, const rv_prefix *prefix, const char *session, int64_t session_ms,
                                 const char *about)
{
    rv_cmd_script_text(conn, &rv_script_begin_session, 1, 3);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
    rv_argi(conn, session_ms);
    rv_args(conn, about);
}

bool rv_begin_session_call_read(rv_begin_session_reply *ret, const rv_reply *reply)
{
    *ret = (rv_begin_session_reply){0};
    if (!rv_reply_is(reply, RV_ARRAY)) return false;
    if (reply->count == 0) return true;
    ret->policy = rv_reply_at(reply, 0);
    if (reply->count < 3 || !rv_reply_is(ret->policy, RV_TEXT)) return false;
    ret->alive = true;
    ret->result_max = rv_reply_int(rv_reply_at(reply, 1), 0);
    ret->payload_max = rv_reply_int(rv_reply_at(reply, 2), 0);
    return true;
}
