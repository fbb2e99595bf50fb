/*
 * conn_private.h - what the files of a connection share: its fields, the exchange of bytes for replies, the handshake.
 */
#ifndef RV_CONN_PRIVATE_H
#define RV_CONN_PRIVATE_H

#include "redis/command.h"
#include "redis/conn.h"
#include "redis/reply_reader.h"
#include "redis/spin.h"
#include "redis/topology.h"
#include "redis/transport.h"

/* A connection that was lost, or given up, with calls under way. */
typedef struct rv_lost {
    int64_t id;       /* in Redis */
    const char *name; /* of the rv_conn that lost it */
    int64_t opened_ms;
} rv_lost;

typedef struct rv_cluster_links rv_cluster_links;

#define RV_LOST_MAX 32 /* of more than these in a row the oldest is forgotten */

struct rv_conn {
    const rv_url *url;
    const rv_waker *waker;
    char *name;
    rv_cluster_links *links; /* NULL: one server; else it does what its functions say, by cluster_links.h */
    int64_t command_ms;
    int64_t begins_by; /* of the call: when its reply must have begun (monotonic); 0: no such limit */
    const char *ns;    /* NULL: no version is asked for */
    int format;
    bool format_once;

    rv_spin spin;

    rv_address address; /* of the server that it was opened to last */
    rv_transport transport;
    rv_reply_reader reader;
    rv_commands commands;
    size_t owed;     /* replies that Redis has yet to send */
    bool subscribed; /* messages come unasked */
    bool held;       /* the last reply is still the caller's: settle the reader before the next call */

    int64_t ping_every_ms; /* rv_conn_set_pings; 0: none */
    int64_t ping_answer_ms;
    int64_t heard_ms;  /* rv_conn_receive: the time of the last message, or of rv_conn_open */
    int64_t pinged_ms; /* the time of a PING that nothing has followed yet; 0: there is none */

    rv_error error;
    rv_error load_error; /* why Redis would not load a script; load_reply shows it */
    rv_reply load_reply;
    int64_t id;
    int64_t opened_ms;
    rv_lost losses[RV_LOST_MAX]; /* those that were not ended since */
    size_t loss_count;
    unsigned epoch;
    rv_redis_clock clock;
    bool asks_clock;
    const char *hash_suffix; /* rv_conn_ask_hash, or NULL */
    rv_on_hash on_hash;
    void *hash_context;
    bool denied; /* the last attempt to open: see rv_conn_is_denied */
    bool leaves; /* the node refuses work: the next open resolves the endpoint again */
    bool lost;   /* the open connection was lost, which is not logged yet */
    bool down;   /* redis.down was logged */
};

/* Bytes to send, replies to read, the two at once: neither side waits for the other with full hands. */
typedef struct rv_exchange {
    const char *data; /* this and the next three: rv_exchange_send */
    size_t length;
    const rv_lent *lent;
    size_t lent_count;
    size_t replies;
    int64_t deadline;
    int64_t begins_by;     /* the deadline of the first byte, where that is earlier; 0: none */
    const rv_waker *waker; /* ends the wait for replies, not the sending; may be NULL */
    rv_spin *spin;         /* looks for replies before the wait; may be NULL */
    bool idle;             /* the wait may be long: hold little memory meanwhile; data is the connection's commands */
    rv_on_reply on_reply;
    void *context;
    /* how far it has come */
    size_t sent;      /* of data */
    size_t lent_next; /* the first of lent that was not sent wholly */
    size_t lent_sent; /* how many bytes of it were sent */
    size_t got;
    bool heard; /* the reply has begun */
    bool more;  /* the last read filled its buffer: read again before waiting */
} rv_exchange;

/* The commands that are being sent. They do not change until all bytes are sent. */
void rv_exchange_send(rv_exchange *exchange, const rv_commands *commands);

/*
 * Runs an exchange. On failure conn->error has the reason, without the URL, and the connection is left as it is.
 * REEVE_OK, REEVE_ELOST, REEVE_ETIMEOUT, REEVE_EINTERRUPTED, REEVE_EPROTO, REEVE_ENOMEM.
 */
reeve_status rv_conn_exchange(rv_conn *conn, rv_exchange *exchange);

/* Closes the connection: whatever went wrong between bytes and replies, it is of no more use. Adds the URL to
 * conn->error; returns the status. */
reeve_status rv_conn_break(rv_conn *conn, reeve_status status);

/* The caller does not use the last reply any more. */
void rv_conn_release_held(rv_conn *conn);

/* The open connection is to be ended by rv_conn_end_lost. */
void rv_conn_note_lost(rv_conn *conn);

/* Closes; abort as rv_transport_close. */
void rv_conn_drop(rv_conn *conn, bool abort);

/* AUTH, SELECT, the name, on a fresh transport. On failure *error has the reason; REEVE_ECONNECT, REEVE_ENOMEM,
 * REEVE_EINTERRUPTED. waker may be NULL. */
reeve_status rv_conn_handshake(rv_conn *conn, int64_t deadline, const rv_waker *waker, rv_error *error);

/* Whether the version of the namespace's data, a reply to GET, is one that is known; *ret_words: why not. */
bool rv_conn_format_fits(const rv_conn *conn, const rv_reply *reply, char *ret_words, size_t size);

#endif
