#include "protocol/fan_call.h"

#include <string.h>

#include "protocol/scripts.h"

void rv_fan_call_build(rv_conn *conn, const rv_prefix *prefix, unsigned max)
{
    rv_cmd_script(conn, &rv_script_fan, 1, 1);
    rv_arg(conn, prefix->text, prefix->length);
    rv_argi(conn, max);
}

bool rv_fan_call_read(rv_fan_reply *ret, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 2) return false;
    *ret = (rv_fan_reply){.more = rv_reply_int(reply->items[0], 0) == 1, .outbox = rv_reply_sum(reply->items[1])};
    return true;
}

void rv_fan_call_ask(rv_conn *conn, const rv_prefix *prefix)
{
    static const char *const keys[] = {"fanout", "fanout_far", "outbox"};
    const size_t count = sizeof(keys) / sizeof(keys[0]);
    rv_cmd(conn, 1 + count);
    rv_args(conn, "EXISTS");
    for (size_t i = 0; i < count; i++) rv_arg2(conn, prefix->text, prefix->length, keys[i], strlen(keys[i]));
}
