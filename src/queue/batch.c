/*
 * batch.c - batches: callbacks are tasks that wait for the members, and for a parent that is none until all are named.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "queue/client.h"
#include "queue/envelope.h"
#include "reeve/depend.h"

static const reeve_on_parent_death policies[] = {REEVE_PARENT_GO, REEVE_PARENT_DEATH};

/* The handle of a callback, and the same taken apart; false when there is none. */
static bool callback_of(const reeve_batch *batch, size_t index, char queue[REEVE_QUEUE_MAX + 1], char id[REEVE_ID_MAX])
{
    return rv_handle_split(index == 0 ? batch->complete : batch->death, queue, id);
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
        return rv_fail(&client->error, REEVE_ETOOBIG, "a batch's callback: name %zu parents by reeve_depend afterwards",
                       spec.after_count);
    }
    reeve_parent *after = rv_zalloc_array(spec.after_count + 1, sizeof(*after));
    if (after == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for parents");
    if (spec.after_count > 0) memcpy(after, spec.after, spec.after_count * sizeof(*after));
    after[spec.after_count] = (reeve_parent){.handle = REEVE_PARENT_OPEN, .on_death = policy};
    spec.after = after;
    spec.after_count++;
    status = reeve_enqueue(client, &spec, id);
    if (status == REEVE_OK) (void)snprintf(ret_handle, REEVE_HANDLE_MAX, "%s/%s", spec.queue, id);
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
    rv_error why = client->error;
    (void)reeve_delete(client, queue, id);
    client->error = why;
    ret->complete[0] = '\0';
    return status;
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
        reeve_status status = reeve_depend(client, queue, id, parents, count);
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
    for (size_t i = 0; i < count; i++) parents[i].handle = handles[i];
    status = add_parents(client, batch, parents, count);
    rv_free(parents);
    return status;
}

static reeve_status add(reeve_client *client, const reeve_batch *batch, const reeve_task_spec *specs, size_t count,
                        reeve_enqueued *ret_results)
{
    reeve_status status = check_batch(client, batch);
    if (status != REEVE_OK || count == 0) return status;
    if (count > (size_t)client->guards.parents && count <= (size_t)client->guards.batch)
        return rv_enqueue_refuse_all(client, count, ret_results, RV_GUARD(parents), "tasks of a batch");
    char(*handles)[REEVE_HANDLE_MAX] = rv_zalloc_array(count, sizeof(*handles));
    reeve_parent *parents = rv_zalloc_array(count, sizeof(*parents));
    if (handles == NULL || parents == NULL) {
        status = rv_fail(&client->error, REEVE_ENOMEM, "no memory for a batch");
        goto done;
    }
    status = reeve_enqueue_many(client, specs, count, ret_results);
    rv_error why = client->error;
    size_t members = 0;
    for (size_t i = 0; i < count; i++) {
        if (ret_results[i].status != REEVE_OK) continue;
        (void)snprintf(handles[members], sizeof(handles[members]), "%s/%s", specs[i].queue, ret_results[i].id);
        parents[members].handle = handles[members];
        members++;
    }
    reeve_status added = members > 0 ? add_parents(client, batch, parents, members) : REEVE_OK;
    if (added != REEVE_OK)
        status = added;
    else
        client->error = why;
done:
    rv_free(handles);
    rv_free(parents);
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
    reeve_status status = rv_specs_read(&specs, &owned, given, count, spec_size, &client->error);
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
        status = reeve_undepend(client, queue, id, &open, 1);
        if (is_past(status)) status = REEVE_OK;
    }
    return status;
}
