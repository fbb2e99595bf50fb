#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fork.h"
#include "redis/lookup.h"
#include "redis/tls.h"
#include "redis/transport.h"

/* A TCP peer that disappears silently is detected within half a minute: until then a task that is handed to an idle
 * thread over such a connection stays leased. */
#define KEEPALIVE_IDLE_S 15
#define KEEPALIVE_INTERVAL_S 5
#define KEEPALIVE_COUNT 3
/* What was sent and is not acknowledged for as long ends the connection, too: keepalive is silent then. */
#define UNACKNOWLEDGED_MS 30000U

#define UNIX_RETRY_MS 5

static ssize_t plain_read(rv_transport *transport, void *data, size_t length)
{
    return recv(transport->fd, data, length, 0);
}

static ssize_t plain_write(rv_transport *transport, const void *data, size_t length)
{
    return send(transport->fd, data, length, MSG_NOSIGNAL);
}

static bool plain_has_buffered(const rv_transport *transport)
{
    (void)transport;
    return false;
}

static void plain_close(rv_transport *transport)
{
    (void)transport;
}

static bool plain_has_news(rv_transport *transport)
{
    char byte;
    ssize_t got = recv(transport->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

static const rv_transport_ops plain = {.read = plain_read,
                                       .write = plain_write,
                                       .has_buffered = plain_has_buffered,
                                       .has_news = plain_has_news,
                                       .close = plain_close};

static reeve_status connect_failed(int reason, rv_error *error)
{
    char words[128];
    return rv_fail(error, REEVE_ECONNECT, "%s", strerror_r(reason, words, sizeof(words)));
}

/* Waits for a connect(2) that is under way and fetches its outcome. */
static reeve_status finish_connect(rv_transport *transport, int64_t deadline, const rv_waker *waker, rv_error *error)
{
    short events;
    reeve_status status = rv_transport_wait(transport, POLLOUT, deadline, waker, &events);
    if (status == REEVE_EINTERRUPTED) return rv_fail(error, status, "interrupted while connecting");
    if (status == REEVE_ETIMEOUT) return rv_fail(error, REEVE_ECONNECT, "no answer to the attempt to connect");
    int outcome = errno;
    socklen_t length = sizeof(outcome);
    if (status == REEVE_OK && getsockopt(transport->fd, SOL_SOCKET, SO_ERROR, &outcome, &length) != 0) outcome = errno;
    return outcome == 0 ? REEVE_OK : connect_failed(outcome, error);
}

/* connect(2) to a unix socket whose backlog is full fails with EAGAIN, and there is no event to poll for. */
static reeve_status pause_for_queue(const rv_transport *transport, int64_t deadline, const rv_waker *waker,
                                    rv_error *error)
{
    int64_t until = rv_deadline(UNIX_RETRY_MS);
    const rv_waker *quit = transport->quit;
    struct pollfd bells[2] = {{.fd = quit ? quit->fd : -1, .events = POLLIN},
                              {.fd = waker ? waker->fd : -1, .events = POLLIN}};
    int rung = until > deadline ? 0 : poll(bells, 2, UNIX_RETRY_MS);
    if (until > deadline || (rung > 0 && bells[0].revents))
        return rv_fail(error, REEVE_ECONNECT, "its queue of connections is full");
    if (rung > 0) return rv_fail(error, REEVE_EINTERRUPTED, "interrupted while connecting");
    return REEVE_OK;
}

static reeve_status connect_socket(rv_transport *transport, const struct sockaddr *address, socklen_t length,
                                   int64_t deadline, const rv_waker *waker, rv_error *error)
{
    while (connect(transport->fd, address, length) != 0) {
        if (errno == EINPROGRESS || errno == EINTR) return finish_connect(transport, deadline, waker, error);
        if (errno != EAGAIN || address->sa_family != AF_UNIX) return connect_failed(errno, error);
        reeve_status status = pause_for_queue(transport, deadline, waker, error);
        if (status != REEVE_OK) return status;
    }
    return REEVE_OK;
}

/* Not a number of a standard stream, which may be free: what a program prints would go to Redis. */
static int open_socket(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    int other = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), reason = errno;
    close(fd);
    errno = reason;
    return other;
}

static reeve_status connect_to(rv_transport *transport, const struct sockaddr *address, socklen_t length,
                               int64_t deadline, const rv_waker *waker, rv_error *error)
{
    transport->ops = &plain;
    transport->generation = rv_fork_generation();
    transport->fd = open_socket(address->sa_family);
    if (transport->fd < 0) return connect_failed(errno, error);
    reeve_status status = connect_socket(transport, address, length, deadline, waker, error);
    if (status != REEVE_OK) rv_transport_close(transport, true);
    return status;
}

static reeve_status open_unix(rv_transport *transport, const char *path, int64_t deadline, const rv_waker *waker,
                              rv_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length >= sizeof(address.sun_path))
        return rv_fail(error, REEVE_ECONNECT, "the path of the socket is longer than %zu bytes",
                       sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, path, length + 1);
    return connect_to(transport, (const struct sockaddr *)&address, sizeof(address), deadline, waker, error);
}

/* Best effort: a connection works without them, a little slower, or slower to notice its end. */
static void tune_tcp(int fd)
{
    const int on = 1, idle = KEEPALIVE_IDLE_S, interval = KEEPALIVE_INTERVAL_S, count = KEEPALIVE_COUNT;
    const unsigned unacknowledged = UNACKNOWLEDGED_MS;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged, sizeof(unacknowledged));
}

/*
 * A connect(2) to a local port without a listener can, once in many thousand attempts, choose that port as its own
 * and connect to itself. Commands would then come back as replies.
 */
static bool reached_itself(int fd)
{
    struct sockaddr_storage here = {0}, there = {0};
    socklen_t here_length = sizeof(here), there_length = sizeof(there);
    if (getsockname(fd, (struct sockaddr *)&here, &here_length) != 0) return false;
    if (getpeername(fd, (struct sockaddr *)&there, &there_length) != 0) return false;
    return here_length == there_length && memcmp(&here, &there, here_length) == 0;
}

static reeve_status settle_tcp(rv_transport *transport, rv_error *error)
{
    if (reached_itself(transport->fd)) {
        rv_transport_close(transport, true);
        return connect_failed(ECONNREFUSED, error);
    }
    tune_tcp(transport->fd);
    return REEVE_OK;
}

/* Connects to one of the addresses, with TLS if the URL has it. *ret_next: another
 * address may do better, since nobody answers there. A peer that answers, and is not the right one, ends the attempt. */
static reeve_status open_at(rv_transport *transport, const rv_address *address, const struct addrinfo *at,
                            int64_t deadline, const rv_waker *waker, bool *ret_next, rv_error *error)
{
    reeve_status status = connect_to(transport, at->ai_addr, at->ai_addrlen, deadline, waker, error);
    if (status == REEVE_OK) status = settle_tcp(transport, error);
    *ret_next = status == REEVE_ECONNECT;
    if (status != REEVE_OK || !address->tls) return status;
    status = rv_tls_start(address->tls, transport, address->host, deadline, waker, error);
    *ret_next = status != REEVE_OK && status != REEVE_EINTERRUPTED && rv_now_ms() >= deadline;
    return status;
}

/* One address's part of the time that is left. */
static int64_t share_of(int64_t deadline, const struct addrinfo *left)
{
    if (deadline == RV_FOREVER) return deadline;
    int64_t count = 0, now = rv_now_ms();
    for (; left; left = left->ai_next) count++;
    return deadline <= now ? deadline : now + (deadline - now + count - 1) / count;
}

static reeve_status open_tcp(rv_transport *transport, const rv_address *address, int64_t deadline,
                             const rv_waker *waker, rv_error *error)
{
    rv_lookup *lookup;
    reeve_status status =
        rv_lookup_host(&lookup, address->host, address->port, deadline, waker, transport->quit, error);
    if (status != REEVE_OK) return status;
    for (const struct addrinfo *at = rv_lookup_addresses(lookup); at; at = at->ai_next) {
        bool next;
        status = open_at(transport, address, at, share_of(deadline, at), waker, &next, error);
        if (!next) break;
    }
    rv_lookup_release(lookup);
    return status;
}

reeve_status rv_transport_open(rv_transport *transport, const rv_address *address, int64_t deadline,
                               const rv_waker *waker, rv_error *error)
{
    if (address->path) return open_unix(transport, address->path, deadline, waker, error);
    if (address->secret && !address->tls)
        return rv_fail(error, REEVE_ECONNECT, "TLS was not set up for this URL, and it is not spoken to in plain text");
    return open_tcp(transport, address, deadline, waker, error);
}
