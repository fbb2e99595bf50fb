/*
 * worker_run.h - the worker at work: from its start to its end, in one waiting place.
 */
#ifndef HOST_RUN_H
#define HOST_RUN_H

#include "config/config.h"

/* Runs until it is told to stop; the exit status. redis: NULL for the default. Block signals before (signals.h). */
int host_run(rv_config *config, const char *redis);

#endif
