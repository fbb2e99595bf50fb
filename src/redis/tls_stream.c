/*
 * tls_stream.c - a transport's bytes through TLS, and the handshake before them.
 */
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>

#include "base/mem.h"
#include "redis/tls_private.h"

/* What a failed call comes to: as recv(2) and send(2) say it. */
static ssize_t fail_as_errno(rv_tls_stream *stream, int result)
{
    switch (SSL_get_error(stream->ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_SYSCALL:
        if (stream->socket_errno == 0) return 0;
        errno = stream->socket_errno;
        return -1;
    default:
        rv_tls_explain(stream, "that name", stream->reason, sizeof(stream->reason));
        errno = EPROTO;
        return -1;
    }
}

static int at_most(size_t length)
{
    return length > INT_MAX ? INT_MAX : (int)length;
}

static ssize_t tls_read(rv_transport *transport, void *data, size_t length)
{
    rv_tls_stream *stream = transport->state;
    ERR_clear_error();
    stream->socket_errno = 0;
    int got = SSL_read(stream->ssl, data, at_most(length));
    stream->starved = got <= 0;
    stream->read_wants_write = got <= 0 && SSL_get_error(stream->ssl, got) == SSL_ERROR_WANT_WRITE;
    return got > 0 ? got : fail_as_errno(stream, got);
}

static ssize_t tls_write(rv_transport *transport, const void *data, size_t length)
{
    rv_tls_stream *stream = transport->state;
    ERR_clear_error();
    stream->socket_errno = 0;
    int put = SSL_write(stream->ssl, data, at_most(length));
    if (put > 0) return put;
    ssize_t result = fail_as_errno(stream, put);
    if (result == 0) errno = EPIPE;
    return -1;
}

static bool tls_has_buffered(const rv_transport *transport)
{
    const rv_tls_stream *stream = transport->state;
    return !stream->starved && SSL_has_pending(stream->ssl) == 1;
}

/* Where the server has ended the connection, records of its goodbye lie before the end of the socket; and a new session
 * that it offers is no news. */
static bool tls_has_news(rv_transport *transport)
{
    rv_tls_stream *stream = transport->state;
    char byte;
    ERR_clear_error();
    stream->socket_errno = 0;
    int got = SSL_peek(stream->ssl, &byte, 1);
    stream->starved = got <= 0;
    stream->read_wants_write = got <= 0 && SSL_get_error(stream->ssl, got) == SSL_ERROR_WANT_WRITE;
    return got > 0 || fail_as_errno(stream, got) == 0 || errno != EAGAIN;
}

static short tls_events(const rv_transport *transport, short events)
{
    const rv_tls_stream *stream = transport->state;
    return (short)(stream->read_wants_write ? events | POLLOUT : events);
}

static const char *tls_reason(const rv_transport *transport)
{
    const rv_tls_stream *stream = transport->state;
    return stream->reason[0] != '\0' ? stream->reason : NULL;
}

static void stream_free(rv_tls_stream *stream)
{
    if (stream == NULL) return;
    SSL_free(stream->ssl);
    rv_free(stream);
}

static void tls_close(rv_transport *transport)
{
    rv_tls_stream *stream = transport->state;
    ERR_clear_error();
    /* Says goodbye if it can, and waits for no answer. */
    if (!rv_transport_is_inherited(transport)) (void)SSL_shutdown(stream->ssl);
    ERR_clear_error();
    stream_free(stream);
}

static const rv_transport_ops over_tls = {.read = tls_read,
                                          .write = tls_write,
                                          .has_buffered = tls_has_buffered,
                                          .has_news = tls_has_news,
                                          .close = tls_close,
                                          .events = tls_events,
                                          .reason = tls_reason};

/* ---- the handshake ---------------------------------------------------------------------------------------------- */

static rv_tls_stream *stream_new(rv_tls *tls, int fd, const char *host)
{
    rv_tls_stream *stream = rv_zalloc(sizeof(*stream));
    if (stream == NULL) return NULL;
    stream->fd = fd;
    stream->starved = true;
    stream->ssl = rv_tls_open(tls, host);
    BIO *bio = stream->ssl != NULL ? rv_tls_bio_new(stream) : NULL;
    if (bio == NULL) {
        stream_free(stream);
        return NULL;
    }
    SSL_set_bio(stream->ssl, bio, bio);
    return stream;
}

/* Waits for what the handshake wants next. */
static reeve_status wait_for(rv_transport *transport, short events, int64_t deadline, const rv_waker *waker,
                             rv_error *error)
{
    short came;
    reeve_status status = rv_transport_wait(transport, events, deadline, waker, &came);
    if (status == REEVE_OK) return REEVE_OK;
    if (status == REEVE_EINTERRUPTED) return rv_fail(error, status, "interrupted while connecting");
    if (status == REEVE_ETIMEOUT)
        return rv_fail(error, REEVE_ECONNECT, "TLS: no answer to the handshake; it may not speak TLS on this port");
    return rv_fail(error, REEVE_ECONNECT, "TLS: cannot wait for the socket");
}

static reeve_status shake_hands(rv_tls *tls, rv_tls_stream *stream, rv_transport *transport, const char *host,
                                int64_t deadline, const rv_waker *waker, rv_error *error)
{
    char reason[sizeof(stream->reason)];
    for (;;) {
        ERR_clear_error();
        stream->socket_errno = 0;
        int result = SSL_connect(stream->ssl);
        if (result == 1) break;
        int wants = SSL_get_error(stream->ssl, result);
        if (wants != SSL_ERROR_WANT_READ && wants != SSL_ERROR_WANT_WRITE) {
            const char *name = tls->settings->server_name;
            rv_tls_explain(stream, name != NULL ? name : host, reason, sizeof(reason));
            return rv_fail(error, REEVE_ECONNECT, "%s", reason);
        }
        reeve_status status =
            wait_for(transport, wants == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline, waker, error);
        if (status != REEVE_OK) return status;
    }
    rv_tls_note(tls, stream->ssl);
    return REEVE_OK;
}

reeve_status rv_tls_start(rv_tls *tls, rv_transport *transport, const char *host, int64_t deadline,
                          const rv_waker *waker, rv_error *error)
{
    rv_tls_stream *stream = stream_new(tls, transport->fd, host);
    reeve_status status = stream != NULL ? shake_hands(tls, stream, transport, host, deadline, waker, error)
                                         : rv_fail(error, REEVE_ENOMEM, "out of memory for TLS");
    if (status != REEVE_OK) {
        stream_free(stream);
        rv_transport_close(transport, true);
        return status;
    }
    transport->ops = &over_tls;
    transport->state = stream;
    return REEVE_OK;
}
