#include "redis/cluster_listen.h"

#include <poll.h>

#include "redis/cluster_calls.h"
#include "redis/cluster_links.h"

#define SUBSCRIBED_MAX 256 /* masters that a connection subscribes on */

/* How often a subscription looks whether it is still on all masters, and sends PINGs that are due. A node on which it
 * is missing takes the worker for one that has ended: its threads are then woken instead of handed tasks. */
#define LOOK_MS 5000

static reeve_status subscribe_on(rv_conn *conn, int node, int64_t deadline, const rv_reply **ret)
{
    rv_link *link;
    reeve_status status = rv_cluster_links_reach(conn, node, -1, deadline, &link);
    if (status != REEVE_OK) return status;
    rv_conn_discard(link->conn);
    rv_command_forward(&link->conn->commands, &conn->commands, 0);
    status = rv_conn_call(link->conn, deadline, ret);
    rv_cluster_links_note_end(conn, link);
    conn->links->last = link;
    return status == REEVE_OK ? status : rv_fail(&conn->error, status, "%s", rv_conn_error(link->conn)->text);
}

reeve_status rv_cluster_listen_subscribe(rv_conn *conn, int64_t deadline, const rv_reply **ret)
{
    rv_cluster_links *links = conn->links;
    reeve_status status = REEVE_OK;
    unsigned version = rv_cluster_version(links->cluster);
    int masters = 0;
    for (int node = 0; status == REEVE_OK; node++, masters++) {
        node = rv_cluster_next_master(links->cluster, node);
        if (node == RV_CLUSTER_NO_NODE) break;
        status = masters < SUBSCRIBED_MAX
                     ? subscribe_on(conn, node, deadline, ret)
                     : rv_fail(&conn->error, REEVE_ETOOBIG, "the cluster has more than %d masters", SUBSCRIBED_MAX);
    }
    if (status == REEVE_OK && masters == 0)
        return rv_fail(&conn->error, REEVE_ECONNECT, "the cluster has no masters (%s)", conn->url->redacted);
    links->version = version;
    return status;
}

static bool is_everywhere(const rv_conn *conn, size_t subscribed)
{
    return subscribed < 2 || rv_cluster_version(conn->links->cluster) == conn->links->version;
}

static reeve_status lose(rv_conn *conn, reeve_status status, const char *words)
{
    rv_cluster_links_close(conn);
    conn->links->stale = true;
    return rv_fail(&conn->error, status, "%s", words);
}

/* A message that has come over one of the links; REEVE_ETIMEOUT: none. */
static reeve_status look(rv_conn *conn, rv_link *const *subscribed, size_t count, const rv_reply **ret)
{
    for (size_t i = 0; i < count; i++) {
        reeve_status status = rv_conn_receive(subscribed[i]->conn, rv_now_ms(), ret);
        conn->links->last = subscribed[i];
        if (status == REEVE_OK || status == REEVE_EINTERRUPTED) return status;
        if (status != REEVE_ETIMEOUT) return lose(conn, REEVE_ELOST, rv_conn_error(subscribed[i]->conn)->text);
    }
    return REEVE_ETIMEOUT;
}

/* Sleeps until bytes come over a link, the waker is rung, or the time has come. False: options.quit is rung. */
static bool sleep_until(const rv_conn *conn, rv_link *const *subscribed, size_t count, int64_t until)
{
    struct pollfd polled[SUBSCRIBED_MAX + 2];
    nfds_t n = 0;
    for (size_t i = 0; i < count; i++)
        polled[n++] = (struct pollfd){.fd = subscribed[i]->conn->transport.fd, .events = POLLIN};
    if (conn->waker != NULL) polled[n++] = (struct pollfd){.fd = conn->waker->fd, .events = POLLIN};
    if (conn->transport.quit != NULL) polled[n++] = (struct pollfd){.fd = conn->transport.quit->fd, .events = POLLIN};
    (void)poll(polled, n, rv_poll_timeout(until));
    return conn->transport.quit == NULL || polled[n - 1].revents == 0;
}

static size_t find_subscribed(const rv_conn *conn, rv_link **ret)
{
    size_t count = 0;
    const rv_cluster_links *links = conn->links;
    for (size_t i = 0; i < links->count && count < SUBSCRIBED_MAX; i++)
        if (links->list[i] != NULL && links->list[i]->conn->subscribed) ret[count++] = links->list[i];
    return count;
}

reeve_status rv_cluster_listen_receive(rv_conn *conn, int64_t deadline, const rv_reply **ret)
{
    rv_cluster_links *links = conn->links;
    rv_link *subscribed[SUBSCRIBED_MAX];
    *ret = NULL;
    if (deadline == 0) deadline = rv_deadline(conn->command_ms);
    for (;;) {
        size_t count = find_subscribed(conn, subscribed);
        if (count == 0 || !links->open)
            return rv_fail(&conn->error, REEVE_ECONNECT, "not connected to Redis (%s)", conn->url->redacted);
        if (!is_everywhere(conn, count))
            return lose(conn, REEVE_ELOST, "hash slots of the cluster have other owners now");
        reeve_status status = look(conn, subscribed, count, ret);
        if (status != REEVE_ETIMEOUT) return status;
        int64_t next = rv_deadline(LOOK_MS);
        if (rv_now_ms() >= deadline || !sleep_until(conn, subscribed, count, next < deadline ? next : deadline))
            return rv_fail(&conn->error, REEVE_ETIMEOUT, "no message came");
    }
}
