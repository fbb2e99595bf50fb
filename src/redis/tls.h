/*
 * tls.h - TLS under a connection: the settings, the context that connections of one URL share, and the handshake.
 *
 * A context holds what was read from files (trusted authorities, the client's certificate and key) and the server's
 * last session, with which the next handshake is shorter. Any thread may start TLS with it. A build without OpenSSL
 * has tls_none.c instead of the tls_*.c files: there rv_tls_create fails.
 */
#ifndef RV_TLS_H
#define RV_TLS_H

#include <stdint.h>

#include "base/error.h"
#include "redis/waker.h"
#include "reeve/tls.h"

typedef struct rv_tls rv_tls;
struct rv_transport;

/* NULL: not set. Owned by the URL that has them. */
typedef struct rv_tls_settings {
    char *ca;
    char *ca_dir;
    char *cert;
    char *key;
    char *server_name;
    char *min_version;
} rv_tls_settings;

/*
 * Sets a field by the name of its URL parameter; one that is set already stays as it is. The value is copied; NULL sets
 * nothing. REEVE_OK, REEVE_EURL (no such name), REEVE_ENOMEM.
 */
reeve_status rv_tls_set(rv_tls_settings *settings, const char *name, const char *value, rv_error *error);
/* Fills what is not set from options (NULL: none), then from the environment. REEVE_OK, REEVE_ENOMEM, REEVE_EINVAL. */
reeve_status rv_tls_fill(rv_tls_settings *settings, const reeve_tls *options, rv_error *error);
/* Whether plain text is refused, by options or by the environment. REEVE_OK, REEVE_EINVAL (REEVE_TLS is odd). */
reeve_status rv_tls_read_required(const reeve_tls *options, bool *ret, rv_error *error);
void rv_tls_settings_fini(rv_tls_settings *settings);

/* Whether this build speaks TLS. */
bool rv_tls_is_built(void);

/*
 * Reads the files that the settings name. settings are borrowed: they outlive the context. REEVE_OK, REEVE_EINVAL (a
 * file that cannot be used, a version that is not known; with the file's name), REEVE_ENOMEM, REEVE_EUNSUPPORTED.
 */
reeve_status rv_tls_create(rv_tls **ret, const rv_tls_settings *settings, rv_error *error);
void rv_tls_destroy(rv_tls *tls); /* after the last connection that uses it was closed; NULL is fine */

/*
 * The handshake, on a transport that is connected to host; from then on the transport reads and writes through TLS. Not
 * later than the deadline; waker may be NULL. On failure the transport is closed. REEVE_OK, REEVE_ECONNECT (with the
 * reason in words), REEVE_EINTERRUPTED, REEVE_ENOMEM.
 */
reeve_status rv_tls_start(rv_tls *tls, struct rv_transport *transport, const char *host, int64_t deadline,
                          const rv_waker *waker, rv_error *error);

/* For tests: how many handshakes resumed a session. */
uint64_t rv_tls_resumed(const rv_tls *tls);

#endif
