#include "client/partition_put.h"

#include <string.h>

#include "base/text.h"
#include "client/partitions.h"

/* KEYS[1] is the hash; ARGV: the queue, the field as it was read, the field as it is to be; "": there is none. */
static const char script[] = "local now = redis.call('HGET', KEYS[1], ARGV[1]) or ''\n"
                             "if now == ARGV[3] then return 1 end\n"
                             "if now ~= ARGV[2] then return 0 end\n"
                             "if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1])\n"
                             "else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end\n"
                             "return 1\n";

typedef struct put {
    const reeve_client *client;
    const rv_partition_layout *layout;
    char before[RV_PARTITION_LAYOUT_TEXT];
    char after[RV_PARTITION_LAYOUT_TEXT];
} put;

/* As Redis has it. */
static void write_field(char ret[RV_PARTITION_LAYOUT_TEXT], const rv_partition_layout *layout)
{
    ret[0] = '\0';
    if (layout->count != 1 || layout->served != 1) rv_partition_layout_write(ret, layout);
}

/* The names of the partitions come first: a queue that is divided has them all. */
static void build_names(rv_conn *conn, bool again, const void *context)
{
    const put *p = context;
    (void)again;
    for (unsigned i = 0; i < p->layout->served; i++) {
        char name[REEVE_QUEUE_MAX + 1];
        rv_partition_name(name, p->layout->queue, i);
        rv_cmd(conn, 3);
        rv_args(conn, "SADD");
        rv_arg2(conn, p->client->ns, strlen(p->client->ns), ":queues", 7);
        rv_args(conn, name);
    }
}

static void build_put(rv_conn *conn, bool again, const void *context)
{
    const put *p = context;
    (void)again;
    rv_cmd(conn, 7);
    rv_args(conn, "EVAL");
    rv_arg(conn, script, sizeof(script) - 1);
    rv_args(conn, "1");
    rv_arg2(conn, p->client->ns, strlen(p->client->ns), RV_PARTITION_KEY, strlen(RV_PARTITION_KEY));
    rv_args(conn, p->layout->queue);
    rv_args(conn, p->before);
    rv_args(conn, p->after);
}

static void on_name(size_t index, const rv_reply *reply, void *context)
{
    reeve_client *client = context;
    (void)index;
    if (rv_client_put_off(client, reply)) return;
    if (rv_reply_is(reply, RV_ERROR)) (void)rv_client_refused(client, reply->text);
}

static void build_time(rv_conn *conn, bool again, const void *context)
{
    (void)again;
    (void)context;
    rv_cmd(conn, 1);
    rv_args(conn, "TIME");
}

reeve_status rv_partition_put_time(reeve_client *client, int64_t *ret_ms)
{
    const rv_reply *reply;
    int64_t seconds, us;
    reeve_status status = rv_client_call(client, build_time, NULL, &reply, NULL);
    if (status != REEVE_OK) return status;
    const rv_reply *first = rv_reply_at(reply, 0), *second = rv_reply_at(reply, 1);
    if (!rv_reply_is(first, RV_TEXT) || !rv_reply_is(second, RV_TEXT) ||
        !rv_parse_int(first->text, 0, INT64_MAX / 1000 - 1000, &seconds) || !rv_parse_int(second->text, 0, 999999, &us))
        return rv_client_odd_reply(client, "TIME");
    *ret_ms = seconds * 1000 + us / 1000;
    return REEVE_OK;
}

reeve_status rv_partition_put(reeve_client *client, const rv_partition_layout *read, rv_partition_layout *layout,
                              bool changed, bool *ret_done)
{
    put p = {.client = client, .layout = layout};
    const rv_reply *reply;
    reeve_status status = changed ? rv_partition_put_time(client, &layout->changed_ms) : REEVE_OK;
    if (status != REEVE_OK) return status;
    write_field(p.before, read);
    write_field(p.after, layout);
    if (p.after[0] != '\0') {
        status = rv_client_exec(client, build_names, &p, on_name, client, NULL);
        if (status == REEVE_OK) status = client->error.status;
    }
    if (status == REEVE_OK) status = rv_client_call(client, build_put, &p, &reply, NULL);
    if (status != REEVE_OK) return status;
    *ret_done = rv_reply_int(reply, 0) == 1;
    return rv_partitions_renew(client);
}
