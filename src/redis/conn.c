#include "redis/conn.h"

#include <string.h>

#include "base/mem.h"
#include "redis/cluster_links.h"
#include "redis/conn_private.h"

#define COMMAND_MS 10000

/* Redis takes no blanks in a name, nor anything that is not plain ASCII. */
static char *clean_name(const char *name)
{
    char *copy = rv_strdup(name);
    for (char *at = copy; at && *at; at++)
        if (*at < '!' || *at > '~') *at = '-';
    return copy;
}

reeve_status rv_conn_create(rv_conn **ret, const rv_conn_options *options, rv_error *error)
{
    *ret = NULL;
    rv_conn *conn = rv_zalloc(sizeof(*conn));
    if (!conn) goto no_memory;
    conn->name = clean_name(options->name);
    if (options->name && !conn->name) goto no_memory;
    conn->url = options->url;
    conn->waker = options->waker;
    conn->ns = options->ns;
    conn->format = options->format;
    conn->format_once = options->format_once;
    conn->command_ms = options->command_ms > 0 ? options->command_ms : COMMAND_MS;
    rv_spin_init(&conn->spin, options->spin_us);
    rv_transport_init(&conn->transport, options->quit);
    rv_reply_reader_init(&conn->reader);
    rv_command_init(&conn->commands);
    if (options->url->cluster != NULL && rv_cluster_links_create(conn, options) != REEVE_OK) goto no_memory;
    *ret = conn;
    return REEVE_OK;
no_memory:
    if (conn != NULL) rv_free(conn->name);
    rv_free(conn);
    return rv_fail(error, REEVE_ENOMEM, "out of memory for a connection to Redis");
}

void rv_conn_destroy(rv_conn *conn)
{
    if (!conn) return;
    rv_conn_close(conn);
    rv_cluster_links_destroy(conn);
    rv_reply_reader_fini(&conn->reader);
    rv_command_fini(&conn->commands);
    rv_free(conn->name);
    rv_free(conn);
}

/* Replies that are owed are read from where they were asked for. */
bool rv_conn_is_open(const rv_conn *conn)
{
    if (conn->links) return rv_cluster_links_are_open(conn);
    if (!rv_transport_is_open(&conn->transport) || conn->leaves) return false;
    return conn->owed > 0 || rv_topology_is_current(conn->url, &conn->address);
}

void rv_conn_drop(rv_conn *conn, bool abort)
{
    rv_transport_close(&conn->transport, abort);
    rv_reply_reader_forget(&conn->reader);
    conn->owed = 0;
    conn->subscribed = false;
    conn->leaves = false;
    conn->id = 0;
}

void rv_conn_leave(rv_conn *conn)
{
    if (conn->links)
        rv_cluster_links_close(conn);
    else
        conn->leaves = true;
}

void rv_conn_close(rv_conn *conn)
{
    if (conn->links) {
        rv_cluster_links_close(conn);
        return;
    }
    if (conn->owed > 0) rv_conn_note_lost(conn);
    rv_conn_drop(conn, conn->owed > 0);
}

bool rv_conn_is_denied(const rv_conn *conn)
{
    return conn->denied;
}

void rv_conn_set_quit(rv_conn *conn, const rv_waker *quit)
{
    conn->transport.quit = quit;
    if (conn->links) rv_cluster_links_set_quit(conn, quit);
}

reeve_status rv_conn_add_home(rv_conn *conn, const char *key, size_t length)
{
    return conn->links ? rv_cluster_links_add_home(conn, (int)rv_slots_of(key, length)) : REEVE_OK;
}

const rv_error *rv_conn_error(const rv_conn *conn)
{
    return &conn->error;
}

const rv_address *rv_conn_address(const rv_conn *conn)
{
    return &conn->address;
}

int64_t rv_conn_id(const rv_conn *conn)
{
    return conn->id;
}

unsigned rv_conn_epoch(const rv_conn *conn)
{
    return conn->epoch;
}

void rv_conn_ask_clock(rv_conn *conn)
{
    conn->asks_clock = true;
}

void rv_conn_ask_hash(rv_conn *conn, const char *suffix, rv_on_hash on_hash, void *context)
{
    conn->hash_suffix = suffix;
    conn->on_hash = on_hash;
    conn->hash_context = context;
}

rv_redis_clock *rv_conn_clock(rv_conn *conn)
{
    return &conn->clock;
}
