/*
 * ask_workers.h - what verbs share that ask running workers for something: whom they ask, and how the answers are told.
 */
#ifndef CLI_ASK_WORKERS_H
#define CLI_ASK_WORKERS_H

#include "cli.h"

/* Whom. */
typedef struct cli_asked {
    const char *worker; /* an id, or its beginning; a name; "all"; NULL with queue */
    const char *queue;  /* all workers that serve it; NULL: not by queue */
    int64_t wait_ms;    /* for the answers */
} cli_asked;

#define CLI_ASK_WAIT_MS 5000

/* Asks, waits, and prints an answer for each worker. Returns the exit status: 0 when each has done it. */
int cli_ask_workers(cli_context *cli, const cli_asked *asked, const char *request);

/* The live workers that are meant: the first *ret_meant, at least one, of a list that the caller frees with
 * reeve_workers_free. With another status than CLI_DONE there is no list. */
int cli_ask_workers_find(cli_context *cli, const cli_asked *asked, reeve_worker_info **ret_list, size_t *ret_count,
                         size_t *ret_meant);

#define CLI_ASK_NOTE                                                                                             \
    "WORKER is the id of a worker, the beginning of an id, a name (all workers of this name), or \"all\". The "  \
    "command "                                                                                                   \
    "prints\nthe answer of each worker. A worker that has not answered in time may still carry out the request " \
    "later.\n"

#define CLI_ASK_EXITS "0 each worker has done it, 1 a worker refused, gave no answer in time, or is not found"

#endif
