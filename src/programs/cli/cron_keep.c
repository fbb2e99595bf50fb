#include "cron_keep.h"

#include <string.h>

#include "args.h"

/* Whether the old entry's value is to be taken: it has one, and none of these options was given. (The second name may
 * be NULL.) */
static bool keeps(const cli_context *cli, cli_kept *kept, bool has, const char *name, const char *other)
{
    if (!has || cli_was_given(cli, name) || (other != NULL && cli_was_given(cli, other))) return false;
    if (kept->count < CLI_KEPT_MAX) kept->names[kept->count++] = name;
    return true;
}

static bool is_interval(const char *spec)
{
    rv_cron cron;

    return rv_cron_parse(&cron, spec, NULL) == REEVE_OK && cron.interval_ms > 0;
}

static void keep_rule(const cli_context *cli, reeve_cron_entry *entry, const reeve_cron_entry *old, cli_kept *kept)
{
    if (keeps(cli, kept, old->local || old->zone != NULL, "zone", NULL)) {
        entry->local = old->local;
        entry->zone = old->zone;
    }
    if (keeps(cli, kept, old->catch_up != REEVE_CATCH_UP_ONCE, "catch-up", NULL)) {
        entry->catch_up = old->catch_up;
        if (!cli_was_given(cli, "catch-up-max")) entry->catch_up_max = old->catch_up_max;
    }
    if (keeps(cli, kept, old->no_overlap, "no-overlap", "overlap")) entry->no_overlap = true;
    if (keeps(cli, kept, old->starts_ms != 0, "starts", "first")) entry->starts_ms = old->starts_ms;
    if (keeps(cli, kept, old->ends_ms != 0, "ends", NULL)) entry->ends_ms = old->ends_ms;
    if (keeps(cli, kept, old->offset_ms != 0 && is_interval(entry->spec), "offset", "first"))
        entry->offset_ms = old->offset_ms;
    if (keeps(cli, kept, old->jitter_ms != 0, "jitter", NULL)) entry->jitter_ms = old->jitter_ms;
    if (keeps(cli, kept, old->runs != 0, "runs", NULL)) entry->runs = old->runs;
}

/* ---- options of the task: keep_NAME is what a row of protocol/definition/task_options.lua names ------------------ */

static void keep_expiry(const cli_context *cli, reeve_task_spec *task, const reeve_task_spec *old, cli_kept *kept)
{
    if (!keeps(cli, kept, old->expires_in_ms != 0 || old->deadline_ms != 0, "expires-in", NULL)) return;
    task->deadline_ms = old->deadline_ms;
    task->expires_in_ms = old->expires_in_ms;
}

static void keep_group(const cli_context *cli, reeve_task_spec *task, const reeve_task_spec *old, cli_kept *kept)
{
    if (!keeps(cli, kept, old->group != NULL, "group", NULL)) return;
    task->group = old->group;
    if (!cli_was_given(cli, "weight")) task->weight = old->weight;
}

static void keep_tags(const cli_context *cli, reeve_task_spec *task, const reeve_task_spec *old, cli_kept *kept)
{
    if (!keeps(cli, kept, old->tag_count > 0, "tag", NULL)) return;
    task->tags = old->tags;
    task->tag_count = old->tag_count;
}

static void keep_limit_keys(const cli_context *cli, reeve_task_spec *task, const reeve_task_spec *old, cli_kept *kept)
{
    if (!keeps(cli, kept, old->limit_key_count > 0, "limit-key", NULL)) return;
    task->limit_keys = old->limit_keys;
    task->limit_key_count = old->limit_key_count;
}

static void keep_meta(const cli_context *cli, reeve_task_spec *task, const reeve_task_spec *old, cli_kept *kept)
{
    if (!keeps(cli, kept, old->meta_count > 0, "meta", NULL)) return;
    task->meta = old->meta;
    task->meta_count = old->meta_count;
}

#define VALUE(name, field) \
    if (keeps(cli, kept, old->field != 0, name, NULL)) task->field = old->field;
#define OWN(name) keep_##name(cli, task, old, kept);

static void keep_options(const cli_context *cli, reeve_task_spec *task, const reeve_task_spec *old, cli_kept *kept)
{
    RV_CRON_OPTIONS_KEPT(VALUE, OWN)
}

/* Of a task that has passed layers, payload and metadata belong together: they are kept as they are, or both are new. */
static int keep_layered(const cli_context *cli, cli_cron_options *options, const reeve_cron_entry *old)
{
    bool has_payload = cli->count > 5;
    bool is_new = has_payload || cli_was_given(cli, "meta") || strcmp(options->task.spec.type, old->task->type) != 0;

    if (old->layered == NULL) return CLI_DONE;
    if (options->layers == NULL && is_new)
        return cli_fail(cli, CLI_REFUSED,
                        "the task of %s has passed layers, so its type, payload and metadata cannot be changed without "
                        "them: name them with --layers, or replace the entry with --replace",
                        old->name);
    if (options->layers != NULL && !has_payload)
        return cli_fail(cli, CLI_REFUSED,
                        "the payload of %s has passed layers, and cannot pass them again: give the payload, or leave "
                        "out --layers to keep it as it is",
                        old->name);
    if (options->layers == NULL)
        options->entry.layered = old->layered;
    else if (old->task->meta_count > 0 && !cli_was_given(cli, "meta"))
        cli_note(cli, "the metadata is not kept: it has passed layers");
    return CLI_DONE;
}

static void keep_payload(const cli_context *cli, reeve_task_spec *task, const reeve_task_spec *old, cli_kept *kept)
{
    if (cli->count > 5 || old->payload.length == 0) return;
    task->payload = old->payload;
    if (kept->count < CLI_KEPT_MAX) kept->names[kept->count++] = "payload";
}

int cli_cron_keep(cli_context *cli, cli_cron_options *options, cli_kept *ret)
{
    reeve_task_spec *task = &options->task.spec;
    reeve_status result = reeve_cron_get(cli->client, NULL, options->entry.name, &ret->old);

    if (result == REEVE_ENOTFOUND) result = reeve_cron_get(cli->client, task->queue, options->entry.name, &ret->old);
    /* What is not understood is replaced as a whole. */
    if (result == REEVE_ENOTFOUND || result == REEVE_EPROTO) return CLI_DONE;
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    int status = keep_layered(cli, options, ret->old);
    if (status != CLI_DONE) return status;
    keep_rule(cli, &options->entry, ret->old, ret);
    reeve_task_spec old = *ret->old->task;
    if (ret->old->layered != NULL && options->layers != NULL) old.meta_count = 0;
    keep_options(cli, task, &old, ret);
    keep_payload(cli, task, ret->old->task, ret);
    return CLI_DONE;
}
