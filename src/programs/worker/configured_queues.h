/*
 * configured_queues.h - the configuration's settings of queues, written to Redis.
 */
#ifndef HOST_CONFIGURED_QUEUES_H
#define HOST_CONFIGURED_QUEUES_H

#include <stdbool.h>

#include "config/config.h"

/* Whether the configuration says anything about queues. */
bool host_has_queue_settings(const rv_config *config);

/* Writes them all; false: not now, try again (the log says why). Blocks for a second or two at most. */
bool host_write_queue_settings(const rv_config *config, const char *redis);

#endif
