/*
 * verbs.h - every verb of `reeve`, and the steps that verbs share.
 */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/verb_list.h"
#include "handle.h"

/* A verb is one `const cli_verb cli_verb_NAME` in a source of this directory or of bench; the build lists them. */
#define CLI_DECLARE_VERB(name) extern const cli_verb cli_verb_##name;
CLI_VERBS(CLI_DECLARE_VERB)

/* All verbs, sorted by name; NULL ends the table. */
extern const cli_verb *const cli_verbs[];

/* NULL: there is no such verb. */
const cli_verb *cli_find_verb(const char *name);

/* Reports a name that is no verb: a verb of a later version, or a misspelt one. Returns CLI_USAGE. */
int cli_unknown_verb(const cli_context *cli, const char *name);

typedef struct cli_bulk_call {
    const char *queue, *type; /* for lines that lack them; NULL: none */
    bool with_ended;          /* listed tasks that had ended are enqueued, too */
    char *const *callbacks;   /* the tasks become members of the batch that has these */
    size_t callback_count;
} cli_bulk_call;

/* bulk.c: enqueues the lines of standard input. Returns the exit status. */
int cli_bulk(cli_context *cli, const cli_bulk_call *call);

/*
 * verb_wait.c: waits until the task has ended (timeout_ms negative: for ever; or until the user interrupts) and
 * prints how; returns the exit status. *ret_printed, when not NULL: whether the task's record was printed.
 */
int cli_wait(cli_context *cli, const cli_handle *handle, int64_t timeout_ms, bool *ret_printed);
/* The same for a task that this command enqueued: when it is gone it has ended. */
int cli_wait_ours(cli_context *cli, const cli_handle *handle, int64_t timeout_ms, bool *ret_printed);

#endif
