#include "client/buffer_parents.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "client/partitions.h"

static bool may_have_parents(const rv_buffered *task)
{
    return strstr(task->options.data, "\"after\":") != NULL;
}

static bool any_may_have_parents(const rv_buffered *task, size_t count)
{
    for (; count > 0; task = task->next, count--)
        if (may_have_parents(task)) return true;
    return false;
}

/* A task that is delivered by the same call, or NULL. It is not in Redis yet. */
static const rv_buffered *find_in_call(const rv_buffered *task, size_t count, const char *queue, const char *id)
{
    for (; count > 0; task = task->next, count--) {
        if (rv_partition_is_of(task->queue, queue) && strcmp(task->id, id) == 0) return task;
    }
    return NULL;
}

static reeve_status fail_memory(reeve_client *client)
{
    return rv_fail(&client->error, REEVE_ENOMEM, "no memory for the parents of a task in the buffer");
}

static reeve_status locate(reeve_client *client, size_t count, cJSON *parent)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX], written[REEVE_HANDLE_MAX];
    cJSON *first = cJSON_GetArrayItem(parent, 0);
    const char *handle = cJSON_GetStringValue(first);
    if (handle == NULL || !rv_keys_split_handle(handle, queue, id)) return REEVE_OK;
    const rv_buffered *in_call = find_in_call(client->buffer->first, count, queue, id);
    if (in_call != NULL) {
        (void)snprintf(written, sizeof(written), "%s/%s", in_call->queue, id);
        rv_partition_canonicalize(written);
        handle = written;
    } else {
        handle = rv_partitions_locate_handle(client, handle, written);
        if (handle == NULL) return client->error.status;
    }
    if (cJSON_SetValuestring(first, handle) != NULL) return REEVE_OK;
    return fail_memory(client);
}

/* *ret stays NULL if there is no parent. */
static reeve_status locate_all(reeve_client *client, size_t count, const rv_buffered *task, char **ret)
{
    cJSON *options = cJSON_ParseWithLength(task->options.data, task->options.length), *parent;
    cJSON *after = cJSON_GetObjectItemCaseSensitive(options, "after");
    reeve_status status = options != NULL ? REEVE_OK : fail_memory(client);
    cJSON_ArrayForEach(parent, after)
    {
        if (status == REEVE_OK) status = locate(client, count, parent);
    }
    if (status == REEVE_OK && after != NULL) {
        *ret = cJSON_PrintUnformatted(options);
        if (*ret == NULL) status = fail_memory(client);
    }
    cJSON_Delete(options);
    return status;
}

reeve_status rv_buffer_parents_locate(reeve_client *client, size_t count, char **ret)
{
    const rv_buffered *task = client->buffer->first;
    for (size_t i = 0; i < count; i++) ret[i] = NULL;
    if (!any_may_have_parents(task, count)) return REEVE_OK;
    /* The partitions are known when the connection has been open. */
    reeve_status status = rv_conn_is_open(client->conn) ? REEVE_OK : rv_partitions_renew(client);
    if (status != REEVE_OK) return status;
    (void)rv_partitions_find(client, task->queue);
    if (client->partitions.count == 0) return REEVE_OK;
    for (size_t i = 0; i < count && status == REEVE_OK; i++, task = task->next)
        if (may_have_parents(task)) status = locate_all(client, count, task, &ret[i]);
    return status;
}
