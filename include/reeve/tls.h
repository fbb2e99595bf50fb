/*
 * tls.h - TLS between a client or a worker and Redis (rediss:// URLs).
 *
 * The same settings can be URL parameters and environment variables. A URL parameter has precedence over the field of
 * this struct, and the field over the environment variable:
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
 * The library always verifies the certificate of the server: its signature, its dates and its name. It reads the
 * files when the client is opened or the worker is created. If a file has changed, it reads the files again before
 * the next connection. If the new files cannot be used, it continues with the earlier contents, and logs the event
 * "tls.reload_failed".
 */
#ifndef REEVE_TLS_H
#define REEVE_TLS_H

#include <stdbool.h>
#include <stddef.h>

/* Zero selects the default of each field. Strings are copied by the call that takes the struct. */
typedef struct reeve_tls {
    size_t size;        /* sizeof(reeve_tls), or 0 */
    const char *ca;     /* file of PEM certificates of trusted authorities; NULL: the system's, unless ca_dir is set */
    const char *ca_dir; /* directory of such files, with the names that `openssl rehash` gives them; NULL: none */
    const char *cert;   /* PEM file of the client's certificate and its chain, with `key`; NULL: none is sent */
    const char *key;    /* PEM file of the certificate's private key, not encrypted; with `cert` */
    const char *server_name; /* name or IP address that the server's certificate must have; NULL: the URL's host */
    const char *min_version; /* lowest TLS version to accept: "1.2" or "1.3"; NULL: "1.2" */
    bool required;           /* refuse redis:// URLs; unix: and embedded: URLs stay allowed */
} reeve_tls;

#endif
