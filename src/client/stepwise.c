#include "client/stepwise.h"

#include <string.h>

#include "client/client_enqueue.h"
#include "client/partitions.h"
#include "protocol/envelope.h"
#include "protocol/parents.h"
#include "protocol/spec.h"
#include "reeve/depend.h"

/* The most that taking back may add to a call that has failed. */
#define TAKE_BACK_MS 1000

typedef struct open_edge {
    rv_prefix prefix;
    const char *id;
} open_edge;

static void build_open_edge(rv_conn *conn, bool again, const void *context)
{
    const open_edge *edge = context;
    (void)again;
    rv_cmd(conn, 3);
    rv_args(conn, "HGET");
    rv_arg_parts(conn, edge->prefix.length + strlen("parents:") + strlen(edge->id));
    rv_arg_part(conn, edge->prefix.text, edge->prefix.length);
    rv_arg_part(conn, "parents:", strlen("parents:"));
    rv_arg_part(conn, edge->id, strlen(edge->id));
    rv_args(conn, REEVE_PARENT_OPEN);
}

reeve_status rv_stepwise_policy(reeve_client *client, const char *queue, const char *id, char *ret)
{
    const rv_reply *reply;
    open_edge edge = {.id = id};
    rv_keys_set_prefix(&edge.prefix, client->ns, queue);
    reeve_status status = rv_client_call(client, build_open_edge, &edge, &reply, NULL);
    bool open = status == REEVE_OK && rv_reply_is(reply, RV_TEXT) && reply->length > 1 && reply->text[1] == '-';
    *ret = '\0';
    if (open) *ret = reply->text[0];
    return status;
}

/* Whether it waits for REEVE_PARENT_OPEN. */
static reeve_status is_open(reeve_client *client, const char *queue, const char *id, bool *ret)
{
    char policy;
    reeve_status status = rv_stepwise_policy(client, queue, id, &policy);
    *ret = policy != '\0';
    return status;
}

static bool is_same(const reeve_task_info *info, const reeve_task_spec *spec)
{
    return info->state == REEVE_STATE_BLOCKED && strcmp(info->type, spec->type) == 0 &&
           info->payload.length == spec->payload.length &&
           (info->payload.length == 0 || memcmp(info->payload.data, spec->payload.data, info->payload.length) == 0);
}

/* Whether the task exists, matches the spec, and has not been released yet. */
static reeve_status is_unfinished(reeve_client *client, const reeve_task_spec *spec, const char *id, bool *ret)
{
    reeve_task_info *info;
    char partition[REEVE_QUEUE_MAX + 1];
    const char *found = rv_partitions_locate(client, spec->queue, id, partition);
    if (found == NULL) return client->error.status;
    reeve_status status = is_open(client, found, id, ret);
    if (status != REEVE_OK || !*ret) return status;
    *ret = false;
    status = reeve_show(client, spec->queue, id, &info);
    if (status != REEVE_OK) return status == REEVE_ENOTFOUND ? REEVE_OK : status;
    *ret = is_same(info, spec);
    reeve_task_info_free(info);
    return REEVE_OK;
}

static reeve_status delete_soon(reeve_client *client, const char *queue, const char *id)
{
    int64_t usual = client->timeout_ms;
    if (client->timeout_ms > TAKE_BACK_MS) client->timeout_ms = TAKE_BACK_MS;
    reeve_status status = reeve_delete(client, queue, id);
    client->timeout_ms = usual;
    return status == REEVE_ENOTFOUND ? REEVE_OK : status;
}

reeve_status rv_stepwise_take_back_named(reeve_client *client, const char *queue, const char *id, reeve_status status,
                                         bool *ret_gone)
{
    rv_error why = client->error;
    *ret_gone = delete_soon(client, queue, id) == REEVE_OK;
    if (*ret_gone) {
        client->error = why;
        return status;
    }
    return rv_fail(
        &client->error, REEVE_ELOST,
        "%.180s; unknown whether %s/%s is enqueued: it may stand blocked, and could not be deleted (%.120s): "
        "enqueue it again with this id, or delete it",
        why.text, queue, id, client->error.text);
}

reeve_status rv_stepwise_take_back(reeve_client *client, const reeve_task_spec *spec, const char *id,
                                   reeve_status status, bool *ret_gone)
{
    bool unfinished = false;
    rv_error why = client->error;
    int64_t usual = client->timeout_ms;
    if (client->timeout_ms > TAKE_BACK_MS) client->timeout_ms = TAKE_BACK_MS;
    *ret_gone = is_unfinished(client, spec, id, &unfinished) == REEVE_OK;
    client->timeout_ms = usual;
    client->error = why;
    if (!*ret_gone)
        return rv_fail(&client->error, status,
                       "%.250s; unknown whether %s/%s is enqueued: it may stand blocked; delete it, or use it",
                       why.text, spec->queue, id);
    return unfinished ? rv_stepwise_take_back_named(client, spec->queue, id, status, ret_gone) : status;
}

/* The first step. EEXISTS: an earlier call with this id may have failed half way, and not been able to say so. */
static reeve_status place(reeve_client *client, const reeve_task_spec *spec, reeve_enqueued *ret)
{
    bool unfinished = false;
    reeve_task_spec first = *spec;
    first.after = &rv_parents_open;
    first.after_count = 1;
    reeve_status status = rv_client_enqueue_run(client, &first, 1, ret);
    if (status != REEVE_EEXISTS) return status;
    rv_error exists = client->error;
    if (is_unfinished(client, spec, ret->id, &unfinished) != REEVE_OK) {
        return ret->status = rv_fail(&client->error, REEVE_ELOST,
                                     "%s; a task %s/%s is there, and unknown whether all its parents are named",
                                     client->error.text, spec->queue, ret->id);
    }
    client->error = exists;
    if (unfinished) ret->status = REEVE_OK;
    return ret->status;
}

reeve_status rv_stepwise_enqueue(reeve_client *client, const reeve_task_spec *spec, reeve_enqueued *ret)
{
    const char *open = REEVE_PARENT_OPEN;
    *ret = (reeve_enqueued){.status = rv_spec_check_under(spec, &client->size_limits, &client->error)};
    if (ret->status != REEVE_OK) return ret->status;
    reeve_status status = place(client, spec, ret);
    /* That too few replicas have it is told in the end: without the other steps it would stand blocked for ever. */
    bool unconfirmed = status == REEVE_UNCONFIRMED;
    rv_error why = client->error;
    if (status != REEVE_OK && !unconfirmed) return status;
    bool named = false, gone = false;
    status = reeve_add_dependency(client, spec->queue, ret->id, spec->after, spec->after_count);
    if (status == REEVE_OK) {
        named = true;
        status = reeve_remove_dependency(client, spec->queue, ret->id, &open, 1);
    }
    /* Enqueued it was: one of its parents may have let it die meanwhile. */
    if (status == REEVE_OK || status == REEVE_ESTATE) {
        rv_error_clear(&client->error);
        if (unconfirmed) client->error = why;
        return ret->status;
    }
    if (!named || !rv_client_enqueue_is_unknown(status))
        return rv_stepwise_take_back_named(client, spec->queue, ret->id, status, &gone);
    /* It may have been let go, and run. */
    return rv_fail(&client->error, status,
                   "%.250s; unknown whether %s/%s is enqueued: it may stand blocked; enqueue it again with this id",
                   client->error.text, spec->queue, ret->id);
}
