#include "redis/conn.h"

#include <poll.h>
#include <string.h>

#include "base/backoff.h"
#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "redis/conn_private.h"
#include "redis/topology.h"

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
    *ret = conn;
    return REEVE_OK;
no_memory:
    rv_free(conn);
    return rv_fail(error, REEVE_ENOMEM, "out of memory for a connection to Redis");
}

void rv_conn_destroy(rv_conn *conn)
{
    if (!conn) return;
    rv_conn_close(conn);
    rv_reply_reader_fini(&conn->reader);
    rv_command_fini(&conn->commands);
    rv_free(conn->name);
    rv_free(conn);
}

bool rv_conn_is_open(const rv_conn *conn)
{
    return rv_transport_is_open(&conn->transport) && !conn->leaves;
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
    conn->leaves = true;
}

void rv_conn_close(rv_conn *conn)
{
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
}

const rv_error *rv_conn_error(const rv_conn *conn)
{
    return &conn->error;
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

rv_redis_clock *rv_conn_clock(rv_conn *conn)
{
    return &conn->clock;
}

/* ---- opening --------------------------------------------------------------------------------------------------- */

static reeve_status open_failed(rv_conn *conn, const rv_error *reason)
{
    rv_conn_drop(conn, true);
    if (reason->status != REEVE_ECONNECT) return rv_fail(&conn->error, reason->status, "%s", reason->text);
    return rv_fail(&conn->error, REEVE_ECONNECT, "cannot connect to Redis at %s: %s", conn->url->redacted,
                   reason->text);
}

static reeve_status open_once(rv_conn *conn, int64_t deadline, const rv_waker *waker)
{
    rv_error reason = {0};
    rv_address address;
    if (rv_conn_is_open(conn)) return REEVE_OK;
    rv_conn_drop(conn, false);
    reeve_status status = rv_topology_resolve(conn->url, &address, &reason);
    if (status == REEVE_OK) status = rv_transport_open(&conn->transport, &address, deadline, waker, &reason);
    if (status == REEVE_OK) status = rv_conn_handshake(conn, deadline, waker, &reason);
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
