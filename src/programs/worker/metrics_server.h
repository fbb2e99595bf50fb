/*
 * metrics_server.h - serves the metrics of a worker over HTTP: /metrics, /healthz (the process answers) and /readyz (it
 * leases tasks and its heartbeats reach Redis).
 */
#ifndef HOST_METRICS_SERVER_H
#define HOST_METRICS_SERVER_H

#include "base/error.h"
#include "reeve/worker.h"

typedef struct host_metrics_server host_metrics_server;

/* Listens and starts threads. Failures: those of rv_http_listen_open and rv_http_server_start. */
reeve_status host_metrics_server_start(host_metrics_server **ret, const char *listen, reeve_worker *worker,
                                       rv_error *error);
/* Before the worker is destroyed; NULL is ignored. */
void host_metrics_server_stop(host_metrics_server *server);

/* The address in force, "127.0.0.1:9420". */
const char *host_metrics_server_address(const host_metrics_server *server);

#endif
