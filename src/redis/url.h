/*
 * url.h - Redis URLs.
 *
 *   redis://[user:pw@]host[:port][/db]    rediss://...[?ca=FILE&...]    unix:///path.sock[?db=n]
 *   redis-sentinel://h1[:p1],h2/master    redis-cluster://h1[:p1],h2    embedded:[dir]
 *   rediss-sentinel://...                 rediss-cluster://...          the same over TLS
 *
 * Parameters ("?name=value&...") are password_file and password_command (password.h), those of TLS, and with Sentinels
 * sentinel_user, sentinel_password and sentinel_tls=no.
 *
 * User and password are percent-decoded; ":pw@" is a password without a user; IPv6 hosts stand in brackets. unix://
 * also takes user and password: unix://user:pw@/path.sock.
 */
#ifndef RV_URL_H
#define RV_URL_H

#include <stdbool.h>

#include "base/error.h"
#include "redis/cluster.h"
#include "redis/tls.h"

typedef enum rv_url_kind {
    RV_URL_TCP,
    RV_URL_TLS,
    RV_URL_UNIX,
    RV_URL_SENTINEL,
    RV_URL_CLUSTER,
    RV_URL_EMBEDDED
} rv_url_kind;

typedef struct rv_endpoint {
    char *host;
    int port;
} rv_endpoint;

typedef struct rv_topology rv_topology;

typedef struct rv_url {
    rv_url_kind kind;
    bool is_tls;            /* the servers are spoken to over TLS */
    rv_endpoint *endpoints; /* tcp, tls: one; sentinel, cluster: one or more; else none */
    size_t endpoint_count;
    char *path;          /* unix: the socket; embedded: the directory, or NULL for the default one */
    char *master;        /* sentinel: the name */
    char *sentinel_user; /* for the Sentinels themselves, or NULL */
    char *sentinel_password;
    bool sentinel_plain;    /* TLS, where it is used, is not for them */
    char *user;             /* or NULL */
    char *password;         /* or NULL */
    char *password_file;    /* in place of it (password.h), or NULL */
    char *password_command; /* the same */
    int db;
    rv_cluster *cluster; /* cluster: what all connections by this URL know of it; else NULL */
    rv_tls_settings tls_settings;
    rv_tls *tls;           /* rv_url_secure makes it; NULL: none */
    rv_topology *topology; /* the same; NULL: the URL is of one server (topology.h) */
    char *redacted;        /* the URL for logs and messages: the password is *** */
} rv_url;

/* Fills *ret, which rv_url_fini frees; on failure nothing is left to free. The message never shows the password. */
reeve_status rv_url_parse(rv_url *ret, const char *text, rv_error *error);
void rv_url_fini(rv_url *url);
/*
 * Makes the URL ready for connecting: TLS where the URL needs it, with options (NULL: none) and the environment for what
 * the URL does not set, and the topology of a URL of several servers. Refuses a URL of plain text where TLS is required.
 * To be called once, before connecting and where the URL stays. REEVE_OK, REEVE_EINVAL, REEVE_EUNSUPPORTED,
 * REEVE_ENOMEM.
 */
reeve_status rv_url_secure(rv_url *url, const reeve_tls *options, rv_error *error);
/* The URL in force: text, else the environment's REEVE_REDIS, else "embedded:". */
const char *rv_url_choose(const char *text);

#endif
