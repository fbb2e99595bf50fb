#include "client/onward.h"

#include <string.h>

#include "base/text.h"
#include "protocol/fan_call.h"

void rv_onward_add(rv_onward *onward, const char *handle)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    if (onward->count == RV_ONWARD_MAX || !rv_keys_split_handle(handle, queue, id)) return;
    for (size_t i = 0; i < onward->count; i++)
        if (strcmp(onward->queues[i], queue) == 0) return;
    rv_copy_text(onward->queues[onward->count++], sizeof(onward->queues[0]), queue);
}

typedef struct look {
    size_t count;
    bool served[RV_ONWARD_MAX];
    bool tells[RV_ONWARD_MAX];
} look;

/* Two commands for each queue. */
static void on_exists(size_t index, const rv_reply *reply, void *context)
{
    look *l = context;
    if (index / 2 >= l->count) return;
    bool exists = rv_reply_int(reply, 0) > 0;
    *(index % 2 == 0 ? &l->served[index / 2] : &l->tells[index / 2]) = exists;
}

static void build(rv_conn *conn, const rv_prefix *prefix)
{
    rv_cmd(conn, 2);
    rv_args(conn, "EXISTS");
    rv_arg2(conn, prefix->text, prefix->length, "sessions", strlen("sessions"));
    rv_fan_call_ask(conn, prefix);
}

bool rv_onward_look(rv_onward *onward, rv_conn *conn, const char *ns, int64_t deadline)
{
    look l = {.count = onward->count};
    onward->count = 0;
    for (size_t i = 0; i < l.count; i++) {
        rv_prefix prefix;
        rv_keys_set_prefix(&prefix, ns, onward->queues[i]);
        build(conn, &prefix);
    }
    if (l.count == 0 || rv_conn_exec(conn, deadline, on_exists, &l) != REEVE_OK) return false;
    for (size_t i = 0; i < l.count; i++) {
        if (l.served[i] || !l.tells[i]) continue;
        if (i != onward->count) memcpy(onward->queues[onward->count], onward->queues[i], sizeof(onward->queues[0]));
        onward->count++;
    }
    return onward->count > 0;
}
