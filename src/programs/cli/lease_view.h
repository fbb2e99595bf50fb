/*
 * lease_view.h - a leased task for people and for programs.
 */
#ifndef CLI_LEASE_VIEW_H
#define CLI_LEASE_VIEW_H

#include <stdio.h>

#include "cli.h"

/* A leased task for programs; one line. */
void cli_lease_json(const reeve_task *task, const char *token, int64_t for_ms, FILE *out);

/* Prints the task, its payload and the token of its lease, which lasts for_ms; with --json as an object. False: out of
 * memory. */
bool cli_lease_print(const cli_context *cli, reeve_consumer *consumer, const reeve_task *task, int64_t for_ms);

/* Prints how a command that was run for a task ended. outcome: "done", "retry", ...; exit_status: -1 if a signal ended
 * the command. */
void cli_lease_print_run(const cli_context *cli, const char *queue, const char *id, const char *outcome,
                         int exit_status, int signal);

#endif
