#include "protocol/maintain_call.h"

#include "protocol/scripts.h"

static uint64_t count_at(const rv_reply *reply, size_t index)
{
    return rv_reply_sum(rv_reply_at(reply, index));
}

void rv_maintain_call_build(rv_conn *conn, const rv_prefix *prefix, unsigned max, int64_t session_ms)
{
    rv_cmd_script(conn, &rv_script_maintain, 1, session_ms > 0 ? 2 : 1);
    rv_arg(conn, prefix->text, prefix->length);
    rv_argi(conn, max);
    if (session_ms > 0) rv_argi(conn, session_ms);
}

bool rv_maintain_call_read(rv_maintain_reply *ret, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 7) return false;
    int64_t now = rv_reply_int(reply->items[0], 0), next = rv_reply_int(reply->items[2], -1);
    ret->more = count_at(reply, 1) == 1;
    ret->next_in_ms = next < 0 ? -1 : next > now ? next - now : 0;
    ret->promoted = count_at(reply, 3);
    ret->dead = count_at(reply, 4) == 1;
    ret->trimmed = count_at(reply, 5);
    ret->ends = count_at(reply, 6) == 1;
    ret->policy = rv_reply_at(reply, 7);
    ret->now_ms = now;
    ret->due = rv_reply_at(reply, 8);
    ret->outbox = count_at(reply, 9);
    ret->result_max = rv_reply_int(rv_reply_at(reply, 10), 0);
    ret->payload_max = rv_reply_int(rv_reply_at(reply, 14), 0);
    int64_t spared = rv_reply_int(rv_reply_at(reply, 12), 0);
    ret->spared_ms = spared > now ? spared - now : 0;
    ret->unsent = rv_reply_int(rv_reply_at(reply, 11), 0) == 1;
    ret->unread = rv_reply_int(rv_reply_at(reply, 13), 0) == 1;
    return true;
}

bool rv_maintain_call_due(const rv_maintain_reply *maintained, size_t index, rv_maintain_due *ret)
{
    const rv_reply *name = rv_reply_at(maintained->due, 3 * index), *due = rv_reply_at(maintained->due, 3 * index + 1);
    const rv_reply *line = rv_reply_at(maintained->due, 3 * index + 2);
    if (!rv_reply_is(name, RV_TEXT) || !rv_reply_is(line, RV_TEXT)) return false;
    *ret = (rv_maintain_due){
        .name = name->text, .due_ms = rv_reply_int(due, 0), .line = line->text, .length = line->length};
    return true;
}
