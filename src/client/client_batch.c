/*
 * client_batch.c - batches: callbacks are tasks that wait for the members, and for a parent that is none until all are
 * named.
 */
#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "client/client_enqueue.h"
#include "client/outbox.h"
#include "client/stepwise.h"
#include "protocol/envelope.h"
#include "protocol/parents.h"
#include "protocol/spec.h"
#include "reeve/depend.h"

static const reeve_on_parent_death policies[] = {REEVE_PARENT_GO, REEVE_PARENT_DEATH};

/* The handle of a callback, and the same taken apart; false when there is none. */
static bool callback_of(const reeve_batch *batch, size_t index, char queue[REEVE_QUEUE_MAX + 1], char id[REEVE_ID_MAX])
{
    return rv_keys_split_handle(index == 0 ? batch->complete : batch->death, queue, id);
}

static reeve_status open_callback(reeve_client *client, const reeve_task_spec *given, size_t spec_size,
                                  reeve_on_parent_death policy, char ret_handle[REEVE_HANDLE_MAX])
{
    char id[REEVE_ID_MAX];
    reeve_task_spec spec;
    ret_handle[0] = '\0';
    if (given == NULL) return REEVE_OK;
    reeve_status status = rv_spec_read(&spec, given, spec_size, &client->error);
    if (status != REEVE_OK) return status;
    if (spec.after_count >= REEVE_PARENTS_MAX) {
        return rv_fail(&client->error, REEVE_ETOOBIG,
                       "a batch's callback: name %zu parents by reeve_add_dependency afterwards", spec.after_count);
    }
    reeve_parent *after = rv_zalloc_array(spec.after_count + 1, sizeof(*after));
    if (after == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for parents");
    if (spec.after_count > 0) memcpy(after, spec.after, spec.after_count * sizeof(*after));
    after[spec.after_count] = (reeve_parent){.handle = REEVE_PARENT_OPEN, .on_death = policy};
    spec.after = after;
    spec.after_count++;
    status = reeve_enqueue(client, &spec, id);
    if (status == REEVE_OK) (void)snprintf(ret_handle, REEVE_HANDLE_MAX, "%s/%s", spec.queue, id);
    /* No program has its handle: it would wait for the end of the batch for ever. */
    if (rv_client_enqueue_is_unknown(status)) status = rv_stepwise_take_back(client, &spec, id, status);
    rv_free(after);
    return status;
}

reeve_status reeve_batch_open_sized(reeve_client *client, reeve_batch *ret, const reeve_task_spec *complete,
                                    const reeve_task_spec *death, size_t spec_size)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    memset(ret, 0, sizeof(*ret));
    if (complete == NULL && death == NULL)
        return rv_fail(&client->error, REEVE_EINVAL, "a batch without a callback is none");
    reeve_status status = open_callback(client, complete, spec_size, policies[0], ret->complete);
    if (status == REEVE_OK) status = open_callback(client, death, spec_size, policies[1], ret->death);
    if (status == REEVE_OK || !callback_of(ret, 0, queue, id)) return status;
    ret->complete[0] = '\0';
    return rv_stepwise_take_back_named(client, queue, id, status);
}

/* A callback that has been called needs no more parents. */
static bool is_past(reeve_status status)
{
    return status == REEVE_ENOTFOUND || status == REEVE_ESTATE;
}

static reeve_status add_parents(reeve_client *client, const reeve_batch *batch, reeve_parent *parents, size_t count)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    for (size_t i = 0; i < 2; i++) {
        if (!callback_of(batch, i, queue, id)) continue;
        for (size_t j = 0; j < count; j++) parents[j].on_death = policies[i];
        reeve_status status = reeve_add_dependency(client, queue, id, parents, count);
        if (status != REEVE_OK && !(policies[i] == REEVE_PARENT_DEATH && is_past(status))) return status;
    }
    return REEVE_OK;
}

static reeve_status check_batch(reeve_client *client, const reeve_batch *batch)
{
    if (client == NULL || batch == NULL) return REEVE_EINVAL;
    if (batch->complete[0] != '\0' || batch->death[0] != '\0') return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL, "the batch is not open");
}

reeve_status reeve_batch_add_tasks(reeve_client *client, const reeve_batch *batch, const char *const *handles,
                                   size_t count)
{
    reeve_status status = check_batch(client, batch);
    if (status != REEVE_OK || count == 0) return status;
    if (handles == NULL) return rv_fail(&client->error, REEVE_EINVAL, "no handles were given");
    reeve_parent *parents = rv_zalloc_array(count, sizeof(*parents));
    if (parents == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a batch");
    for (size_t i = 0; i < count; i++)
        parents[i] = (reeve_parent){.handle = handles[i], .unknown = REEVE_UNKNOWN_COMPLETED};
    status = add_parents(client, batch, parents, count);
    rv_free(parents);
    return status;
}

/* ---- members --------------------------------------------------------------------------------------------------- */

/*
 * The callbacks wait for the members before these are enqueued: a member that had ended and whose record was removed
 * could not be distinguished from one that never existed.
 */
typedef struct members {
    reeve_task_spec *specs; /* with ids */
    char (*ids)[REEVE_ID_MAX];
    char (*handles)[REEVE_HANDLE_MAX];
    reeve_parent *parents;
    size_t count; /* of handles and parents: without those that cannot be enqueued */
} members;

static void free_members(members *m)
{
    rv_free(m->specs);
    rv_free(m->ids);
    rv_free(m->handles);
    rv_free(m->parents);
}

static reeve_status name_members(reeve_client *client, const reeve_task_spec *specs, size_t count, members *ret)
{
    *ret = (members){.specs = rv_zalloc_array(count, sizeof(*ret->specs)),
                     .ids = rv_zalloc_array(count, sizeof(*ret->ids)),
                     .handles = rv_zalloc_array(count, sizeof(*ret->handles)),
                     .parents = rv_zalloc_array(count, sizeof(*ret->parents))};
    if (ret->specs == NULL || ret->ids == NULL || ret->handles == NULL || ret->parents == NULL)
        return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a batch");
    for (size_t i = 0; i < count; i++) {
        rv_error ignored = {0};
        ret->specs[i] = specs[i];
        if (rv_enqueue_error_check(&specs[i], &client->size_limits, &ignored) != REEVE_OK) continue;
        if (specs[i].id == NULL) rv_uuid7(ret->ids[i]);
        if (specs[i].id != NULL) rv_copy_text(ret->ids[i], sizeof(ret->ids[i]), specs[i].id);
        ret->specs[i].id = ret->ids[i];
        (void)snprintf(ret->handles[ret->count], REEVE_HANDLE_MAX, "%s/%s", specs[i].queue, ret->ids[i]);
        ret->parents[ret->count] =
            (reeve_parent){.handle = ret->handles[ret->count], .unknown = REEVE_UNKNOWN_EXPECTED};
        ret->count++;
    }
    return REEVE_OK;
}

/* Takes away these edges. */
static void drop_parents(reeve_client *client, const reeve_batch *batch, const char *const *handles, size_t count)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    rv_error why = client->error;
    for (size_t i = 0; i < 2 && count > 0; i++)
        if (callback_of(batch, i, queue, id)) (void)reeve_remove_dependency(client, queue, id, handles, count);
    client->error = why;
}

/* Whether a task was not enqueued for certain, and is not there from before. */
static bool is_refused(reeve_status status)
{
    return status == REEVE_EINVAL || status == REEVE_ETOOBIG || status == REEVE_EUNIQUE || status == REEVE_ENOTFOUND ||
           status == REEVE_EREDIS;
}

static void drop_refused(reeve_client *client, const reeve_batch *batch, const members *m, size_t count,
                         const reeve_enqueued *results)
{
    const char **refused = rv_zalloc_array(count, sizeof(*refused));
    size_t at = 0, named = 0;
    for (size_t i = 0; i < count && refused != NULL; i++) {
        if (m->ids[i][0] == '\0') continue;
        if (is_refused(results[i].status)) refused[at++] = m->handles[named];
        named++;
    }
    if (refused != NULL) drop_parents(client, batch, refused, at);
    rv_free(refused);
}

/* The callbacks are registered with parents in other queues before these are enqueued. */
static reeve_status expect_members(reeve_client *client, const reeve_batch *batch, const members *m)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    reeve_status status = m->count > 0 ? add_parents(client, batch, m->parents, m->count) : REEVE_OK;
    for (size_t i = 0; i < 2 && status == REEVE_OK; i++) {
        if (callback_of(batch, i, queue, id) && rv_parents_are_elsewhere(m->parents, m->count, queue))
            status = rv_outbox_client_settle(client, queue);
    }
    return status;
}

static reeve_status add_named(reeve_client *client, const reeve_batch *batch, const members *m, size_t count,
                              reeve_enqueued *ret_results)
{
    reeve_status status = expect_members(client, batch, m);
    if (status != REEVE_OK) {
        const char **all = rv_zalloc_array(m->count, sizeof(*all));
        for (size_t i = 0; i < m->count && all != NULL; i++) all[i] = m->handles[i];
        if (all != NULL) drop_parents(client, batch, all, m->count);
        rv_free(all);
        for (size_t i = 0; i < count; i++) ret_results[i] = (reeve_enqueued){.status = status};
        return status;
    }
    status = reeve_enqueue_many(client, m->specs, count, ret_results);
    if (status != REEVE_OK) drop_refused(client, batch, m, count, ret_results);
    return status;
}

static reeve_status add(reeve_client *client, const reeve_batch *batch, const reeve_task_spec *specs, size_t count,
                        reeve_enqueued *ret_results)
{
    members m = {0};
    reeve_status status = check_batch(client, batch);
    if (status != REEVE_OK || count == 0) return status;
    if (count > (size_t)client->size_limits.batch)
        return rv_enqueue_error_refuse_all(client, count, ret_results, RV_SIZE_LIMIT(batch), "tasks in one call");
    if (count > (size_t)client->size_limits.parents)
        return rv_enqueue_error_refuse_all(client, count, ret_results, RV_SIZE_LIMIT(parents), "tasks of a batch");
    status = name_members(client, specs, count, &m);
    if (status == REEVE_OK) status = add_named(client, batch, &m, count, ret_results);
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

reeve_status reeve_batch_close(reeve_client *client, const reeve_batch *batch)
{
    static const char *const open = REEVE_PARENT_OPEN;
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    reeve_status status = check_batch(client, batch);
    for (size_t i = 0; i < 2 && status == REEVE_OK; i++) {
        if (!callback_of(batch, i, queue, id)) continue;
        status = reeve_remove_dependency(client, queue, id, &open, 1);
        if (is_past(status)) status = REEVE_OK;
    }
    return status;
}
