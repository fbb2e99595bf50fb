/*
 * tree_view.c - the tree of a task: those that it waits for, and those that wait for it, each below the one above it.
 */
#include "tree_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"

static const char *const side_names[] = {
    [REEVE_TREE_ROOT] = "root", [REEVE_TREE_PARENT] = "parent", [REEVE_TREE_CHILD] = "child"};

static void print_json(const reeve_tree_task *task)
{
    cli_handle parts = {0};
    cli_json json;

    (void)cli_handle_parse(&parts, task->handle);
    cli_json_begin(&json, stdout);
    cli_handle_json(&json, parts.queue, parts.id);
    cli_json_text(&json, "relation", side_names[task->side]);
    cli_json_uint(&json, "depth", task->depth);
    cli_json_text(&json, "type", task->type);
    cli_json_text(&json, "state", task->type != NULL ? reeve_state_name(task->state) : NULL);
    cli_json_text(&json, "ended", task->ended);
    cli_json_text(&json, "on_death", task->on_death);
    cli_json_bool(&json, "repeated", task->repeated);
    cli_json_uint(&json, "more", task->more);
    cli_json_end(&json);
}

/* A record may have been deleted since the task ended. */
static const char *state_of(const reeve_tree_task *task)
{
    if (task->type != NULL) return reeve_state_name(task->state);
    return task->ended != NULL ? task->ended : "gone";
}

static void print_line(const reeve_tree_task *task)
{
    int indent = (int)(2 * task->depth);

    (void)printf("%*s%s  %s", indent, "", task->handle, state_of(task));
    if (task->type != NULL) (void)printf("  %s", task->type);
    if (task->on_death != NULL && strcmp(task->on_death, "fail") != 0) (void)printf("  (%s)", task->on_death);
    if (task->repeated) (void)printf("  (repeated)");
    (void)putchar('\n');
    if (task->more > 0) (void)printf("%*s  ... %" PRIu64 " more\n", indent, "", task->more);
}

static void print_tasks(const cli_context *cli, reeve_tree_task *const *tasks, size_t count)
{
    reeve_tree_side side = REEVE_TREE_ROOT;

    for (size_t i = 0; i < count; i++) {
        if (cli->json) {
            print_json(tasks[i]);
            continue;
        }
        if (tasks[i]->side != side)
            (void)puts(tasks[i]->side == REEVE_TREE_PARENT ? "waits for:" : "is waited for by:");
        side = tasks[i]->side;
        print_line(tasks[i]);
    }
}

int cli_tree_show(cli_context *cli, const cli_handle *handle, size_t limit)
{
    reeve_tree_task **tasks = NULL;
    size_t count = 0;
    uint64_t more = 0;
    char name[REEVE_HANDLE_MAX + 1];
    reeve_status result = reeve_tree_get(cli->client, handle->queue, handle->id, limit, &tasks, &count, &more);

    cli_handle_text(handle, name);
    if (result != REEVE_OK) return cli_fault_call(cli, result, &(cli_fault){.handle = name});
    print_tasks(cli, tasks, count);
    reeve_tree_free(tasks, count);
    if (!cli_flush(cli)) return CLI_REFUSED;
    if (more > 0)
        cli_note(cli, "looked at %zu tasks; left out %" PRIu64 " next to them, and those beyond (--limit)", count,
                 more);
    return CLI_DONE;
}
