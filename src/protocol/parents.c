#include "protocol/parents.h"

#include <string.h>

#include "base/id.h"
#include "protocol/definition.h"
#include "protocol/partition.h"
#include "protocol/size_limits.h"

const reeve_parent rv_parents_open = {.handle = REEVE_PARENT_OPEN};

const char *rv_parents_policy(const reeve_parent *parent)
{
    static const char *const words[][3] = {{"f", "fg", "fe"}, {"g", "gg", "ge"}, {"w", "wg", "we"}, {"x", "xg", "xe"}};
    return words[parent->on_death][parent->unknown];
}

/* No task: the placeholder, or a signal. */
static bool is_open_parent(const char *handle)
{
    return handle != NULL && handle[0] == REEVE_PARENT_OPEN[0] &&
           (handle[1] == '\0' || rv_parents_signal(handle) != NULL);
}

static bool is_signal_name(const char *name)
{
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
    return length > 0 && length <= RV_SIGNAL_NAME_MAX && name[length] == '\0';
}

const char *rv_parents_signal(const char *handle)
{
    return handle != NULL && handle[0] == REEVE_PARENT_OPEN[0] && is_signal_name(handle + 1) ? handle + 1 : NULL;
}

reeve_status rv_parents_check_signal(const char *name, rv_error *error)
{
    if (name != NULL && is_signal_name(name)) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "\"%.100s\" is no name of a signal: 1 to %d of A-Z a-z 0-9 . _ -",
                   name != NULL ? name : "", RV_SIGNAL_NAME_MAX);
}

reeve_status rv_parents_check_handle(const char *handle, const char *queue, const char *id, rv_error *error)
{
    char its_queue[REEVE_QUEUE_MAX + 1], its_id[REEVE_ID_MAX];
    if (is_open_parent(handle)) return REEVE_OK;
    if (!rv_keys_split_handle(handle, its_queue, its_id)) {
        return rv_fail(error, REEVE_EINVAL, "parent \"%.200s\": must be a handle, queue/id, or a signal, !name",
                       handle != NULL ? handle : "");
    }
    if (id != NULL && rv_partition_is_same(its_queue, queue) && strcmp(its_id, id) == 0)
        return rv_fail(error, REEVE_EINVAL, "%s/%s cannot wait for itself", queue, id);
    return REEVE_OK;
}

reeve_status rv_parents_check(const reeve_parent *parent, const char *queue, const char *id, rv_error *error)
{
    if ((unsigned)parent->on_death > REEVE_PARENT_DEATH)
        return rv_fail(error, REEVE_EINVAL, "there is no rule %d for a parent's death", (int)parent->on_death);
    if ((unsigned)parent->unknown > REEVE_UNKNOWN_EXPECTED)
        return rv_fail(error, REEVE_EINVAL, "there is no rule %d for an unknown parent", (int)parent->unknown);
    return rv_parents_check_handle(parent->handle, queue, id, error);
}

reeve_status rv_parents_refuse(rv_error *error, const char *queue, const char *id, const char *parent)
{
    return rv_fail(error, REEVE_ENOTFOUND,
                   "%s/%s cannot wait for %s/%s: there is no such task, nor a record of one (:known-or-gone, "
                   "REEVE_UNKNOWN_COMPLETED, counts it as completed)",
                   queue, id, queue, parent);
}

reeve_status rv_parents_refuse_count(const reeve_size_limits *size_limits, size_t count, rv_error *error)
{
    return rv_size_limits_refuse(error, size_limits, RV_SIZE_LIMIT(parents), "%zu parents of a task", count);
}

reeve_status rv_parents_check_count(const reeve_parent *parents, size_t count, const reeve_size_limits *size_limits,
                                    rv_error *error)
{
    size_t counted = count;
    if (count <= (size_t)size_limits->parents) return REEVE_OK;
    for (size_t i = 0; i < count; i++) counted -= is_open_parent(parents[i].handle);
    return counted <= (size_t)size_limits->parents ? REEVE_OK : rv_parents_refuse_count(size_limits, counted, error);
}

bool rv_parents_are_elsewhere(const reeve_parent *parents, size_t count, const char *queue)
{
    size_t length = rv_partition_canonical_length(queue, strlen(queue));
    for (size_t i = 0; i < count; i++) {
        const char *handle = parents[i].handle;
        if (is_open_parent(handle)) continue;
        if (rv_partition_canonical_length(handle, strcspn(handle, "/")) != length || memcmp(handle, queue, length) != 0)
            return true;
    }
    return false;
}
