/*
 * conn_open.c - how a connection is opened: where to, the attempts, and the pauses between them.
 */
#include <poll.h>

#include "base/backoff.h"
#include "base/id.h"
#include "base/log.h"
#include "redis/cluster_links.h"
#include "redis/conn_private.h"

/* Before the server's address is asked for again. */
#define ASK_AGAIN_MS 100
/* All connections of a URL notice at once that the data have moved: each waits for a random time up to this. */
#define MOVED_JITTER_MS 100

static reeve_status open_failed(rv_conn *conn, const rv_error *reason)
{
    rv_conn_drop(conn, true);
    if (reason->status != REEVE_ECONNECT) return rv_fail(&conn->error, reason->status, "%s", reason->text);
    return rv_fail(&conn->error, REEVE_ECONNECT, "cannot connect to Redis at %s: %s", conn->url->redacted,
                   reason->text);
}

/* REEVE_OK: the time has passed, or `quit` was rung, as if the deadline had passed. */
static reeve_status pause_until(const rv_conn *conn, int64_t until, const rv_waker *waker, rv_error *error)
{
    const rv_waker *quit = conn->transport.quit;
    struct pollfd bells[2] = {{.fd = waker ? waker->fd : -1, .events = POLLIN},
                              {.fd = quit ? quit->fd : -1, .events = POLLIN}};
    while (rv_now_ms() < until) {
        if (poll(bells, 2, rv_poll_timeout(until)) <= 0) continue;
        if (bells[1].revents) return REEVE_OK;
        return rv_fail(error, REEVE_EINTERRUPTED, "interrupted while connecting to Redis");
    }
    return REEVE_OK;
}

/* The URL does not have the address. */
static void name_address(const rv_address *address, rv_error *reason)
{
    const rv_error words = *reason;
    (void)rv_fail(reason, words.status, "%s port %d: %s", address->host, address->port, words.text);
}

/* *ret_again: another question may lead to another server. */
static reeve_status connect_once(rv_conn *conn, const rv_topology_ask *ask, bool *ret_again, rv_error *reason)
{
    *ret_again = false;
    *reason = (rv_error){0};
    conn->denied = false;
    reeve_status status = rv_topology_resolve(conn->url, ask, &conn->address, reason);
    if (status != REEVE_OK) return status;
    int64_t until = rv_topology_attempt(conn->url, ask->deadline);
    status = rv_transport_open(&conn->transport, &conn->address, until, ask->waker, reason);
    if (status == REEVE_OK) status = rv_conn_handshake(conn, until, ask->waker, reason);
    if (status == REEVE_OK) rv_topology_opened(conn->url, &conn->address);
    if (status != REEVE_ECONNECT) return status;
    if (!conn->denied) *ret_again = rv_topology_failed(conn->url, &conn->address);
    if (conn->url->topology) name_address(&conn->address, reason);
    return status;
}

static bool is_quit(const rv_conn *conn)
{
    const rv_waker *quit = conn->transport.quit;
    return quit && rv_waker_wait(quit, 0);
}

/* Until it succeeds, or asking again is of no use, or the time has passed. */
static reeve_status connect_until(rv_conn *conn, const rv_topology_ask *ask, rv_error *reason)
{
    rv_error before = {0};
    for (bool again;; before = *reason) {
        reeve_status status = connect_once(conn, ask, &again, reason);
        /* That the time is up says less than why the attempt before failed. */
        bool is_late = status == REEVE_ECONNECT && rv_now_ms() >= ask->deadline;
        if (is_late && before.status == REEVE_ECONNECT) *reason = before;
        if (!again || rv_now_ms() + ASK_AGAIN_MS >= ask->deadline || is_quit(conn)) return status;
        rv_conn_drop(conn, true);
        status = pause_until(conn, rv_deadline(ASK_AGAIN_MS), ask->waker, reason);
        if (status != REEVE_OK) return status;
    }
}

/* Closes what cannot be used any more, before a new attempt. */
static reeve_status leave_old(rv_conn *conn, const rv_waker *waker, rv_error *reason)
{
    bool moved = conn->epoch > 0 && !rv_topology_is_current(conn->url, &conn->address);
    rv_conn_drop(conn, false);
    if (!moved) return REEVE_OK;
    return pause_until(conn, rv_deadline((int64_t)(MOVED_JITTER_MS * rv_random_unit())), waker, reason);
}

static reeve_status open_once(rv_conn *conn, int64_t deadline, const rv_waker *waker)
{
    rv_error reason = {0};
    if (conn->links) return rv_cluster_links_open(conn, deadline);
    if (rv_conn_is_open(conn)) return REEVE_OK;
    const rv_topology_ask ask = {.deadline = deadline, .waker = waker, .quit = conn->transport.quit, .slot = -1};
    reeve_status status = leave_old(conn, waker, &reason);
    if (status == REEVE_OK) status = connect_until(conn, &ask, &reason);
    if (status != REEVE_OK) return open_failed(conn, &reason);
    rv_reply_reader_settle(&conn->reader);
    conn->held = false;
    conn->leaves = false; /* the handshake evaluates its own refusals */
    conn->epoch++;
    conn->opened_ms = conn->heard_ms = rv_now_ms();
    conn->pinged_ms = 0;
    return REEVE_OK;
}

reeve_status rv_conn_open(rv_conn *conn, int64_t deadline)
{
    return open_once(conn, deadline == 0 ? rv_deadline(conn->command_ms) : deadline, NULL);
}

/* ---- for ever -------------------------------------------------------------------------------------------------- */

static void say_down(rv_conn *conn)
{
    if (conn->down) return;
    conn->down = true;
    rv_log(REEVE_LOG_WARN, "redis.down", "Redis cannot be reached: the client tries again until it is back", "url",
           conn->url->redacted, "error", conn->error.text, NULL);
}

static void say_up(rv_conn *conn)
{
    if (conn->down) rv_log(REEVE_LOG_INFO, "redis.up", "Redis is back", "url", conn->url->redacted, NULL);
    conn->down = false;
    conn->lost = false;
}

static bool pause_was_interrupted(const rv_conn *conn, unsigned tries)
{
    int64_t until = rv_deadline(rv_backoff_reconnect(tries, rv_random_unit()));
    if (conn->waker) return rv_waker_wait(conn->waker, until);
    while (rv_now_ms() < until) (void)poll(NULL, 0, rv_poll_timeout(until));
    return false;
}

/* No use trying again. */
static bool is_final(reeve_status status)
{
    return status == REEVE_OK || status == REEVE_EINTERRUPTED || status == REEVE_EUNSUPPORTED;
}

reeve_status rv_conn_persist(rv_conn *conn)
{
    if (conn->lost && !rv_conn_is_open(conn)) say_down(conn);
    for (unsigned tries = 1;; tries++) {
        reeve_status status = open_once(conn, rv_deadline(conn->command_ms), conn->waker);
        if (status == REEVE_OK) say_up(conn);
        if (is_final(status)) return status;
        say_down(conn);
        if (pause_was_interrupted(conn, tries))
            return rv_fail(&conn->error, REEVE_EINTERRUPTED, "interrupted while connecting to Redis");
    }
}
