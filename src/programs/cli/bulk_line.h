/*
 * bulk_line.h - one line of `reeve enqueue --bulk`: a JSON object to a task spec. No I/O; any thread.
 *
 *     {"queue":"files","type":"checksum","payload":{"path":"/etc/hosts"},"priority":-5,"tags":["nightly"]}
 *
 * A payload is any JSON value; it is enqueued as it stands in the line, without the white space between its parts. A
 * line that `reeve list --json` printed is read as such (bulk_listed.h).
 */
#ifndef CLI_BULK_LINE_H
#define CLI_BULK_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reeve/client.h"

/* For lines that lack them; each may be NULL. */
typedef struct cli_bulk_defaults {
    const char *queue;
    const char *type;
} cli_bulk_defaults;

/* A parsed line. Everything in spec points into the memory below, or at the defaults. */
typedef struct cli_bulk_line {
    reeve_task_spec spec;
    char *memory;
    const char **tags, **limit_keys;
    reeve_meta *meta;
    reeve_parent *after;
    reeve_backoff *backoff;
    /* Of a line of `reeve list --json`: */
    bool has_ended; /* the task had ended when it was listed */
    uint64_t parent_count;
    size_t listed_parents; /* how many of them the line has */
} cli_bulk_line;

/* Why a line was refused. */
typedef struct cli_bulk_fault {
    reeve_status status; /* what enqueueing it would have been told */
    const char *reason;  /* a literal: the same for the same sort of fault */
    char words[512];     /* what exactly, with the reason */
} cli_bulk_fault;

/* Fills *ret, which cli_bulk_line_fini frees, or *ret_fault; then nothing is left to free. */
bool cli_bulk_line_parse(cli_bulk_line *ret, const char *text, size_t length, const cli_bulk_defaults *defaults,
                         cli_bulk_fault *ret_fault);
void cli_bulk_line_fini(cli_bulk_line *line);

#endif
