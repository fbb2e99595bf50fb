#include "running/locate_task.h"

#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/text.h"
#include "protocol/keys.h"
#include "protocol/partition.h"

bool rv_locate_task_layout(reeve_worker *worker, const char *queue, rv_partition_layout *ret)
{
    rv_lock(&worker->changing);
    const rv_partition_layout *layout = rv_partition_map_find(&worker->partitions, queue);
    if (layout != NULL) *ret = *layout;
    rv_unlock(&worker->changing);
    return layout != NULL;
}

typedef struct search {
    const rv_task_host *host;
    const char *ns;
    const char *id;
    rv_partition_layout layout;
    rv_prefix prefix; /* of the partition that is asked */
} search;

static void build_look(rv_conn *conn, const void *what)
{
    const search *s = what;
    rv_cmd(conn, 3);
    rv_args(conn, "HEXISTS");
    rv_arg2(conn, s->prefix.text, s->prefix.length, "tasks", 5);
    rv_args(conn, s->id);
}

/* Where it says that the task has gone: it is on its way to another partition. */
static void build_trail(rv_conn *conn, const void *what)
{
    const search *s = what;
    char key[RV_PREFIX_MAX + REEVE_ID_MAX + 16];
    (void)snprintf(key, sizeof(key), "%sreplaced_by:%s", s->prefix.text, s->id);
    rv_cmd(conn, 2);
    rv_args(conn, "GET");
    rv_args(conn, key);
}

static bool has_task(const rv_reply *reply)
{
    return rv_reply_is(reply, RV_INT) && reply->number == 1;
}

/* A child that is registered where the task was is told where it is. */
static bool has_trail(const rv_reply *reply)
{
    return rv_reply_is(reply, RV_TEXT) && strchr(reply->text, '/') != NULL;
}

/* The first partition that answers so, from that of the id on; stays as it is where none does. */
static reeve_status find(search *s, void (*build)(rv_conn *, const void *), bool (*is_there)(const rv_reply *),
                         unsigned *partition, bool *ret_found)
{
    unsigned first = *partition;
    *ret_found = false;
    for (unsigned i = 0; i < s->layout.served; i++) {
        const rv_reply *reply;
        char name[REEVE_QUEUE_MAX + 1];
        unsigned number = (first + i) % s->layout.served;
        rv_partition_name(name, s->layout.queue, number);
        rv_keys_set_prefix(&s->prefix, s->ns, name);
        reeve_status status = s->host->ask(build, s, &reply, s->host->context);
        if (status != REEVE_OK) return status;
        *ret_found = is_there(reply);
        if (!*ret_found) continue;
        *partition = number;
        return REEVE_OK;
    }
    return REEVE_OK;
}

reeve_status rv_locate_task_handle(reeve_worker *worker, const rv_task_host *host, const char *handle,
                                   char ret[REEVE_HANDLE_MAX])
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX], name[REEVE_QUEUE_MAX + 1];
    search s = {.host = host, .ns = worker->ns, .id = id};
    bool found = false;
    rv_copy_text(ret, REEVE_HANDLE_MAX, handle);
    rv_partition_canonicalize(ret);
    if (!rv_keys_split_handle(handle, queue, id) || !rv_locate_task_layout(worker, queue, &s.layout)) return REEVE_OK;
    unsigned partition = rv_partition_of(id, s.layout.count);
    reeve_status status = find(&s, build_look, has_task, &partition, &found);
    if (status == REEVE_OK && !found) status = find(&s, build_trail, has_trail, &partition, &found);
    rv_partition_name(name, s.layout.queue, partition);
    (void)snprintf(ret, REEVE_HANDLE_MAX, "%s/%s", name, id);
    return status;
}
