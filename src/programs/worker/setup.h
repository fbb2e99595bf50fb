/*
 * setup.h - from a configuration to a worker.
 */
#ifndef HOST_SETUP_H
#define HOST_SETUP_H

#include <stdatomic.h>

#include "base/error.h"
#include "config/config.h"

/*
 * Creates a worker with the configuration's plugins, policies and pools; does not start it. On failure *ret is NULL and
 * error has the words. data_lost, which outlives the worker, becomes true when Redis has lost its data,
 * which ends the main thread's wait (signals.h).
 */
reeve_status host_make_worker(reeve_worker **ret, const rv_config *config, const char *redis, atomic_bool *data_lost,
                              rv_error *error);

#endif
