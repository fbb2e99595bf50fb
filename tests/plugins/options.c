/*
 * options.c - a plugin with an option of each type; its handler `options` returns the values.
 */
#include <inttypes.h>
#include <reeve/plugin.h>
#include <stdio.h>
#include <string.h>

static const reeve_options *values;

static int load(const reeve_options *options)
{
    values = options;
    return reeve_option_is_set(options, "name") ? 0 : 1;
}

static reeve_outcome show(reeve_task *task, void *user)
{
    char text[256];
    const char *mode = reeve_option_text(values, "mode");

    (void)user;
    (void)snprintf(text, sizeof(text), "%s %s %" PRId64 " %g %" PRId64 " %d %d", reeve_option_text(values, "name"),
                   mode != NULL ? mode : "-", reeve_option_whole(values, "retry.max"),
                   reeve_option_number(values, "share"), reeve_option_ms(values, "wait"),
                   reeve_option_truth(values, "loud"), reeve_option_text(values, "wait") != NULL);
    return reeve_task_done(task, text, strlen(text));
}

static const char *const modes[] = {"fast", "exact", NULL};
static const reeve_option options[] = {
    {REEVE_OPTION, .name = "name", .required = true, .summary = "who it is"},
    {REEVE_OPTION, .name = "mode", .choices = modes},
    {REEVE_OPTION, .name = "retry.max", .type = REEVE_OPTION_WHOLE, .min = -1, .max = 9, .otherwise = "3"},
    {REEVE_OPTION, .name = "share", .type = REEVE_OPTION_NUMBER},
    {REEVE_OPTION, .name = "wait", .type = REEVE_OPTION_SECONDS, .otherwise = "0.25"},
    {REEVE_OPTION, .name = "loud", .type = REEVE_OPTION_TRUTH},
};
static const reeve_handler handlers[] = {{REEVE_HANDLER, .type = "options", .run = show}};

REEVE_PLUGIN(.name = "options", .handlers = handlers, .handler_count = 1, .options = options,
             .option_count = sizeof(options) / sizeof(options[0]), .load_with_options = load)
