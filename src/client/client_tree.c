/*
 * client_tree.c - the tree of a task: the tasks that it waits for, and those that wait for it.
 *
 * It grows by levels, so that a limit leaves out those far from the root. Each task is looked up once; where it comes
 * again, it is a leaf. A cycle is no trouble then.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/client.h"
#include "protocol/json_parse.h"
#include "reeve/depend.h"

#define NONE SIZE_MAX
#define PAGE 32
#define LIMIT_DEFAULT 100

typedef struct tree_node {
    reeve_tree_task *task;
    size_t above, first, last, next; /* other nodes; NONE: there is none */
    size_t original;                 /* repeated: the node that it repeats */
} tree_node;

typedef struct task_tree {
    reeve_client *client;
    tree_node *nodes;
    size_t count, limit;
    uint64_t more;
    bool failed; /* no memory */
} task_tree;

static void free_task(reeve_tree_task *task)
{
    if (task == NULL) return;
    rv_free(task->handle);
    rv_free(task->type);
    rv_free(task->ended);
    rv_free(task->on_death);
    rv_free(task);
}

void reeve_tree_free(reeve_tree_task **list, size_t count)
{
    for (size_t i = 0; list != NULL && i < count; i++) free_task(list[i]);
    rv_free(list);
}

/* ---- growing --------------------------------------------------------------------------------------------------- */

/* The node of the same task on the same side, or NONE. */
static size_t find_node(const task_tree *tree, const char *handle, reeve_tree_side side)
{
    for (size_t i = 0; i < tree->count; i++) {
        const reeve_tree_task *task = tree->nodes[i].task;
        bool same_side = task->side == side || task->side == REEVE_TREE_ROOT;
        if (same_side && !task->repeated && strcmp(task->handle, handle) == 0) return i;
    }
    return NONE;
}

static reeve_tree_task *make_task(const char *handle, reeve_tree_side side, unsigned depth)
{
    reeve_tree_task *task = rv_zalloc(sizeof(*task));
    if (task == NULL) return NULL;
    task->side = side;
    task->depth = depth;
    task->handle = rv_strdup(handle);
    if (task->handle != NULL) return task;
    rv_free(task);
    return NULL;
}

/* Returns the task of the new node, or NULL: there is no room, or no memory. above: NONE of the root. */
static reeve_tree_task *add_node(task_tree *tree, size_t above, const char *handle, reeve_tree_side side)
{
    if (tree->count == tree->limit) {
        tree->nodes[above].task->more++;
        return NULL;
    }
    size_t original = find_node(tree, handle, side), place = tree->count;
    unsigned depth = above == NONE ? 0 : tree->nodes[above].task->depth + 1;
    reeve_tree_task *task = make_task(handle, side, depth);
    tree->failed = tree->failed || task == NULL;
    if (task == NULL) return NULL;
    task->repeated = original != NONE;
    tree->nodes[place] =
        (tree_node){.task = task, .above = above, .first = NONE, .last = NONE, .next = NONE, .original = original};
    tree->count++;
    if (above == NONE) return task;
    tree_node *parent = &tree->nodes[above];
    if (parent->last == NONE)
        parent->first = place;
    else
        tree->nodes[parent->last].next = place;
    parent->last = place;
    return task;
}

static char *copy_member(task_tree *tree, const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    char *copy = rv_strdup(text);
    tree->failed = tree->failed || (text != NULL && copy == NULL);
    return copy;
}

/* Adds those of a JSON list, and counts those that it does not have. total: how many there are. */
static void add_list(task_tree *tree, size_t above, const char *text, int64_t total, reeve_tree_side side)
{
    cJSON *list = NULL;
    const cJSON *item;
    int64_t listed = 0;
    if (text != NULL && rv_json_parse(&list, text, strlen(text)) == REEVE_ENOMEM) tree->failed = true;
    cJSON_ArrayForEach(item, list)
    {
        const cJSON *named = side == REEVE_TREE_PARENT ? cJSON_GetObjectItemCaseSensitive(item, "handle") : item;
        const char *handle = cJSON_GetStringValue(named);
        listed++;
        if (handle == NULL || strchr(handle, '/') == NULL) continue; /* a placeholder */
        reeve_tree_task *task = add_node(tree, above, handle, side);
        if (task == NULL || side != REEVE_TREE_PARENT) continue;
        task->ended = copy_member(tree, item, "ended");
        task->on_death = copy_member(tree, item, "on_death");
    }
    cJSON_Delete(list);
    if (total > 100 && total > listed) tree->nodes[above].task->more += (uint64_t)(total - listed);
}

static void expand(task_tree *tree, size_t place, const reeve_task_info *info)
{
    reeve_tree_task *task = tree->nodes[place].task;
    task->type = rv_strdup(info->type);
    tree->failed = tree->failed || task->type == NULL;
    task->state = info->state;
    if (task->side != REEVE_TREE_CHILD) add_list(tree, place, info->parents, info->parent_count, REEVE_TREE_PARENT);
    if (task->side != REEVE_TREE_PARENT) add_list(tree, place, info->children, info->child_count, REEVE_TREE_CHILD);
}

/* Looks up a page of nodes from `first` on. Returns where the next page begins. */
static reeve_status look_up(task_tree *tree, size_t *first)
{
    const char *handles[PAGE];
    reeve_task_info *infos[PAGE];
    size_t places[PAGE], count = 0, at = *first;
    for (; at < tree->count && count < PAGE; at++) {
        if (tree->nodes[at].task->repeated) continue;
        handles[count] = tree->nodes[at].task->handle;
        places[count++] = at;
    }
    *first = at;
    reeve_status status = reeve_show_many(tree->client, handles, count, infos);
    if (status != REEVE_OK) return status;
    for (size_t i = 0; i < count; i++) {
        if (infos[i] != NULL && !tree->failed) expand(tree, places[i], infos[i]);
        reeve_task_info_free(infos[i]);
    }
    return REEVE_OK;
}

static reeve_status grow(task_tree *tree, const char *queue, const char *id)
{
    char handle[REEVE_HANDLE_MAX];
    size_t at = 0;
    reeve_status status = rv_keys_check_id(id, &tree->client->error);
    if (status == REEVE_OK) status = rv_keys_check_queue(queue, &tree->client->error);
    if (status != REEVE_OK) return status;
    (void)snprintf(handle, sizeof(handle), "%s/%s", queue, id);
    (void)add_node(tree, NONE, handle, REEVE_TREE_ROOT);
    while (at < tree->count && !tree->failed && status == REEVE_OK) status = look_up(tree, &at);
    if (status != REEVE_OK || tree->failed) return status;
    if (tree->nodes[0].task->type == NULL)
        return rv_fail(&tree->client->error, REEVE_ENOTFOUND, "no task %s (any more)", handle);
    return REEVE_OK;
}

/* ---- the list -------------------------------------------------------------------------------------------------- */

/* Tells of a repeated task what is known where it stands first. */
static void complete_repeated(task_tree *tree, const tree_node *node)
{
    if (node->original == NONE) return;
    const reeve_tree_task *original = tree->nodes[node->original].task;
    node->task->type = rv_strdup(original->type);
    node->task->state = original->state;
    tree->failed = tree->failed || (original->type != NULL && node->task->type == NULL);
}

/* The node behind this one: the first below it, else the next one of it or of those above. */
static size_t next_node(const task_tree *tree, size_t at)
{
    if (tree->nodes[at].first != NONE) return tree->nodes[at].first;
    while (at != NONE && tree->nodes[at].next == NONE) at = tree->nodes[at].above;
    return at == NONE ? NONE : tree->nodes[at].next;
}

static reeve_tree_task **lay_out(task_tree *tree)
{
    reeve_tree_task **list = rv_zalloc_array(tree->count, sizeof(reeve_tree_task *));
    size_t count = 0;
    for (size_t i = 0; i < tree->count; i++) {
        complete_repeated(tree, &tree->nodes[i]);
        tree->more += tree->nodes[i].task->more;
    }
    if (list == NULL || tree->failed) {
        rv_free(list);
        return NULL;
    }
    for (size_t at = 0; at != NONE; at = next_node(tree, at)) {
        list[count++] = tree->nodes[at].task;
        tree->nodes[at].task = NULL;
    }
    return list;
}

reeve_status reeve_tree_get(reeve_client *client, const char *queue, const char *id, size_t limit,
                            reeve_tree_task ***ret, size_t *ret_count, uint64_t *ret_more)
{
    if (client == NULL || queue == NULL || id == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    if (limit > REEVE_TREE_MAX)
        return rv_fail(&client->error, REEVE_EINVAL, "a tree of %zu tasks: at most %d", limit, REEVE_TREE_MAX);
    task_tree tree = {.client = client, .limit = limit == 0 ? LIMIT_DEFAULT : limit};
    tree.nodes = rv_zalloc_array(tree.limit, sizeof(*tree.nodes));
    reeve_status status = tree.nodes == NULL ? REEVE_OK : grow(&tree, queue, id);
    reeve_tree_task **list = status == REEVE_OK && tree.nodes != NULL && !tree.failed ? lay_out(&tree) : NULL;
    if (status == REEVE_OK && list == NULL) status = rv_fail(&client->error, REEVE_ENOMEM, "no memory for a tree");
    for (size_t i = 0; i < tree.count; i++) free_task(tree.nodes[i].task);
    rv_free(tree.nodes);
    if (status != REEVE_OK) return status;
    *ret = list;
    *ret_count = tree.count;
    if (ret_more != NULL) *ret_more = tree.more;
    return REEVE_OK;
}
