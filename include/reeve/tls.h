/*
 * tls.h - how a client or a worker speaks TLS to Redis (rediss:// URLs).
 *
 * The same settings can be parameters of the URL, which come first, and environment variables, which come last:
 *
 *     field         URL parameter    environment
 *     ca            ca               REEVE_TLS_CA
 *     ca_dir        ca_dir           REEVE_TLS_CA_DIR
 *     cert          cert             REEVE_TLS_CERT
 *     key           key              REEVE_TLS_KEY
 *     server_name   server_name      REEVE_TLS_SERVER_NAME
 *     min_version   min_version      REEVE_TLS_MIN_VERSION
 *     required      -                REEVE_TLS=required
 *
 *     rediss://:password@db.example.org:6380/0?ca=/etc/ssl/redis-ca.pem&min_version=1.3
 *
 * The server's certificate is always verified: its signature, its dates and its name. Files are read when the client
 * or worker is opened, and again at the next connection after one of them has changed; if the new files cannot be
 * used, the ones read before stay in force and the log says so (event "tls.reload_failed").
 */
#ifndef REEVE_TLS_H
#define REEVE_TLS_H

#include <stdbool.h>
#include <stddef.h>

/* All fields may be zero. Nothing is kept after the call that takes it. */
typedef struct reeve_tls {
    size_t size;        /* sizeof(reeve_tls), or 0: the fields below */
    const char *ca;     /* file of PEM certificates of trusted authorities; NULL: the system's, unless ca_dir is set */
    const char *ca_dir; /* directory of such files, named by their hashes (openssl rehash); NULL: none */
    const char *cert;   /* file of the client's PEM certificate and its chain; NULL: none is sent. Needs key */
    const char *key;    /* file of the certificate's private key, PEM, not encrypted. Needs cert */
    const char *server_name; /* the name or IP address the server's certificate must have; NULL: the URL's host */
    const char *min_version; /* the oldest version of TLS to accept: "1.2" or "1.3"; NULL: "1.2" */
    bool required;           /* refuse URLs that do not use TLS (redis://); unix:// and embedded: stay allowed */
} reeve_tls;

#endif
