/*
 * findings.h - what `reeve doctor` finds: each with what it means and what to do about it.
 */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include "cli.h"

typedef enum cli_level {
    CLI_PROBLEM, /* tasks can be lost, or do not run */
    CLI_WARNING  /* they may be or not be, one day */
} cli_level;

typedef struct cli_finding {
    cli_level level;
    const char *name;  /* a stable word, "evicts" */
    const char *queue; /* borrowed; NULL: about Redis or all queues */
    int64_t count;     /* of what it is about; -1: nothing that is counted */
    char *text;        /* a sentence without its full stop */
    char *advice;      /* the same */
} cli_finding;

typedef struct cli_findings {
    cli_finding *list;
    size_t count;
    bool failed; /* out of memory: something is missing */
} cli_findings;

/* Adds one; its count is -1. The text follows, and then cli_advise says what to do. */
void cli_find(cli_findings *findings, cli_level level, const char *name, const char *queue, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void cli_advise(cli_findings *findings, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The number of the last one. */
void cli_find_count(cli_findings *findings, int64_t count);

size_t cli_findings_of(const cli_findings *findings, cli_level level);
void cli_findings_fini(cli_findings *findings);

#endif
