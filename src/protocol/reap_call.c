#include "protocol/reap_call.h"

#include "protocol/scripts.h"

void rv_reap_call_build(rv_conn *conn, const rv_prefix *prefix, unsigned max, int64_t session_ms)
{
    rv_cmd_script(conn, &rv_script_reap, 1, session_ms > 0 ? 2 : 1);
    rv_arg(conn, prefix->text, prefix->length);
    rv_argi(conn, max);
    if (session_ms > 0) rv_argi(conn, session_ms);
}

bool rv_reap_call_read(rv_reap_reply *ret, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 3 || !rv_reply_is(reply->items[0], RV_TEXT)) return false;
    *ret = (rv_reap_reply){.session = reply->items[0]->text,
                           .recovered = rv_reply_sum(reply->items[1]),
                           .more = rv_reply_int(reply->items[2], 0) == 1};
    return true;
}
