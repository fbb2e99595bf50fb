/*
 * servers.h - what the worker serves over HTTP: the dashboard (the section `web` of the configuration) and its own metrics
 * (`metrics`). A build without REEVE_WEB has servers_none.c in place of servers.c.
 */
#ifndef HOST_SERVERS_H
#define HOST_SERVERS_H

#include "config/config.h"
#include "reeve/worker.h"

typedef struct host_servers host_servers;

/* Starts what the configuration has. Failing is logged; the worker runs all the same. config, redis and worker: used until
 * host_servers_stop. NULL: nothing is served. */
host_servers *host_servers_start(const rv_config *config, const char *redis, reeve_worker *worker);
/* Before the worker is destroyed. Waits for the answers that are being written. NULL is ignored. */
void host_servers_stop(host_servers *servers);

#endif
