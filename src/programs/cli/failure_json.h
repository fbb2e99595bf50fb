/*
 * failure_json.h - the dead tasks of one kind of error, or of one type, for programs; docs/json.md has the shape.
 */
#ifndef CLI_FAILURE_JSON_H
#define CLI_FAILURE_JSON_H

#include <stdio.h>

#include "reeve/reeve.h"

/* One line. */
void cli_failure_json(const char *queue, const reeve_failure *failure, FILE *out);
void cli_type_failure_json(const char *queue, const reeve_type_failure *failure, FILE *out);

#endif
