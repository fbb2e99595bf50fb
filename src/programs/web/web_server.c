/*
 * web_server.c - a server's life: what it takes to serve, begun and ended in order. `reeve web` and reeve-worker use it.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/listen_address.h"
#include "base/path_prefix.h"
#include "web.h"
#include "web_canary.h"
#include "web_clients.h"
#include "web_history.h"
#include "web_operations.h"
#include "web_preview.h"
#include "web_redact.h"
#include "web_shared.h"
#include "web_snapshot.h"
#include "web_users.h"

#define CONNECTIONS 512
#define CONNECTIONS_EACH 256
#define BODY_MAX (16u * 1024 * 1024)
#define BODIES_MAX (64u * 1024 * 1024)
#define REQUEST_SECONDS 30
#define IDLE_SECONDS 60

reeve_status web_server_check(const web_options *options, rv_error *error)
{
    web_role role;

    if (options->prefix[0] != '\0' && !rv_path_prefix_is_valid(options->prefix))
        return rv_fail(error, REEVE_EINVAL, "prefix: \"%.100s\": expected " RV_PATH_PREFIX_EXPECTED, options->prefix);
    if (options->user_role != NULL && !web_role_parse(options->user_role, &role))
        return rv_fail(error, REEVE_EINVAL, "user-role: expected viewer, operator or admin");
    if (options->user_role != NULL && options->user_header == NULL)
        return rv_fail(error, REEVE_EINVAL, "user-role goes with user-header");
    if ((options->cert != NULL) != (options->key != NULL))
        return rv_fail(error, REEVE_EINVAL, "cert and key go together");
    if (options->canary != NULL && !web_canary_is_list(options->canary))
        return rv_fail(error, REEVE_EINVAL,
                       "canary: \"%.100s\": expected at most %d names of queues, separated by commas", options->canary,
                       WEB_CANARY_QUEUES_MAX);
    if (options->redact != NULL && !web_redact_is_list(options->redact))
        return rv_fail(error, REEVE_EINVAL,
                       "redact: \"%.100s\": expected names of members, separated by commas, such as password,card.*",
                       options->redact);
    if (!rv_listen_address_is_valid(options->listen))
        return rv_fail(error, REEVE_EINVAL, "listen: \"%.100s\": expected HOST:PORT or unix:PATH", options->listen);
    return REEVE_OK;
}

/* What others could reach takes authentication; a header that anybody can send takes a proxy on this machine. */
static reeve_status check_safety(const web_server *web, rv_error *error)
{
    if (!web->authenticates && !web->listen.loopback)
        return rv_fail(error, REEVE_EINVAL,
                       "listen %s: without authentication only this machine may connect; set users, token-file or "
                       "user-header, or listen on 127.0.0.1",
                       web->listen.text);
    if (web->options.user_header != NULL && !web->listen.loopback)
        return rv_fail(error, REEVE_EINVAL,
                       "user-header: the proxy must be on this machine; listen on 127.0.0.1 or a unix socket");
    return REEVE_OK;
}

static reeve_status serve(web_server *web, rv_error *error)
{
    const rv_http_options options = {
        .listen = &web->listen,
        .handlers = {.begin = web_begin, .handle = web_handle, .end = web_end, .user = web},
        .cert = web->options.cert,
        .key = web->options.key,
        .connections = CONNECTIONS,
        .connections_each = web->listen.is_unix ? 0 : CONNECTIONS_EACH,
        .body_max = BODY_MAX,
        .bodies_max = BODIES_MAX,
        .request_seconds = REQUEST_SECONDS,
        .idle_seconds = IDLE_SECONDS};

    web->clients = web_clients_open(web);
    web->operations = web_operations_open(web);
    web->previews = web_previews_open();
    web->shared = web_shared_open();
    web->snapshots = web_snapshots_open(web);
    web->history = web_history_open();
    if (web->options.canary != NULL && web->clients != NULL)
        web->canary = web_canary_open(web, web->options.canary, web->options.canary_interval_ms);
    if (web->clients == NULL || web->operations == NULL || web->previews == NULL || web->shared == NULL ||
        web->snapshots == NULL || web->history == NULL || (web->options.canary != NULL && web->canary == NULL))
        return rv_fail(error, REEVE_ENOMEM, "no memory for the web server");
    return rv_http_server_start(&web->http, &options, error);
}

reeve_status web_server_open(web_server *ret, const web_options *options, rv_error *error)
{
    *ret = (web_server){.options = *options, .listen = {.fd = -1}, .started_ms = rv_wall_ms()};
    ret->authenticates = options->users != NULL || options->tokens != NULL || options->user_header != NULL;
    (void)signal(SIGPIPE, SIG_IGN);
    reeve_status status = web_server_check(options, error);
    if (status != REEVE_OK) return status;
    ret->users = web_users_open(&ret->options, error);
    if (ret->users == NULL) return error->status == REEVE_ENOMEM ? REEVE_ENOMEM : REEVE_EINVAL;
    status = rv_http_listen_open(&ret->listen, ret->options.listen, error);
    if (status == REEVE_OK) status = check_safety(ret, error);
    if (status == REEVE_OK) status = serve(ret, error);
    if (status != REEVE_OK) web_server_close(ret);
    return status;
}

reeve_status web_server_renew(web_server *web, rv_error *error)
{
    rv_error users, certificate;

    rv_error_clear(&users);
    rv_error_clear(&certificate);
    /* Each of them whatever becomes of the other: a user who is no longer in the file is not to stay. */
    bool renewed_users = web_users_renew(web->users, &users) == REEVE_OK;
    bool renewed_certificate = rv_http_server_renew(web->http, &certificate) == REEVE_OK;
    if (!renewed_users) return rv_fail(error, users.status, "the present users and tokens stay: %s", users.text);
    if (renewed_certificate) return REEVE_OK;
    return rv_fail(error, certificate.status, "the present certificate stays: %s", certificate.text);
}

void web_server_close(web_server *web)
{
    if (web->snapshots != NULL) web_snapshots_stop(web->snapshots);
    if (web->clients != NULL) web_clients_interrupt(web->clients);
    rv_http_server_stop(web->http);
    web_operations_close(web->operations);
    web_previews_close(web->previews);
    web_shared_close(web->shared);
    web_canary_close(web->canary);
    web_snapshots_close(web->snapshots);
    web_history_close(web->history);
    web_clients_close(web->clients);
    web_users_close(web->users);
    rv_http_listen_close(&web->listen);
    *web = (web_server){.listen = {.fd = -1}};
}

void web_server_url(const web_server *web, char *ret, size_t size)
{
    if (web->listen.is_unix)
        (void)snprintf(ret, size, "%s", web->listen.text);
    else
        (void)snprintf(ret, size, "%s://%s%s/", web->options.cert != NULL ? "https" : "http", web->listen.text,
                       web->options.prefix);
}
