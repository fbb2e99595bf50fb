/*
 * worker_run.h - the worker at work: from its start to its end, in one waiting place.
 */
#ifndef HOST_RUN_H
#define HOST_RUN_H

#include "plugins.h"

/* Runs until it is told to stop; the exit status. redis: NULL for the default. plugins: those of the configuration, open; a
 * reload changes them. Block signals before (signals.h). */
int host_run(rv_config *config, const char *redis, host_plugins *plugins);

#endif
