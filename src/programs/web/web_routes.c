/*
 * web_routes.c - the table of routes, and what happens to every request before and after its function: who asks, from
 * where, and whether the role may.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/mem.h"
#include "web.h"
#include "web/http_origin.h"
#include "web_audit.h"
#include "web_clients.h"
#include "web_shared.h"
#include "web_users.h"

#define API "/api/v1"

/* clang-format off */
const web_route web_route_table[] = {
    {"GET", "/", WEB_NOBODY, 0, web_run_page, NULL},
    {"GET", "/assets/{name}", WEB_NOBODY, 0, web_run_asset, NULL},
    {"GET", "/health", WEB_NOBODY, 0, web_run_health, NULL},
    {"GET", "/ready", WEB_NOBODY, WEB_REDIS, web_run_ready, NULL},
    {"GET", "/metrics", WEB_VIEWER, 0, web_run_metrics, NULL},
    {"GET", API "/session", WEB_NOBODY, 0, web_run_session, NULL},
    {"POST", API "/login", WEB_NOBODY, 0, web_run_login, "user password"},
    {"POST", API "/logout", WEB_NOBODY, 0, web_run_logout, ""},
    {"GET", API "/overview", WEB_VIEWER, 0, web_run_overview, NULL},
    {"GET", API "/events", WEB_VIEWER, 0, web_run_events, NULL},
    {"GET", API "/history", WEB_VIEWER, 0, web_run_history, NULL},
    {"GET", API "/redis", WEB_VIEWER, WEB_REDIS | WEB_SHARED, web_run_redis, NULL},
    {"GET", API "/workers", WEB_VIEWER, 0, web_run_workers, NULL},
    {"GET", API "/crashes", WEB_VIEWER, WEB_REDIS | WEB_SHARED, web_run_crashes, NULL},
    {"POST", API "/workers/{worker}/quiet", WEB_OPERATOR, WEB_REDIS | WEB_ACTS | WEB_LONG, web_run_worker_quiet, ""},
    {"POST", API "/workers/{worker}/resume", WEB_OPERATOR, WEB_REDIS | WEB_ACTS | WEB_LONG, web_run_worker_resume, ""},
    {"POST", API "/workers/{worker}/threads", WEB_OPERATOR, WEB_REDIS | WEB_ACTS | WEB_LONG, web_run_worker_threads, "pool threads min max"},
    {"POST", API "/workers/{worker}/reload", WEB_ADMIN, WEB_REDIS | WEB_ACTS | WEB_LONG, web_run_worker_reload, ""},
    {"POST", API "/workers/{worker}/stop", WEB_ADMIN, WEB_REDIS | WEB_ACTS | WEB_LONG, web_run_worker_stop, ""},
    {"GET", API "/workers/{worker}/stack", WEB_OPERATOR, WEB_REDIS | WEB_LONG, web_run_worker_stack, NULL},
    {"GET", API "/queues", WEB_VIEWER, 0, web_run_queues, NULL},
    {"GET", API "/queue-groups", WEB_VIEWER, 0, web_run_queue_groups, NULL},
    {"GET", API "/queues/{queue}", WEB_VIEWER, WEB_REDIS | WEB_SHARED, web_run_queue, NULL},
    {"GET", API "/queues/{queue}/why", WEB_VIEWER, WEB_REDIS | WEB_SHARED, web_run_queue_why, NULL},
    {"GET", API "/queues/{queue}/failures", WEB_VIEWER, WEB_REDIS | WEB_SHARED, web_run_failures, NULL},
    {"GET", API "/queues/{queue}/dead-types", WEB_VIEWER, WEB_REDIS | WEB_SHARED, web_run_dead_types, NULL},
    {"GET", API "/queues/{queue}/stats", WEB_VIEWER, WEB_REDIS | WEB_SHARED, web_run_stats, NULL},
    {"GET", API "/queues/{queue}/minutes", WEB_VIEWER, WEB_REDIS, web_run_minutes, NULL},
    {"GET", API "/queues/{queue}/limits", WEB_VIEWER, WEB_REDIS | WEB_SHARED, web_run_limits, NULL},
    {"POST", API "/queues/{queue}/limits", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_limit, "concurrency rate group type key each_group strict forget"},
    {"POST", API "/queues/{queue}/pause", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_pause, "for"},
    {"POST", API "/queues/{queue}/resume", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_resume, ""},
    {"GET", API "/queues/{queue}/tasks", WEB_VIEWER, WEB_REDIS | WEB_SHARED, web_run_tasks, NULL},
    {"POST", API "/queues/{queue}/tasks", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_enqueue, NULL},
    {"POST", API "/queues/{queue}/lease", WEB_OPERATOR, WEB_REDIS | WEB_ACTS | WEB_LONG, web_run_lease, "count for wait"},
    {"POST", API "/queues/{queue}/preview", WEB_VIEWER, WEB_REDIS | WEB_LONG, web_run_preview, "action filter expected"},
    {"POST", API "/queues/{queue}/operations", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_operate, "action filter expected"},
    {"GET", API "/tasks/{queue}/{id}", WEB_VIEWER, WEB_REDIS | WEB_WAIT | WEB_SHARED, web_run_task, NULL},
    {"DELETE", API "/tasks/{queue}/{id}", WEB_ADMIN, WEB_REDIS | WEB_ACTS, web_run_delete, ""},
    {"GET", API "/tasks/{queue}/{id}/log", WEB_VIEWER, WEB_REDIS | WEB_SHARED, web_run_task_log, NULL},
    {"GET", API "/tasks/{queue}/{id}/parents", WEB_VIEWER, WEB_REDIS | WEB_SHARED, web_run_task_parents, NULL},
    {"POST", API "/tasks/{queue}/{id}/retry", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_retry, ""},
    {"POST", API "/tasks/{queue}/{id}/cancel", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_cancel, "reason cascade"},
    {"POST", API "/tasks/{queue}/{id}/reschedule", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_reschedule, "at in"},
    {"POST", API "/tasks/{queue}/{id}/priority", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_priority, "priority"},
    {"POST", API "/tasks/{queue}/{id}/settle", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_settle, "outcome lease result kind message in reason after"},
    {"POST", API "/tasks/{queue}/{id}/heartbeat", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_heartbeat, "lease for"},
    {"GET", API "/cron", WEB_VIEWER, WEB_REDIS | WEB_SHARED, web_run_cron, NULL},
    {"POST", API "/cron/{queue}/{name}/run", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_cron_run, ""},
    {"POST", API "/cron/{queue}/{name}/pause", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_cron_pause, ""},
    {"POST", API "/cron/{queue}/{name}/resume", WEB_OPERATOR, WEB_REDIS | WEB_ACTS, web_run_cron_resume, ""},
    {"GET", API "/operations", WEB_VIEWER, 0, web_run_operations, NULL},
    {"GET", API "/operations/{number}", WEB_VIEWER, 0, web_run_operation, NULL},
    {"POST", API "/operations/{number}/cancel", WEB_OPERATOR, WEB_ACTS, web_run_operation_cancel, ""},
};
/* clang-format on */
const size_t web_route_count = sizeof(web_route_table) / sizeof(web_route_table[0]);

static const char *const role_names[] = {"nobody", "viewer", "operator", "admin"};

const char *web_role_name(web_role role)
{
    return role_names[role];
}

bool web_role_parse(const char *name, web_role *ret)
{
    for (size_t i = WEB_VIEWER; i <= WEB_ADMIN; i++) {
        if (strcmp(role_names[i], name) != 0) continue;
        *ret = (web_role)i;
        return true;
    }
    return false;
}

/* ---- who asks -------------------------------------------------------------------------------------------------- */

/* A proxy has checked who it is, and names the user. Two names are none: one may be the client's own. */
static bool from_proxy(web_call *call)
{
    const web_options *options = &call->web->options;
    const char *name = options->user_header == NULL ? NULL : rv_http_server_header(call->http, options->user_header);

    if (name == NULL || name[0] == '\0' || strlen(name) >= sizeof(call->who.name)) return false;
    if (rv_http_server_header_repeats(call->http, options->user_header)) return false;
    if (web_users_named(call->web->users, name, &call->who)) return true;
    if (options->user_role == NULL || !web_role_parse(options->user_role, &call->who.role)) return false;
    (void)snprintf(call->who.name, sizeof(call->who.name), "%s", name);
    return true;
}

static bool from_bearer(web_call *call)
{
    const char *value = rv_http_server_header(call->http, "Authorization");

    return value != NULL && strncasecmp(value, "Bearer ", 7) == 0 &&
           web_users_token(call->web->users, value + 7, &call->who);
}

static bool from_cookie(web_call *call)
{
    char token[WEB_TOKEN_SIZE];

    return web_session_cookie(call, token) && web_users_session(call->web->users, token, &call->who);
}

static void find_who(web_call *call)
{
    if (!call->web->authenticates) {
        call->who = (web_who){.name = "local", .role = WEB_ADMIN};
        return;
    }
    if (!from_bearer(call) && !from_cookie(call) && !from_proxy(call)) call->who = (web_who){.role = WEB_NOBODY};
}

/* ---- what is asked --------------------------------------------------------------------------------------------- */

/* The path behind the prefix; NULL: it is not there. */
static const char *inner_path(const web_call *call)
{
    const char *prefix = call->web->options.prefix, *path = call->http->path;
    size_t length = strlen(prefix);

    if (strncmp(path, prefix, length) != 0) return path[0] == '/' ? path : NULL; /* the proxy has removed it */
    return path[length] == '\0' ? "/" : path + length;
}

static bool is_method(const web_route *route, const char *method)
{
    return strcmp(route->method, method) == 0 || (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0);
}

/* Clients take "." and ".." out of a path, also if they are encoded. "~." and "~.." are these names: no name begins
 * with "~". */
static void read_dots(rv_http_params *params)
{
    for (size_t i = 0; i < params->count; i++) {
        char *value = params->value[i];
        if (strcmp(value, "~.") == 0 || strcmp(value, "~..") == 0) memmove(value, value + 1, strlen(value));
    }
}

static bool find_route(web_call *call)
{
    const char *path = inner_path(call);
    bool known = false;

    for (size_t i = 0; path != NULL && i < web_route_count; i++) {
        if (!rv_http_path_match(web_route_table[i].pattern, path, &call->params)) continue;
        known = true;
        if (!is_method(&web_route_table[i], call->http->method)) continue;
        call->route = &web_route_table[i];
        read_dots(&call->params);
        return true;
    }
    if (known)
        web_refuse(call, 405, "method", "%.20s is not for this path", call->http->method);
    else
        web_refuse(call, 404, "not_found", "there is no such path");
    return false;
}

static bool comes_from_here(web_call *call)
{
    const rv_http_origin origin = {.host = rv_http_server_header(call->http, "Host"),
                                   .origin = rv_http_server_header(call->http, "Origin"),
                                   .fetch_site = rv_http_server_header(call->http, "Sec-Fetch-Site"),
                                   .changes = strcmp(call->route->method, "GET") != 0,
                                   .any_host = call->web->authenticates || call->web->listen.is_unix,
                                   .own_host = call->web->options.host};
    const char *refusal = rv_http_origin_refusal(&origin);

    if (refusal != NULL) web_refuse(call, 403, "origin", "%s", refusal);
    return refusal == NULL;
}

static bool may(web_call *call)
{
    find_who(call);
    if (call->route->role > call->who.role) {
        bool nobody = call->who.role == WEB_NOBODY;
        call->http->challenge = nobody;
        web_refuse(call, nobody ? 401 : 403, nobody ? "login" : "role", "this takes the role %s%s",
                   web_role_name(call->route->role), nobody ? ": log in, or send a token" : "");
        return false;
    }
    if (!call->web->options.read_only || (call->route->flags & WEB_ACTS) == 0) return true;
    web_refuse(call, 403, "read_only", "this server is read-only");
    return false;
}

bool web_may_still(web_call *call)
{
    find_who(call);
    return call->route->role <= call->who.role;
}

bool web_begin(rv_http_request *request, void *server)
{
    web_call *call = rv_zalloc(sizeof(*call));

    if (call == NULL) {
        request->status = 503;
        return false;
    }
    request->user = call;
    call->web = server;
    call->http = request;
    call->out = request->out;
    if (find_route(call) && comes_from_here(call) && may(call)) return true;
    if (call->route != NULL && (call->route->flags & WEB_ACTS) != 0) web_audit(call);
    return false;
}

/* ---- the call -------------------------------------------------------------------------------------------------- */

/* Whether the call may wait, and has a client of its own. */
static bool waits(const web_call *call)
{
    unsigned flags = call->route->flags;

    return (flags & WEB_LONG) != 0 || ((flags & WEB_WAIT) != 0 && rv_http_server_query(call->http, "wait") != NULL);
}

static bool take_client(web_call *call)
{
    const char *user = call->web->authenticates ? call->who.name : NULL;
    reeve_status status;
    char words[256] = "";

    if ((call->route->flags & WEB_REDIS) == 0) return true;
    call->client = waits(call) ? web_clients_take_waiting(call->web->clients, user, &status, words, sizeof(words))
                               : web_clients_take(call->web->clients, &status, words, sizeof(words));
    if (call->client != NULL) return true;
    if (status == REEVE_ETIMEOUT) {
        call->http->retry_after = 1;
        web_refuse(call, 503, "busy", "%s", words);
    } else {
        web_refuse_words(call, status, words);
    }
    return false;
}

static bool names_are_valid(web_call *call)
{
    const char *open = strchr(call->route->pattern, '{');
    static const char queue[] = "{queue}";

    if (open == NULL || strncmp(open, queue, strlen(queue)) != 0 || web_is_queue(call->params.value[0])) return true;
    web_refuse(call, 400, "invalid", "\"%.100s\" is no queue: expected 1 to %d characters of A-Z a-z 0-9 . _ -",
               call->params.value[0], REEVE_QUEUE_MAX);
    return false;
}

static void run_with_client(web_call *call)
{
    if (take_client(call)) call->route->run(call);
    if (call->client != NULL) web_clients_give(call->web->clients, call->client);
    call->client = NULL;
}

void web_handle(rv_http_request *request, void *server)
{
    web_call *call = request->user;

    (void)server;
    if (names_are_valid(call) && web_body_read(call)) web_shared_answer(call, run_with_client);
    if ((call->route->flags & WEB_ACTS) != 0 || call->route->run == web_run_login) web_audit(call);
}

void web_end(rv_http_request *request, void *server)
{
    web_call *call = request->user;

    (void)server;
    if (call == NULL) return;
    cJSON_Delete(call->body);
    rv_free(call);
}
