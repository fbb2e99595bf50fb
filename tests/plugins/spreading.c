/*
 * spreading.c - a plugin with a handler that chains tasks into the queue "mail": 20 of no key, 6 of one group, 1 of a
 * unique key, and one after two of the others.
 */
#include <reeve/reeve.h>
#include <stdio.h>

static reeve_outcome spreads(reeve_task *task, void *user)
{
    char first[REEVE_ID_MAX] = "", second[REEVE_ID_MAX] = "", a[REEVE_HANDLE_MAX], b[REEVE_HANDLE_MAX];
    const reeve_task_spec plain = {.queue = "mail", .type = "noop"};
    const reeve_task_spec grouped = {.queue = "mail", .type = "noop", .group = "ann"};
    const reeve_task_spec unique = {.queue = "mail", .type = "noop", .id = "only", .unique = "key"};
    reeve_status status = REEVE_OK;
    (void)user;
    for (int i = 0; status == REEVE_OK && i < 20; i++) status = reeve_task_chain(task, &plain, first);
    for (int i = 0; status == REEVE_OK && i < 6; i++) status = reeve_task_chain(task, &grouped, second);
    if (status == REEVE_OK) status = reeve_task_chain(task, &unique, NULL);
    (void)snprintf(a, sizeof(a), "mail/%s", first);
    (void)snprintf(b, sizeof(b), "mail/%s", second);
    const reeve_parent after[] = {{.handle = a}, {.handle = b}};
    const reeve_task_spec last = {.queue = "mail", .type = "noop", .id = "last", .after = after, .after_count = 2};
    if (status == REEVE_OK) status = reeve_task_chain(task, &last, NULL);
    if (status != REEVE_OK) return reeve_task_fail(task, "refused", "%s", reeve_task_call_error(task));
    return reeve_task_done(task, NULL, 0);
}

static const reeve_handler handlers[] = {{REEVE_HANDLER, .type = "spreads", .run = spreads}};

REEVE_PLUGIN(.name = "spreading", .version = "1", .summary = "chains tasks", .handlers = handlers, .handler_count = 1)
