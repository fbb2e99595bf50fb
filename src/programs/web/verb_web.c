/*
 * verb_web.c - `reeve web`: serves the dashboard, the API and the metrics until it is told to stop.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/stop.h"
#include "cli/verbs.h"
#include "web.h"
#include "web_clients.h"
#include "web_operations.h"
#include "web_snapshot.h"
#include "web_users.h"

#define CONNECTIONS 512
#define CONNECTIONS_EACH 256
#define BODY_MAX (16u * 1024 * 1024)
#define BODIES_MAX (64u * 1024 * 1024)
#define REQUEST_SECONDS 30
#define IDLE_SECONDS 60

#define AT(field) offsetof(web_options, field)

static const cli_option web_table[] = {
    {"listen", "ADDRESS", "the address: HOST:PORT, or unix:PATH (127.0.0.1:8420); port 0: a free one", CLI_TEXT,
     AT(listen), 0, 0, NULL},
    {"prefix", "PATH", "the path under which a proxy serves the pages, such as /reeve", CLI_TEXT, AT(prefix), 0, 0,
     NULL},
    {"host", "NAME", "a name that browsers may use for this server, besides localhost", CLI_TEXT, AT(host), 0, 0, NULL},
    {"users", "FILE", "users who can log in, a line each: NAME:ROLE:HASH", CLI_TEXT, AT(users), 0, 0, NULL},
    {"token-file", "FILE", "bearer tokens, a line each: NAME:ROLE:TOKEN", CLI_TEXT, AT(tokens), 0, 0, NULL},
    {"user-header", "HEADER", "the header in which a proxy names the user that it has checked", CLI_TEXT,
     AT(user_header), 0, 0, NULL},
    {"user-role", "ROLE", "with --user-header: the role of users whom --users does not name", CLI_TEXT, AT(user_role),
     0, 0, NULL},
    {"read-only", NULL, "refuse all requests that change something", CLI_FLAG, AT(read_only), 0, 0, NULL},
    {"hide-payloads", NULL, "show neither payloads nor results of tasks", CLI_FLAG, AT(hide_payloads), 0, 0, NULL},
    {"hash-password", NULL, "read a password from standard input, print its hash for --users, and exit", CLI_FLAG,
     AT(hash), 0, 0, NULL},
    {0},
};
static const web_options web_defaults = {.listen = "127.0.0.1:8420", .prefix = ""};

static int check_options(const cli_context *cli, const web_options *options)
{
    web_role role;
    size_t length = strlen(options->prefix);

    if (length > 0 && (options->prefix[0] != '/' || options->prefix[length - 1] == '/' || length > 100))
        return cli_usage(cli, "--prefix: expected a path such as /reeve, without a slash at its end");
    if (options->user_role != NULL && !web_role_parse(options->user_role, &role))
        return cli_usage(cli, "--user-role: expected viewer, operator or admin");
    if (options->user_role != NULL && options->user_header == NULL)
        return cli_usage(cli, "--user-role goes with --user-header");
    if (!rv_http_listen_is_address(options->listen))
        return cli_usage(cli, "--listen: \"%.100s\": expected HOST:PORT or unix:PATH", options->listen);
    return CLI_DONE;
}

/* What others could reach takes authentication; a header that anybody can send takes a proxy on this machine. */
static int check_safety(const cli_context *cli, const web_server *web)
{
    if (!web->authenticates && !web->listen.loopback)
        return cli_usage(cli,
                         "--listen %s: without authentication only this machine may connect; give --users, "
                         "--token-file or --user-header, or listen on 127.0.0.1",
                         web->listen.text);
    if (web->options.user_header != NULL && !web->listen.loopback)
        return cli_usage(cli, "--user-header: the proxy must be on this machine; listen on 127.0.0.1 or a unix socket");
    return CLI_DONE;
}

static void stop(web_server *web)
{
    if (web->snapshots != NULL) web_snapshots_stop(web->snapshots);
    if (web->clients != NULL) web_clients_interrupt(web->clients);
    rv_http_server_stop(web->http);
    web_operations_close(web->operations);
    web_snapshots_close(web->snapshots);
    web_clients_close(web->clients);
    web_users_close(web->users);
    rv_http_listen_close(&web->listen);
}

static int start(cli_context *cli, web_server *web)
{
    rv_error error;
    const rv_http_options options = {
        .listen = &web->listen,
        .handlers = {.begin = web_begin, .handle = web_handle, .end = web_end, .user = web},
        .connections = CONNECTIONS,
        .connections_each = web->listen.is_unix ? 0 : CONNECTIONS_EACH,
        .body_max = BODY_MAX,
        .bodies_max = BODIES_MAX,
        .request_seconds = REQUEST_SECONDS,
        .idle_seconds = IDLE_SECONDS};

    rv_error_clear(&error);
    web->users = web_users_open(&web->options, &error);
    if (web->users == NULL) return cli_fail(cli, CLI_USAGE, "%s", error.text);
    if (rv_http_listen_open(&web->listen, web->options.listen, &error) != REEVE_OK)
        return cli_fail(cli, CLI_REFUSED, "%s", error.text);
    int code = check_safety(cli, web);
    if (code != CLI_DONE) return code;
    web->clients = web_clients_open(web);
    web->operations = web_operations_open(web);
    web->snapshots = web_snapshots_open(web);
    if (web->clients == NULL || web->operations == NULL || web->snapshots == NULL) return cli_no_memory(cli);
    if (rv_http_server_start(&web->http, &options, &error) != REEVE_OK)
        return cli_fail(cli, CLI_REFUSED, "%s", error.text);
    return CLI_DONE;
}

/* The first line of standard output is the address: port 0 is known only now. */
static void print_address(const cli_context *cli, const web_server *web)
{
    char url[320];
    cli_json json;

    (void)snprintf(url, sizeof(url), "http://%s%s/", web->listen.text, web->options.prefix);
    if (cli->json) {
        cli_json_begin(&json, stdout);
        cli_json_text(&json, "listen", web->listen.text);
        cli_json_text(&json, "url", web->listen.is_unix ? NULL : url);
        cli_json_end(&json);
    } else {
        (void)puts(web->listen.is_unix ? web->listen.text : url);
    }
    (void)cli_flush(cli);
}

static void wait_for_signal(void)
{
    while (cli_stop_signal() == 0) {
        struct pollfd at = {.fd = cli_stop_fd(), .events = POLLIN};
        (void)poll(&at, 1, -1);
    }
}

static int web(cli_context *cli, void *pointer)
{
    web_server web = {.options = *(const web_options *)pointer, .listen = {.fd = -1}, .started_ms = rv_wall_ms()};
    int status;

    if (web.options.hash) return web_users_hash();
    status = check_options(cli, &web.options);
    if (status != CLI_DONE) return status;
    web.options.redis = cli->redis;
    web.options.ns = cli->ns;
    web.options.size_limits = cli->size_limits;
    web.authenticates = web.options.users != NULL || web.options.tokens != NULL || web.options.user_header != NULL;
    (void)signal(SIGPIPE, SIG_IGN);
    cli_stop_catch(NULL);
    status = start(cli, &web);
    if (status == CLI_DONE) {
        print_address(cli, &web);
        wait_for_signal();
    }
    stop(&web);
    cli_stop_release();
    return status;
}

const cli_verb cli_verb_web = {
    .name = "web",
    .section = CLI_SERVERS,
    .synopsis = "[--listen ADDRESS] [OPTION...]",
    .summary = "Serves a dashboard, an API over HTTP and metrics",
    .options = web_table,
    .options_size = sizeof(web_options),
    .defaults = &web_defaults,
    .run = web,
    .notes =
        "The first line of standard output is the address. Without authentication, only programs of this machine can\n"
        "connect, and each of them may do everything. --users, --token-file and --user-header authenticate. The roles\n"
        "are viewer (look), operator (also change tasks and queues) and admin (also delete). Each action is a line on\n"
        "standard error. The server reads Redis only while somebody looks, and at most once a second for all viewers.\n"
        "\n"
        "GET /metrics has the metrics of all queues for Prometheus, and /api/v1 the API (docs/guide/web.md). TERM and\n"
        "INT end the server.\n"
        "\n"
        "Examples:\n"
        "  reeve web\n"
        "  printf 'ann:admin:%s\\n' \"$(reeve web --hash-password)\" >users; chmod 600 users\n"
        "  reeve web --listen 0.0.0.0:8420 --users users --token-file tokens\n",
    .exits = "0 ended by a signal, 1 it cannot listen, 2 the options are not valid.",
};
