#include "client/partition_left.h"

#include <string.h>

#include "base/id.h"

static const char *const kept[] = {"tasks", "outbox", "unread", "fanout", "fanout_far"};
#define KEPT (sizeof(kept) / sizeof(kept[0]))

bool rv_partition_left_applies(const char *queue)
{
    size_t length = strlen(queue);
    return length <= RV_PARTITION_QUEUE_MAX && rv_valid_whole_queue(queue, length);
}

unsigned rv_partition_left_served(const rv_partition_left *left)
{
    unsigned served = 0;
    for (unsigned i = left->from; i < REEVE_PARTITIONS_MAX; i++)
        if (left->holding >> i & 1) served = i + 1;
    return served;
}

static void build_names(rv_conn *conn, bool again, const void *context)
{
    const rv_partition_left *left = context;
    (void)again;
    rv_cmd(conn, 2 + REEVE_PARTITIONS_MAX - left->from);
    rv_args(conn, "SMISMEMBER");
    rv_arg2(conn, left->ns, strlen(left->ns), ":queues", 7);
    for (unsigned i = left->from; i < REEVE_PARTITIONS_MAX; i++) {
        char name[REEVE_QUEUE_MAX + 1];
        rv_partition_exact_name(name, left->queue, i);
        rv_args(conn, name);
    }
}

static void read_names(rv_partition_left *left, const rv_reply *reply)
{
    for (unsigned i = left->from; i < REEVE_PARTITIONS_MAX; i++)
        if (rv_reply_int(rv_reply_at(reply, i - left->from), 0) == 1) left->named |= UINT64_C(1) << i;
}

/* One command for each partition that has a name, in the order of their numbers. */
static void build_keys(rv_conn *conn, bool again, const void *context)
{
    const rv_partition_left *left = context;
    (void)again;
    for (unsigned i = left->from; i < REEVE_PARTITIONS_MAX; i++) {
        char name[REEVE_QUEUE_MAX + 1];
        rv_prefix prefix;
        if (!(left->named >> i & 1)) continue;
        rv_partition_name(name, left->queue, i);
        rv_keys_set_prefix(&prefix, left->ns, name);
        rv_cmd(conn, 1 + KEPT);
        rv_args(conn, "EXISTS");
        for (size_t key = 0; key < KEPT; key++) rv_arg2(conn, prefix.text, prefix.length, kept[key], strlen(kept[key]));
    }
}

static void on_keys(size_t index, const rv_reply *reply, void *context)
{
    rv_partition_left *left = context;
    unsigned i = left->from;
    for (; i < REEVE_PARTITIONS_MAX; i++)
        if ((left->named >> i & 1) && index-- == 0) break;
    if (i == REEVE_PARTITIONS_MAX) return;
    left->holding &= ~(UINT64_C(1) << i);
    if (rv_reply_int(reply, 0) > 0) left->holding |= UINT64_C(1) << i;
}

reeve_status rv_partition_left_look(rv_conn *conn, int64_t deadline, rv_partition_left *left)
{
    const rv_reply *reply;
    left->named = left->holding = 0;
    build_names(conn, false, left);
    reeve_status status = rv_conn_call(conn, deadline, &reply);
    if (status != REEVE_OK) return status;
    read_names(left, reply);
    if (left->named == 0) return REEVE_OK;
    build_keys(conn, false, left);
    return rv_conn_exec(conn, deadline, on_keys, left);
}

reeve_status rv_partition_left_find(reeve_client *client, const char *queue, unsigned from, rv_partition_left *ret)
{
    const rv_reply *reply;
    *ret = (rv_partition_left){.ns = client->ns, .queue = queue, .from = from};
    if (from >= REEVE_PARTITIONS_MAX) return REEVE_OK;
    reeve_status status = rv_client_call(client, build_names, ret, &reply, NULL);
    if (status != REEVE_OK) return status;
    read_names(ret, reply);
    return ret->named == 0 ? REEVE_OK : rv_client_exec(client, build_keys, ret, on_keys, ret, NULL);
}
