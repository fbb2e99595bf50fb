/*
 * complete.h - what `reeve complete` knows of the words before the cursor, and its parts.
 *
 * A candidate is a line of standard output: the text, and after a tab a description. The line ":files" asks the shell to
 * complete the names of files itself.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli/cli.h"

#define CLI_COMPLETE_WORDS 64

typedef struct cli_complete {
    const cli_verb *verb;                  /* NULL: it is what is completed */
    const cli_option *pending;             /* the option whose argument is completed, or NULL */
    const char *words[CLI_COMPLETE_WORDS]; /* the arguments before the cursor */
    size_t count;
    const char *current; /* what stands before the cursor of the word to complete */
    cli_context globals; /* --redis, --redis-file and --ns among the words; no more of it is set */
} cli_complete;

/* Prints a candidate if it begins with the current word. description: NULL: none. */
void cli_complete_offer(const cli_complete *complete, const char *text, const char *description);

/* complete_synopsis.c: what can stand at the place of the next argument, by the synopsis of the verb. */
void cli_complete_argument(const cli_complete *complete);

/* The same for the argument of an option or of a verb by its name in the help: "QUEUE", "STATE", "yes|no". */
void cli_complete_placeholder(const cli_complete *complete, const char *name, size_t length);

/* complete_live.c: names that Redis has. Nothing if Redis does not answer soon, or none is named: a private server is not
 * started. */
void cli_complete_queues(const cli_complete *complete);
void cli_complete_handles(const cli_complete *complete);
void cli_complete_types(const cli_complete *complete);
void cli_complete_workers(const cli_complete *complete);
void cli_complete_entries(const cli_complete *complete);

#endif
