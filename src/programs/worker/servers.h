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
 * host_servers_stop; a reload changes config. NULL: no memory, or no HTTP server in this build. */
host_servers *host_servers_start(const rv_config *config, const char *redis, reeve_worker *worker);
/* Before the worker is destroyed. Waits for the answers that are being written. NULL is ignored. */
void host_servers_stop(host_servers *servers);

/*
 * Serve what the section of a fresh configuration says, whose texts are used from then on. Where the address stays, the
 * server is closed before: its connections end, and clients that log in by a password do so again. On failure what was
 * served before is served again. servers is not NULL. The statuses of web_server_open and
 * host_metrics_server_start.
 */
reeve_status host_servers_change_web(host_servers *servers, const rv_config *fresh, rv_error *error);
reeve_status host_servers_change_metrics(host_servers *servers, const rv_config *fresh, rv_error *error);

/* Reads the files of `web` again: web_server_renew. NULL is fine. */
reeve_status host_servers_renew(host_servers *servers, rv_error *error);

#endif
