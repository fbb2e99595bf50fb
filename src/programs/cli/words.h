/*
 * words.h - verbs that consist of several: the first argument is a word, such as "add" in `reeve cron add`, with
 * arguments and options of its own.
 */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include "cli.h"

typedef struct cli_word {
    const char *name;
    const char *synopsis; /* what follows it, for messages */
    size_t min, max;      /* arguments after it */
    int (*run)(cli_context *cli, void *options);
    const char *options; /* the names of the verb's options that it takes, between blanks; NULL: all, */
    const char *except;  /* but those that stand here; NULL: none */
    bool handles;        /* all its arguments are handles of tasks */
} cli_word;

/* Runs the word that stands in cli->rest[0], with its arguments behind it. Its exit status, or CLI_USAGE after words. */
int cli_words_run(cli_context *cli, const cli_word *words, size_t count, void *options);

#endif
