/*
 * waiting.c - a handler ends, and its task waits for others.
 */
#include "handlers/waiting.h"

#include <string.h>

#include "handlers/dependencies.h"
#include "protocol/keys.h"
#include "protocol/partition.h"
#include "protocol/settlement.h"
#include "reeve/depend.h"

#define KIND "wait"

reeve_bytes rv_waiting_parents(const reeve_task *task)
{
    if (task->outcome != REEVE_OUTCOME_SNOOZE || task->result.length == 0) return (reeve_bytes){NULL, 0};
    return (reeve_bytes){task->result.data, task->result.length};
}

static bool is_pair(const char *text, size_t length)
{
    char handle[REEVE_HANDLE_MAX], queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    if (length < 2 || length - 2 >= sizeof(handle) || text[length - 2] != ' ') return false;
    if (memchr("fgw", text[length - 1], 3) == NULL) return false;
    memcpy(handle, text, length - 2);
    handle[length - 2] = '\0';
    return rv_keys_split_handle(handle, queue, id);
}

bool rv_waiting_take(reeve_task *task, reeve_bytes parents)
{
    const char *at = parents.data, *end = at + parents.length;
    while (at < end) {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        const char *next = blank != NULL ? memchr(blank + 1, ' ', (size_t)(end - blank - 1)) : NULL;
        if (!is_pair(at, (size_t)((next != NULL ? next : end) - at))) return false;
        at = next != NULL ? next + 1 : end;
    }
    (void)reeve_task_snooze(task, 0);
    rv_buf_add(&task->result, parents.data, parents.length);
    return !task->result.failed;
}

/* ---- what the handler calls ------------------------------------------------------------------------------------ */

static reeve_outcome refuse(reeve_task *task, rv_error *error)
{
    (void)rv_task_refuse(task, error);
    return rv_task_failed(task, REEVE_OUTCOME_FAIL, KIND, "%s", error->text);
}

static reeve_status check_parent(const reeve_task *task, const reeve_parent *parent, rv_error *error)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    const char *handle = parent->handle != NULL ? parent->handle : "";
    if (!rv_keys_split_handle(handle, queue, id))
        return rv_fail(error, REEVE_EINVAL, "\"%s\" is no handle of a task to wait for; expected QUEUE/ID", handle);
    /* (the name of a divided queue stands for the task's partition of it: an id is asked for there, too) */
    if (rv_partition_is_of(task->queue, queue) && strcmp(id, task->id) == 0)
        return rv_fail(error, REEVE_EINVAL, "the task %s cannot wait for itself", handle);
    if (parent->on_death != REEVE_PARENT_FAIL && parent->on_death != REEVE_PARENT_GO &&
        parent->on_death != REEVE_PARENT_WAIT)
        return rv_fail(error, REEVE_EINVAL, "the rule of %s is not fail, go or wait", handle);
    return REEVE_OK;
}

static void add_parent(rv_buf *list, const char *handle, size_t length, reeve_on_parent_death on_death)
{
    if (list->length > 0) rv_buf_addc(list, ' ');
    rv_buf_add(list, handle, length);
    rv_buf_addc(list, ' ');
    rv_buf_addc(list, on_death == REEVE_PARENT_GO ? 'g' : on_death == REEVE_PARENT_WAIT ? 'w' : 'f');
}

static reeve_status check_count(const reeve_task *task, size_t count, rv_error *error)
{
    const reeve_size_limits *size_limits = rv_task_size_limits(task);
    if (count == 0) return rv_fail(error, REEVE_EINVAL, "there is no task to wait for");
    if (count > REEVE_PARENTS_MAX)
        return rv_fail(error, REEVE_ETOOBIG, "%zu tasks to wait for: at most %d", count, REEVE_PARENTS_MAX);
    if (count > (size_t)size_limits->parents)
        return rv_size_limits_refuse(error, size_limits, RV_SIZE_LIMIT(parents), "%zu tasks to wait for", count);
    if (rv_dependencies_chains_unique(task->dependencies))
        return rv_fail(error, REEVE_EINVAL, "a chained task with a unique key may be dropped: no task can wait then");
    return REEVE_OK;
}

static reeve_outcome wait_or_refuse(reeve_task *task, reeve_status status, rv_error *error)
{
    if (status != REEVE_OK) return refuse(task, error);
    if (!task->result.failed) return REEVE_OUTCOME_SNOOZE;
    return rv_task_failed(task, REEVE_OUTCOME_RETRY, "resources", "no memory for the tasks to wait for");
}

reeve_outcome reeve_task_wait_for(reeve_task *task, const reeve_parent *parents, size_t count)
{
    rv_error error = {0};
    reeve_status status = check_count(task, parents != NULL ? count : 0, &error);
    for (size_t i = 0; i < count && status == REEVE_OK; i++) status = check_parent(task, &parents[i], &error);
    (void)reeve_task_snooze(task, 0);
    for (size_t i = 0; i < count && status == REEVE_OK; i++)
        add_parent(&task->result, parents[i].handle, strlen(parents[i].handle), parents[i].on_death);
    return wait_or_refuse(task, status, &error);
}

reeve_outcome reeve_task_wait_chained(reeve_task *task, reeve_on_parent_death on_death)
{
    rv_error error = {0};
    size_t count;
    reeve_bytes chained = rv_dependencies_chained(task->dependencies, &count), argument;
    const reeve_parent rule = {.handle = "q/id", .on_death = on_death};
    const char *at = chained.data;
    reeve_status status = check_count(task, count, &error);
    if (status == REEVE_OK) status = check_parent(task, &rule, &error);
    (void)reeve_task_snooze(task, 0);
    for (size_t i = 0; i < RV_SETTLEMENT_CHAINED_ARGS * count && status == REEVE_OK; i++) {
        at = rv_settlement_chained_argument(at, &argument);
        if (i % RV_SETTLEMENT_CHAINED_ARGS == 0) add_parent(&task->result, argument.data, argument.length, on_death);
    }
    return wait_or_refuse(task, status, &error);
}
