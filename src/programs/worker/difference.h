/*
 * difference.h - `reeve-worker --check --diff`: what a start or a reload with a configuration would change.
 */
#ifndef HOST_DIFFERENCE_H
#define HOST_DIFFERENCE_H

#include "plugins.h"

/*
 * Prints a line for each setting of a queue and each recurring entry that would change in Redis, for each that would not
 * because Redis wins (worker.settings_from), and for each plugin and each setting of the pools of running workers of this
 * name that would change. Changes nothing. Returns the exit status: 0, or 3 if Redis cannot be reached.
 */
int host_difference_print(const rv_config *config, const host_plugins *plugins, const char *redis);

#endif
