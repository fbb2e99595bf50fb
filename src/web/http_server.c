#include "http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "http_deadline.h"
#include "http_framing.h"
#include "http_gone.h"
#include "http_inside.h"
#include "http_sent.h"
#include "mhd.h"

#define CONNECTION_MEMORY (32 * 1024) /* request line and headers; more is answered with 431 */
#define THREAD_STACK (1024 * 1024)
#define PEM_MAX (1024 * 1024)
static char tls_priorities[] = "SECURE128:+SECURE192:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
#define STREAM_BLOCK (16 * 1024)

/* A daemon of the library with its certificate. */
typedef struct http_daemon {
    struct MHD_Daemon *daemon; /* NULL: none */
    int listen_fd;             /* its own descriptor of the listening socket */
    rv_buf cert, key;          /* PEM; empty without HTTPS */
} http_daemon;

struct rv_http_server {
    http_daemon now;
    http_daemon before; /* that of the certificate before; it accepts no connection */
    rv_http_options options;
    rv_http_deadline *deadline;
    rv_http_gone *gone;
    _Atomic size_t bodies; /* bytes of all bodies that are being read */
};

/* ---- who asks -------------------------------------------------------------------------------------------------- */

static void take_peer(struct rv_http_inside *inside)
{
    const union MHD_ConnectionInfo *info =
        rv_mhd.get_connection_info(inside->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *at = info == NULL ? NULL : info->client_addr;

    inside->request.peer = inside->peer;
    if (inside->server->options.listen->is_unix)
        (void)snprintf(inside->peer, sizeof(inside->peer), "unix");
    else if (at != NULL && at->sa_family == AF_INET)
        (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)at)->sin_addr, inside->peer,
                        sizeof(inside->peer));
    else if (at != NULL && at->sa_family == AF_INET6)
        (void)inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)at)->sin6_addr, inside->peer,
                        sizeof(inside->peer));
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *value;
} always[] = {
    {"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                                "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
                                "frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), microphone=(), geolocation=()"},
};

static void add(struct MHD_Response *response, const char *name, const char *value)
{
    if (value != NULL && value[0] != '\0') (void)rv_mhd.add_response_header(response, name, value);
}

static void add_headers(struct MHD_Response *response, const rv_http_request *request)
{
    char seconds[16];

    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) add(response, always[i].name, always[i].value);
    add(response, "Content-Type", request->type);
    add(response, "Cache-Control", request->cache);
    add(response, "ETag", request->etag);
    add(response, "Set-Cookie", request->cookie);
    if (request->gzipped) add(response, "Content-Encoding", "gzip");
    if (request->challenge) add(response, "WWW-Authenticate", "Bearer realm=\"reeve\"");
    (void)snprintf(seconds, sizeof(seconds), "%u", request->retry_after);
    if (request->retry_after > 0) add(response, "Retry-After", seconds);
}

static ssize_t read_stream(void *user, uint64_t position, char *ret, size_t size)
{
    rv_http_request *request = user;
    ssize_t length = request->stream(request->stream_user, ret, size);

    (void)position;
    return length < 0 ? MHD_CONTENT_READER_END_OF_STREAM : length;
}

/* The body that was written; ownership goes to the response. */
static struct MHD_Response *buffer_response(struct rv_http_inside *inside)
{
    char *answer;

    if (inside->request.out == NULL || fclose(inside->request.out) != 0) {
        inside->request.out = NULL;
        return NULL;
    }
    inside->request.out = NULL;
    answer = inside->answer;
    inside->answer = NULL;
    return rv_mhd.create_response_from_buffer(inside->answer_length, answer, MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result answer(struct rv_http_inside *inside)
{
    rv_http_request *request = &inside->request;
    struct MHD_Response *response =
        request->stream != NULL
            ? rv_mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, request, NULL)
            : buffer_response(inside);
    enum MHD_Result result;

    if (response == NULL) return MHD_NO;
    add_headers(response, request);
    result = rv_mhd.queue_response(inside->connection, request->status, response);
    rv_mhd.destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct rv_http_inside *inside, unsigned status, const char *code, const char *message)
{
    inside->refused = true;
    inside->request.status = status;
    (void)fprintf(inside->request.out, "{\"error\":\"%s\",\"message\":\"%s\"}\n", code, message);
    return answer(inside);
}

/* ---- calls that wait ------------------------------------------------------------------------------------------- */

void rv_http_server_watch(rv_http_request *request, void (*gone)(void *user), void *user)
{
    struct rv_http_inside *inside = request->inside;
    const union MHD_ConnectionInfo *info =
        rv_mhd.get_connection_info(inside->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    inside->watch = (rv_http_gone_watch){.fd = info == NULL ? -1 : info->connect_fd, .gone = gone, .user = user};
    rv_http_gone_add(inside->server->gone, &inside->watch);
}

bool rv_http_server_unwatch(rv_http_request *request)
{
    return rv_http_gone_remove(request->inside->server->gone, &request->inside->watch);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

#define OVERLONG "the path and the query are longer than 16 KiB, or there are more than 100 parameters"
#define ZERO_BYTE "the request line has a zero byte, or no version of HTTP"

/* The request line was read; the headers are not. What it returns becomes the context of the request. */
static void *on_request_line(void *user, const char *line, struct MHD_Connection *connection)
{
    rv_http_server *server = user;
    struct rv_http_inside *inside = rv_zalloc(sizeof(*inside));

    if (inside == NULL) return NULL;
    inside->server = server;
    inside->connection = connection;
    inside->line_end = line + strlen(line);
    inside->overlong = !rv_http_sent_begin(connection, line);
    rv_buf_init(&inside->body, server->options.body_max);
    return inside;
}

/* Its headers were read. False: no memory. */
static bool start(struct rv_http_inside *inside, const char *path, const char *method)
{
    inside->request = (rv_http_request){.method = method,
                                        .path = path,
                                        .status = 200,
                                        .type = "application/json",
                                        .cache = "no-store",
                                        .encrypted = inside->server->options.cert != NULL,
                                        .inside = inside};
    inside->started = true;
    take_peer(inside);
    inside->request.out = open_memstream(&inside->answer, &inside->answer_length);
    return inside->request.out != NULL;
}

static enum MHD_Result add_framing(void *framing, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind;
    rv_http_framing_add(framing, name, value);
    return MHD_YES;
}

/* A body of up to so many times the limit is read and dropped before it is refused: most clients send all of it before they
 * read, and would see a reset connection instead of the reason. */
#define DROPPED_BODY_TIMES 4

static bool drops_body(const struct rv_http_inside *inside, const rv_http_framing *framing, unsigned status)
{
    const char *expect = rv_mhd.lookup_connection_value(inside->connection, MHD_HEADER_KIND, "Expect");
    return status == 413 && expect == NULL && framing->length / DROPPED_BODY_TIMES <= inside->server->options.body_max;
}

/* An answer that comes before the body ends the connection. */
static enum MHD_Result begin(struct rv_http_inside *inside)
{
    const rv_http_handlers *handlers = &inside->server->options.handlers;
    rv_http_framing framing = {0};

    rv_http_sent_each(inside->connection, add_framing, &framing);
    const rv_http_framing_refusal refusal = rv_http_framing_check(&framing, inside->server->options.body_max);
    if (drops_body(inside, &framing, refusal.status)) {
        inside->body.failed = true;
        return MHD_YES;
    }
    if (refusal.status != 0) return refuse(inside, refusal.status, refusal.code, refusal.message);
    inside->begun = true;
    if (handlers->begin(&inside->request, handlers->user)) return MHD_YES;
    inside->refused = true;
    return answer(inside);
}

/* A part of the body. After a refusal the rest is read and dropped; the connection ends by its deadline at the latest. */
static enum MHD_Result take_body(struct rv_http_inside *inside, const char *data, size_t *length)
{
    rv_http_server *server = inside->server;
    size_t more = *length;

    *length = 0;
    if (inside->refused || inside->body.failed) return MHD_YES;
    if (atomic_fetch_add(&server->bodies, more) + more > server->options.bodies_max) {
        (void)atomic_fetch_sub(&server->bodies, more);
        inside->body.failed = true;
        return MHD_YES;
    }
    size_t before = inside->body.length;
    rv_buf_add(&inside->body, data, more);
    (void)atomic_fetch_sub(&server->bodies, more - (inside->body.length - before));
    return MHD_YES;
}

static enum MHD_Result handle(struct rv_http_inside *inside)
{
    const rv_http_handlers *handlers = &inside->server->options.handlers;

    rv_http_deadline_met(inside->server->deadline, inside->connection);
    if (inside->body.failed) return refuse(inside, 413, "too_big", "the body is too large");
    inside->request.body = inside->body.length > 0 ? inside->body.data : NULL;
    inside->request.length = inside->body.length;
    handlers->handle(&inside->request, handlers->user);
    return answer(inside);
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path, const char *method,
                                  const char *version, const char *data, size_t *length, void **context)
{
    struct rv_http_inside *inside = *context;

    (void)user;
    (void)connection;
    if (inside == NULL) return MHD_NO; /* no memory */
    if (!inside->started) {
        if (!start(inside, path, method)) return MHD_NO;
        if (inside->overlong) return refuse(inside, 414, "too_big", OVERLONG);
        /* A zero byte ended the path for the library; a proxy may have read all of it. */
        return version == inside->line_end + 1 ? begin(inside) : refuse(inside, 400, "invalid", ZERO_BYTE);
    }
    if (*length > 0) return take_body(inside, data, length);
    return inside->refused ? MHD_NO : handle(inside);
}

static void on_end(void *user, struct MHD_Connection *connection, void **context, enum MHD_RequestTerminationCode code)
{
    struct rv_http_inside *inside = *context;
    rv_http_server *server = user;

    (void)code;
    rv_http_deadline_begin(server->deadline, connection);
    if (inside == NULL) return;
    *context = NULL;
    if (inside->request.stream_free != NULL) inside->request.stream_free(inside->request.stream_user);
    if (inside->begun) server->options.handlers.end(&inside->request, server->options.handlers.user);
    if (inside->request.out != NULL) (void)fclose(inside->request.out);
    free(inside->answer);
    (void)atomic_fetch_sub(&server->bodies, inside->body.length);
    rv_buf_fini(&inside->body);
    rv_free(inside);
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    rv_http_server *server = user;

    (void)context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        rv_http_deadline_begin(server->deadline, connection);
    else
        rv_http_deadline_end(server->deadline, connection);
}

/* Paths and queries stay encoded: their parts are decoded after they were taken apart. */
static size_t keep_encoded(void *user, struct MHD_Connection *connection, char *text)
{
    (void)user;
    (void)connection;
    return strlen(text);
}

static void say_nothing(void *user, const char *format, va_list arguments)
{
    (void)user;
    (void)format;
    (void)arguments;
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static bool read_pem(rv_buf *ret, const char *path, rv_error *error)
{
    char part[4096];
    size_t length;
    FILE *file = fopen(path, "re");

    rv_buf_init(ret, PEM_MAX);
    while (file != NULL && (length = fread(part, 1, sizeof(part), file)) > 0) rv_buf_add(ret, part, length);
    bool good = file != NULL && !ferror(file) && !ret->failed && ret->length > 0;
    if (!good) (void)rv_fail(error, REEVE_EINVAL, "%s: cannot be read, or is no PEM file", path);
    if (file != NULL) (void)fclose(file);
    return good;
}

static bool is_encrypted(const rv_http_server *server)
{
    return server->options.cert != NULL;
}

static void start_daemon(rv_http_server *server, http_daemon *to)
{
    const rv_http_options *options = &server->options;
    unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC |
                     MHD_USE_ERROR_LOG | (is_encrypted(server) ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, to->cert.data},
                                   {MHD_OPTION_HTTPS_MEM_KEY, 0, to->key.data},
                                   {MHD_OPTION_HTTPS_PRIORITIES, 0, tls_priorities},
                                   {MHD_OPTION_END, 0, NULL}};

    if (!is_encrypted(server)) tls[0].option = MHD_OPTION_END;
    /* The library closes its descriptor if it cannot start. */
    to->listen_fd = fcntl(options->listen->fd, F_DUPFD_CLOEXEC, 0);
    if (to->listen_fd < 0) return;
    to->daemon = rv_mhd.start_daemon(
        flags, 0, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
        MHD_OPTION_LISTEN_SOCKET, to->listen_fd, MHD_OPTION_CONNECTION_LIMIT, options->connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, options->connections_each, MHD_OPTION_CONNECTION_TIMEOUT,
        options->idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK, MHD_OPTION_NOTIFY_COMPLETED, on_end, server,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_UNESCAPE_CALLBACK, keep_encoded, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, on_request_line, server, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, tls,
        MHD_OPTION_END);
}

/* Its threads may still look at the socket: it is closed when they have ended. */
static void stop_accepting(const http_daemon *of)
{
    if (of->daemon != NULL) (void)rv_mhd.quiesce_daemon(of->daemon);
}

/* Waits for its threads. */
static void stop_daemon(http_daemon *of)
{
    if (of->daemon != NULL) {
        rv_mhd.stop_daemon(of->daemon);
        (void)close(of->listen_fd);
    }
    rv_buf_fini(&of->cert);
    rv_buf_fini(&of->key);
    *of = (http_daemon){0};
}

static void free_server(rv_http_server *server)
{
    stop_daemon(&server->before);
    stop_daemon(&server->now);
    rv_http_deadline_close(server->deadline);
    rv_http_gone_close(server->gone);
    rv_free(server);
}

static bool read_certificate(const rv_http_server *server, http_daemon *to, rv_error *error)
{
    return !is_encrypted(server) ||
           (read_pem(&to->cert, server->options.cert, error) && read_pem(&to->key, server->options.key, error));
}

static reeve_status fail_start(const rv_http_server *server, int reason, rv_error *error)
{
    const rv_http_options *options = &server->options;

    if (is_encrypted(server))
        return rv_fail(error, REEVE_EINVAL, "cannot start the HTTPS server: are %s and %s a certificate and its key?",
                       options->cert, options->key);
    return rv_fail(error, REEVE_ESYSTEM, "cannot start the HTTP server: %s", strerror(reason));
}

reeve_status rv_http_server_start(rv_http_server **ret, const rv_http_options *options, rv_error *error)
{
    reeve_status status = rv_mhd_load(error);
    if (status != REEVE_OK) return status;
    rv_http_server *server = rv_zalloc(sizeof(*server));
    if (server == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for the HTTP server");
    server->options = *options;
    if (!read_certificate(server, &server->now, error)) {
        free_server(server);
        return REEVE_EINVAL;
    }
    server->deadline = rv_http_deadline_open(options->request_seconds);
    server->gone = rv_http_gone_open();
    if (server->deadline != NULL && server->gone != NULL) start_daemon(server, &server->now);
    if (server->now.daemon != NULL) {
        *ret = server;
        return REEVE_OK;
    }
    status = fail_start(server, errno, error);
    free_server(server);
    return status;
}

/* Both accept connections for a moment, so that no client is refused. */
reeve_status rv_http_server_renew(rv_http_server *server, rv_error *error)
{
    http_daemon fresh = {0};

    if (!is_encrypted(server)) return REEVE_OK;
    if (!read_certificate(server, &fresh, error)) {
        stop_daemon(&fresh);
        return REEVE_EINVAL;
    }
    if (fresh.cert.length == server->now.cert.length && fresh.key.length == server->now.key.length &&
        memcmp(fresh.cert.data, server->now.cert.data, fresh.cert.length) == 0 &&
        memcmp(fresh.key.data, server->now.key.data, fresh.key.length) == 0) {
        stop_daemon(&fresh);
        return REEVE_OK;
    }
    start_daemon(server, &fresh);
    if (fresh.daemon == NULL) {
        reeve_status status = fail_start(server, errno, error);
        stop_daemon(&fresh);
        return status;
    }
    stop_accepting(&server->now);
    stop_daemon(&server->before);
    server->before = server->now;
    server->now = fresh;
    return REEVE_OK;
}

void rv_http_server_stop(rv_http_server *server)
{
    if (server == NULL) return;
    stop_accepting(&server->now);
    rv_http_deadline_cut(server->deadline);
    free_server(server);
}
