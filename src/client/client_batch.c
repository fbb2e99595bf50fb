/*
 * client_batch.c - batches: their callbacks are tasks that wait for the members, and for a placeholder parent until the
 * batch is closed. Members: batch_members.c.
 */
#include "client/client_batch.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/buffer.h"
#include "client/client_enqueue.h"
#include "client/stepwise.h"
#include "protocol/envelope.h"
#include "protocol/spec.h"

static const reeve_on_parent_death policies[] = {REEVE_PARENT_GO, REEVE_PARENT_DEATH};

bool rv_client_batch_callback(const reeve_batch *batch, size_t index, char queue[REEVE_QUEUE_MAX + 1],
                              char id[REEVE_ID_MAX])
{
    return rv_keys_split_handle(index == 0 ? batch->complete : batch->death, queue, id);
}

/* Enqueues a callback with the placeholder parent, which is the last of `after`. ret_handle is set also when the
 * callback may stay in Redis after an error. */
static reeve_status enqueue_callback(reeve_client *client, const reeve_task_spec *spec,
                                     char ret_handle[REEVE_HANDLE_MAX])
{
    char id[REEVE_ID_MAX];
    bool gone = true;
    rv_buffer_switch_off(client);
    reeve_status status = reeve_enqueue(client, spec, id);
    rv_buffer_switch_on(client);
    /* The program may not have the handle: a callback that stays would wait for the end of the batch for ever. */
    if (rv_client_enqueue_is_unknown(status)) status = rv_stepwise_take_back(client, spec, id, status, &gone);
    if (status == REEVE_OK || !gone) (void)snprintf(ret_handle, REEVE_HANDLE_MAX, "%s/%s", spec->queue, id);
    return status;
}

static reeve_status open_callback(reeve_client *client, const reeve_task_spec *given, size_t spec_size,
                                  reeve_on_parent_death policy, char ret_handle[REEVE_HANDLE_MAX])
{
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
    status = enqueue_callback(client, &spec, ret_handle);
    rv_free(after);
    return status;
}

reeve_status reeve_batch_open_sized(reeve_client *client, reeve_batch *ret, const reeve_task_spec *complete,
                                    const reeve_task_spec *death, size_t spec_size)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    bool gone = false;
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    memset(ret, 0, sizeof(*ret));
    if (complete == NULL && death == NULL)
        return rv_fail(&client->error, REEVE_EINVAL, "a batch without a callback is none");
    reeve_status status = open_callback(client, complete, spec_size, policies[0], ret->complete);
    if (status != REEVE_OK) return status;
    status = open_callback(client, death, spec_size, policies[1], ret->death);
    if (status == REEVE_OK || !rv_client_batch_callback(ret, 0, queue, id)) return status;
    status = rv_stepwise_take_back_named(client, queue, id, status, &gone);
    if (gone) ret->complete[0] = '\0';
    return status;
}

bool rv_client_batch_is_past(reeve_status status)
{
    return status == REEVE_ENOTFOUND || status == REEVE_ESTATE;
}

reeve_status rv_client_batch_add_parents(reeve_client *client, const reeve_batch *batch, reeve_parent *parents,
                                         size_t count, bool *ret_some)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    *ret_some = count > REEVE_PARENTS_MAX;
    for (size_t i = 0; i < 2; i++) {
        if (!rv_client_batch_callback(batch, i, queue, id)) continue;
        for (size_t j = 0; j < count; j++) parents[j].on_death = policies[i];
        reeve_status status = reeve_add_dependency(client, queue, id, parents, count);
        bool past = policies[i] == REEVE_PARENT_DEATH && rv_client_batch_is_past(status);
        if (status != REEVE_OK && !past) return status;
        *ret_some = true;
    }
    return REEVE_OK;
}

reeve_status rv_client_batch_check(reeve_client *client, const reeve_batch *batch)
{
    if (client == NULL || batch == NULL) return REEVE_EINVAL;
    if (batch->complete[0] != '\0' || batch->death[0] != '\0') return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL, "the batch is not open");
}

reeve_status reeve_batch_add_tasks(reeve_client *client, const reeve_batch *batch, const char *const *handles,
                                   size_t count)
{
    bool some;
    reeve_status status = rv_client_batch_check(client, batch);
    if (status != REEVE_OK || count == 0) return status;
    if (handles == NULL) return rv_fail(&client->error, REEVE_EINVAL, "no handles were given");
    reeve_parent *parents = rv_zalloc_array(count, sizeof(*parents));
    if (parents == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a batch");
    for (size_t i = 0; i < count; i++)
        parents[i] = (reeve_parent){.handle = handles[i], .unknown = REEVE_UNKNOWN_COMPLETED};
    status = rv_client_batch_add_parents(client, batch, parents, count, &some);
    rv_free(parents);
    return status;
}

reeve_status reeve_batch_close(reeve_client *client, const reeve_batch *batch)
{
    static const char *const open = REEVE_PARENT_OPEN;
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    reeve_status status = rv_client_batch_check(client, batch);
    for (size_t i = 0; i < 2 && status == REEVE_OK; i++) {
        if (!rv_client_batch_callback(batch, i, queue, id)) continue;
        status = reeve_remove_dependency(client, queue, id, &open, 1);
        if (rv_client_batch_is_past(status)) status = REEVE_OK;
    }
    return status;
}
