#include "metrics_server.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "running/phase.h"
#include "web/http_server.h"
#include "worker/worker_metrics.h"

#define TEXT_MAX ((size_t)64 * 1024 * 1024)
#define CONNECTIONS 32
#define BODY_MAX 1024
#define REQUEST_SECONDS 10
#define IDLE_SECONDS 60

struct host_metrics_server {
    reeve_worker *worker;
    rv_http_listen listen;
    rv_http_server *http;
    int64_t started_ms; /* since the epoch */
};

static void write_metrics(host_metrics_server *server, rv_http_request *request)
{
    rv_exposition to;
    rv_buf text;

    rv_buf_init(&text, TEXT_MAX);
    rv_exposition_begin(&to, &text, rv_http_server_header(request, "Accept"));
    rv_worker_metrics_write(server->worker, &to);
    rv_exposition_process(&to, server->started_ms);
    rv_exposition_end(&to);
    request->type = rv_exposition_type(&to);
    if (text.failed)
        request->status = 503;
    else
        (void)fwrite(rv_buf_text(&text), 1, text.length, request->out);
    rv_buf_fini(&text);
}

static void write_ready(host_metrics_server *server, rv_http_request *request)
{
    reeve_worker_stats stats;

    reeve_worker_get_stats(server->worker, &stats);
    bool leases = rv_worker_phase(server->worker) <= RV_PHASE_RUNNING;
    bool ready = rv_phase_is_leasing(server->worker);
    if (!ready) request->status = 503;
    (void)fprintf(request->out, "{\"ready\":%s,\"leases\":%s,\"connected\":%s,\"refused\":%s}\n",
                  ready ? "true" : "false", leases ? "true" : "false", stats.connected ? "true" : "false",
                  atomic_load(&server->worker->refused) ? "true" : "false");
}

static void handle(rv_http_request *request, void *user)
{
    if (strcmp(request->path, "/metrics") == 0) {
        write_metrics(user, request);
    } else if (strcmp(request->path, "/healthz") == 0) {
        (void)fputs("{\"live\":true}\n", request->out);
    } else if (strcmp(request->path, "/readyz") == 0) {
        write_ready(user, request);
    } else {
        request->status = 404;
        (void)fputs("{\"error\":\"not_found\",\"message\":\"there are /metrics, /healthz and /readyz\"}\n",
                    request->out);
    }
}

static bool begin(rv_http_request *request, void *user)
{
    (void)user;
    if (strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0) return true;
    request->status = 405;
    (void)fputs("{\"error\":\"method\",\"message\":\"only GET\"}\n", request->out);
    return false;
}

static void end(rv_http_request *request, void *user)
{
    (void)request;
    (void)user;
}

static reeve_status serve(host_metrics_server *server, rv_error *error)
{
    const rv_http_options options = {.listen = &server->listen,
                                     .handlers = {.begin = begin, .handle = handle, .end = end, .user = server},
                                     .connections = CONNECTIONS,
                                     .body_max = BODY_MAX,
                                     .bodies_max = (size_t)CONNECTIONS * BODY_MAX,
                                     .request_seconds = REQUEST_SECONDS,
                                     .idle_seconds = IDLE_SECONDS};

    return rv_http_server_start(&server->http, &options, error);
}

reeve_status host_metrics_server_start(host_metrics_server **ret, const char *listen, reeve_worker *worker,
                                       rv_error *error)
{
    host_metrics_server *server = rv_zalloc(sizeof(*server));

    if (server == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for the metrics");
    server->worker = worker;
    server->started_ms = rv_wall_ms();
    reeve_status status = rv_http_listen_open(&server->listen, listen, error);
    if (status == REEVE_OK) status = serve(server, error);
    if (status == REEVE_OK) {
        *ret = server;
        return REEVE_OK;
    }
    rv_http_listen_close(&server->listen);
    rv_free(server);
    return status;
}

void host_metrics_server_stop(host_metrics_server *server)
{
    if (server == NULL) return;
    rv_http_server_stop(server->http);
    rv_http_listen_close(&server->listen);
    rv_free(server);
}

const char *host_metrics_server_address(const host_metrics_server *server)
{
    return server->listen.text;
}
