/*
 * queue_json.h - a queue for programs; docs/json.md has the shape.
 */
#ifndef CLI_QUEUE_JSON_H
#define CLI_QUEUE_JSON_H

#include <stdio.h>

#include "reeve/client.h"

/* One line. workers: how many serve the queue; -1: not known. */
void cli_queue_json(const reeve_queue_info *info, int64_t workers, FILE *out);

#endif
