#include <errno.h>
#include <string.h>

#include "redis/conn_private.h"

#define READ_CHUNK (32u * 1024)
#define LOOK_AHEAD (2u * 1024)

static reeve_status lost(rv_conn *conn, int failure)
{
    char words[128];
    const char *reason = rv_transport_reason(&conn->transport);
    if (reason) return rv_fail(&conn->error, REEVE_ELOST, "the connection was lost: %s", reason);
    if (failure == 0 || failure == EPIPE || failure == ECONNRESET)
        return rv_fail(&conn->error, REEVE_ELOST, "Redis closed the connection");
    return rv_fail(&conn->error, REEVE_ELOST, "the connection was lost: %s", strerror_r(failure, words, sizeof(words)));
}

void rv_exchange_send(rv_exchange *exchange, const rv_commands *commands)
{
    exchange->data = commands->out.data;
    exchange->length = commands->out.length;
    exchange->lent = commands->lent;
    exchange->lent_count = commands->lent_count;
}

static bool is_all_sent(const rv_exchange *exchange)
{
    return exchange->sent == exchange->length && exchange->lent_next == exchange->lent_count;
}

static void give_up_sending(rv_exchange *exchange)
{
    exchange->sent = exchange->length;
    exchange->lent_next = exchange->lent_count;
}

/* Sends some of what lies together: of data up to what is lent next, or of that. As send(2). */
static ssize_t write_run(rv_conn *conn, rv_exchange *exchange)
{
    const rv_lent *lent = exchange->lent_next < exchange->lent_count ? &exchange->lent[exchange->lent_next] : NULL;
    size_t end = lent ? lent->at : exchange->length;
    ssize_t put;
    if (exchange->sent < end) {
        put = rv_transport_write(&conn->transport, exchange->data + exchange->sent, end - exchange->sent);
        if (put > 0) exchange->sent += (size_t)put;
        return put;
    }
    put = rv_transport_write(&conn->transport, lent->data + exchange->lent_sent, lent->length - exchange->lent_sent);
    if (put > 0) exchange->lent_sent += (size_t)put;
    if (exchange->lent_sent == lent->length) {
        exchange->lent_sent = 0;
        exchange->lent_next++;
    }
    return put;
}

/* Sends as much as goes. A peer that has gone may have left its reasons to be read: its end is found by reading. */
static reeve_status write_some(rv_conn *conn, rv_exchange *exchange)
{
    while (!is_all_sent(exchange)) {
        if (write_run(conn, exchange) >= 0) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return REEVE_OK;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            give_up_sending(exchange);
        } else {
            return lost(conn, errno);
        }
    }
    return REEVE_OK;
}

/* Hands over the replies that are complete. */
static reeve_status take_replies(rv_conn *conn, rv_exchange *exchange)
{
    while (exchange->got < exchange->replies) {
        const rv_reply *reply;
        reeve_status status = rv_reply_reader_next(&conn->reader, &reply, &conn->error);
        if (status != REEVE_OK || !reply) return status;
        size_t index = exchange->got++;
        if (reply->type == RV_ERROR && rv_refusal_of(reply) == RV_REFUSAL_NODE) conn->leaves = true;
        if (exchange->on_reply) exchange->on_reply(index, reply, exchange->context);
    }
    return REEVE_OK;
}

/*
 * Feeds the parser. The rest of a long read usually belongs to one long value: the parser first gets the beginning,
 * which contains the length of that value, so that the rest can bypass it.
 */
static reeve_status feed(rv_conn *conn, rv_exchange *exchange, const char *chunk, size_t length)
{
    size_t first = length < RV_PLACED_MIN ? length : LOOK_AHEAD;
    reeve_status status = rv_reply_reader_feed(&conn->reader, chunk, first, &conn->error);
    if (status != REEVE_OK || first == length) return status;
    status = take_replies(conn, exchange);
    if (status != REEVE_OK) return status;
    return rv_reply_reader_feed(&conn->reader, chunk + first, length - first, &conn->error);
}

static reeve_status read_some(rv_conn *conn, rv_exchange *exchange)
{
    char chunk[READ_CHUNK];
    size_t room;
    char *place = rv_reply_reader_place(&conn->reader, &room);
    if (!place) room = sizeof(chunk);
    ssize_t got = rv_transport_read(&conn->transport, place ? place : chunk, room);
    exchange->more = got == (ssize_t)room;
    exchange->heard = exchange->heard || got > 0;
    if (got > 0 && place) return rv_reply_reader_came(&conn->reader, (size_t)got, &conn->error);
    if (got > 0) return feed(conn, exchange, chunk, (size_t)got);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return REEVE_OK;
    return lost(conn, got == 0 ? 0 : errno);
}

static void hold_little(rv_conn *conn, const rv_exchange *exchange)
{
    rv_reply_reader_idle(&conn->reader);
    if (exchange->data) rv_command_clear(&conn->commands); /* all of it was sent */
}

static int64_t present_deadline(const rv_exchange *exchange)
{
    bool begins = exchange->begins_by > 0 && !exchange->heard && exchange->begins_by < exchange->deadline;
    return begins ? exchange->begins_by : exchange->deadline;
}

static reeve_status wait_for_more(rv_conn *conn, rv_exchange *exchange, short *ret_events)
{
    bool sent = is_all_sent(exchange);
    short events = sent ? POLLIN : POLLIN | POLLOUT;
    const rv_waker *waker = sent ? exchange->waker : NULL;
    if (sent && exchange->idle) hold_little(conn, exchange);
    int64_t deadline = present_deadline(exchange);
    reeve_status status = rv_transport_wait(&conn->transport, events, deadline, waker, ret_events);
    if (status == REEVE_ETIMEOUT) return rv_fail(&conn->error, status, "Redis did not answer in time");
    if (status == REEVE_EINTERRUPTED) return rv_fail(&conn->error, status, "interrupted while waiting for Redis");
    return status == REEVE_ESYSTEM ? lost(conn, errno) : status;
}

static bool is_done(const rv_exchange *exchange)
{
    return exchange->got == exchange->replies && is_all_sent(exchange);
}

/* Whether to read although nothing may be there. */
static bool looks_again(const rv_exchange *exchange)
{
    return exchange->more || (exchange->spin && is_all_sent(exchange) && rv_spin_goes_on(exchange->spin));
}

static reeve_status step(rv_conn *conn, rv_exchange *exchange)
{
    short events = POLLIN;
    reeve_status status = write_some(conn, exchange);
    /* Only a peer that answers before it is asked ends here. */
    if (status != REEVE_OK || is_done(exchange)) return status;
    if (!looks_again(exchange)) status = wait_for_more(conn, exchange, &events);
    if (status == REEVE_OK && (events & ~POLLOUT)) status = read_some(conn, exchange);
    return status == REEVE_OK ? take_replies(conn, exchange) : status;
}

reeve_status rv_conn_exchange(rv_conn *conn, rv_exchange *exchange)
{
    reeve_status status = take_replies(conn, exchange);
    while (status == REEVE_OK && !is_done(exchange)) status = step(conn, exchange);
    return status;
}
