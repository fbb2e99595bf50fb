/*
 * tls_private.h - what the files of TLS over OpenSSL share: the context, a stream, and the words for what went wrong.
 */
#ifndef RV_TLS_PRIVATE_H
#define RV_TLS_PRIVATE_H

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "redis/tls.h"
#include "redis/transport.h"

/* Which file or directory was read: a change of any of these means that it is to be read again. */
typedef struct rv_tls_stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
} rv_tls_stamp;

#define RV_TLS_FILES 4 /* ca, ca_dir, cert, key */

struct rv_tls {
    const rv_tls_settings *settings;
    pthread_mutex_t lock; /* guards all below; not held over a handshake */
    SSL_CTX *context;
    rv_tls_stamp stamps[RV_TLS_FILES];
    bool reload_failed;   /* tls.reload_failed was logged for the files of stamps */
    SSL_SESSION *session; /* the newest; NULL: none */
    uint64_t resumed;
};

/* One connection. */
typedef struct rv_tls_stream {
    SSL *ssl;
    int fd;
    int socket_errno;      /* of the last failed recv or send */
    bool starved;          /* the last read found no complete record: only poll(2) shows that more has arrived */
    bool read_wants_write; /* the last read could not go on before it has written */
    char reason[160];      /* why the stream failed; "": it did not, or errno of the socket has the reason */
} rv_tls_stream;

/* An SSL of the context that is in force, with the settings for host; files that changed are read again first. NULL: no
 * memory, or a host that is no name. */
SSL *rv_tls_open(rv_tls *tls, const char *host);
/* Notes that a handshake has succeeded. */
void rv_tls_note(rv_tls *tls, SSL *ssl);

/* A BIO over the stream's descriptor, which raises no SIGPIPE. NULL: no memory. */
BIO *rv_tls_bio_new(rv_tls_stream *stream);

/* Why a handshake failed: the certificate's fault, the peer's alert, or OpenSSL's own words. Empties its error queue.
 */
void rv_tls_explain(const rv_tls_stream *stream, const char *name, char *text, size_t size);

#endif
