/*
 * servers_none.c - servers.h of a build without an HTTP server.
 */
#include "base/log.h"
#include "servers.h"

host_servers *host_servers_start(const rv_config *config, const char *redis, reeve_worker *worker)
{
    (void)redis;
    (void)worker;
    if (config->web.listen != NULL || config->metrics.listen != NULL)
        rv_log(REEVE_LOG_ERROR, "program.http",
               "this build has no HTTP server (REEVE_WEB): the sections web and metrics are not served", NULL);
    return NULL;
}

void host_servers_stop(host_servers *servers)
{
    (void)servers;
}

reeve_status host_servers_change_web(host_servers *servers, const rv_config *fresh, rv_error *error)
{
    (void)servers;
    (void)fresh;
    return rv_fail(error, REEVE_EUNSUPPORTED, "this build has no HTTP server (REEVE_WEB)");
}

reeve_status host_servers_change_metrics(host_servers *servers, const rv_config *fresh, rv_error *error)
{
    return host_servers_change_web(servers, fresh, error);
}

reeve_status host_servers_renew(host_servers *servers, rv_error *error)
{
    (void)servers;
    (void)error;
    return REEVE_OK;
}
