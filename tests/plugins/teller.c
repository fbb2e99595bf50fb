/*
 * teller.c - a plugin with a handler that tells everything that a handler can tell, and then fails.
 */
#include <reeve/plugin.h>

static reeve_outcome tells(reeve_task *task, void *user)
{
    (void)user;
    if (reeve_task_log(task, "has begun") != REEVE_OK || reeve_task_progress(task, 40, "so far") != REEVE_OK ||
        reeve_task_checkpoint(task, "left", 4) != REEVE_OK || reeve_task_hold(task, NULL, 1) != REEVE_OK ||
        reeve_task_hold(task, "g", 1) != REEVE_OK)
        return reeve_task_fail(task, "refused", "it may not tell");
    return reeve_task_retry(task, -1, "told", "all of it");
}

static const reeve_handler handlers[] = {{REEVE_HANDLER, .type = "tells", .run = tells}};

REEVE_PLUGIN(.name = "teller", .version = "1", .summary = "tells everything", .handlers = handlers, .handler_count = 1)
