/*
 * http_fuzz.c - random requests to `reeve web`, which look like real ones and are then spoilt: methods, paths, queries, filters, JSON
 * bodies, cookies, headers, chunks, and clients that leave in the middle. After each few of them another client must be answered.
 *
 *     http_fuzz PORT SEED ROUNDS TOKEN
 *
 * TOKEN is a bearer token that the server knows. Ends with 0 when the server has answered to the end; else it prints the seed, the
 * round and the request.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)64 * 1024)
#define ANSWER_MS 15000
#define HEALTH_EVERY 25

static uint64_t seed_now;
static int port;
static const char *token;

static unsigned below(unsigned limit)
{
    seed_now ^= seed_now << 13;
    seed_now ^= seed_now >> 7;
    seed_now ^= seed_now << 17;
    return (unsigned)((seed_now >> 16) % limit);
}

#define ONE_OF(list) (list)[below(sizeof(list) / sizeof((list)[0]))]

/* ---- texts ----------------------------------------------------------------------------------------------------- */

typedef struct text {
    char data[TEXT_MAX];
    size_t length;
} text;

static void add(text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(text *to, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    int length = vsnprintf(to->data + to->length, TEXT_MAX - to->length, format, list);
    va_end(list);
    if (length > 0 && to->length + (size_t)length < TEXT_MAX) to->length += (size_t)length;
}

static void add_byte(text *to, unsigned byte)
{
    if (to->length + 1 < TEXT_MAX) to->data[to->length++] = (char)byte;
}

static const char *const methods[] = {"GET", "POST", "DELETE", "HEAD", "PUT", "OPTIONS", "get", ""};
static const char *const queues[] = {"jobs", "mail", "nobody", "a%2Fb", "%zz", "jobs%00", "..", "%e4"};
static const char *const ids[] = {"job-1", "job-2", "job-3", "a%3Ab", "none", "%", "%25", "job-1%0d%0aX:1"};
static const char *const leaves[] = {"retry",     "cancel", "reschedule", "priority", "settle",
                                     "heartbeat", "log",    "parents",    "other"};
static const char *const parts[] = {"tasks",  "lease", "preview",  "operations", "limits",  "pause",
                                    "resume", "why",   "failures", "stats",      "minutes", "x"};
static const char *const plain[] = {"",
                                    "health",
                                    "ready",
                                    "metrics",
                                    "api/v1/session",
                                    "api/v1/login",
                                    "api/v1/overview",
                                    "api/v1/queues",
                                    "api/v1/workers",
                                    "api/v1/crashes",
                                    "api/v1/cron",
                                    "api/v1/operations",
                                    "api/v1/operations/1",
                                    "api/v1/logout",
                                    "assets/app.js",
                                    "assets/%2e%2e/x",
                                    "api/v1/cron/jobs/nightly/pause",
                                    "api/v1/redis",
                                    "api/v1"};
static const char *const names[] = {"state",     "type",      "kind",        "tag",    "group",      "meta",
                                    "worker",    "id-prefix", "payload-has", "failed", "not-failed", "older-than",
                                    "due-after", "limit",     "cursor",      "offset", "prefix",     "days",
                                    "minutes",   "find",      "typo"};
static const char *const members[] = {"action",  "filter",  "expected",    "count", "for",   "lease",      "outcome",
                                      "result",  "type",    "payload",     "id",    "in",    "at",         "priority",
                                      "reason",  "cascade", "concurrency", "rate",  "group", "each_group", "strict",
                                      "forget",  "user",    "password",    "state", "tags",  "after",      "meta",
                                      "message", "kind",    "delay",       "",      "unique"};
static const char *const values[] = {"ready",
                                     "dead",
                                     "all",
                                     "retry",
                                     "cancel",
                                     "delete",
                                     "1h",
                                     "-1",
                                     "0",
                                     "5",
                                     "99999999999999999999",
                                     "1e308",
                                     "100/1s",
                                     "100/1s:0",
                                     "k=v",
                                     "=",
                                     "done",
                                     "job-1",
                                     "true",
                                     "2026-11-21T09:00:00Z",
                                     "dead:~20~31",
                                     "\\u0000",
                                     "\\ud800",
                                     "jobs/job-1",
                                     "every 1s",
                                     ""};

static void add_value(text *to)
{
    if (below(4) > 0) {
        add(to, "%s", ONE_OF(values));
        return;
    }
    for (unsigned n = below(40); n > 0; n--) add(to, below(3) == 0 ? "%%%02X" : "%c", 33 + below(90));
}

static void add_json(text *to, int depth)
{
    switch (below(depth > 3 ? 5 : 8)) {
    case 0:
        add(to, "%s", below(2) == 0 ? "true" : "null");
        break;
    case 1:
        add(to, "%d", (int)below(2000) - 1000);
        break;
    case 2:
        add(to, "%s", below(2) == 0 ? "1e999" : "12345678901234567890");
        break;
    case 3:
    case 4:
        add(to, "\"");
        add_value(to);
        add(to, "\"");
        break;
    case 5:
        add(to, "[");
        for (unsigned n = below(4); n > 0; n--) {
            add_json(to, depth + 1);
            add(to, n > 1 ? "," : "");
        }
        add(to, "]");
        break;
    default:
        add(to, "{");
        for (unsigned n = below(5); n > 0; n--) {
            add(to, "\"%s\":", ONE_OF(members));
            add_json(to, depth + 1);
            add(to, n > 1 ? "," : "");
        }
        add(to, "}");
    }
}

/* A change of many tasks: its filter is an object of filters, or anything. */
static void add_operation(text *to)
{
    add(to, "{\"action\":\"%s\",\"expected\":%u,\"filter\":", below(2) == 0 ? "retry" : "cancel", below(4));
    if (below(2) == 0) {
        add_json(to, 2);
    } else {
        add(to, "{\"state\":\"ready\"");
        for (unsigned n = below(4); n > 0; n--) {
            add(to, ",\"%s\":", ONE_OF(names));
            add_json(to, 2);
        }
        add(to, "}");
    }
    add(to, "}");
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

static void add_path(text *to)
{
    unsigned kind = below(4);

    if (kind == 0) add(to, "/%s", ONE_OF(plain));
    if (kind == 1) add(to, "/api/v1/tasks/%s/%s/%s", ONE_OF(queues), ONE_OF(ids), ONE_OF(leaves));
    if (kind > 1) add(to, "/api/v1/queues/%s/%s", ONE_OF(queues), ONE_OF(parts));
    for (unsigned n = below(4); n > 0; n--) {
        add(to, "%c%s", strchr(to->data, '?') == NULL ? '?' : '&', ONE_OF(names));
        if (below(8) > 0) add(to, "=");
        add_value(to);
    }
}

static void add_headers(text *to)
{
    add(to, "Host: %s\r\n", below(10) == 0 ? "evil.example" : "localhost");
    if (below(5) > 0)
        add(to, "Authorization: Bearer %s\r\n", token);
    else if (below(2) == 0)
        add(to, "Cookie: a=%u; reeve_session%s%064x; ;=\r\n", below(9), below(2) == 0 ? "=" : "", below(1u << 30));
    if (below(8) == 0) add(to, "Origin: http://%s\r\nSec-Fetch-Site: cross-site\r\n", ONE_OF(queues));
    if (below(8) == 0) add(to, "Accept-Encoding: gzip;q=%u.%u, %s\r\n", below(2), below(10), ONE_OF(values));
    if (below(8) == 0) add(to, "If-None-Match: \"%s\r\nRange: bytes=%u-\r\n", ONE_OF(values), below(100));
    if (below(10) == 0) add(to, "X-%s: %s\r\n y\r\n", ONE_OF(names), ONE_OF(values));
    if (below(20) == 0)
        for (int i = 0; i < 120; i++) add(to, "X-%d: 1\r\n", i);
}

/* A body is JSON, often of the members that routes take, with its length, in chunks, or with a length that is not its own. */
static void make_request(text *to)
{
    static text body;

    to->length = body.length = 0;
    memset(to->data, 0, 64);
    add_json(&body, 0);
    if (below(3) > 0) { /* an object at the top */
        body.length = 0;
        add(&body, "{\"%s\":", ONE_OF(members));
        add_json(&body, 1);
        add(&body, ",\"%s\":", ONE_OF(members));
        add_json(&body, 1);
        add(&body, "}");
    }
    bool acts = below(2) == 0, operates = below(6) == 0;
    if (operates) {
        acts = true;
        body.length = 0;
        add_operation(&body);
        add(to, "POST /api/v1/queues/jobs/%s", below(2) == 0 ? "preview" : "operations");
    } else {
        add(to, "%s ", below(8) == 0 ? ONE_OF(methods) : acts ? "POST" : "GET");
        add_path(to);
    }
    add(to, " HTTP/1.%u\r\n", below(20) == 0 ? below(10) : 1);
    add_headers(to);
    add(to, "Connection: %s\r\n", below(3) == 0 ? "keep-alive" : "close");
    unsigned way = below(10);
    if (way == 0) add(to, "Transfer-Encoding: chunked\r\n\r\n%zx\r\n%s\r\n0\r\n\r\n", body.length, body.data);
    if (way == 1) add(to, "Content-Length: %zu\r\nContent-Length: %u\r\n\r\n", body.length, below(100));
    if (way == 2) add(to, "Content-Length: %u\r\n\r\n", below(1u << 30));
    if (way > 2) add(to, acts ? "Content-Length: %zu\r\n\r\n" : "\r\n", body.length);
    if (way > 2 && acts)
        for (size_t i = 0; i < body.length; i++) add_byte(to, (unsigned char)body.data[i]);
    if (below(3) > 0) return;
    for (unsigned n = 1 + below(4); n > 0 && to->length > 1; n--) { /* spoilt */
        size_t at = below((unsigned)to->length);
        if (below(2) == 0)
            to->data[at] = (char)below(256);
        else if (below(2) == 0)
            memmove(to->data + at, to->data + at + 1, to->length-- - at - 1);
        else
            to->length = at + 1;
    }
}

/* ---- the connection -------------------------------------------------------------------------------------------- */

static int connect_now(void)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0) return fd;
    if (fd >= 0) (void)close(fd);
    return -1;
}

/* The status of an answer; 0: none came, or it was closed. -1: what came is no HTTP. */
static int read_status(int fd, int wait_ms)
{
    char head[16] = "";
    size_t have = 0;
    struct pollfd at = {.fd = fd, .events = POLLIN};

    while (have < 12) {
        if (poll(&at, 1, wait_ms) <= 0) return 0;
        ssize_t got = recv(fd, head + have, 12 - have, 0);
        if (got <= 0) return 0;
        have += (size_t)got;
    }
    int status = memcmp(head, "HTTP/1.", 7) == 0 ? atoi(head + 9) : -1;
    return status >= 100 && status < 600 ? status : -1;
}

static bool is_healthy(void)
{
    static const char health[] = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    int fd = connect_now();
    bool good = fd >= 0 && send(fd, health, sizeof(health) - 1, MSG_NOSIGNAL) > 0 && read_status(fd, ANSWER_MS) == 200;

    if (fd >= 0) (void)close(fd);
    return good;
}

/* Sends it in one to three parts; some clients leave at once, others end their half, or wait a little for the answer. */
static bool try_one(const text *request)
{
    int fd = connect_now();
    size_t sent = 0;
    int status = 0;

    if (fd < 0) return false;
    for (unsigned n = 1 + below(3); n > 0; n--) {
        size_t more = n == 1 ? request->length - sent : below((unsigned)(request->length - sent) + 1);
        if (more > 0 && send(fd, request->data + sent, more, MSG_NOSIGNAL) < 0) break;
        sent += more;
    }
    unsigned leaves_how = below(4);
    if (leaves_how == 1) (void)shutdown(fd, SHUT_WR);
    if (leaves_how > 0) status = read_status(fd, leaves_how == 3 ? 200 : 20);
    (void)close(fd);
    return status >= 0 && status != 500;
}

int main(int argc, char **argv)
{
    static text request;

    if (argc != 5) return 2;
    port = atoi(argv[1]);
    uint64_t seed = strtoull(argv[2], NULL, 10);
    int rounds = atoi(argv[3]);
    token = argv[4];
    seed_now = seed * 0x9E3779B97F4A7C15u + 1;
    for (int round = 0; round < rounds; round++) {
        make_request(&request);
        if (try_one(&request) && (round % HEALTH_EVERY != 0 || is_healthy())) continue;
        (void)fprintf(stderr, "http_fuzz: seed %llu, round %d:\n%.*s\n", (unsigned long long)seed, round,
                      (int)request.length, request.data);
        return 1;
    }
    return is_healthy() ? 0 : 1;
}
