#include "redis/cluster_map.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

void rv_cluster_map_init(rv_cluster_map *map)
{
    *map = (rv_cluster_map){0};
    for (size_t i = 0; i < RV_SLOTS; i++) map->owner[i] = RV_CLUSTER_NO_NODE;
}

void rv_cluster_map_fini(rv_cluster_map *map)
{
    rv_free(map->nodes);
    rv_cluster_map_init(map);
}

/* ---- addresses ------------------------------------------------------------------------------------------------- */

/* Names and addresses of hosts, and nothing that a URL gives a meaning to. */
static bool is_host(const char *text, size_t length)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
    return length > 0 && length <= RV_CLUSTER_HOST_MAX && strspn(text, allowed) >= length;
}

static bool set_node(rv_cluster_node *ret, const char *host, size_t length, int64_t port)
{
    if (!is_host(host, length) || port < 1 || port > 65535) return false;
    memcpy(ret->host, host, length);
    ret->host[length] = '\0';
    ret->port = (int)port;
    return true;
}

static int find_node(const rv_cluster_map *map, const rv_cluster_node *node)
{
    for (size_t i = 0; i < map->node_count; i++)
        if (map->nodes[i].port == node->port && strcmp(map->nodes[i].host, node->host) == 0) return (int)i;
    return RV_CLUSTER_NO_NODE;
}

static int add_node(rv_cluster_map *map, const rv_cluster_node *node)
{
    int number = find_node(map, node);
    if (number != RV_CLUSTER_NO_NODE || map->node_count == RV_CLUSTER_NODES_MAX) return number;
    rv_cluster_node *more = rv_realloc_array(map->nodes, map->node_count + 1, sizeof(*more));
    if (more == NULL) return RV_CLUSTER_NO_NODE;
    map->nodes = more;
    map->nodes[map->node_count] = *node;
    return (int)map->node_count++;
}

int rv_cluster_map_set(rv_cluster_map *map, unsigned slot, const rv_cluster_node *node)
{
    int number = slot < RV_SLOTS ? add_node(map, node) : RV_CLUSTER_NO_NODE;
    if (number != RV_CLUSTER_NO_NODE) map->owner[slot] = (short)number;
    return number;
}

/* ---- CLUSTER SLOTS --------------------------------------------------------------------------------------------- */

typedef struct range {
    size_t first;
    size_t last;
    bool served;
    rv_cluster_node master;
} range;

/* The value behind a name, where the node's fourth element has one; NULL: it does not. */
static const rv_reply *find_detail(const rv_reply *node, const char *name)
{
    const rv_reply *details = rv_reply_at(node, 3);
    if (!rv_reply_is(details, RV_ARRAY)) return NULL;
    for (size_t i = 0; i + 1 < details->count; i += 2)
        if (rv_reply_is_text(details->items[i], name)) return details->items[i + 1];
    return NULL;
}

/* False: malformed. A node without a port is well formed: it takes no plain connections. */
static bool read_master(const rv_reply *node, const char *asked, range *ret)
{
    const rv_reply *host = rv_reply_at(node, 0);
    int64_t port = rv_reply_within(rv_reply_at(node, 1), 0, 65535, -1);
    if (rv_reply_is_text(host, "?")) host = find_detail(node, "ip");
    bool same = host == NULL || rv_reply_is(host, RV_NIL) || (rv_reply_is(host, RV_TEXT) && host->length == 0);
    if (port < 0 || (!same && !rv_reply_is(host, RV_TEXT))) return false;
    if (port == 0) return true;
    ret->served = set_node(&ret->master, same ? asked : host->text, same ? strlen(asked) : host->length, port);
    return ret->served;
}

static bool read_range(const rv_reply *item, const char *asked, range *ret)
{
    int64_t first = rv_reply_within(rv_reply_at(item, 0), 0, RV_SLOTS - 1, -1);
    int64_t last = rv_reply_within(rv_reply_at(item, 1), 0, RV_SLOTS - 1, -1);
    *ret = (range){.first = (size_t)first, .last = (size_t)last};
    if (first < 0 || last < first) return false;
    const rv_reply *master = rv_reply_at(item, 2);
    /* A range that nobody serves any more. */
    return master == NULL || (rv_reply_is(master, RV_ARRAY) && read_master(master, asked, ret));
}

static reeve_status malformed(const char *asked, rv_error *error)
{
    return rv_fail(error, REEVE_EPROTO, "%s: the reply to CLUSTER SLOTS is malformed", asked);
}

/* Reads into a map of its own, whose nodes are those of the old one and the new ones. */
static reeve_status read_all(rv_cluster_map *fresh, const rv_reply *slots, const char *asked, rv_error *error)
{
    if (!rv_reply_is(slots, RV_ARRAY) || slots->count > RV_SLOTS) return malformed(asked, error);
    for (size_t i = 0; i < slots->count; i++) {
        range found;
        if (!read_range(slots->items[i], asked, &found)) return malformed(asked, error);
        int node = found.served ? add_node(fresh, &found.master) : RV_CLUSTER_NO_NODE;
        if (found.served && node == RV_CLUSTER_NO_NODE)
            return rv_fail(error, REEVE_ENOMEM, "no memory for the nodes of the cluster, or more than %d of them",
                           RV_CLUSTER_NODES_MAX);
        for (size_t slot = found.first; slot <= found.last; slot++) fresh->owner[slot] = (short)node;
    }
    return REEVE_OK;
}

reeve_status rv_cluster_map_read(rv_cluster_map *map, const rv_reply *slots, const char *asked, rv_error *error)
{
    rv_cluster_map fresh;
    rv_cluster_map_init(&fresh);
    if (map->node_count > 0) {
        fresh.nodes = rv_memdup(map->nodes, map->node_count * sizeof(*map->nodes));
        if (fresh.nodes == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for the nodes of the cluster");
        fresh.node_count = map->node_count;
    }
    reeve_status status = read_all(&fresh, slots, asked, error);
    if (status != REEVE_OK) {
        rv_cluster_map_fini(&fresh);
        return status;
    }
    rv_free(map->nodes);
    *map = fresh;
    return REEVE_OK;
}

/* ---- redirections ---------------------------------------------------------------------------------------------- */

/* "<slot> <host>:<port>", where the host may have colons, too. */
static bool read_target(const char *words, const char *asked, unsigned *ret_slot, rv_cluster_node *ret)
{
    char figures[8];
    int64_t slot, port;
    size_t length = strcspn(words, " ");
    if (length == 0 || length >= sizeof(figures) || words[length] != ' ') return false;
    memcpy(figures, words, length);
    figures[length] = '\0';
    const char *host = words + length + 1, *colon = strrchr(host, ':');
    if (colon == NULL || !rv_parse_int(figures, 0, RV_SLOTS - 1, &slot) || !rv_parse_int(colon + 1, 1, 65535, &port))
        return false;
    size_t host_length = (size_t)(colon - host);
    *ret_slot = (unsigned)slot;
    return host_length == 0 || *host == '?' ? set_node(ret, asked, strlen(asked), port)
                                            : set_node(ret, host, host_length, port);
}

rv_redirect rv_cluster_map_redirect(const char *words, const char *asked, unsigned *ret_slot, rv_cluster_node *ret)
{
    if (strncmp(words, "ASK ", 4) == 0) return RV_REDIRECT_ASK;
    if (strncmp(words, "MOVED ", 6) != 0) return RV_REDIRECT_NONE;
    return read_target(words + 6, asked, ret_slot, ret) ? RV_REDIRECT_MOVED : RV_REDIRECT_NONE;
}
