#include <stdio.h>

#include "each.h"
#include "task_view.h"
#include "tree_view.h"
#include "verbs.h"

struct show_options {
    bool log;
    bool tree;
    int64_t limit;
};

static const cli_option show_table[] = {
    {"log", NULL, "print only the log of the task, oldest line first: lines of its handler and of `reeve log`",
     CLI_FLAG, offsetof(struct show_options, log), 0, 0, NULL},
    {"tree", NULL, "print the tasks that it waits for, and those that wait for it, as a tree", CLI_FLAG,
     offsetof(struct show_options, tree), 0, 0, NULL},
    {"limit", "N", "with --tree: the maximum number of tasks; those near the root come first (100)", CLI_COUNT,
     offsetof(struct show_options, limit), 1, REEVE_TREE_MAX, NULL},
    {0},
};

static bool print_log(const cli_context *cli, const reeve_task_info *info)
{
    if (!cli->json) return cli_task_log(info, stdout);
    cli_task_log_json(info, stdout);
    return true;
}

/* With why it does not run, while it may: what cannot be told is left out. */
static bool print_task(const cli_context *cli, const cli_each_item *item, const reeve_task_info *info)
{
    const cli_handle *handle = &item->handle;
    reeve_why *why = NULL;
    bool printed = true;

    if (info->state < REEVE_STATE_COMPLETED) (void)reeve_task_why(cli->client, handle->queue, handle->id, &why);
    cli_each_separate(cli, item);
    if (cli->json)
        cli_task_json_why(info, why, stdout);
    else
        printed = cli_task_fields(info, why, stdout);
    reeve_why_free(why);
    return printed;
}

static int show_one(cli_context *cli, const cli_each_item *item, const void *pointer)
{
    const struct show_options *options = pointer;
    reeve_task_info *info = NULL;
    reeve_status result;
    bool printed;

    if (options->tree) return cli_tree_show(cli, &item->handle, (size_t)options->limit);
    result = reeve_show(cli->client, item->handle.queue, item->handle.id, &info);
    if (result != REEVE_OK) return cli_fault_call(cli, result, &(cli_fault){.handle = item->name});
    printed = options->log ? print_log(cli, info) : print_task(cli, item, info);
    reeve_task_info_free(info);
    return printed ? CLI_DONE : cli_no_memory(cli);
}

static int show(cli_context *cli, void *pointer)
{
    const struct show_options *options = pointer;

    if (options->log && cli->count > 1) return cli_usage(cli, "--log takes one handle");
    if (options->tree && cli->count > 1) return cli_usage(cli, "--tree takes one handle");
    if (options->tree && options->log) return cli_usage(cli, "--tree or --log");
    if (options->limit > 0 && !options->tree) return cli_usage(cli, "--limit is for --tree");
    return cli_each(cli, false, show_one, options);
}

const cli_verb cli_verb_show = {
    .name = "show",
    .section = CLI_TASKS,
    .synopsis = "HANDLE... [--log | --tree [--limit N]]",
    .summary = "Shows everything about tasks",
    .options = show_table,
    .options_size = sizeof(struct show_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = show,
    .notes =
        "The command prints at most the first 4 KiB of a payload or result that is text, and the first 128\n"
        "bytes of one that is binary. --json prints both in full, and a line for each task.\n"
        "\n"
        "--tree prints the task, then the tree of its parents (the tasks that it waits for), and then the tree of\n"
        "its children (the tasks that wait for it). If a task is in a tree several times, the tasks below it are\n"
        "printed only once.\n"
        "\n"
        "Examples:\n"
        "  reeve show default/order-17\n"
        "  reeve show default/order-17 default/order-18\n"
        "  reeve show default/order-17 --log\n"
        "  reeve show default/order-17 --tree\n"
        "  reeve show --json default/order-17 | jq -r .result\n",
};
