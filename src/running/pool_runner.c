#include "running/pool_runner.h"

#include <string.h>

#include "base/mem.h"

/* False: no memory. */
static bool copy_text(const char **ret, const char *text)
{
    *ret = text != NULL ? rv_strdup(text) : NULL;
    return (*ret != NULL) == (text != NULL);
}

static bool copy_paths(reeve_runner_options *ret, const reeve_runner_options *from)
{
    const char **paths = from->path_count > 0 ? rv_zalloc_array(from->path_count, sizeof(*paths)) : NULL;
    bool good = paths != NULL || from->path_count == 0;
    ret->paths = paths;
    ret->path_count = paths != NULL ? from->path_count : 0;
    for (size_t i = 0; good && i < from->path_count; i++) good = copy_text(&paths[i], from->paths[i]);
    return good;
}

bool rv_pool_runner_copy(reeve_runner_options *ret, const reeve_runner_options *from)
{
    *ret = *from;
    bool has_scratch = copy_text(&ret->scratch, from->scratch);
    bool has_user = copy_text(&ret->user, from->user);
    bool has_cgroup = copy_text(&ret->cgroup, from->cgroup);
    if (copy_paths(ret, from) && has_scratch && has_user && has_cgroup) return true;
    rv_pool_runner_free(ret);
    return false;
}

void rv_pool_runner_free(reeve_runner_options *copy)
{
    for (size_t i = 0; i < copy->path_count; i++) rv_free((void *)copy->paths[i]);
    rv_free((void *)copy->paths);
    rv_free((void *)copy->scratch);
    rv_free((void *)copy->user);
    rv_free((void *)copy->cgroup);
    *copy = (reeve_runner_options){0};
}

static bool is_same_text(const char *one, const char *other)
{
    return strcmp(one != NULL ? one : "", other != NULL ? other : "") == 0;
}

/* The limits without their texts. */
static reeve_runner_options numbers_of(const reeve_runner_options *of)
{
    reeve_runner_options numbers = *of;
    numbers.scratch = numbers.user = numbers.cgroup = NULL;
    numbers.paths = NULL;
    numbers.path_count = 0;
    return numbers;
}

bool rv_pool_runner_equals(const reeve_runner_options *one, const rv_runner_sandbox *ones,
                           const reeve_runner_options *other, const rv_runner_sandbox *others)
{
    const reeve_runner_options left = numbers_of(one), right = numbers_of(other);
    return memcmp(&left, &right, sizeof(left)) == 0 && is_same_text(one->scratch, other->scratch) &&
           is_same_text(one->cgroup, other->cgroup) && rv_runner_sandbox_equals(ones, others);
}
