/*
 * batch_members.c - enqueues tasks as members of a batch. The callbacks wait for the members before these are enqueued:
 * a member that had ended and whose record was removed could not be distinguished from one that never existed.
 *
 * A member that is not enqueued is removed from the callbacks again, which would wait for it for ever. That is done only
 * where it is certain that no such task exists: otherwise the callbacks could be released while a member still runs.
 */
#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/buffer.h"
#include "client/client_batch.h"
#include "client/client_enqueue.h"
#include "client/outbox.h"
#include "client/partition_enqueue.h"
#include "protocol/envelope.h"
#include "protocol/outgoing.h"
#include "protocol/parents.h"
#include "protocol/partition.h"
#include "protocol/spec.h"

typedef struct members {
    reeve_task_spec *specs; /* with ids */
    char (*ids)[REEVE_ID_MAX];
    char (*queues)[REEVE_QUEUE_MAX + 1]; /* partitions of divided queues */
    char (*handles)[REEVE_HANDLE_MAX];   /* as scripts know them, */
    char (*exact)[REEVE_HANDLE_MAX];     /* and with the exact names of partitions, for calls */
    reeve_parent *parents;
    const char **refused; /* room for handles */
    bool *exists;         /* room, by place in `refused` */
    size_t count;         /* of handles and parents: without those that cannot be enqueued */
    reeve_enqueued *results;
    size_t result_count;
} members;

static void free_members(members *m)
{
    rv_free(m->specs);
    rv_free(m->ids);
    rv_free(m->queues);
    rv_free(m->handles);
    rv_free(m->exact);
    rv_free(m->parents);
    rv_free((void *)m->refused);
    rv_free(m->exists);
}

/* Allocates all that is needed until the end: after an edge was made, no allocation of the batch may fail. */
static bool make_room(members *m, size_t count)
{
    m->specs = rv_zalloc_array(count, sizeof(*m->specs));
    m->ids = rv_zalloc_array(count, sizeof(*m->ids));
    m->queues = rv_zalloc_array(count, sizeof(*m->queues));
    m->exact = rv_zalloc_array(count, sizeof(*m->exact));
    m->handles = rv_zalloc_array(count, sizeof(*m->handles));
    m->parents = rv_zalloc_array(count, sizeof(*m->parents));
    m->refused = rv_zalloc_array(count, sizeof(*m->refused));
    m->exists = rv_zalloc_array(count, sizeof(*m->exists));
    return m->exact != NULL && m->queues != NULL && m->specs != NULL && m->ids != NULL && m->handles != NULL &&
           m->parents != NULL && m->refused != NULL && m->exists != NULL;
}

/* What may become a member: layers can make a payload shorter that is too long before. */
static reeve_size_limits limits_before_layers(const reeve_client *client)
{
    reeve_size_limits limits = client->size_limits;
    if (rv_outgoing_has(&client->layers)) limits.payload = INT64_MAX;
    return limits;
}

static reeve_status name_members(reeve_client *client, const reeve_task_spec *specs, size_t count, members *m)
{
    if (!make_room(m, count)) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a batch");
    const reeve_size_limits limits = limits_before_layers(client);
    for (size_t i = 0; i < count; i++) {
        rv_error ignored = {0};
        m->specs[i] = specs[i];
        if (rv_enqueue_error_check(&specs[i], &limits, &ignored) != REEVE_OK) continue;
        if (specs[i].id == NULL) rv_uuid7(m->ids[i]);
        if (specs[i].id != NULL) rv_copy_text(m->ids[i], sizeof(m->ids[i]), specs[i].id);
        m->specs[i].id = m->ids[i];
    }
    reeve_status status = rv_partition_enqueue_place(client, m->specs, count, true, m->queues);
    for (size_t i = 0; status == REEVE_OK && i < count; i++) {
        char queue[REEVE_QUEUE_MAX + 1];
        if (m->ids[i][0] == '\0') continue;
        if (m->queues[i][0] != '\0') m->specs[i].queue = m->queues[i];
        (void)snprintf(m->exact[m->count], REEVE_HANDLE_MAX, "%s/%s", m->specs[i].queue, m->ids[i]);
        rv_copy_text(queue, sizeof(queue), m->specs[i].queue);
        rv_partition_canonicalize(queue);
        (void)snprintf(m->handles[m->count], REEVE_HANDLE_MAX, "%s/%s", queue, m->ids[i]);
        m->parents[m->count] = (reeve_parent){.handle = m->handles[m->count], .unknown = REEVE_UNKNOWN_EXPECTED};
        m->count++;
    }
    return status;
}

/* ---- members that are not enqueued ----------------------------------------------------------------------------- */

/* The batch waits for a member whose result is unknown, and for one that exists. A layer may refuse one with any
 * status. */
static bool is_refused(reeve_status status)
{
    return status != REEVE_OK && status != REEVE_EEXISTS && status != REEVE_ECONNECT &&
           !rv_client_enqueue_is_unknown(status);
}

typedef struct existence {
    reeve_client *client;
    const members *m;
    size_t count;
    bool failed; /* Redis refused some of the questions */
} existence;

static void build_existence(rv_conn *conn, bool again, const void *context)
{
    const existence *e = context;
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    rv_prefix prefix;
    (void)again;
    for (size_t i = 0; i < e->count; i++) {
        (void)rv_keys_split_handle(e->m->refused[i], queue, id);
        rv_keys_set_prefix(&prefix, e->client->ns, queue);
        rv_cmd(conn, 3);
        rv_args(conn, "HEXISTS");
        rv_arg2(conn, prefix.text, prefix.length, "tasks", strlen("tasks"));
        rv_args(conn, id);
    }
}

static void on_existence(size_t index, const rv_reply *reply, void *context)
{
    existence *e = context;
    if (!rv_reply_is(reply, RV_INT) || index >= e->count)
        e->failed = true;
    else
        e->m->exists[index] = reply->number != 0;
}

/* A client for tests has no Redis, and answers at once. */
static void look_one_by_one(reeve_client *client, const members *m, size_t count)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    for (size_t i = 0; i < count; i++) {
        reeve_task_info *info;
        (void)rv_keys_split_handle(m->refused[i], queue, id);
        m->exists[i] = reeve_show(client, queue, id, &info) == REEVE_OK;
        if (m->exists[i]) reeve_task_info_free(info);
    }
}

static reeve_status look(reeve_client *client, const members *m, size_t count)
{
    existence e = {.client = client, .m = m, .count = count};
    reeve_status status = rv_client_exec(client, build_existence, &e, on_existence, &e, NULL);
    if (status != REEVE_OK || !e.failed) return status;
    return rv_fail(&client->error, REEVE_EREDIS, "Redis refused to say which of them exist");
}

/* Of the refused members keeps those of which Redis has no task. *ret: how many these are. */
static reeve_status keep_missing(reeve_client *client, members *m, size_t count, size_t *ret)
{
    reeve_status status = REEVE_OK;
    *ret = 0;
    if (client->stand_in != NULL)
        look_one_by_one(client, m, count);
    else if (count > 0)
        status = look(client, m, count);
    for (size_t i = 0; i < count && status == REEVE_OK; i++)
        if (!m->exists[i]) m->refused[(*ret)++] = m->refused[i];
    return status;
}

static reeve_status drop_missing(reeve_client *client, const reeve_batch *batch, members *m, size_t count)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    size_t missing;
    reeve_status status = keep_missing(client, m, count, &missing);
    for (size_t i = 0; i < RV_BATCH_CALLBACKS && status == REEVE_OK && missing > 0; i++) {
        status = rv_client_batch_callback(client, batch, i, queue, id);
        if (status != REEVE_OK || queue[0] == '\0') continue;
        status = reeve_remove_dependency(client, queue, id, m->refused, missing);
        if (rv_client_batch_is_past(status)) status = REEVE_OK;
    }
    return status;
}

/* Removes the refused members from the callbacks. If that fails, the batch may wait for them: their results are unknown
 * then. why: the status of the call. Returns that of the call by now. */
static reeve_status drop_refused(reeve_client *client, const reeve_batch *batch, members *m, reeve_status why)
{
    rv_error first = client->error;
    size_t refused = 0, named = 0;
    for (size_t i = 0; i < m->result_count; i++) {
        if (m->ids[i][0] == '\0') continue;
        if (is_refused(m->results[i].status)) m->refused[refused++] = m->exact[named];
        named++;
    }
    if (drop_missing(client, batch, m, refused) == REEVE_OK) {
        client->error = first;
        return why;
    }
    for (size_t i = 0; i < m->result_count; i++) {
        if (m->ids[i][0] == '\0' || !is_refused(m->results[i].status)) continue;
        m->results[i].status = REEVE_ELOST;
        rv_copy_text(m->results[i].id, sizeof(m->results[i].id), m->ids[i]);
    }
    why = rv_fail(&client->error, REEVE_ELOST,
                  "%.200s; the batch may wait for tasks that were not enqueued, and they could not be removed from it "
                  "(%.150s): add them again with their ids",
                  first.text, client->error.text);
    client->cause_count = 0;
    rv_client_note_cause(client, "", &client->error);
    return why;
}

/* ---- adding ---------------------------------------------------------------------------------------------------- */

/* The callbacks are registered with parents in other queues before these are enqueued. */
static reeve_status expect_members(reeve_client *client, const reeve_batch *batch, const members *m, bool *ret_some)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    *ret_some = false;
    if (m->count == 0) return REEVE_OK;
    reeve_status status = rv_client_batch_add_parents(client, batch, m->parents, m->count, ret_some);
    for (size_t i = 0; i < RV_BATCH_CALLBACKS && status == REEVE_OK; i++) {
        status = rv_client_batch_callback(client, batch, i, queue, id);
        if (status == REEVE_OK && queue[0] != '\0' && rv_parents_are_elsewhere(m->parents, m->count, queue))
            status = rv_outbox_client_settle(client, queue);
    }
    return status;
}

/* None was enqueued: the same result for all, with the ids that the callbacks may wait for. */
static reeve_status fail_all(reeve_client *client, const members *m, reeve_status status)
{
    for (size_t i = 0; i < m->result_count; i++) {
        m->results[i] = (reeve_enqueued){.status = status};
        if (m->ids != NULL) rv_copy_text(m->results[i].id, sizeof(m->results[i].id), m->ids[i]);
    }
    client->cause_count = 0;
    rv_client_note_cause(client, "", &client->error);
    return status;
}

static reeve_status add_named(reeve_client *client, const reeve_batch *batch, members *m)
{
    bool some;
    reeve_status status = expect_members(client, batch, m, &some);
    if (status != REEVE_OK) {
        (void)fail_all(client, m, status);
        return some ? drop_refused(client, batch, m, status) : status;
    }
    rv_buffer_switch_off(client);
    status = reeve_enqueue_many(client, m->specs, m->result_count, m->results);
    rv_buffer_switch_on(client);
    return status == REEVE_OK ? status : drop_refused(client, batch, m, status);
}

static reeve_status add(reeve_client *client, const reeve_batch *batch, const reeve_task_spec *specs, size_t count,
                        reeve_enqueued *ret_results)
{
    members m = {.results = ret_results, .result_count = count};
    reeve_status status = rv_client_batch_check(client, batch);
    if (status != REEVE_OK) return fail_all(client, &m, status);
    if (count == 0) return status;
    if (count > (size_t)client->size_limits.batch)
        return rv_enqueue_error_refuse_all(client, count, ret_results, RV_SIZE_LIMIT(batch), "tasks in one call");
    if (count > (size_t)client->size_limits.parents)
        return rv_enqueue_error_refuse_all(client, count, ret_results, RV_SIZE_LIMIT(parents), "tasks of a batch");
    status = name_members(client, specs, count, &m);
    status = status == REEVE_OK ? add_named(client, batch, &m) : fail_all(client, &m, status);
    free_members(&m);
    return status;
}

reeve_status reeve_batch_add_sized(reeve_client *client, const reeve_batch *batch, const reeve_task_spec *given,
                                   size_t count, reeve_enqueued *ret_results, size_t spec_size)
{
    const reeve_task_spec *specs;
    reeve_task_spec *owned;
    if (client == NULL) return REEVE_EINVAL;
    if (count > 0 && (given == NULL || ret_results == NULL))
        return rv_fail(&client->error, REEVE_EINVAL, "no tasks, or no room for results, were given");
    reeve_status status = rv_spec_read_all(&specs, &owned, given, count, spec_size, &client->error);
    if (status != REEVE_OK) {
        for (size_t i = 0; i < count; i++) ret_results[i] = (reeve_enqueued){.status = status};
        return status;
    }
    status = add(client, batch, specs, count, ret_results);
    rv_free(owned);
    return status;
}
