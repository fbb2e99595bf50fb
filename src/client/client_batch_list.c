/*
 * client_batch_list.c - the callbacks of batches in a queue: blocked tasks that wait for all their parents by the rule of a callback.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/client.h"
#include "protocol/json_parse.h"
#include "reeve/depend.h"

static const char *const callbacks[] = {
    [REEVE_PARENT_WAIT] = "success", [REEVE_PARENT_GO] = "complete", [REEVE_PARENT_DEATH] = "death"};

static reeve_on_parent_death rule_of(const cJSON *parent)
{
    const char *rule = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(parent, "on_death"));
    if (rule == NULL) return REEVE_PARENT_FAIL;
    if (strcmp(rule, "wait") == 0) return REEVE_PARENT_WAIT;
    if (strcmp(rule, "go") == 0) return REEVE_PARENT_GO;
    return strcmp(rule, "death") == 0 ? REEVE_PARENT_DEATH : REEVE_PARENT_FAIL;
}

/* The rule of all parents; REEVE_PARENT_FAIL: it is no callback. Further parents of a callback of an open batch may have others. */
static reeve_on_parent_death rule_of_all(const cJSON *parents)
{
    reeve_on_parent_death rule = REEVE_PARENT_FAIL;
    const cJSON *parent;
    bool differ = false;
    cJSON_ArrayForEach(parent, parents)
    {
        const char *handle = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(parent, "handle"));
        if (handle != NULL && strcmp(handle, REEVE_PARENT_OPEN) == 0) return rule_of(parent);
        differ = differ || (parent != parents->child && rule_of(parent) != rule);
        rule = rule_of(parent);
    }
    return differ ? REEVE_PARENT_FAIL : rule;
}

/* *ret NULL: the task is no callback. */
static reeve_status read_callback(reeve_client *client, const reeve_task_info *info, reeve_batch_entry **ret)
{
    cJSON *parents = NULL;
    *ret = NULL;
    if (info->parents != NULL && rv_json_parse(&parents, info->parents, strlen(info->parents)) == REEVE_ENOMEM)
        return rv_fail(&client->error, REEVE_ENOMEM, "no memory for the batches of %s", info->queue);
    reeve_on_parent_death rule = parents != NULL ? rule_of_all(parents) : REEVE_PARENT_FAIL;
    cJSON_Delete(parents);
    if (rule == REEVE_PARENT_FAIL) return REEVE_OK;
    reeve_batch_entry *entry = rv_zalloc(sizeof(*entry));
    if (entry == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for the batches of %s", info->queue);
    (void)snprintf(entry->handle, sizeof(entry->handle), "%s/%s", info->queue, info->id);
    entry->callback = callbacks[rule];
    reeve_status status = reeve_batch_count(client, entry->handle, &entry->counts);
    if (status == REEVE_OK)
        *ret = entry;
    else
        rv_free(entry);
    return status == REEVE_ENOTFOUND ? REEVE_OK : status; /* it was deleted meanwhile */
}

void reeve_batch_list_free(reeve_batch_entry **list, size_t count)
{
    for (size_t i = 0; list != NULL && i < count; i++) rv_free(list[i]);
    rv_free(list);
}

reeve_status reeve_batch_list(reeve_client *client, const char *queue, char cursor[REEVE_CURSOR_MAX],
                              reeve_batch_entry ***ret, size_t *ret_count, uint64_t *ret_seen)
{
    const reeve_filter filter = {.size = sizeof(filter), .state = REEVE_STATE_BLOCKED, .parents = true};
    reeve_task_info **page = NULL;
    size_t count = 0, found = 0;
    if (client == NULL || queue == NULL || cursor == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    reeve_status status = reeve_find(client, queue, &filter, cursor, 100, &page, &count, ret_seen);
    if (status != REEVE_OK) return status;
    reeve_batch_entry **list = rv_zalloc_array(count + 1, sizeof(reeve_batch_entry *));
    if (list == NULL) status = rv_fail(&client->error, REEVE_ENOMEM, "no memory for the batches of %s", queue);
    for (size_t i = 0; i < count && status == REEVE_OK; i++) {
        status = read_callback(client, page[i], &list[found]);
        found += status == REEVE_OK && list[found] != NULL;
    }
    reeve_task_list_free(page, count);
    if (status != REEVE_OK) {
        reeve_batch_list_free(list, found);
        return status;
    }
    *ret = list;
    *ret_count = found;
    return REEVE_OK;
}
