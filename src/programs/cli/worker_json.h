/*
 * worker_json.h - a worker for programs; docs/json.md has the shape.
 */
#ifndef CLI_WORKER_JSON_H
#define CLI_WORKER_JSON_H

#include <stdio.h>

#include "reeve/client.h"

/* One line. */
void cli_worker_json(const reeve_worker_info *info, FILE *out);

#endif
