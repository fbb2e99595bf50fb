#include "protocol/recover_call.h"

#include "base/text.h"
#include "protocol/scripts.h"

void rv_recover_call_build(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *thread,
                           const char *cursor)
{
    rv_cmd_script(conn, &rv_script_recover, 1, 3);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
    rv_args(conn, thread);
    rv_args(conn, cursor);
}

bool rv_recover_call_read(rv_recover_reply *ret, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 4) return false;
    ret->alive = rv_reply_int(reply->items[0], 0) == 1;
    ret->cursor = rv_reply_is(reply->items[1], RV_TEXT) ? reply->items[1]->text : "0";
    ret->extras = reply->items[2];
    ret->tasks = reply->items[3];
    ret->next_task = ret->next_extra = 0;
    return rv_reply_is(ret->extras, RV_ARRAY) && rv_reply_is(ret->tasks, RV_ARRAY);
}

size_t rv_recover_call_leases(rv_recover_reply *reply, size_t queue, rv_lease *leases, size_t max)
{
    size_t count = 0;
    for (; reply->next_task + 2 < reply->tasks->count && count < max; reply->next_task += 3) {
        rv_reply *const *task = &reply->tasks->items[reply->next_task];
        if (!rv_lease_read(&leases[count], queue, task[0], task[2])) continue;
        int64_t since_ms = rv_parse_before_blank(task[1]->text, task[1]->length, RV_REPLY_NUMBER_MAX);
        leases[count].since_ms = since_ms < 0 ? 0 : since_ms;
        if (leases[count].envelope.flagged) rv_lease_read_extra(&leases[count], reply->extras, &reply->next_extra);
        count++;
    }
    return count;
}
