/*
 * cron_json.h - a recurring entry for programs; docs/json.md has the shape.
 */
#ifndef CLI_CRON_JSON_H
#define CLI_CRON_JSON_H

#include <stdio.h>

#include "reeve/reeve.h"

/* One line. */
void cli_cron_json(const reeve_cron_info *info, FILE *out);

#endif
