#include "servers.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "metrics_server.h"
#include "web/web.h"

struct host_servers {
    web_server *web; /* NULL: not served */
    host_metrics_server *metrics;
    const rv_config *config;
    const char *redis;
    reeve_worker *worker;
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

/* ---- the dashboard --------------------------------------------------------------------------------------------- */

static void close_web(web_server *web)
{
    if (web != NULL) web_server_close(web);
    rv_free(web);
}

/* Serves what the section of a configuration says; without an address nothing, *ret NULL. */
static reeve_status open_web(web_server **ret, const host_servers *servers, const rv_config *from, rv_error *error)
{
    const rv_config *config = servers->config;
    const web_options options = {.listen = from->web.listen,
                                 .prefix = from->web.prefix != NULL ? from->web.prefix : "",
                                 .host = from->web.host,
                                 .users = from->web.users,
                                 .tokens = from->web.token_file,
                                 .user_header = from->web.user_header,
                                 .user_role = from->web.user_role,
                                 .cert = from->web.cert,
                                 .key = from->web.key,
                                 .canary = from->web.canary,
                                 .canary_interval_ms = from->web.canary_interval_ms,
                                 .read_only = from->web.read_only,
                                 .hide_payloads = from->web.hide_payloads,
                                 .redact = from->web.redact,
                                 .redis = servers->redis,
                                 .ns = config->ns,
                                 .tls = &config->tls,
                                 .size_limits = config->worker.size_limits};
    char url[320];

    *ret = NULL;
    if (from->web.listen == NULL) return REEVE_OK;
    web_server *web = rv_zalloc(sizeof(*web));
    if (web == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for the web server");
    reeve_status status = web_server_open(web, &options, error);
    if (status != REEVE_OK) {
        rv_free(web);
        return status;
    }
    web_server_url(web, url, sizeof(url));
    log_start("web", url);
    *ret = web;
    return REEVE_OK;
}

/* ---- metrics --------------------------------------------------------------------------------------------------- */

static reeve_status open_metrics(host_metrics_server **ret, const host_servers *servers, const char *listen,
                                 rv_error *error)
{
    *ret = NULL;
    if (listen == NULL) return REEVE_OK;
    reeve_status status = host_metrics_server_start(ret, listen, servers->worker, error);
    if (status == REEVE_OK) log_start("metrics", host_metrics_server_address(*ret));
    return status;
}

/* ---- start and stop -------------------------------------------------------------------------------------------- */

host_servers *host_servers_start(const rv_config *config, const char *redis, reeve_worker *worker)
{
    host_servers *servers = rv_zalloc(sizeof(*servers));
    rv_error error = {0};

    if (servers == NULL) {
        rv_log(REEVE_LOG_ERROR, "program.http", "no memory for an HTTP server; the worker runs without it", NULL);
        return NULL;
    }
    *servers = (host_servers){.config = config, .redis = redis, .worker = worker};
    if (open_web(&servers->web, servers, config, &error) != REEVE_OK) log_failure("web", config->web.listen, &error);
    if (open_metrics(&servers->metrics, servers, config->metrics.listen, &error) != REEVE_OK)
        log_failure("metrics", config->metrics.listen, &error);
    return servers;
}

void host_servers_stop(host_servers *servers)
{
    if (servers == NULL) return;
    host_metrics_server_stop(servers->metrics);
    close_web(servers->web);
    rv_free(servers);
}

/* ---- reload ---------------------------------------------------------------------------------------------------- */

static bool is_same_address(const char *one, const char *other)
{
    return one != NULL && other != NULL && strcmp(one, other) == 0;
}

/* A new address is tried before the old one is given up; the same one has to be free. */
reeve_status host_servers_change_web(host_servers *servers, const rv_config *fresh, rv_error *error)
{
    const rv_config *present = servers->config;
    web_server *old = servers->web, *web = NULL;
    rv_error ignored = {0};
    bool stays = is_same_address(present->web.listen, fresh->web.listen);

    if (stays) {
        close_web(old);
        servers->web = NULL;
    }
    reeve_status status = open_web(&web, servers, fresh, error);
    if (status != REEVE_OK) {
        if (stays && open_web(&servers->web, servers, present, &ignored) != REEVE_OK)
            log_failure("web", present->web.listen, &ignored);
        return status;
    }
    if (!stays) close_web(old);
    servers->web = web;
    return REEVE_OK;
}

/* Its only setting is the address. */
reeve_status host_servers_change_metrics(host_servers *servers, const rv_config *fresh, rv_error *error)
{
    host_metrics_server *metrics = NULL;
    reeve_status status = open_metrics(&metrics, servers, fresh->metrics.listen, error);

    if (status != REEVE_OK) return status;
    host_metrics_server_stop(servers->metrics);
    servers->metrics = metrics;
    return REEVE_OK;
}

reeve_status host_servers_renew(host_servers *servers, rv_error *error)
{
    return servers != NULL && servers->web != NULL ? web_server_renew(servers->web, error) : REEVE_OK;
}
