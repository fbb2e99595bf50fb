/*
 * verb_web.c - `reeve web`: serves the dashboard, the API and the metrics until it is told to stop.
 */
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"

#include "cli/cli.h"
#include "cli/stop.h"
#include "cli/verbs.h"
#include "log/log_writer.h"
#include "web.h"
#include "web_canary.h"
#include "web_users.h"

#define AT(field) offsetof(web_options, field)

static const cli_option web_table[] = {
    {"listen", "ADDRESS", "the address: HOST:PORT, or unix:PATH (127.0.0.1:8420); port 0: a free one", CLI_TEXT,
     AT(listen), 0, 0, NULL},
    {"prefix", "PATH", "the beginning of all paths, such as /reeve, for a proxy", CLI_TEXT, AT(prefix), 0, 0, NULL},
    {"host", "NAME", "a name of this server that browsers may use, in addition to localhost", CLI_TEXT, AT(host), 0, 0,
     NULL},
    {"users", "FILE", "users who can log in, one on each line: NAME:ROLE:HASH", CLI_TEXT, AT(users), 0, 0, NULL},
    {"token-file", "FILE", "bearer tokens, one on each line: NAME:ROLE:TOKEN", CLI_TEXT, AT(tokens), 0, 0, NULL},
    {"user-header", "HEADER", "the header in which a proxy sends the name of the authenticated user", CLI_TEXT,
     AT(user_header), 0, 0, NULL},
    {"user-role", "ROLE", "with --user-header: the role of users that are not in the file of --users", CLI_TEXT,
     AT(user_role), 0, 0, NULL},
    {"cert", "FILE", "serve HTTPS with this certificate and its chain, PEM", CLI_TEXT, AT(cert), 0, 0, NULL},
    {"key", "FILE", "the private key of --cert, PEM, not encrypted", CLI_TEXT, AT(key), 0, 0, NULL},
    {"canary", "QUEUES", "enqueue canary tasks in these queues, separated by commas, and measure how long they take",
     CLI_TEXT, AT(canary), 0, 0, NULL},
    {"canary-interval", "DURATION", "the time between two canary tasks of a queue (30s)", CLI_DURATION,
     AT(canary_interval_ms), 1000, 0, NULL},
    {"read-only", NULL, "refuse all requests that change something", CLI_FLAG, AT(read_only), 0, 0, NULL},
    {"hide-payloads", NULL, "show neither payloads nor results of tasks", CLI_FLAG, AT(hide_payloads), 0, 0, NULL},
    {"redact", "NAMES", "hide these members of JSON payloads and results, separated by commas: password,card.*",
     CLI_TEXT, AT(redact), 0, 0, NULL},
    {"hash-password", NULL, "read a password from standard input, print its hash for --users, and exit", CLI_FLAG,
     AT(hash), 0, 0, NULL},
    {0},
};
static const web_options web_defaults = {
    .listen = "127.0.0.1:8420", .prefix = "", .canary_interval_ms = WEB_CANARY_INTERVAL_MS};

/* The first line of standard output is the address: port 0 is known only now. */
static void print_address(const cli_context *cli, const web_server *web)
{
    char url[320];
    cli_json json;

    web_server_url(web, url, sizeof(url));
    if (cli->json) {
        cli_json_begin(&json, stdout);
        cli_json_text(&json, "listen", web->listen.text);
        cli_json_text(&json, "url", web->listen.is_unix ? NULL : url);
        cli_json_end(&json);
    } else {
        (void)puts(url);
    }
    (void)cli_flush(cli);
}

static bool has_terminal(void)
{
    int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

    if (fd >= 0) (void)close(fd);
    return fd >= 0;
}

static void renew(web_server *web)
{
    rv_error error;

    rv_error_clear(&error);
    if (web_server_renew(web, &error) == REEVE_OK)
        rv_log(REEVE_LOG_INFO, "web.renewed", "users, tokens and the certificate were read again", NULL);
    else
        rv_log(REEVE_LOG_ERROR, "web.renewed", "a file could not be read again", "error", error.text, NULL);
}

/* HUP also comes when the terminal is closed: then the server ends. */
static void wait_for_signal(web_server *web)
{
    bool had_terminal = has_terminal();

    while (cli_stop_signal() == 0) {
        struct pollfd at = {.fd = cli_stop_fd(), .events = POLLIN};

        (void)poll(&at, 1, -1);
        if (!cli_stop_take_hangup()) continue;
        if (had_terminal && !has_terminal()) return;
        renew(web);
    }
}

/* Each connection has a thread, and glibc makes up to eight heaps for each processor, each of which keeps the memory that
 * snapshots and answers have left free in it: memory grew for an hour. */
static void limit_heaps(void)
{
#ifdef M_ARENA_MAX
    (void)mallopt(M_ARENA_MAX, 2);
#endif
}

static int web(cli_context *cli, void *pointer)
{
    web_options *options = pointer;
    web_server web;
    rv_error error;

    if (options->hash) return web_users_hash();
    limit_heaps();
    options->redis = cli->redis;
    options->ns = cli->ns;
    options->size_limits = cli->size_limits;
    rv_error_clear(&error);
    if (web_server_check(options, &error) != REEVE_OK) return cli_usage(cli, "%s", error.text);
    cli_stop_catch(NULL);
    host_log_open(cli->json ? RV_LOG_JSON : RV_LOG_LOGFMT, REEVE_LOG_INFO);
    cli_stop_catch_hangup();
    reeve_status status = web_server_open(&web, options, &error);
    if (status == REEVE_OK) {
        print_address(cli, &web);
        wait_for_signal(&web);
        web_server_close(&web);
    }
    cli_stop_release();
    host_log_close(HOST_LOG_END_MS);
    if (status == REEVE_OK) return CLI_DONE;
    return cli_fail(cli, status == REEVE_EINVAL ? CLI_USAGE : CLI_REFUSED, "%s", error.text);
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
        "The first line of standard output is the address. --users, --token-file and --user-header require users to\n"
        "authenticate. Without these options, the server accepts connections from this machine only, and every client\n"
        "has all rights. The roles are viewer (can read), operator (can also change tasks and queues) and admin (can\n"
        "also delete tasks and stop workers). The server writes a line to standard error for each action. It uses\n"
        "Redis only to answer requests, and for canary tasks. It reads the data of the overview at most once a\n"
        "second, however many users view it.\n"
        "\n"
        "GET /metrics has the metrics of all queues for Prometheus, and /api/v1 the API (docs/guide/web.md). TERM and\n"
        "INT end the server. HUP makes it read --cert, --key, --users and --token-file again; existing connections "
        "continue.\n"
        "\n"
        "Examples:\n"
        "  reeve web\n"
        "  printf 'ann:admin:%s\\n' \"$(reeve web --hash-password)\" >users; chmod 600 users\n"
        "  reeve web --listen 0.0.0.0:8420 --users users --token-file tokens\n",
    .exits = "0 ended by a signal, 1 it cannot listen, 2 the options are not valid.",
};
