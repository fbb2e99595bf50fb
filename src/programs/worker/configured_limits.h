/*
 * configured_limits.h - limits of types of tasks and of limit keys: those of the configuration are written to Redis, or compared with it.
 */
#ifndef HOST_CONFIGURED_LIMITS_H
#define HOST_CONFIGURED_LIMITS_H

#include "config/config.h"
#include "config/config_compare.h"
#include "reeve/limits.h"

/* Writes those that the file sets. redis_wins: what Redis has stays. */
reeve_status host_configured_limits_write(reeve_client *client, const rv_config_limit *limit, bool redis_wins);

/* Calls `take` for each limit that writing it would change. */
reeve_status host_configured_limits_compare(reeve_client *client, const rv_config_limit *limit,
                                            void (*take)(const rv_config_difference *difference, void *context),
                                            void *context);

#endif
