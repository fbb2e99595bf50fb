/*
 * peer.h - a scripted peer: what listens on a unix socket and says what a real Redis would not.
 *
 *     static const peer_step script[] = {
 *         PEER_HANDSHAKE, {PEER_COMMANDS, 1}, PEER_SAY("$5\r\nhal"), {PEER_CLOSE}, PEER_HANDSHAKE, {PEER_STALL},
 * {PEER_END}}; test_peer *peer = test_peer_start(script);
 *
 * It accepts one connection after the other: the script's next step after PEER_CLOSE waits for the next one. At the end
 * of the script it hangs up.
 */
#ifndef TEST_PEER_H
#define TEST_PEER_H

#include <stddef.h>

#include "redis/conn.h"

typedef enum peer_verb {
    PEER_END = 0,
    PEER_COMMANDS, /* reads until count whole commands have come */
    PEER_BYTES,    /* reads until count bytes have come */
    PEER_SEND,     /* sends count bytes of data, in pieces of piece bytes (0: at once) */
    PEER_REPEAT,   /* sends data, a text, count times */
    PEER_CLOSE,    /* hangs up */
    PEER_STALL     /* does nothing until it is stopped */
} peer_verb;

typedef struct peer_step {
    peer_verb verb;
    size_t count;
    const char *data;
    size_t piece;
} peer_step;

/* Sends a literal, its zero bytes included but for the last. */
#define PEER_SAY(text)                       \
    {                                        \
        PEER_SEND, sizeof(text) - 1, text, 0 \
    }
#define PEER_DRIBBLE(text)                   \
    {                                        \
        PEER_SEND, sizeof(text) - 1, text, 1 \
    }
/* Answers what a connection without password, database and name says first: CLIENT ID and PING. */
#define PEER_HANDSHAKE {PEER_COMMANDS, 2, NULL, 0}, PEER_SAY(":7\r\n+PONG\r\n")

typedef struct test_peer test_peer;

/* Listens when it returns. The script must outlive the peer. */
test_peer *test_peer_start(const peer_step *script);
void test_peer_stop(test_peer *peer);

/* How long to wait for a reply, in ms, where that is not what is tested: a slow machine is no failure. */
enum { PEER_PATIENCE = 600000 };

/* A connection to it without a name, not yet open; freed by rv_conn_destroy before the peer stops. */
rv_conn *test_peer_conn(test_peer *peer, const rv_waker *waker, int64_t command_ms);
const char *test_peer_url(const test_peer *peer);

#endif
