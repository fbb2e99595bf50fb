/*
 * transport.h - the socket under a connection: opened, read, written and waited for, every wait with a deadline.
 *
 * What differs between a plain socket and TLS stands behind rv_transport_ops; who waits and who parses does not know
 * which it is. The descriptor is close-on-exec and non-blocking, and writing to a closed peer raises no SIGPIPE.
 */
#ifndef RV_TRANSPORT_H
#define RV_TRANSPORT_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/error.h"
#include "redis/address.h"
#include "redis/waker.h"

typedef struct rv_transport rv_transport;

typedef struct rv_transport_ops {
    ssize_t (*read)(rv_transport *transport, void *data, size_t length);        /* as recv(2) */
    ssize_t (*write)(rv_transport *transport, const void *data, size_t length); /* as send(2) */
    bool (*has_buffered)(const rv_transport *transport); /* bytes to read that poll(2) does not see */
    /* Whether the peer has ended it, or bytes are there: looks, and does not wait. */
    bool (*has_news)(rv_transport *transport);
    void (*close)(rv_transport *transport); /* everything but the descriptor */
    /* What to poll for where a caller waits for events; NULL: just these. */
    short (*events)(const rv_transport *transport, short events);
    /* The reason why reading or writing failed. NULL, or a result of NULL: errno has it. */
    const char *(*reason)(const rv_transport *transport);
} rv_transport_ops;

struct rv_transport {
    int fd;               /* -1: closed */
    const rv_waker *quit; /* may be NULL: once rung, every wait's time is up; kept when it is closed */
    const rv_transport_ops *ops;
    void *state;         /* of the ops */
    unsigned generation; /* of the process that connected (base/fork.h) */
};

void rv_transport_init(rv_transport *transport, const rv_waker *quit);

/*
 * Connects, trying every address of a host; the time until the deadline is shared among those left. waker, when not
 * NULL, ends the wait. REEVE_OK, REEVE_ECONNECT (with the reason alone as words), REEVE_EINTERRUPTED.
 */
reeve_status rv_transport_open(rv_transport *transport, const rv_address *address, int64_t deadline,
                               const rv_waker *waker, rv_error *error);
bool rv_transport_is_open(const rv_transport *transport);

/*
 * For a connection without pending replies: whether the peer has closed it or sent unexpected data. Does not block.
 */
bool rv_transport_has_news(rv_transport *transport);

/* Whether the process was forked since it connected: then closing the descriptor does not end the connection. */
bool rv_transport_is_inherited(const rv_transport *transport);

/* abort: what was written and has not left stays here; a TCP peer sees a reset. Closing twice is harmless. */
void rv_transport_close(rv_transport *transport, bool abort);

/* As recv(2) and send(2), but for EINTR; -1 with EAGAIN means wait. */
ssize_t rv_transport_read(rv_transport *transport, void *data, size_t length);
ssize_t rv_transport_write(rv_transport *transport, const void *data, size_t length);

/*
 * Waits until one of the events (POLLIN, POLLOUT) occurs or the peer is gone; *ret_events: which. The socket has
 * precedence over the waker: available bytes are read first. REEVE_OK, REEVE_ETIMEOUT, REEVE_EINTERRUPTED,
 * REEVE_ESYSTEM.
 */
reeve_status rv_transport_wait(rv_transport *transport, short events, int64_t deadline, const rv_waker *waker,
                               short *ret_events);

/* The reason why the last read or write failed, as text; NULL: errno has it. */
const char *rv_transport_reason(const rv_transport *transport);

#endif
