/*
 * cluster_links.h - a connection to a Redis Cluster: a link, which is a plain connection, to each node that it has
 * needed so far. What rv_conn offers stays the same: commands are built into the outer connection, each goes over the
 * link of the node that serves its key, and the replies come as if one server had given them.
 *
 * The outer connection counts as lost as soon as one of its links is: its caller cannot tell which of its commands
 * were carried out. Commands for other nodes are sent all the same. One thread at a time, as with rv_conn.
 */
#ifndef RV_CLUSTER_LINKS_H
#define RV_CLUSTER_LINKS_H

#include "redis/cluster.h"
#include "redis/conn_private.h"

typedef struct rv_link {
    rv_url url; /* of the node */
    int node;   /* its number; RV_CLUSTER_NO_NODE: an endpoint of the URL */
    char host[RV_CLUSTER_HOST_MAX + 1];
    rv_conn *conn;
    bool was_open;
    bool is_used; /* commands of callers went over it since the last WAIT */
} rv_link;

/* A hash slot whose node must be connected. */
typedef struct rv_home {
    int slot;
    rv_link *link; /* once it was open */
} rv_home;

struct rv_waits;

struct rv_cluster_links {
    rv_cluster *cluster; /* borrowed from the URL */
    rv_link **list;      /* by the node's number; NULL: not needed so far */
    size_t count;
    char name[64];
    int64_t spin_us;
    bool open;         /* as rv_conn_is_open, apart from home */
    bool stale;        /* the map is to be fetched at the next open */
    bool format_known; /* the version of the namespace's data was looked at */
    rv_home *homes;    /* rv_conn_add_home */
    size_t home_count;
    rv_link *last;          /* over which the last reply of a call came */
    struct rv_waits *waits; /* cluster_wait.h; NULL: none so far */
    unsigned version;       /* of the map, when the connection subscribed to channels on all masters */
    char words[256];        /* of refusal */
    rv_reply refusal;       /* an error in the place of ASK, or of MOVED where that did not help */
};

/* For rv_conn_create, where the URL is that of a cluster. REEVE_OK, REEVE_ENOMEM. */
reeve_status rv_cluster_links_create(rv_conn *conn, const rv_conn_options *options);
void rv_cluster_links_destroy(rv_conn *conn);

/* REEVE_OK, REEVE_ENOMEM. */
reeve_status rv_cluster_links_add_home(rv_conn *conn, int slot);
/* Whether the slot is that of a home. */
bool rv_cluster_links_is_home(const rv_conn *conn, int slot);

/* A link of its own to a node of the map, which is not open yet; the caller frees it. REEVE_OK, REEVE_ECONNECT: there is
 * no such node, REEVE_ENOMEM. */
reeve_status rv_cluster_links_make(rv_conn *conn, int node, rv_link **ret);
void rv_cluster_links_free(rv_link *link); /* NULL is fine */

/* Fetches the map where a node redirected, or was lost; not more than once a second for all connections. */
void rv_cluster_links_refresh(rv_conn *conn, int64_t deadline);

/* As the functions of rv_conn with these names. */
reeve_status rv_cluster_links_open(rv_conn *conn, int64_t deadline);
bool rv_cluster_links_are_open(const rv_conn *conn);
void rv_cluster_links_close(rv_conn *conn);
void rv_cluster_links_set_quit(rv_conn *conn, const rv_waker *quit);
void rv_cluster_links_check_end(rv_conn *conn);
void rv_cluster_links_end_lost(rv_conn *conn, int64_t deadline);
void rv_cluster_links_adopt_losses(rv_conn *conn, const rv_conn *other);

/*
 * The open link to a node; slot: for which it is asked, or RV_ROUTE_ANY. A link that was open before is opened anew:
 * the outer connection's epoch changes then, and what it lost is ended on the node. On failure conn->error has the
 * words. REEVE_OK, REEVE_ECONNECT, REEVE_ENOMEM.
 */
reeve_status rv_cluster_links_reach(rv_conn *conn, int node, int slot, int64_t deadline, rv_link **ret);
/* The node that a slot's commands go to; for RV_ROUTE_ANY one with an open link, if there is one. */
int rv_cluster_links_node_for(rv_conn *conn, int slot);
/* Whether the link to this node is open. */
bool rv_cluster_links_is_up(const rv_conn *conn, int node);
/* Something was lost, of which no link tells: the outer connection is closed, and its next open looks at the map. */
void rv_cluster_links_lose(rv_conn *conn);
/* After a call over a link: a link that is closed, or is to be left, closes the outer connection. */
void rv_cluster_links_note_end(rv_conn *conn, const rv_link *link);
/* After MOVED: whoever looks at the epoch sees that the node is another one. */
void rv_cluster_links_note_moved(rv_conn *conn, unsigned slot, const rv_cluster_node *node);

#endif
