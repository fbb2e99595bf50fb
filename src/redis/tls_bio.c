/*
 * tls_bio.c - how OpenSSL reads and writes the socket: as its own socket BIO does, but that a peer that has gone raises
 * no SIGPIPE, which is the program's to handle.
 */
#include <errno.h>
#include <openssl/bio.h>
#include <pthread.h>
#include <sys/socket.h>

#include "redis/tls_private.h"

static BIO_METHOD *method;
static pthread_once_t made = PTHREAD_ONCE_INIT;

static int finish(BIO *bio, ssize_t moved)
{
    rv_tls_stream *stream = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (moved < 0) stream->socket_errno = errno;
    return (int)moved;
}

static int bio_read(BIO *bio, char *data, int length)
{
    const rv_tls_stream *stream = BIO_get_data(bio);
    ssize_t got = recv(stream->fd, data, (size_t)length, 0);
    int result = finish(bio, got);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
    return result;
}

static int bio_write(BIO *bio, const char *data, int length)
{
    const rv_tls_stream *stream = BIO_get_data(bio);
    ssize_t put = send(stream->fd, data, (size_t)length, MSG_NOSIGNAL);
    int result = finish(bio, put);
    if (put < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
    return result;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

static void make_method(void)
{
    BIO_METHOD *fresh = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK | BIO_TYPE_DESCRIPTOR, "reeve");
    if (fresh == NULL) return;
    if (BIO_meth_set_read(fresh, bio_read) != 1 || BIO_meth_set_write(fresh, bio_write) != 1 ||
        BIO_meth_set_ctrl(fresh, bio_control) != 1) {
        BIO_meth_free(fresh);
        return;
    }
    method = fresh;
}

BIO *rv_tls_bio_new(rv_tls_stream *stream)
{
    if (pthread_once(&made, make_method) != 0 || method == NULL) return NULL;
    BIO *bio = BIO_new(method);
    if (bio == NULL) return NULL;
    BIO_set_data(bio, stream);
    BIO_set_init(bio, 1);
    return bio;
}
