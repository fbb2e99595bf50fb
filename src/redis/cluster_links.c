#include "redis/cluster_links.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "redis/cluster_wait.h"
#include "redis/route.h"

#define FETCH_MS 1000 /* at most, for each node that is asked for the map */

reeve_status rv_cluster_links_create(rv_conn *conn, const rv_conn_options *options)
{
    rv_cluster_links *links = rv_zalloc(sizeof(*links));
    if (links == NULL) return REEVE_ENOMEM;
    links->cluster = options->url->cluster;
    links->spin_us = options->spin_us;
    (void)snprintf(links->name, sizeof(links->name), "%s", options->name != NULL ? options->name : "");
    conn->links = links;
    return REEVE_OK;
}

void rv_cluster_links_free(rv_link *link)
{
    if (link == NULL) return;
    rv_conn_destroy(link->conn);
    link->url.tls = NULL;
    rv_url_fini(&link->url);
    rv_free(link);
}

void rv_cluster_links_destroy(rv_conn *conn)
{
    rv_cluster_links *links = conn->links;
    if (links == NULL) return;
    rv_cluster_wait_fini(links);
    for (size_t i = 0; i < links->count; i++) rv_cluster_links_free(links->list[i]);
    rv_free(links->list);
    rv_free(links->homes);
    rv_free(links);
}

/* ---- one link -------------------------------------------------------------------------------------------------- */

/* False: no memory. */
static bool copy_text(char **ret, const char *text)
{
    *ret = text != NULL ? rv_strdup(text) : NULL;
    return text == NULL || *ret != NULL;
}

static reeve_status no_memory(rv_conn *conn)
{
    return rv_fail(&conn->error, REEVE_ENOMEM, "no memory for a connection to a node of the cluster");
}

/* The URL of a node has the user, the password and the TLS of the cluster's. */
static reeve_status set_url(rv_conn *conn, rv_link *link, const rv_cluster_node *node)
{
    char text[RV_CLUSTER_HOST_MAX + 40];
    bool is_ipv6 = strchr(node->host, ':') != NULL;
    (void)snprintf(text, sizeof(text), is_ipv6 ? "redis://[%s]:%d" : "redis://%s:%d", node->host, node->port);
    reeve_status status = rv_url_parse(&link->url, text, &conn->error);
    if (status != REEVE_OK) return status;
    bool done = copy_text(&link->url.user, conn->url->user) && copy_text(&link->url.password, conn->url->password) &&
                copy_text(&link->url.password_file, conn->url->password_file) &&
                copy_text(&link->url.password_command, conn->url->password_command);
    link->url.is_tls = conn->url->is_tls;
    link->url.kind = conn->url->is_tls ? RV_URL_TLS : RV_URL_TCP;
    link->url.tls = conn->url->tls; /* lent: see rv_cluster_links_free */
    return done ? REEVE_OK : no_memory(conn);
}

static reeve_status make_link(rv_conn *conn, const rv_cluster_node *node, rv_link **ret)
{
    rv_cluster_links *links = conn->links;
    rv_link *link = rv_zalloc(sizeof(*link));
    if (link == NULL) return no_memory(conn);
    link->node = RV_CLUSTER_NO_NODE;
    rv_copy_text(link->host, sizeof(link->host), node->host);
    reeve_status status = set_url(conn, link, node);
    rv_conn_options options = {.url = &link->url,
                               .name = links->name[0] != '\0' ? links->name : NULL,
                               .waker = conn->waker,
                               .quit = conn->transport.quit,
                               .command_ms = conn->command_ms,
                               .spin_us = links->spin_us};
    if (status == REEVE_OK) status = rv_conn_create(&link->conn, &options, &conn->error);
    if (status != REEVE_OK) {
        rv_cluster_links_free(link);
        return status;
    }
    rv_conn_set_pings(link->conn, conn->ping_every_ms, conn->ping_answer_ms);
    *ret = link;
    return REEVE_OK;
}

static reeve_status no_node(rv_conn *conn)
{
    return rv_fail(&conn->error, REEVE_ECONNECT, "no node of the cluster %s serves the hash slot of this key",
                   conn->url->redacted);
}

reeve_status rv_cluster_links_make(rv_conn *conn, int node, rv_link **ret)
{
    rv_cluster_node address;
    *ret = NULL;
    if (!rv_cluster_node_at(conn->links->cluster, node, &address)) return no_node(conn);
    reeve_status status = make_link(conn, &address, ret);
    if (status == REEVE_OK) (*ret)->node = node;
    return status;
}

/* The link to a node, which may be closed. */
static reeve_status find_link(rv_conn *conn, int node, rv_link **ret)
{
    rv_cluster_links *links = conn->links;
    rv_cluster_node address;
    if (!rv_cluster_node_at(links->cluster, node, &address)) return no_node(conn);
    if ((size_t)node >= links->count) {
        rv_link **more = rv_realloc_array(links->list, (size_t)node + 1, sizeof(*more));
        if (more == NULL) return no_memory(conn);
        links->list = more;
        while (links->count <= (size_t)node) links->list[links->count++] = NULL;
    }
    *ret = links->list[node];
    if (*ret != NULL) return REEVE_OK;
    reeve_status status = make_link(conn, &address, ret);
    if (status != REEVE_OK) return status;
    links->list[node] = *ret;
    links->list[node]->node = node;
    return REEVE_OK;
}

static reeve_status open_link(rv_conn *conn, rv_link *link, int64_t deadline)
{
    if (rv_conn_is_open(link->conn)) return REEVE_OK;
    reeve_status status = rv_conn_open(link->conn, deadline);
    rv_cluster_note_reached(conn->links->cluster, link->node, status == REEVE_OK);
    conn->denied = rv_conn_is_denied(link->conn);
    if (status != REEVE_OK) return rv_fail(&conn->error, status, "%s", rv_conn_error(link->conn)->text);
    if (link->was_open) conn->epoch++;
    if (link->was_open) rv_conn_end_lost(link->conn, deadline);
    link->was_open = true;
    return REEVE_OK;
}

static rv_home *find_home(const rv_cluster_links *links, int slot)
{
    for (size_t i = 0; slot >= 0 && i < links->home_count; i++)
        if (links->homes[i].slot == slot) return &links->homes[i];
    return NULL;
}

bool rv_cluster_links_is_home(const rv_conn *conn, int slot)
{
    return find_home(conn->links, slot) != NULL;
}

reeve_status rv_cluster_links_add_home(rv_conn *conn, int slot)
{
    rv_cluster_links *links = conn->links;
    if (find_home(links, slot) != NULL) return REEVE_OK;
    rv_home *more = rv_realloc_array(links->homes, links->home_count + 1, sizeof(*more));
    if (more == NULL) return no_memory(conn);
    links->homes = more;
    links->homes[links->home_count++] = (rv_home){.slot = slot};
    return REEVE_OK;
}

void rv_cluster_links_lose(rv_conn *conn)
{
    conn->links->open = false;
    conn->links->stale = true;
}

reeve_status rv_cluster_links_reach(rv_conn *conn, int node, int slot, int64_t deadline, rv_link **ret)
{
    rv_cluster_links *links = conn->links;
    reeve_status status = find_link(conn, node, ret);
    if (status == REEVE_OK) status = open_link(conn, *ret, deadline);
    if (status != REEVE_OK) {
        rv_cluster_links_lose(conn);
        return status;
    }
    rv_home *home = find_home(links, slot);
    if (home == NULL) return REEVE_OK;
    /* Another node: a replica that was promoted may lack the last writes. */
    if (home->link != NULL && home->link != *ret) conn->epoch++;
    home->link = *ret;
    return REEVE_OK;
}

bool rv_cluster_links_is_up(const rv_conn *conn, int node)
{
    const rv_cluster_links *links = conn->links;
    return node >= 0 && (size_t)node < links->count && links->list[node] != NULL &&
           rv_conn_is_open(links->list[node]->conn);
}

int rv_cluster_links_node_for(rv_conn *conn, int slot)
{
    rv_cluster_links *links = conn->links;
    if (slot >= 0) return rv_cluster_owner(links->cluster, (unsigned)slot);
    if (links->home_count > 0) return rv_cluster_owner(links->cluster, (unsigned)links->homes[0].slot);
    for (int node = 0; (node = rv_cluster_next_master(links->cluster, node)) != RV_CLUSTER_NO_NODE; node++)
        if (rv_cluster_links_is_up(conn, node)) return node;
    return rv_cluster_next_master(links->cluster, 0);
}

void rv_cluster_links_note_end(rv_conn *conn, const rv_link *link)
{
    if (!rv_conn_is_open(link->conn)) rv_cluster_links_lose(conn);
}

void rv_cluster_links_note_moved(rv_conn *conn, unsigned slot, const rv_cluster_node *node)
{
    rv_cluster_note_moved(conn->links->cluster, slot, node);
    conn->links->stale = true;
    conn->epoch++;
}

/* ---- the map --------------------------------------------------------------------------------------------------- */

static reeve_status ask_link(rv_conn *conn, rv_link *link, int64_t deadline)
{
    const rv_reply *reply;
    int64_t soon = rv_deadline(FETCH_MS);
    if (soon > deadline) soon = deadline;
    reeve_status status = open_link(conn, link, soon);
    if (status != REEVE_OK) return status;
    rv_conn_discard(link->conn);
    rv_cmd(link->conn, 2);
    rv_args(link->conn, "CLUSTER");
    rv_args(link->conn, "SLOTS");
    status = rv_conn_call(link->conn, soon, &reply);
    if (status != REEVE_OK) return rv_fail(&conn->error, status, "%s", rv_conn_error(link->conn)->text);
    if (rv_reply_is(reply, RV_ARRAY) && reply->count == 0)
        return rv_fail(&conn->error, REEVE_ECONNECT, "%s knows no node that serves hash slots: is the cluster created?",
                       link->url.redacted);
    return rv_cluster_take(conn->links->cluster, reply, link->host, &conn->error);
}

/* An endpoint of the URL: over a connection of its own, as its name may not be that of a node. */
static reeve_status ask_endpoint(rv_conn *conn, const rv_endpoint *endpoint, int64_t deadline)
{
    rv_link *link;
    rv_cluster_node node = {.port = endpoint->port};
    if (strlen(endpoint->host) > RV_CLUSTER_HOST_MAX)
        return rv_fail(&conn->error, REEVE_ECONNECT, "the host's name is too long");
    rv_copy_text(node.host, sizeof(node.host), endpoint->host);
    reeve_status status = make_link(conn, &node, &link);
    if (status != REEVE_OK) return status;
    status = ask_link(conn, link, deadline);
    rv_cluster_links_free(link);
    return status;
}

/* A subscribed link takes no other commands. */
static bool can_ask(const rv_link *link)
{
    return !link->conn->subscribed && link->conn->owed == 0;
}

/* Asks the node that redirected, those that are connected, the other masters, and the endpoints of the URL. */
static reeve_status fetch_map(rv_conn *conn, int64_t deadline)
{
    rv_cluster_links *links = conn->links;
    rv_link *link;
    int hint = rv_cluster_hint(links->cluster);
    if (hint >= 0 && find_link(conn, hint, &link) == REEVE_OK && can_ask(link) &&
        ask_link(conn, link, deadline) == REEVE_OK)
        return REEVE_OK;
    for (size_t i = 0; i < links->count; i++) {
        link = links->list[i];
        if (link != NULL && rv_conn_is_open(link->conn) && can_ask(link) && ask_link(conn, link, deadline) == REEVE_OK)
            return REEVE_OK;
    }
    for (size_t i = 0; i < conn->url->endpoint_count && rv_now_ms() < deadline; i++)
        if (ask_endpoint(conn, &conn->url->endpoints[i], deadline) == REEVE_OK) return REEVE_OK;
    for (int node = 0; rv_now_ms() < deadline; node++) {
        node = rv_cluster_next_master(links->cluster, node);
        if (node == RV_CLUSTER_NO_NODE) break;
        if (find_link(conn, node, &link) == REEVE_OK && can_ask(link) && ask_link(conn, link, deadline) == REEVE_OK)
            return REEVE_OK;
    }
    return REEVE_ECONNECT;
}

void rv_cluster_links_refresh(rv_conn *conn, int64_t deadline)
{
    if (!conn->links->stale || !rv_cluster_claim_fetch(conn->links->cluster, true, rv_now_ms())) return;
    if (fetch_map(conn, deadline) == REEVE_OK) conn->links->stale = false;
}

/* ---- the connection -------------------------------------------------------------------------------------------- */

static reeve_status failed(rv_conn *conn)
{
    char words[sizeof(conn->error.text)];
    rv_copy_text(words, sizeof(words), conn->error.text);
    return rv_fail(&conn->error, REEVE_ECONNECT, "cannot connect to the Redis Cluster at %s: %.300s",
                   conn->url->redacted, words);
}

/* The version of the data, which stands under a key of its own. Where its node cannot be reached, the next open looks. */
static reeve_status check_format(rv_conn *conn, int64_t deadline)
{
    rv_cluster_links *links = conn->links;
    const rv_reply *reply;
    char key[128], words[256];
    rv_link *link;
    if (conn->ns == NULL || links->format_known) return REEVE_OK;
    int64_t soon = rv_deadline(FETCH_MS) < deadline ? rv_deadline(FETCH_MS) : deadline;
    (void)snprintf(key, sizeof(key), "%s:format", conn->ns);
    int slot = (int)rv_slots_of(key, strlen(key));
    int node = rv_cluster_owner(links->cluster, (unsigned)slot);
    reeve_status status = rv_cluster_links_reach(conn, node, slot, soon, &link);
    if (status != REEVE_OK) return conn->denied ? status : REEVE_OK;
    rv_conn_discard(link->conn);
    rv_cmd(link->conn, 2);
    rv_args(link->conn, "GET");
    rv_args(link->conn, key);
    status = rv_conn_call(link->conn, soon, &reply);
    if (status == REEVE_OK && !rv_conn_format_fits(conn, reply, words, sizeof(words))) {
        conn->denied = true;
        return rv_fail(&conn->error, REEVE_ECONNECT, "%s", words);
    }
    links->format_known = status == REEVE_OK && conn->format_once;
    return REEVE_OK;
}

/* The hash of rv_conn_ask_hash, of which a later open, or its owner, asks again where its node cannot be reached. */
static void ask_hash(rv_conn *conn, int64_t deadline)
{
    const rv_reply *reply;
    char key[128];
    rv_link *link;
    if (conn->ns == NULL || conn->hash_suffix == NULL) return;
    int64_t soon = rv_deadline(FETCH_MS) < deadline ? rv_deadline(FETCH_MS) : deadline;
    (void)snprintf(key, sizeof(key), "%s%s", conn->ns, conn->hash_suffix);
    int slot = (int)rv_slots_of(key, strlen(key));
    int node = rv_cluster_owner(conn->links->cluster, (unsigned)slot);
    if (rv_cluster_links_reach(conn, node, slot, soon, &link) != REEVE_OK) return;
    rv_conn_discard(link->conn);
    rv_cmd(link->conn, 2);
    rv_args(link->conn, "HGETALL");
    rv_args(link->conn, key);
    if (rv_conn_call(link->conn, soon, &reply) == REEVE_OK) conn->on_hash(reply, conn->hash_context);
}

static reeve_status open_homes(rv_conn *conn, int64_t deadline)
{
    rv_cluster_links *links = conn->links;
    reeve_status status = REEVE_OK;
    rv_link *link;
    for (size_t i = 0; status == REEVE_OK && i < links->home_count; i++) {
        int slot = links->homes[i].slot;
        status = rv_cluster_links_reach(conn, rv_cluster_owner(links->cluster, (unsigned)slot), slot, deadline, &link);
    }
    return status;
}

reeve_status rv_cluster_links_open(rv_conn *conn, int64_t deadline)
{
    rv_cluster_links *links = conn->links;
    if (rv_cluster_links_are_open(conn)) return REEVE_OK;
    conn->denied = false;
    if (rv_cluster_claim_fetch(links->cluster, links->stale, rv_now_ms())) {
        if (fetch_map(conn, deadline) != REEVE_OK) return failed(conn);
        links->stale = false;
    }
    reeve_status status = check_format(conn, deadline);
    if (status == REEVE_OK) ask_hash(conn, deadline);
    if (status == REEVE_OK) status = open_homes(conn, deadline);
    if (status != REEVE_OK) return status == REEVE_ECONNECT ? failed(conn) : status;
    links->open = true;
    if (conn->epoch == 0) conn->epoch = 1;
    return REEVE_OK;
}

bool rv_cluster_links_are_open(const rv_conn *conn)
{
    const rv_cluster_links *links = conn->links;
    for (size_t i = 0; links->open && i < links->home_count; i++)
        if (links->homes[i].link == NULL || !rv_conn_is_open(links->homes[i].link->conn)) return false;
    return links->open;
}

void rv_cluster_links_close(rv_conn *conn)
{
    rv_cluster_links *links = conn->links;
    for (size_t i = 0; i < links->count; i++)
        if (links->list[i] != NULL) rv_conn_close(links->list[i]->conn);
    rv_cluster_wait_close(links);
    links->open = false;
}

void rv_cluster_links_set_quit(rv_conn *conn, const rv_waker *quit)
{
    rv_cluster_links *links = conn->links;
    for (size_t i = 0; i < links->count; i++)
        if (links->list[i] != NULL) rv_conn_set_quit(links->list[i]->conn, quit);
}

void rv_cluster_links_check_end(rv_conn *conn)
{
    rv_cluster_links *links = conn->links;
    for (size_t i = 0; i < links->count; i++)
        if (links->list[i] != NULL) rv_conn_check_end(links->list[i]->conn);
}

void rv_cluster_links_end_lost(rv_conn *conn, int64_t deadline)
{
    rv_cluster_links *links = conn->links;
    for (size_t i = 0; i < links->count; i++) {
        if (links->list[i] == NULL || !rv_conn_is_open(links->list[i]->conn) || !can_ask(links->list[i])) continue;
        rv_conn_end_lost(links->list[i]->conn, deadline);
        rv_cluster_links_note_end(conn, links->list[i]);
    }
}

void rv_cluster_links_adopt_losses(rv_conn *conn, const rv_conn *other)
{
    for (size_t i = 0; i < other->links->count; i++) {
        rv_link *link;
        if (other->links->list[i] == NULL || other->links->list[i]->conn->loss_count == 0) continue;
        if (find_link(conn, (int)i, &link) == REEVE_OK) rv_conn_adopt_losses(link->conn, other->links->list[i]->conn);
    }
}
