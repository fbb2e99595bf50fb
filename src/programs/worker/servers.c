#include "servers.h"

#include "base/log.h"
#include "base/mem.h"
#include "metrics_server.h"
#include "web/web.h"

struct host_servers {
    web_server web;
    bool serves_web;
    host_metrics_server *metrics;
};

static void log_failure(const char *what, const char *listen, const rv_error *error)
{
    rv_log(REEVE_LOG_ERROR, "program.http", "the address cannot be served; the worker runs without it", "section", what,
           "listen", listen, "error", error->text, NULL);
}

static void log_start(const char *what, const char *url)
{
    rv_log(REEVE_LOG_INFO, "program.http", "serving", "section", what, "url", url, NULL);
}

static bool start_web(web_server *ret, const rv_config *config, const char *redis)
{
    const web_options options = {.listen = config->web.listen,
                                 .prefix = config->web.prefix != NULL ? config->web.prefix : "",
                                 .host = config->web.host,
                                 .users = config->web.users,
                                 .tokens = config->web.token_file,
                                 .user_header = config->web.user_header,
                                 .user_role = config->web.user_role,
                                 .cert = config->web.cert,
                                 .key = config->web.key,
                                 .canary = config->web.canary,
                                 .canary_interval_ms = config->web.canary_interval_ms,
                                 .read_only = config->web.read_only,
                                 .hide_payloads = config->web.hide_payloads,
                                 .redis = redis,
                                 .ns = config->ns,
                                 .tls = &config->tls,
                                 .size_limits = config->worker.size_limits};
    char url[320];
    rv_error error;

    rv_error_clear(&error);
    if (web_server_open(ret, &options, &error) != REEVE_OK) {
        log_failure("web", options.listen, &error);
        return false;
    }
    web_server_url(ret, url, sizeof(url));
    log_start("web", url);
    return true;
}

static host_metrics_server *start_metrics(const char *listen, reeve_worker *worker)
{
    host_metrics_server *server = NULL;
    rv_error error;

    rv_error_clear(&error);
    if (host_metrics_server_start(&server, listen, worker, &error) == REEVE_OK)
        log_start("metrics", host_metrics_server_address(server));
    else
        log_failure("metrics", listen, &error);
    return server;
}

host_servers *host_servers_start(const rv_config *config, const char *redis, reeve_worker *worker)
{
    if (config->web.listen == NULL && config->metrics.listen == NULL) return NULL;
    host_servers *servers = rv_zalloc(sizeof(*servers));

    if (servers == NULL) {
        rv_log(REEVE_LOG_ERROR, "program.http", "no memory for an HTTP server; the worker runs without it", NULL);
        return NULL;
    }
    if (config->web.listen != NULL) servers->serves_web = start_web(&servers->web, config, redis);
    if (config->metrics.listen != NULL) servers->metrics = start_metrics(config->metrics.listen, worker);
    return servers;
}

void host_servers_stop(host_servers *servers)
{
    if (servers == NULL) return;
    host_metrics_server_stop(servers->metrics);
    if (servers->serves_web) web_server_close(&servers->web);
    rv_free(servers);
}
