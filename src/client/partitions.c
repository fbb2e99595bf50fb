#include "client/partitions.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/id.h"
#include "base/text.h"
#include "client/outbox.h"

static void note(const rv_reply *reply, void *context)
{
    reeve_client *client = context;
    client->partitions_until_ms = rv_deadline(REEVE_PARTITIONS_AGE_MS);
    /* Programs that enqueue one task each do not all begin with the same partition. */
    if (client->next_partition == 0) client->next_partition = (unsigned)(rv_random_unit() * REEVE_PARTITIONS_MAX);
    (void)rv_partition_map_read(&client->partitions, reply);
}

void rv_partitions_ask(reeve_client *client)
{
    rv_conn_ask_hash(client->conn, RV_PARTITION_KEY, note, client);
}

static void build(rv_conn *conn, bool again, const void *context)
{
    const reeve_client *client = context;
    (void)again;
    rv_cmd(conn, 2);
    rv_args(conn, "HGETALL");
    rv_arg2(conn, client->ns, strlen(client->ns), RV_PARTITION_KEY, strlen(RV_PARTITION_KEY));
}

reeve_status rv_partitions_renew(reeve_client *client)
{
    const rv_reply *reply;
    client->partitions_until_ms = rv_deadline(REEVE_PARTITIONS_AGE_MS);
    reeve_status status = rv_client_call(client, build, client, &reply, NULL);
    if (status == REEVE_OK) note(reply, client);
    return status;
}

const rv_partition_layout *rv_partitions_find(reeve_client *client, const char *queue)
{
    if (client->stand_in != NULL || client->generation != rv_fork_generation() || queue == NULL) return NULL;
    if (rv_now_ms() >= client->partitions_until_ms) {
        /* A call that is about to be made fails by itself where Redis is away. */
        rv_error kept = client->error;
        if (rv_conn_is_open(client->conn)) (void)rv_partitions_renew(client);
        client->error = kept;
    }
    return client->partitions.count > 0 ? rv_partition_map_find(&client->partitions, queue) : NULL;
}

/* ---- where a task is -------------------------------------------------------------------------------------------- */

typedef struct search {
    reeve_client *client;
    const rv_partition_layout *layout;
    const char *id;
    unsigned first;             /* the partition of the id, which is asked first */
    unsigned found;             /* or NOWHERE */
    uint64_t left;              /* a bit for each partition that the task has left */
    rv_partition_layout copied; /* the client's may be read anew meanwhile */
} search;

#define NOWHERE UINT32_MAX

/* For each partition whether it has the task. */
static void build_search(rv_conn *conn, bool again, const void *context)
{
    const search *s = context;
    (void)again;
    for (unsigned i = 0; i < s->layout->served; i++) {
        char name[REEVE_QUEUE_MAX + 1];
        rv_prefix prefix;
        rv_partition_name(name, s->layout->queue, i);
        rv_keys_set_prefix(&prefix, s->client->ns, name);
        rv_cmd(conn, 3);
        rv_args(conn, "HEXISTS");
        rv_arg2(conn, prefix.text, prefix.length, "tasks", 5);
        rv_args(conn, s->id);
    }
}

static void on_search(size_t index, const rv_reply *reply, void *context)
{
    search *s = context;
    if (index == 0) s->found = NOWHERE;
    if (index >= s->layout->served || !rv_reply_is(reply, RV_INT) || reply->number != 1) return;
    if (s->found == NOWHERE || index == s->first) s->found = (unsigned)index;
}

/* ---- a task that is being moved --------------------------------------------------------------------------------- */

/* For each partition, where it says that the task has gone. */
static void build_trail(rv_conn *conn, bool again, const void *context)
{
    const search *s = context;
    (void)again;
    for (unsigned i = 0; i < s->layout->served; i++) {
        char name[REEVE_QUEUE_MAX + 1], key[RV_PREFIX_MAX + REEVE_ID_MAX + 16];
        rv_prefix prefix;
        rv_partition_name(name, s->layout->queue, i);
        rv_keys_set_prefix(&prefix, s->client->ns, name);
        (void)snprintf(key, sizeof(key), "%sreplaced_by:%s", prefix.text, s->id);
        rv_cmd(conn, 2);
        rv_args(conn, "GET");
        rv_args(conn, key);
    }
}

static void on_trail(size_t index, const rv_reply *reply, void *context)
{
    search *s = context;
    if (index < s->layout->served && rv_reply_is(reply, RV_TEXT) && strchr(reply->text, '/') != NULL)
        s->left |= UINT64_C(1) << index;
}

/* Takes the task where it goes to: it is in the outbox of a partition, or has arrived since the partitions were asked. */
static reeve_status follow_trail(search *s)
{
    reeve_status status = rv_client_exec(s->client, build_trail, s, on_trail, s, NULL);
    if (status != REEVE_OK || s->left == 0) return status;
    for (unsigned i = 0; i < s->layout->served; i++) {
        char name[REEVE_QUEUE_MAX + 1];
        rv_partition_exact_name(name, s->layout->queue, i);
        if (s->left >> i & 1) rv_outbox_client_carry(s->client, name);
    }
    return rv_client_exec(s->client, build_search, s, on_search, s, NULL);
}

const char *rv_partitions_locate(reeve_client *client, const char *queue, const char *id, char ret[REEVE_QUEUE_MAX + 1])
{
    if (queue == NULL && rv_keys_check_queue(queue, &client->error) != REEVE_OK) return NULL;
    const rv_partition_layout *layout = rv_partitions_find(client, queue);
    if (layout == NULL || id == NULL) return queue;
    search s = {.client = client, .id = id, .copied = *layout, .found = NOWHERE};
    s.layout = &s.copied;
    s.first = rv_partition_of(id, s.copied.count);
    if (rv_client_exec(client, build_search, &s, on_search, &s, NULL) != REEVE_OK) return NULL;
    if (s.found == NOWHERE && follow_trail(&s) != REEVE_OK) return NULL;
    rv_partition_exact_name(ret, s.copied.queue, s.found == NOWHERE ? s.first : s.found);
    return ret;
}

const char *rv_partitions_locate_handle(reeve_client *client, const char *handle, char ret[REEVE_HANDLE_MAX])
{
    char queue[REEVE_QUEUE_MAX + 1], exact[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    if (!rv_keys_split_handle(handle, queue, id)) return handle;
    const char *found = rv_partitions_locate(client, queue, id, exact);
    if (found == NULL) return NULL;
    /* Scripts know partition 0 by the queue's name. */
    if (found != exact) rv_copy_text(exact, sizeof(exact), queue);
    rv_partition_canonicalize(exact);
    (void)snprintf(ret, REEVE_HANDLE_MAX, "%s/%s", exact, id);
    return ret;
}
