/*
 * in_force.h - the settings of a queue that are in force in Redis, as a configuration would have them, and what writing a
 * configuration makes of them.
 */
#ifndef HOST_IN_FORCE_H
#define HOST_IN_FORCE_H

#include "changes.h"
#include "config/config.h"
#include "config/config_compare.h"

/* What Redis has; what it has not is not given. It points into `read`. REEVE_ENOMEM. */
reeve_status host_in_force_read(rv_config_queue *ret, const char *queue, const host_changes *read);

/*
 * What is in force after file, the configuration of the queue, was written. With `redis_wins` a setting that Redis has
 * stays. Points into both.
 */
void host_in_force_after(rv_config_queue *ret, const rv_config_queue *now, const rv_config_queue *file,
                         bool redis_wins);

/* What is to be written so that this comes true. Nothing given: nothing. */
void host_in_force_missing(rv_config_queue *ret, const rv_config_queue *now, const rv_config_queue *file);

/* Calls `take` for each setting that differs. REEVE_ENOMEM. */
reeve_status host_in_force_compare(const rv_config_queue *before, const rv_config_queue *after,
                                   void (*take)(const rv_config_difference *difference, void *context), void *context);

#endif
