/*
 * client_depend.c - edges between tasks, made and unmade by hand.
 */
#include "protocol/parents.h"

#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/client_depend.h"
#include "client/fan.h"
#include "client/outbox.h"
#include "client/partitions.h"
#include "client/stand_in.h"
#include "protocol/scripts.h"

/* ---- depend.lua ------------------------------------------------------------------------------------------------ */

typedef struct edges {
    rv_prefix prefix;
    const char *id;
    const reeve_parent *parents; /* to add, up to `max` in all; or */
    int64_t max;
    bool *closed; /* of the callback of a batch: set, and nothing is added, if the batch is closed; NULL: of any task */
    const char *const *handles; /* to remove */
    size_t count;
} edges;

static void build_edges(rv_conn *conn, bool again, const void *context)
{
    const edges *e = context;
    (void)again;
    rv_cmd_script(conn, &rv_script_depend, 1, 2 + (e->parents != NULL ? 2 : 1) * e->count);
    rv_arg(conn, e->prefix.text, e->prefix.length);
    char verb[40] = "remove";
    if (e->parents != NULL)
        (void)snprintf(verb, sizeof(verb), "add %lld%s", (long long)e->max, e->closed != NULL ? " open" : "");
    rv_args(conn, verb);
    rv_args(conn, e->id);
    for (size_t i = 0; i < e->count; i++) {
        rv_args(conn, e->parents != NULL ? e->parents[i].handle : e->handles[i]);
        if (e->parents == NULL) continue;
        rv_args(conn, rv_parents_policy(&e->parents[i]));
    }
}

static reeve_status call_edges(reeve_client *client, const char *queue, const edges *e)
{
    const rv_reply *reply;
    bool again;
    if (client->stand_in != NULL)
        return client->stand_in->depend(client->stand_in_context, queue, e->id, e->parents, e->handles, e->count,
                                        e->closed, &client->error);
    reeve_status status = rv_client_call(client, build_edges, e, &reply, &again);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_TEXT)) return rv_client_odd_reply(client, "depend");
    if (strcmp(reply->text, "ok") == 0) return REEVE_OK;
    /* Taken from its last parents a task may run, and one that waits for a death is removed. */
    if (again && e->parents == NULL) return REEVE_OK;
    if (strcmp(reply->text, "closed") == 0 && e->closed != NULL) {
        *e->closed = true;
        return rv_fail(&client->error, REEVE_ESTATE, "the batch of %s/%s is closed: it takes no more members", queue,
                       e->id);
    }
    if (reply->length == 0) return rv_fail(&client->error, REEVE_ENOTFOUND, "no task %s/%s (any more)", queue, e->id);
    int64_t total;
    if (strncmp(reply->text, "parents ", 8) == 0 && rv_parse_int(reply->text + 8, 0, INT64_MAX, &total))
        return rv_parents_refuse_count(&client->size_limits, (size_t)total, &client->error);
    if (strncmp(reply->text, "unknown ", 8) == 0)
        return rv_parents_refuse(&client->error, queue, e->id, reply->text + 8);
    return rv_fail(&client->error, REEVE_ESTATE, "what %s/%s waits for cannot be changed: it is %s", queue, e->id,
                   reply->text);
}

static reeve_status check_child(reeve_client *client, const char *queue, const char *id)
{
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    return status == REEVE_OK ? rv_keys_check_id(id, &client->error) : status;
}

static size_t step_of(size_t left)
{
    return left < REEVE_PARENTS_MAX ? left : REEVE_PARENTS_MAX;
}

static reeve_status add(reeve_client *client, const char *queue, const char *id, const reeve_parent *parents,
                        size_t count, bool *closed)
{
    if (client == NULL || (count > 0 && parents == NULL)) return REEVE_EINVAL;
    edges e = {.id = id, .max = client->size_limits.parents, .closed = closed};
    reeve_status status = check_child(client, queue, id);
    if (status == REEVE_OK) status = rv_parents_check_count(parents, count, &client->size_limits, &client->error);
    for (size_t i = 0; i < count && status == REEVE_OK; i++)
        status = rv_parents_check(&parents[i], queue, id, &client->error);
    if (status != REEVE_OK) return status;
    rv_keys_set_prefix(&e.prefix, client->ns, queue);
    for (size_t at = 0; at < count && status == REEVE_OK; at += e.count) {
        e.parents = parents + at;
        e.count = step_of(count - at);
        status = call_edges(client, queue, &e);
        if (status == REEVE_OK && rv_parents_are_elsewhere(e.parents, e.count, queue))
            rv_outbox_client_carry(client, queue);
    }
    /* The task may have ended with a parent that is dead. */
    if (status == REEVE_OK && count > 0) rv_fan_follow(client, queue);
    return status;
}

reeve_status reeve_add_dependency(reeve_client *client, const char *queue, const char *id, const reeve_parent *parents,
                                  size_t count)
{
    char partition[REEVE_QUEUE_MAX + 1];
    if (client == NULL || (count > 0 && parents == NULL)) return REEVE_EINVAL;
    reeve_status status = check_child(client, queue, id);
    if (status != REEVE_OK) return status;
    const char *found = rv_partitions_locate(client, queue, id, partition);
    if (found == NULL) return client->error.status;
    if (client->partitions.count == 0) return add(client, queue, id, parents, count, NULL);
    reeve_parent *located = rv_zalloc_array(count + 1, sizeof(*located));
    char(*handles)[REEVE_HANDLE_MAX] = rv_zalloc_array(count + 1, sizeof(*handles));
    if (located == NULL || handles == NULL) status = rv_fail(&client->error, REEVE_ENOMEM, "no memory for parents");
    for (size_t i = 0; status == REEVE_OK && i < count; i++) {
        located[i] = parents[i];
        if (parents[i].handle == NULL) continue;
        located[i].handle = rv_partitions_locate_handle(client, parents[i].handle, handles[i]);
        if (located[i].handle == NULL) status = client->error.status;
    }
    if (status == REEVE_OK) status = add(client, found, id, located, count, NULL);
    rv_free(located);
    rv_free(handles);
    return status;
}

reeve_status rv_client_depend_add_members(reeve_client *client, const char *queue, const char *id,
                                          const reeve_parent *members, size_t count, bool *ret_closed)
{
    *ret_closed = false;
    return add(client, queue, id, members, count, ret_closed);
}

static reeve_status remove_edges(reeve_client *client, const char *queue, const char *id, const char *const *handles,
                                 size_t count)
{
    edges e = {.id = id};
    bool elsewhere = false;
    reeve_status status = check_child(client, queue, id);
    for (size_t i = 0; i < count && status == REEVE_OK; i++) {
        const reeve_parent parent = {.handle = handles[i]};
        status = rv_parents_check_handle(handles[i], queue, NULL, &client->error);
        if (status == REEVE_OK) elsewhere = elsewhere || rv_parents_are_elsewhere(&parent, 1, queue);
    }
    if (status != REEVE_OK) return status;
    rv_keys_set_prefix(&e.prefix, client->ns, queue);
    for (size_t at = 0; at < count && status == REEVE_OK; at += e.count) {
        e.handles = handles + at;
        e.count = step_of(count - at);
        status = call_edges(client, queue, &e);
    }
    if (status == REEVE_OK && elsewhere) rv_outbox_client_carry(client, queue);
    if (status == REEVE_OK && count > 0) rv_fan_follow(client, queue);
    return status;
}

reeve_status reeve_remove_dependency(reeve_client *client, const char *queue, const char *id,
                                     const char *const *handles, size_t count)
{
    char partition[REEVE_QUEUE_MAX + 1];
    if (client == NULL || (count > 0 && handles == NULL)) return REEVE_EINVAL;
    reeve_status status = check_child(client, queue, id);
    if (status != REEVE_OK) return status;
    const char *found = rv_partitions_locate(client, queue, id, partition);
    if (found == NULL) return client->error.status;
    if (client->partitions.count == 0) return remove_edges(client, queue, id, handles, count);
    const char **located = rv_zalloc_array(count + 1, sizeof(*located));
    char(*texts)[REEVE_HANDLE_MAX] = rv_zalloc_array(count + 1, sizeof(*texts));
    if (located == NULL || texts == NULL) status = rv_fail(&client->error, REEVE_ENOMEM, "no memory for parents");
    for (size_t i = 0; status == REEVE_OK && i < count; i++) {
        located[i] = rv_partitions_locate_handle(client, handles[i], texts[i]);
        if (located[i] == NULL) status = client->error.status;
    }
    if (status == REEVE_OK) status = remove_edges(client, found, id, located, count);
    rv_free(located);
    rv_free(texts);
    return status;
}
