/*
 * url.c - parses a Redis URL. In a malformed URL a password can be in any place, so messages quote only the path of
 * a socket.
 */
#include "redis/url.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "redis/topology.h"

#define REDIS_PORT 6379
#define SENTINEL_PORT 26379
#define SOCKET_PATH_MAX 107
#define URL_MAX 65536
#define ENDPOINTS_MAX 100
#define CREDENTIALS "user or password"

typedef struct scheme {
    const char *prefix;
    rv_url_kind kind;
    bool is_tls;
} scheme;

static const scheme schemes[] = {
    {"redis://", RV_URL_TCP, false},
    {"rediss://", RV_URL_TLS, true},
    {"unix://", RV_URL_UNIX, false},
    {"redis-sentinel://", RV_URL_SENTINEL, false},
    {"rediss-sentinel://", RV_URL_SENTINEL, true},
    {"redis-cluster://", RV_URL_CLUSTER, false},
    {"rediss-cluster://", RV_URL_CLUSTER, true},
    {"embedded:", RV_URL_EMBEDDED, false},
};

static reeve_status no_memory(rv_error *error)
{
    return rv_fail(error, REEVE_ENOMEM, "out of memory while reading a Redis URL");
}

/* ---- pieces ---------------------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* what: the part of the URL, for the message. */
static reeve_status decode(const char *text, size_t length, const char *what, char **ret, rv_error *error)
{
    char *decoded = rv_alloc(length + 1);
    if (!decoded) return no_memory(error);
    size_t put = 0;
    for (size_t i = 0; i < length; i++, put++) {
        decoded[put] = text[i];
        if (text[i] != '%') continue;
        int high = i + 1 < length ? hex_digit(text[i + 1]) : -1;
        int low = i + 2 < length ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0 || high + low == 0) goto malformed;
        decoded[put] = (char)(high * 16 + low);
        i += 2;
    }
    decoded[put] = '\0';
    *ret = decoded;
    return REEVE_OK;
malformed:
    rv_free(decoded);
    return rv_fail(error, REEVE_EURL,
                   "the Redis URL's %s: a '%%' that is no percent-escape; write %%25 for a plain '%%'", what);
}

static reeve_status parse_credentials(rv_url *url, const char *text, size_t length, rv_error *error)
{
    const char *colon = memchr(text, ':', length);
    if (length == 0) return REEVE_OK;
    if (!colon)
        return rv_fail(error, REEVE_EURL,
                       "the Redis URL has a user without a password; write user:password@ or, "
                       "for a password alone, :password@");
    size_t user_length = (size_t)(colon - text);
    reeve_status status = REEVE_OK;
    if (user_length > 0) status = decode(text, user_length, CREDENTIALS, &url->user, error);
    if (status == REEVE_OK) status = decode(colon + 1, length - user_length - 1, CREDENTIALS, &url->password, error);
    return status;
}

static reeve_status parse_db(rv_url *url, const char *text, rv_error *error)
{
    int64_t number;
    if (!rv_parse_int(text, 0, INT32_MAX, &number))
        return rv_fail(error, REEVE_EURL, "the database in the Redis URL is no number from 0");
    url->db = (int)number;
    return REEVE_OK;
}

/* "h", "h:1", "[::1]:1". Finds the host's ends and the port's text, or NULL. */
static bool split_host(const char *text, const char **ret_host, size_t *ret_length, const char **ret_port)
{
    const char *colon = strchr(text, ':');
    *ret_host = text;
    *ret_length = colon ? (size_t)(colon - text) : strlen(text);
    if (*text == '[') {
        const char *end = strchr(text, ']');
        if (!end || (end[1] != '\0' && end[1] != ':')) return false;
        *ret_host = text + 1;
        *ret_length = (size_t)(end - text) - 1;
        colon = end[1] == ':' ? end + 1 : NULL;
    }
    *ret_port = colon ? colon + 1 : NULL;
    return *ret_length > 0;
}

static reeve_status parse_endpoint(const char *text, int usual_port, rv_endpoint *ret, rv_error *error)
{
    const char *host, *port;
    size_t length;
    int64_t number = usual_port;
    if (!split_host(text, &host, &length, &port))
        return rv_fail(error, REEVE_EURL, "the Redis URL lacks a host; write redis://host:port");
    if (length >= RV_HOST_SIZE)
        return rv_fail(error, REEVE_EURL, "a host in the Redis URL has more than %d bytes", RV_HOST_SIZE - 1);
    if (port && !rv_parse_int(port, 1, 65535, &number))
        return rv_fail(error, REEVE_EURL,
                       "the port in the Redis URL is no number from 1 to 65535 (a password ends "
                       "with an '@': redis://:password@host)");
    ret->host = rv_strndup(host, length);
    ret->port = (int)number;
    return ret->host ? REEVE_OK : no_memory(error);
}

/* ---- kinds ----------------------------------------------------------------------------------------------------- */

/* Cuts text at the first c, and returns what follows it, or NULL. */
static char *cut(char *text, char c)
{
    char *at = strchr(text, c);
    if (!at) return NULL;
    *at = '\0';
    return at + 1;
}

static reeve_status parse_endpoints(rv_url *url, char *list, int usual_port, rv_error *error)
{
    for (char *next; list; list = next) {
        next = cut(list, ',');
        if (url->endpoint_count == ENDPOINTS_MAX)
            return rv_fail(error, REEVE_EURL, "the Redis URL names more than %d hosts", ENDPOINTS_MAX);
        rv_endpoint *more = rv_realloc_array(url->endpoints, url->endpoint_count + 1, sizeof(rv_endpoint));
        if (!more) return no_memory(error);
        url->endpoints = more;
        reeve_status status = parse_endpoint(list, usual_port, &more[url->endpoint_count], error);
        if (status != REEVE_OK) return status;
        url->endpoint_count++;
    }
    return REEVE_OK;
}

static reeve_status set_once(char **place, const char *name, const char *value, rv_error *error)
{
    if (*place) return rv_fail(error, REEVE_EURL, "the Redis URL has the parameter %s twice", name);
    *place = rv_strdup(value);
    return *place ? REEVE_OK : no_memory(error);
}

/* REEVE_ENOTFOUND: it is not a parameter of Sentinels. */
static reeve_status set_for_sentinel(rv_url *url, const char *name, const char *value, rv_error *error)
{
    bool is_user = strcmp(name, "sentinel_user") == 0, is_password = strcmp(name, "sentinel_password") == 0;
    char **place = is_user ? &url->sentinel_user : &url->sentinel_password;
    if (strcmp(name, "sentinel_tls") == 0) {
        if (strcmp(value, "no") != 0)
            return rv_fail(error, REEVE_EURL,
                           "sentinel_tls in the Redis URL can only be \"no\"; rediss-sentinel:// uses TLS");
        url->sentinel_plain = true;
        return REEVE_OK;
    }
    if (!is_user && !is_password) return REEVE_ENOTFOUND;
    return set_once(place, name, value, error);
}

static reeve_status set_parameter(rv_url *url, const char *name, const char *value, rv_error *error)
{
    reeve_status status = REEVE_ENOTFOUND;
    if (strcmp(name, "password_file") == 0) return set_once(&url->password_file, name, value, error);
    if (strcmp(name, "password_command") == 0) return set_once(&url->password_command, name, value, error);
    if (url->kind == RV_URL_SENTINEL) status = set_for_sentinel(url, name, value, error);
    if (status != REEVE_ENOTFOUND) return status;
    if (url->is_tls) return rv_tls_set(&url->tls_settings, name, value, error);
    return rv_fail(
        error, REEVE_EURL,
        "the Redis URL has an unknown parameter; known are password_file and password_command, with "
        "redis-sentinel:// sentinel_user, sentinel_password and sentinel_tls, and with rediss:// those of TLS");
}

/* "name=value" */
static reeve_status parse_parameter(rv_url *url, char *text, rv_error *error)
{
    char *value = cut(text, '='), *decoded = NULL;
    if (!value || *value == '\0')
        return rv_fail(error, REEVE_EURL, "a parameter of the Redis URL has no value; write ?ca=/path/to/ca.pem");
    reeve_status status = decode(value, strlen(value), "parameters", &decoded, error);
    if (status == REEVE_OK) status = set_parameter(url, text, decoded, error);
    rv_free(decoded);
    return status;
}

static reeve_status parse_parameters(rv_url *url, char *list, rv_error *error)
{
    reeve_status status = REEVE_OK;
    for (char *next; status == REEVE_OK && list && *list; list = next) {
        next = cut(list, '&');
        status = parse_parameter(url, list, error);
    }
    return status;
}

/* host[:port][/db] */
static reeve_status parse_single(rv_url *url, char *text, rv_error *error)
{
    const char *db = cut(text, '/');
    if (strchr(text, ','))
        return rv_fail(error, REEVE_EURL,
                       "several hosts belong to redis-sentinel:// or redis-cluster://, not to a "
                       "URL of one server");
    reeve_status status = parse_endpoints(url, text, REDIS_PORT, error);
    return status == REEVE_OK && db && *db ? parse_db(url, db, error) : status;
}

/* h1,h2/master[/db] */
static reeve_status parse_sentinel(rv_url *url, char *text, rv_error *error)
{
    char *master = cut(text, '/');
    const char *db = master ? cut(master, '/') : NULL;
    if (!master || !*master)
        return rv_fail(error, REEVE_EURL, "the Redis URL lacks the master's name: redis-sentinel://host,host/master");
    url->master = rv_strdup(master);
    if (!url->master) return no_memory(error);
    reeve_status status = parse_endpoints(url, text, SENTINEL_PORT, error);
    return status == REEVE_OK && db && *db ? parse_db(url, db, error) : status;
}

static reeve_status parse_cluster(rv_url *url, char *text, rv_error *error)
{
    const char *db = cut(text, '/');
    if (db && *db) return rv_fail(error, REEVE_EURL, "Redis Cluster has no databases, but the URL names one");
    url->cluster = rv_cluster_create();
    if (url->cluster == NULL) return no_memory(error);
    return parse_endpoints(url, text, REDIS_PORT, error);
}

/* "db=n", and with unix:// the parameters of a password. */
static reeve_status parse_path_parameter(rv_url *url, char *text, rv_error *error)
{
    if (strncmp(text, "db=", 3) == 0) return parse_db(url, text + 3, error);
    if (url->kind == RV_URL_UNIX && strncmp(text, "password_", 9) == 0) return parse_parameter(url, text, error);
    return rv_fail(error, REEVE_EURL,
                   "only ?db=n can follow a path in a Redis URL, or a password_file or password_command");
}

/* Takes "?db=n" off the end of a path. */
static reeve_status parse_path(rv_url *url, char *text, rv_error *error)
{
    char *query = strrchr(text, '?');
    reeve_status status = REEVE_OK;
    if (query) *query++ = '\0';
    for (char *next; status == REEVE_OK && query; query = next) {
        next = cut(query, '&');
        status = parse_path_parameter(url, query, error);
    }
    if (status != REEVE_OK || !*text) return status;
    url->path = rv_strdup(text);
    return url->path ? REEVE_OK : no_memory(error);
}

static reeve_status parse_unix(rv_url *url, char *text, rv_error *error)
{
    if (*text != '/')
        return rv_fail(error, REEVE_EURL, "the Redis URL lacks an absolute path: unix:///path/to/redis.sock");
    reeve_status status = parse_path(url, text, error);
    if (status == REEVE_OK && (!url->path || strlen(url->path) > SOCKET_PATH_MAX))
        return rv_fail(error, REEVE_EURL, "the path of a unix socket has at most %d bytes: %s", SOCKET_PATH_MAX, text);
    return status;
}

static reeve_status parse_rest(rv_url *url, char *text, rv_error *error)
{
    bool is_path = url->kind == RV_URL_UNIX || url->kind == RV_URL_EMBEDDED;
    char *parameters = is_path ? NULL : cut(text, '?');
    reeve_status status = parse_parameters(url, parameters, error);
    if (status != REEVE_OK) return status;
    switch (url->kind) {
    case RV_URL_TCP:
    case RV_URL_TLS:
        return parse_single(url, text, error);
    case RV_URL_UNIX:
        return parse_unix(url, text, error);
    case RV_URL_SENTINEL:
        return parse_sentinel(url, text, error);
    case RV_URL_CLUSTER:
        return parse_cluster(url, text, error);
    case RV_URL_EMBEDDED:
        return parse_path(url, text, error);
    }
    return rv_fail(error, REEVE_EURL, "unknown kind of Redis URL");
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static const char *last_of(const char *text, const char *pair)
{
    const char *last = NULL;
    for (const char *at = strstr(text, pair); at; at = strstr(at + 1, pair)) last = at;
    return last;
}

/*
 * Where user and password end, or NULL when there are none. A password that should have been escaped and was not still
 * ends at the last '@', so that no piece of it is taken for a host.
 */
static const char *credentials_end(rv_url_kind kind, const char *text)
{
    if (kind == RV_URL_EMBEDDED || (kind == RV_URL_UNIX && *text == '/')) return NULL;
    if (kind == RV_URL_UNIX) return last_of(text, "@/");
    return strrchr(text, '@');
}

static const scheme *find_scheme(const char *text)
{
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
        if (strncmp(text, schemes[i].prefix, strlen(schemes[i].prefix)) == 0) return &schemes[i];
    return NULL;
}

static void add_endpoints(rv_buf *buf, const rv_url *url)
{
    for (size_t i = 0; i < url->endpoint_count; i++) {
        const char *format = strchr(url->endpoints[i].host, ':') ? "[" : "";
        rv_buf_adds(buf, i > 0 ? "," : "");
        rv_buf_adds(buf, format);
        rv_buf_adds(buf, url->endpoints[i].host);
        rv_buf_adds(buf, *format ? "]:" : ":");
        rv_buf_addi(buf, url->endpoints[i].port);
    }
}

static reeve_status redact(rv_url *url, const char *prefix, rv_error *error)
{
    rv_buf buf;
    rv_buf_init(&buf, URL_MAX);
    rv_buf_adds(&buf, prefix);
    if (url->user) rv_buf_adds(&buf, url->user);
    if (url->password) rv_buf_adds(&buf, ":***@");
    add_endpoints(&buf, url);
    if (url->path) rv_buf_adds(&buf, url->path);
    if (url->master) rv_buf_addf(&buf, "/%s", url->master);
    if (url->db != 0) rv_buf_addf(&buf, "%s%d", url->endpoint_count > 0 ? "/" : "?db=", url->db);
    if (!buf.failed) url->redacted = rv_strdup(rv_buf_text(&buf));
    rv_buf_fini(&buf);
    return url->redacted ? REEVE_OK : no_memory(error);
}

/* An empty password counts as none: "user:@host" names a user. */
static reeve_status check_password(const rv_url *url, rv_error *error)
{
    int sources = (url->password && *url->password) + (url->password_file != NULL) + (url->password_command != NULL);
    if (sources > 1)
        return rv_fail(error, REEVE_EURL,
                       "the Redis URL has more than one of a password, password_file and password_command");
    if (url->password_file && *url->password_file != '/')
        return rv_fail(error, REEVE_EURL, "password_file in the Redis URL is no absolute path");
    return REEVE_OK;
}

static reeve_status parse_all(rv_url *url, const scheme *how, const char *text, rv_error *error)
{
    const char *at = credentials_end(how->kind, text);
    reeve_status status = at ? parse_credentials(url, text, (size_t)(at - text), error) : REEVE_OK;
    char *rest = rv_strdup(at ? at + 1 : text);
    if (!rest) return no_memory(error);
    if (status == REEVE_OK) status = parse_rest(url, rest, error);
    if (status == REEVE_OK) status = check_password(url, error);
    if (status == REEVE_OK) status = redact(url, how->prefix, error);
    rv_free(rest);
    return status;
}

reeve_status rv_url_parse(rv_url *ret, const char *text, rv_error *error)
{
    rv_url url = {0};
    const scheme *how = find_scheme(text);
    if (!how)
        return rv_fail(error, REEVE_EURL,
                       "a Redis URL begins with redis://, rediss://, unix://, redis-sentinel://, "
                       "redis-cluster:// or embedded:");
    if (strlen(text) > URL_MAX / 4)
        return rv_fail(error, REEVE_EURL, "the Redis URL is longer than %d bytes", URL_MAX / 4);
    url.kind = how->kind;
    url.is_tls = how->is_tls;
    reeve_status status = parse_all(&url, how, text + strlen(how->prefix), error);
    if (status == REEVE_OK)
        *ret = url;
    else
        rv_url_fini(&url);
    return status;
}

void rv_url_fini(rv_url *url)
{
    for (size_t i = 0; i < url->endpoint_count; i++) rv_free(url->endpoints[i].host);
    rv_free(url->endpoints);
    rv_free(url->path);
    rv_free(url->master);
    rv_free(url->sentinel_user);
    rv_free(url->sentinel_password);
    rv_free(url->user);
    rv_free(url->password);
    rv_free(url->password_file);
    rv_free(url->password_command);
    rv_free(url->redacted);
    rv_topology_destroy(url->topology);
    rv_tls_destroy(url->tls);
    rv_cluster_destroy(url->cluster);
    rv_tls_settings_fini(&url->tls_settings);
    *url = (rv_url){0};
}

reeve_status rv_url_secure(rv_url *url, const reeve_tls *options, rv_error *error)
{
    bool is_local = url->kind == RV_URL_UNIX || url->kind == RV_URL_EMBEDDED;
    bool is_required;
    reeve_status status = rv_tls_read_required(options, &is_required, error);
    if (status != REEVE_OK) return status;
    if (!url->is_tls && !is_local && is_required)
        return rv_fail(error, REEVE_EINVAL, "%s: TLS is required here; use rediss://", url->redacted);
    if (url->is_tls) status = rv_tls_fill(&url->tls_settings, options, error);
    if (url->is_tls && status == REEVE_OK) status = rv_tls_create(&url->tls, &url->tls_settings, error);
    return status == REEVE_OK ? rv_topology_create(&url->topology, url, error) : status;
}

const char *rv_url_choose(const char *text)
{
    if (text) return text; /* parsing refuses an empty one */
    const char *chosen = getenv("REEVE_REDIS");
    return chosen && *chosen ? chosen : "embedded:";
}
