/*
 * verb_bench.h - `reeve bench`, for the table of verbs.
 */
#ifndef BENCH_VERB_H
#define BENCH_VERB_H

#include "cli/cli.h"

extern const cli_verb cli_verb_bench;

#endif
