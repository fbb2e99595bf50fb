/*
 * teller.c - a plugin with a handler that tells everything that a handler can tell, and then fails, and with one that
 * hands tasks on.
 */
#include <reeve/reeve.h>

static reeve_outcome tells(reeve_task *task, void *user)
{
    (void)user;
    if (reeve_task_log(task, "has begun") != REEVE_OK || reeve_task_progress(task, 40, "so far") != REEVE_OK ||
        reeve_task_checkpoint(task, "left", 4) != REEVE_OK || reeve_task_pause_for(task, NULL, 1) != REEVE_OK ||
        reeve_task_pause_for(task, "g", 1) != REEVE_OK)
        return reeve_task_fail(task, "refused", "it may not tell");
    return reeve_task_retry(task, -1, "told", "all of it");
}

static reeve_outcome hands(reeve_task *task, void *user)
{
    const reeve_task_spec plain = {.queue = "mail", .type = "send", .payload = {"hi", 2}};
    const reeve_task_spec later = {
        .queue = "mail", .type = "send", .id = "late", .group = "g", .unique = "k", .priority = -1, .in_ms = 5000};
    const reeve_task_spec then = {.queue = "mail", .type = "send", .at_ms = 2000000000000};
    (void)user;
    if (reeve_task_chain(task, &plain, NULL) != REEVE_OK || reeve_task_chain(task, &later, NULL) != REEVE_OK ||
        reeve_task_chain(task, &then, NULL) != REEVE_OK)
        return reeve_task_fail(task, "refused", "it may not hand on");
    return reeve_task_done(task, NULL, 0);
}

static const reeve_handler handlers[] = {
    {REEVE_HANDLER, .type = "tells", .run = tells},
    {REEVE_HANDLER, .type = "hands", .run = hands},
};

REEVE_PLUGIN(.name = "teller", .version = "1", .summary = "tells everything", .handlers = handlers, .handler_count = 2)
