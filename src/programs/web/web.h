/*
 * web.h - `reeve web`: what its parts share. A request is matched with one table of routes (web_routes.c), which names
 * the role that it takes; its function gets a call.
 */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/json.h"
#include "reeve/reeve.h"
#include "web/http_path.h"
#include "web/http_server.h"

/* Each role may do what those before it may. */
typedef enum web_role { WEB_NOBODY, WEB_VIEWER, WEB_OPERATOR, WEB_ADMIN } web_role;

#define WEB_NAME_SIZE 65 /* of a user */

typedef struct web_who {
    char name[WEB_NAME_SIZE]; /* "" for nobody */
    web_role role;
} web_who;

#include "cli/json_scan.h"

typedef struct web_server web_server;
typedef struct web_call web_call;

/* A route. An entry of the table in web_routes.c. */
typedef struct web_route {
    const char *method;
    const char *pattern; /* "/api/v1/queues/{queue}" */
    web_role role;
    unsigned flags;
    void (*run)(web_call *call);
    const char
        *members; /* of the JSON object that it takes as a body, which may be absent; NULL: it reads the body itself */
} web_route;

#define WEB_REDIS 1u   /* the call needs a client */
#define WEB_ACTS 2u    /* it changes something: logged, and refused with --read-only */
#define WEB_LONG 4u    /* it may wait: a client of its own */
#define WEB_WAIT 8u    /* so does it if the query has `wait` */
#define WEB_SHARED 16u /* viewers may share its answers (web_shared.h) */

struct web_call {
    web_server *web;
    rv_http_request *http;
    const web_route *route;
    web_who who;
    rv_http_params params;
    reeve_client *client;
    cJSON *body; /* where the route has members: an object or NULL */
    FILE *out;
    char message[512]; /* of a refusal, for the log */
};

typedef struct web_options {
    const char *listen;
    const char *prefix;      /* path under which a proxy serves the pages; "": none */
    const char *host;        /* a name besides localhost that Host may have */
    const char *users;       /* file of users */
    const char *tokens;      /* file of bearer tokens */
    const char *user_header; /* a header by which a proxy names the user */
    const char *cert;        /* file: serve HTTPS with it */
    const char *key;         /* file: its private key */
    const char *canary;      /* queues through which a task is sent now and then, separated by commas; NULL: none */
    int64_t canary_interval_ms;
    const char *user_role; /* the role of users whom the file does not name */
    bool read_only;
    bool hide_payloads;
    const char *redact; /* members of payloads and results whose values are hidden (web_redact.h); NULL: none */
    bool hash;          /* --hash-password */
    const char *redis;
    const char *ns;
    const reeve_tls *tls; /* of Redis; NULL: the URL and the environment set it */
    reeve_size_limits size_limits;
} web_options;

struct web_clients;
struct web_users;
struct web_snapshots;
struct web_history;
struct web_operations;
struct web_previews;
struct web_shared;
struct web_canary;

struct web_server {
    web_options options;
    rv_http_listen listen;
    rv_http_server *http;
    struct web_clients *clients;
    struct web_users *users;
    struct web_snapshots *snapshots;
    struct web_history *history;
    struct web_operations *operations;
    struct web_previews *previews;
    struct web_shared *shared;
    struct web_canary *canary; /* NULL: no queue is watched */
    bool authenticates;
    int64_t started_ms; /* since the epoch */
};

/* ---- the server (web_server.c) --------------------------------------------------------------------------------- */

/* Whether options are valid by themselves; no I/O. REEVE_EINVAL: error says what is not. */
reeve_status web_server_check(const web_options *options, rv_error *error);

/* Listens and starts the threads. The texts of options stay the caller's, until the server is closed; so does ret. SIGPIPE
 * is ignored from then on. REEVE_EINVAL: options or files are not valid, or would let others in; REEVE_ESYSTEM,
 * REEVE_ENOMEM. After a failure nothing is left to close. */
reeve_status web_server_open(web_server *ret, const web_options *options, rv_error *error);
/* Reads the files of users and tokens again (web_users.h), and those of cert and key, for connections that come from now
 * on. After a failure the present users and tokens stay, or the present certificate; *error names the file. */
reeve_status web_server_renew(web_server *web, rv_error *error);
/* Waits for the threads. */
void web_server_close(web_server *web);

/* "http://127.0.0.1:8420/", or "unix:/run/reeve.sock". */
void web_server_url(const web_server *web, char *ret, size_t size);

/* Whether a text is the name of a queue. */
bool web_is_queue(const char *text);

/* ---- answers (web_answer.c) ------------------------------------------------------------------------------------ */

/* Answers with an error object; the status of HTTP follows from the code. */
void web_refuse(web_call *call, unsigned status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for a failed call of the client. */
void web_refuse_status(web_call *call, reeve_status status);
void web_refuse_words(web_call *call, reeve_status status, const char *words);

/* {"done": ...} for a call without another answer. */
void web_done(web_call *call);

/* A parameter of the query, decoded; NULL: absent. An escape that is not valid is refused, *ret_bad true. */
const char *web_query(web_call *call, const char *name, char *ret, size_t size);
/* A number of the query within limits. False: it was refused. */
bool web_query_number(web_call *call, const char *name, int64_t min, int64_t max, int64_t fallback, int64_t *ret);
bool web_query_duration(web_call *call, const char *name, int64_t fallback, int64_t *ret_ms);

/* ---- bodies (web_body.c) --------------------------------------------------------------------------------------- */

/* Reads the body as the route's object, with the members that the route has, each once. False: it was refused. */
bool web_body_read(web_call *call);
/* A member of the body as it was written. False: absent. */
bool web_body_source(const web_call *call, const char *name, cli_value *ret);
/* A text of the body; NULL: absent, or no text. */
const char *web_body_text(const web_call *call, const char *name);
/* A duration of the body: a number of seconds, or a text such as "5m". False: it was refused. */
bool web_body_duration(web_call *call, const char *name, int64_t fallback, int64_t *ret_ms);

/* ---- routes (web_routes.c) ------------------------------------------------------------------------------------- */

extern const web_route web_route_table[];
extern const size_t web_route_count;

const char *web_role_name(web_role role);
bool web_role_parse(const char *name, web_role *ret);

/* The handlers of the HTTP server. */
bool web_begin(rv_http_request *request, void *server);
void web_handle(rv_http_request *request, void *server);
void web_end(rv_http_request *request, void *server);

/* For answers that take long: whether the session or the token of the call is still valid, with a role that the route takes. */
bool web_may_still(web_call *call);

/* ---- the functions of routes ----------------------------------------------------------------------------------- */

/* web_pages.c */
void web_run_page(web_call *call);
void web_run_asset(web_call *call);
/* web_session.c */
void web_run_session(web_call *call);
void web_run_login(web_call *call);
void web_run_logout(web_call *call);
/* web_status.c */
void web_run_health(web_call *call);
void web_run_ready(web_call *call);
void web_run_redis(web_call *call);
void web_run_metrics(web_call *call);
/* web_workers.c */
void web_run_workers(web_call *call);
void web_run_crashes(web_call *call);
void web_run_worker_quiet(web_call *call);
void web_run_worker_resume(web_call *call);
void web_run_worker_stop(web_call *call);
void web_run_worker_reload(web_call *call);
void web_run_worker_threads(web_call *call);
void web_run_worker_stack(web_call *call);
/* web_overview.c */
void web_run_overview(web_call *call);
void web_run_events(web_call *call);
/* web_history.c */
void web_run_history(web_call *call);
/* web_groups.c */
void web_run_queue_groups(web_call *call);
/* web_queues.c */
void web_run_queues(web_call *call);
void web_run_queue(web_call *call);
void web_run_queue_why(web_call *call);
void web_run_pause(web_call *call);
void web_run_resume(web_call *call);
void web_run_failures(web_call *call);
void web_run_stats(web_call *call);
void web_run_minutes(web_call *call);
/* web_dead_types.c */
void web_run_dead_types(web_call *call);
/* web_limits.c */
void web_run_limits(web_call *call);
void web_run_limit(web_call *call);
/* web_tasks.c */
void web_run_tasks(web_call *call);
void web_run_task(web_call *call);
void web_run_task_log(web_call *call);
void web_run_task_parents(web_call *call);
/* web_task_actions.c */
void web_run_retry(web_call *call);
void web_run_cancel(web_call *call);
void web_run_delete(web_call *call);
void web_run_reschedule(web_call *call);
void web_run_priority(web_call *call);
/* web_enqueue.c */
void web_run_enqueue(web_call *call);
/* web_lease.c */
void web_run_lease(web_call *call);
void web_run_settle(web_call *call);
void web_run_heartbeat(web_call *call);
/* web_cron.c */
void web_run_cron(web_call *call);
void web_run_cron_run(web_call *call);
void web_run_cron_pause(web_call *call);
void web_run_cron_resume(web_call *call);
/* web_preview.c */
void web_run_preview(web_call *call);
/* web_operations.c */
void web_run_operate(web_call *call);
void web_run_operations(web_call *call);
void web_run_operation(web_call *call);
void web_run_operation_cancel(web_call *call);

#endif
