/*
 * cron_entries.h - the configuration's recurring entries, written to Redis.
 */
#ifndef HOST_RECUR_H
#define HOST_RECUR_H

#include <stdbool.h>

#include "config/config.h"

/* Writes them all; false: not now, try again (the log says why). Blocks for a second or two at most. */
bool host_write_entries(const rv_config *config, const char *redis);

#endif
