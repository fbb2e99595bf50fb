/*
 * settle_word.h - the outcomes of `reeve settle` and of the same request by HTTP: their words, and the options that go
 * with each. Any thread.
 */
#ifndef CLI_SETTLE_WORD_H
#define CLI_SETTLE_WORD_H

#include <stdbool.h>

#include "reeve/consumer.h"

#define CLI_SETTLE_WORDS "done, retry, fail, snooze, give-back, cancel, discard or wait"
#define CLI_SETTLE_AFTER "QUEUE/ID, or that with a rule behind it: fail, go or wait"
#define CLI_SETTLE_AFTER_MAX 64

typedef struct cli_settle_word {
    const char *word;
    reeve_outcome outcome;
    const char *options; /* that go with it, with a blank around each */
    const char *needs;   /* the option that it must have; NULL: none */
} cli_settle_word;

/* NULL: it is no outcome. */
const cli_settle_word *cli_settle_word_find(const char *text);

/* The options of all outcomes; the last one is NULL. */
extern const char *const cli_settle_word_options[];

bool cli_settle_word_takes(const cli_settle_word *word, const char *option);

/* Reads a task to wait for, as cli_after_parse: it may have a rule for its death that suits a task that runs. */
bool cli_settle_word_after(char *text, reeve_parent *ret);

#endif
