/*
 * setup.h - from a configuration to a worker.
 */
#ifndef HOST_SETUP_H
#define HOST_SETUP_H

#include "base/error.h"
#include "config/config.h"
#include "redis/waker.h"

/*
 * Creates a worker with the configuration's plugins, policies and pools; does not start it. On failure *ret is NULL and
 * error has the words. data_lost, which outlives the worker, is rung when Redis has lost its data.
 */
reeve_status host_make_worker(reeve_worker **ret, const rv_config *config, const char *redis, rv_waker *data_lost,
                              rv_error *error);

#endif
