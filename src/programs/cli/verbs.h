/*
 * verbs.h - every verb of `reeve`, and the steps that verbs share.
 */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "handle.h"

extern const cli_verb cli_verb_enqueue, cli_verb_show, cli_verb_list, cli_verb_wait, cli_verb_queues, cli_verb_workers,
    cli_verb_stats, cli_verb_failures, cli_verb_retry, cli_verb_cancel, cli_verb_delete, cli_verb_purge,
    cli_verb_reschedule, cli_verb_pause, cli_verb_resume, cli_verb_limit, cli_verb_settings, cli_verb_cron,
    cli_verb_run, cli_verb_tags, cli_verb_peek, cli_verb_watch, cli_verb_events, cli_verb_depend, cli_verb_why,
    cli_verb_ping, cli_verb_doctor;

/* bulk.c: enqueues the lines of standard input. queue and type, when not NULL, are for lines that lack them. */
int cli_bulk(cli_context *cli, const char *queue, const char *type);

/*
 * verb_wait.c: waits until the task has ended (timeout_ms negative: for ever; or until the user interrupts) and prints how;
 * returns the exit status. *ret_printed, when not NULL: whether the task's record was printed.
 */
int cli_wait(cli_context *cli, const cli_handle *handle, int64_t timeout_ms, bool *ret_printed);
/* The same for a task that this command enqueued: when it is gone it has ended. */
int cli_wait_ours(cli_context *cli, const cli_handle *handle, int64_t timeout_ms, bool *ret_printed);

#endif
