/*
 * client_batch.c - batches: their callbacks are tasks that wait for the members, and for a placeholder parent until the
 * batch is closed. Members: batch_members.c.
 */
#include "client/client_batch.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/buffer.h"
#include "client/client_depend.h"
#include "client/client_enqueue.h"
#include "client/partitions.h"
#include "client/stepwise.h"
#include "protocol/envelope.h"
#include "protocol/parents.h"
#include "protocol/spec.h"

static const reeve_on_parent_death policies[RV_BATCH_CALLBACKS] = {REEVE_PARENT_WAIT, REEVE_PARENT_GO,
                                                                   REEVE_PARENT_DEATH};

char *rv_client_batch_handle(reeve_batch *batch, size_t index)
{
    char *const handles[RV_BATCH_CALLBACKS] = {batch->success, batch->complete, batch->death};
    return handles[index];
}

reeve_status rv_client_batch_callback(reeve_client *client, const reeve_batch *batch, size_t index,
                                      char queue[REEVE_QUEUE_MAX + 1], char id[REEVE_ID_MAX])
{
    const char *const handles[RV_BATCH_CALLBACKS] = {batch->success, batch->complete, batch->death};
    char partition[REEVE_QUEUE_MAX + 1];
    if (!rv_keys_split_handle(handles[index], queue, id)) {
        queue[0] = '\0';
        return REEVE_OK;
    }
    const char *found = rv_partitions_locate(client, queue, id, partition);
    if (found == NULL) return client->error.status;
    if (found != queue) rv_copy_text(queue, REEVE_QUEUE_MAX + 1, found);
    return REEVE_OK;
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

/* Deletes the callbacks before the one at `count`, which could not be enqueued. Returns the status of the call. */
static reeve_status take_back(reeve_client *client, reeve_batch *batch, size_t count, reeve_status status)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    for (size_t i = 0; i < count; i++) {
        bool gone = false;
        if (!rv_keys_split_handle(rv_client_batch_handle(batch, i), queue, id)) continue;
        status = rv_stepwise_take_back_named(client, queue, id, status, &gone);
        if (gone) rv_client_batch_handle(batch, i)[0] = '\0';
    }
    return status;
}

reeve_status reeve_batch_open_sized(reeve_client *client, reeve_batch *ret, const reeve_batch_callbacks *callbacks,
                                    size_t spec_size)
{
    if (client == NULL || ret == NULL || callbacks == NULL) return REEVE_EINVAL;
    const reeve_task_spec *const specs[RV_BATCH_CALLBACKS] = {callbacks->success, callbacks->complete,
                                                              callbacks->death};
    bool some = false;
    memset(ret, 0, sizeof(*ret));
    for (size_t i = 0; i < RV_BATCH_CALLBACKS; i++) some = some || specs[i] != NULL;
    if (!some) return rv_fail(&client->error, REEVE_EINVAL, "a batch without a callback is none");
    for (size_t i = 0; i < RV_BATCH_CALLBACKS; i++) {
        reeve_status status = open_callback(client, specs[i], spec_size, policies[i], rv_client_batch_handle(ret, i));
        if (status != REEVE_OK) return take_back(client, ret, i, status);
    }
    return REEVE_OK;
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
    for (size_t i = 0; i < RV_BATCH_CALLBACKS; i++) {
        reeve_status status = rv_client_batch_callback(client, batch, i, queue, id);
        if (status != REEVE_OK) return status;
        if (queue[0] == '\0') continue;
        for (size_t j = 0; j < count; j++) parents[j].on_death = policies[i];
        bool closed;
        status = rv_client_depend_add_members(client, queue, id, parents, count, &closed);
        bool past = policies[i] != REEVE_PARENT_GO && rv_client_batch_is_past(status) && !closed;
        if (status != REEVE_OK && !past) return status;
        *ret_some = true;
    }
    return REEVE_OK;
}

reeve_status rv_client_batch_check(reeve_client *client, const reeve_batch *batch)
{
    if (client == NULL || batch == NULL) return REEVE_EINVAL;
    if (batch->success[0] != '\0' || batch->complete[0] != '\0' || batch->death[0] != '\0') return REEVE_OK;
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
    char(*located)[REEVE_HANDLE_MAX] = rv_zalloc_array(count, sizeof(*located));
    if (located == NULL) status = rv_fail(&client->error, REEVE_ENOMEM, "no memory for a batch");
    (void)rv_partitions_find(client, ""); /* reads the map again, if it is old */
    for (size_t i = 0; status == REEVE_OK && i < count; i++) {
        parents[i] = (reeve_parent){.handle = handles[i], .unknown = REEVE_UNKNOWN_COMPLETED};
        if (handles[i] == NULL || client->partitions.count == 0) continue;
        parents[i].handle = rv_partitions_locate_handle(client, handles[i], located[i]);
        if (parents[i].handle == NULL) status = client->error.status;
    }
    if (status == REEVE_OK) status = rv_client_batch_add_parents(client, batch, parents, count, &some);
    rv_free(located);
    rv_free(parents);
    return status;
}

reeve_status reeve_batch_close(reeve_client *client, const reeve_batch *batch)
{
    static const char *const open = REEVE_PARENT_OPEN;
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    reeve_status status = rv_client_batch_check(client, batch);
    for (size_t i = 0; i < RV_BATCH_CALLBACKS && status == REEVE_OK; i++) {
        status = rv_client_batch_callback(client, batch, i, queue, id);
        if (status != REEVE_OK || queue[0] == '\0') continue;
        status = reeve_remove_dependency(client, queue, id, &open, 1);
        if (rv_client_batch_is_past(status)) status = REEVE_OK;
    }
    return status;
}

/* ---- a batch by the handles of its callbacks ------------------------------------------------------------------- */

/* Which callback of an open batch it is, by the policy of its placeholder; RV_BATCH_CALLBACKS: none. */
static reeve_status callback_of(reeve_client *client, const char *queue, const char *id, size_t *ret)
{
    char policy;
    char partition[REEVE_QUEUE_MAX + 1];
    *ret = RV_BATCH_CALLBACKS;
    const char *found = rv_partitions_locate(client, queue, id, partition);
    if (found == NULL) return client->error.status;
    reeve_status status = rv_stepwise_policy(client, found, id, &policy);
    for (size_t i = 0; i < RV_BATCH_CALLBACKS && status == REEVE_OK; i++) {
        const reeve_parent open = {.handle = REEVE_PARENT_OPEN, .on_death = policies[i]};
        if (rv_parents_policy(&open)[0] == policy) *ret = i;
    }
    return status;
}

reeve_status reeve_batch_find(reeve_client *client, const char *const *handles, size_t count, reeve_batch *ret)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    reeve_batch batch = {{0}, {0}, {0}};
    bool some = false;
    if (client == NULL || ret == NULL || (handles == NULL && count > 0)) return REEVE_EINVAL;
    for (size_t i = 0; i < count; i++) {
        size_t index;
        if (!rv_keys_split_handle(handles[i], queue, id))
            return rv_fail(&client->error, REEVE_EINVAL, "\"%.200s\" is no handle of a task", handles[i]);
        reeve_status status = callback_of(client, queue, id, &index);
        if (status != REEVE_OK) return status;
        if (index == RV_BATCH_CALLBACKS) continue;
        char *handle = rv_client_batch_handle(&batch, index);
        if (handle[0] != '\0')
            return rv_fail(&client->error, REEVE_EINVAL, "%s and %s are the same callback: they belong to two batches",
                           handle, handles[i]);
        (void)snprintf(handle, REEVE_HANDLE_MAX, "%s", handles[i]);
        some = true;
    }
    if (!some)
        return rv_fail(&client->error, REEVE_ESTATE, "%s is no callback of an open batch",
                       count > 0 ? handles[0] : "nothing");
    *ret = batch;
    return REEVE_OK;
}
