#include "support/peer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/cmocka.h"
#include "support/dirs.h"

#define HELD_MAX 65536

struct test_peer {
    const peer_step *script;
    char *dir;
    char url[256];
    rv_url parsed;
    rv_waker stop;
    int listener;
    int fd;              /* the connection, or -1 */
    char held[HELD_MAX]; /* bytes that came and make no whole command yet */
    size_t held_length;
    pthread_t thread;
};

/* False when the peer is to stop. */
static bool await(const test_peer *peer, int fd, short events)
{
    struct pollfd fds[2] = {{.fd = fd, .events = events}, {.fd = peer->stop.fd, .events = POLLIN}};
    while (poll(fds, 2, -1) < 0 && errno == EINTR) continue;
    return fds[1].revents == 0;
}

static bool have_connection(test_peer *peer)
{
    if (peer->fd >= 0) return true;
    if (!await(peer, peer->listener, POLLIN)) return false;
    peer->fd = accept4(peer->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    peer->held_length = 0;
    return peer->fd >= 0;
}

static void hang_up(test_peer *peer)
{
    if (peer->fd >= 0) close(peer->fd);
    peer->fd = -1;
}

/* Reads what comes, at most so that held is full; false at the end. */
static bool take_bytes(test_peer *peer)
{
    if (!await(peer, peer->fd, POLLIN)) return false;
    ssize_t got = recv(peer->fd, peer->held + peer->held_length, HELD_MAX - peer->held_length, 0);
    if (got > 0) peer->held_length += (size_t)got;
    return got > 0;
}

static void drop_bytes(test_peer *peer, size_t count)
{
    memmove(peer->held, peer->held + count, peer->held_length - count);
    peer->held_length -= count;
}

/* Reads "*n\r\n" or "$n\r\n" at *at; false when it is not all there. */
static bool read_head(const test_peer *peer, size_t *at, size_t *ret)
{
    const char *end = memmem(peer->held + *at, peer->held_length - *at, "\r\n", 2);
    if (!end) return false;
    *ret = strtoul(peer->held + *at + 1, NULL, 10);
    *at = (size_t)(end - peer->held) + 2;
    return true;
}

/* The length of the first whole command, or 0. */
static size_t whole_command(const test_peer *peer)
{
    size_t at = 0, args, length;
    if (!read_head(peer, &at, &args)) return 0;
    for (; args > 0; args--) {
        if (!read_head(peer, &at, &length) || at + length + 2 > peer->held_length) return 0;
        at += length + 2;
    }
    return at;
}

static bool read_commands(test_peer *peer, size_t count)
{
    while (count > 0) {
        size_t length = whole_command(peer);
        if (length == 0 && !take_bytes(peer)) return false;
        if (length == 0) continue;
        drop_bytes(peer, length);
        count--;
    }
    return true;
}

static bool read_bytes(test_peer *peer, size_t count)
{
    for (;;) {
        size_t now = peer->held_length < count ? peer->held_length : count;
        drop_bytes(peer, now);
        count -= now;
        if (count == 0) return true;
        if (!take_bytes(peer)) return false;
    }
}

/* A client that hung up is no failure of the peer's: the script goes on. */
static bool say(test_peer *peer, const char *data, size_t length)
{
    while (length > 0) {
        if (!await(peer, peer->fd, POLLOUT)) return false;
        ssize_t put = send(peer->fd, data, length, MSG_NOSIGNAL);
        if (put < 0 && errno != EAGAIN) return true;
        if (put < 0) continue;
        data += put;
        length -= (size_t)put;
    }
    return true;
}

static bool say_in_pieces(test_peer *peer, const peer_step *step)
{
    size_t piece = step->piece > 0 ? step->piece : step->count;
    for (size_t at = 0; at < step->count; at += piece) {
        size_t length = step->count - at < piece ? step->count - at : piece;
        if (!say(peer, step->data + at, length)) return false;
    }
    return true;
}

static bool say_again(test_peer *peer, const peer_step *step)
{
    for (size_t i = 0; i < step->count; i++)
        if (!say(peer, step->data, strlen(step->data))) return false;
    return true;
}

static bool play(test_peer *peer, const peer_step *step)
{
    if (!have_connection(peer)) return false;
    switch (step->verb) {
    case PEER_COMMANDS:
        return read_commands(peer, step->count);
    case PEER_BYTES:
        return read_bytes(peer, step->count);
    case PEER_SEND:
        return say_in_pieces(peer, step);
    case PEER_REPEAT:
        return say_again(peer, step);
    case PEER_CLOSE:
        hang_up(peer);
        return true;
    case PEER_STALL:
        rv_waker_wait(&peer->stop, RV_FOREVER);
        return false;
    case PEER_END:
        break;
    }
    return false;
}

static void *play_all(void *context)
{
    test_peer *peer = context;
    for (const peer_step *step = peer->script; step->verb != PEER_END; step++)
        if (!play(peer, step)) break;
    hang_up(peer);
    close(peer->listener);
    return NULL;
}

static void listen_on(test_peer *peer)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s/peer.sock", peer->dir);
    assert_true(length > 0 && (size_t)length < sizeof(address.sun_path));
    (void)snprintf(peer->url, sizeof(peer->url), "unix://%s", address.sun_path);
    assert_int_equal(rv_url_parse(&peer->parsed, peer->url, NULL), REEVE_OK);
    peer->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(peer->listener >= 0);
    assert_int_equal(bind(peer->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(peer->listener, 16), 0);
}

test_peer *test_peer_start(const peer_step *script)
{
    test_peer *peer = calloc(1, sizeof(*peer));
    assert_non_null(peer);
    peer->script = script;
    peer->fd = -1;
    peer->dir = test_make_dir();
    assert_int_equal(rv_waker_init(&peer->stop, NULL), REEVE_OK);
    listen_on(peer);
    assert_int_equal(pthread_create(&peer->thread, NULL, play_all, peer), 0);
    return peer;
}

void test_peer_stop(test_peer *peer)
{
    rv_waker_ring(&peer->stop);
    pthread_join(peer->thread, NULL);
    rv_waker_fini(&peer->stop);
    rv_url_fini(&peer->parsed);
    test_remove_dir(peer->dir);
    free(peer->dir);
    free(peer);
}

rv_conn *test_peer_conn(test_peer *peer, const rv_waker *waker, int64_t command_ms)
{
    rv_conn *conn;
    const rv_conn_options options = {.url = &peer->parsed, .waker = waker, .command_ms = command_ms};
    assert_int_equal(rv_conn_create(&conn, &options, NULL), REEVE_OK);
    return conn;
}

const char *test_peer_url(const test_peer *peer)
{
    return peer->url;
}
