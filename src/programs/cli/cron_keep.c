#include "cron_keep.h"

#include "args.h"

/* Whether the old entry's value is to be taken: it has one, and none of these options was given. (The second name may be
 * NULL.) */
static bool keeps(const cli_context *cli, cli_kept *kept, bool has, const char *name, const char *other)
{
    if (!has || cli_was_given(cli, name) || (other != NULL && cli_was_given(cli, other))) return false;
    if (kept->count < CLI_KEPT_MOST) kept->names[kept->count++] = name;
    return true;
}

static void keep_rule(const cli_context *cli, reeve_cron_entry *entry, const reeve_cron_entry *old, cli_kept *kept)
{
    if (keeps(cli, kept, old->local, "zone", NULL)) entry->local = true;
    if (keeps(cli, kept, old->catch_up != REEVE_CATCH_UP_ONCE, "catch-up", NULL)) {
        entry->catch_up = old->catch_up;
        if (!cli_was_given(cli, "most")) entry->catch_up_most = old->catch_up_most;
    }
    if (keeps(cli, kept, old->no_overlap, "no-overlap", "overlap")) entry->no_overlap = true;
}

static void keep_order(const cli_context *cli, reeve_task_spec *task, const reeve_task_spec *old, cli_kept *kept)
{
    if (keeps(cli, kept, old->priority != 0, "priority", NULL)) task->priority = old->priority;
    if (keeps(cli, kept, old->group != NULL, "group", NULL)) {
        task->group = old->group;
        if (!cli_was_given(cli, "weight")) task->weight = old->weight;
    }
}

static void keep_policy(const cli_context *cli, reeve_task_spec *task, const reeve_task_spec *old, cli_kept *kept)
{
    if (keeps(cli, kept, old->max_attempts != 0, "attempts", NULL)) task->max_attempts = old->max_attempts;
    if (keeps(cli, kept, old->timeout_ms != 0, "timeout", NULL)) task->timeout_ms = old->timeout_ms;
    if (keeps(cli, kept, old->max_crashes != 0, "max-crashes", NULL)) task->max_crashes = old->max_crashes;
    if (keeps(cli, kept, old->backoff != NULL, "backoff", NULL)) task->backoff = old->backoff;
}

static void keep_marks(const cli_context *cli, reeve_task_spec *task, const reeve_task_spec *old, cli_kept *kept)
{
    if (keeps(cli, kept, old->tag_count > 0, "tag", NULL)) {
        task->tags = old->tags;
        task->tag_count = old->tag_count;
    }
    if (keeps(cli, kept, old->meta_count > 0, "meta", NULL)) {
        task->meta = old->meta;
        task->meta_count = old->meta_count;
    }
}

/* What programs can say of an entry's tasks, and the command line cannot. */
static void keep_others(reeve_task_spec *task, const reeve_task_spec *old)
{
    task->heartbeat_ms = old->heartbeat_ms;
    task->at_most_once = old->at_most_once;
    task->on_dead = old->on_dead;
    task->deadline_ms = old->deadline_ms;
    task->expires_in_ms = old->expires_in_ms;
}

static void keep_payload(const cli_context *cli, reeve_task_spec *task, const reeve_task_spec *old, cli_kept *kept)
{
    if (cli->count > 5 || old->payload.length == 0) return;
    task->payload = old->payload;
    if (kept->count < CLI_KEPT_MOST) kept->names[kept->count++] = "payload";
}

int cli_cron_keep(cli_context *cli, cli_cron_options *options, cli_kept *ret)
{
    reeve_task_spec *task = &options->task.spec;
    reeve_status result = reeve_cron_get(cli->client, NULL, options->entry.name, &ret->old);

    if (result == REEVE_ENOTFOUND) result = reeve_cron_get(cli->client, task->queue, options->entry.name, &ret->old);
    /* What is not understood is replaced as a whole. */
    if (result == REEVE_ENOTFOUND || result == REEVE_EPROTO) return CLI_DONE;
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    keep_rule(cli, &options->entry, ret->old, ret);
    keep_order(cli, task, ret->old->task, ret);
    keep_policy(cli, task, ret->old->task, ret);
    keep_marks(cli, task, ret->old->task, ret);
    keep_others(task, ret->old->task);
    keep_payload(cli, task, ret->old->task, ret);
    return CLI_DONE;
}
