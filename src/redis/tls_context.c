/*
 * tls_context.c - what the connections of one URL share: settings read from files, and the last session.
 */
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "redis/tls_private.h"

static void lock(rv_tls *tls)
{
    if (pthread_mutex_lock(&tls->lock) != 0) abort();
}

static void unlock(rv_tls *tls)
{
    if (pthread_mutex_unlock(&tls->lock) != 0) abort();
}

bool rv_tls_is_built(void)
{
    return true;
}

/* ---- reading the files ----------------------------------------------------------------------------------------- */

static reeve_status file_failed(const char *what, const char *path, rv_error *error)
{
    char words[128];
    unsigned long code = ERR_peek_error();
    const char *reason =
        ERR_SYSTEM_ERROR(code) ? strerror_r(ERR_GET_REASON(code), words, sizeof(words)) : ERR_reason_error_string(code);
    (void)rv_fail(error, REEVE_EINVAL, "TLS: cannot use the %s %s: %s", what, path,
                  reason != NULL ? reason : "unknown reason");
    ERR_clear_error();
    return REEVE_EINVAL;
}

static reeve_status load_authorities(SSL_CTX *context, const rv_tls_settings *settings, rv_error *error)
{
    if (settings->ca != NULL && SSL_CTX_load_verify_file(context, settings->ca) != 1)
        return file_failed("CA file", settings->ca, error);
    if (settings->ca_dir != NULL && SSL_CTX_load_verify_dir(context, settings->ca_dir) != 1)
        return file_failed("CA directory", settings->ca_dir, error);
    if (settings->ca == NULL && settings->ca_dir == NULL && SSL_CTX_set_default_verify_paths(context) != 1)
        return file_failed("certificates of", "the system", error);
    return REEVE_OK;
}

/* An encrypted key must not make OpenSSL ask at the terminal. */
static int no_password(char *text, int size, int writing, void *user)
{
    (void)text;
    (void)size;
    (void)writing;
    (void)user;
    return -1;
}

static reeve_status load_certificate(SSL_CTX *context, const rv_tls_settings *settings, rv_error *error)
{
    if (settings->cert == NULL && settings->key == NULL) return REEVE_OK;
    if (settings->cert == NULL || settings->key == NULL)
        return rv_fail(error, REEVE_EINVAL, "TLS: a client certificate needs both cert and key; only %s is set",
                       settings->cert != NULL ? "cert" : "key");
    SSL_CTX_set_default_passwd_cb(context, no_password);
    if (SSL_CTX_use_certificate_chain_file(context, settings->cert) != 1)
        return file_failed("certificate", settings->cert, error);
    if (SSL_CTX_use_PrivateKey_file(context, settings->key, SSL_FILETYPE_PEM) != 1)
        return file_failed("key", settings->key, error);
    return REEVE_OK;
}

static reeve_status choose_version(SSL_CTX *context, const char *text, rv_error *error)
{
    int version = TLS1_2_VERSION;
    if (text != NULL && strcmp(text, "1.3") == 0)
        version = TLS1_3_VERSION;
    else if (text != NULL && strcmp(text, "1.2") != 0)
        return rv_fail(error, REEVE_EINVAL, "TLS: min_version is \"1.2\" or \"1.3\", not \"%s\"", text);
    if (SSL_CTX_set_min_proto_version(context, version) == 1) return REEVE_OK;
    return file_failed("min_version", text != NULL ? text : "1.2", error);
}

/* Called by OpenSSL for each session that the server offers: the newest is kept. One of a connection that was verified
 * by files that have changed since is not: who resumes it is not verified again. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    rv_tls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    lock(tls);
    bool in_force = SSL_get_SSL_CTX(ssl) == tls->context;
    SSL_SESSION *old = in_force ? tls->session : NULL;
    if (in_force) tls->session = session;
    unlock(tls);
    SSL_SESSION_free(old);
    return in_force; /* 1: the reference is ours */
}

static reeve_status make_context(rv_tls *tls, SSL_CTX **ret, rv_error *error)
{
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (context == NULL) return rv_fail(error, REEVE_ENOMEM, "out of memory for TLS");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_app_data(context, tls);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, keep_session);
    /* RESP has the lengths of replies, so an end without a TLS alert cannot cut one unnoticed. */
    (void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    (void)SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context, 1);
    reeve_status status = choose_version(context, tls->settings->min_version, error);
    if (status == REEVE_OK) status = load_authorities(context, tls->settings, error);
    if (status == REEVE_OK) status = load_certificate(context, tls->settings, error);
    if (status != REEVE_OK) {
        SSL_CTX_free(context);
        return status;
    }
    *ret = context;
    return REEVE_OK;
}

/* ---- files that change ------------------------------------------------------------------------------------------ */

static void take_stamp(const char *path, rv_tls_stamp *ret)
{
    struct stat about;
    *ret = (rv_tls_stamp){0};
    if (path == NULL || stat(path, &about) != 0) return;
    *ret = (rv_tls_stamp){about.st_dev, about.st_ino, about.st_size, about.st_mtim};
}

/* Where the system has its authorities. */
static const char *of_system(const char *variable, const char *usual)
{
    const char *chosen = getenv(variable);
    return chosen != NULL ? chosen : usual;
}

/* What comes into a directory, or goes, changes that. */
static void take_stamps(const rv_tls_settings *settings, rv_tls_stamp stamps[RV_TLS_FILES])
{
    memset(stamps, 0, RV_TLS_FILES * sizeof(*stamps)); /* with the gaps, which are compared, too */
    bool system = settings->ca == NULL && settings->ca_dir == NULL;
    take_stamp(system ? of_system(X509_get_default_cert_file_env(), X509_get_default_cert_file()) : settings->ca,
               &stamps[0]);
    take_stamp(system ? of_system(X509_get_default_cert_dir_env(), X509_get_default_cert_dir()) : settings->ca_dir,
               &stamps[1]);
    take_stamp(settings->cert, &stamps[2]);
    take_stamp(settings->key, &stamps[3]);
}

static bool is_same(const rv_tls_stamp *a, const rv_tls_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* With the lock held. What cannot be used leaves the old context in force. Tried again at each connection until it can:
 * a certificate and its key are two files, and may change one after the other. */
static void reload(rv_tls *tls)
{
    rv_tls_stamp stamps[RV_TLS_FILES];
    take_stamps(tls->settings, stamps);
    bool same = true;
    for (size_t i = 0; i < RV_TLS_FILES; i++) same = same && is_same(&stamps[i], &tls->stamps[i]);
    if (same) return;
    SSL_CTX *fresh;
    rv_error reason = {0};
    if (make_context(tls, &fresh, &reason) != REEVE_OK) {
        if (!tls->reload_failed)
            rv_log(REEVE_LOG_WARN, "tls.reload_failed",
                   "TLS files changed and cannot be used: the previous ones stay in use", "error", reason.text, NULL);
        tls->reload_failed = true;
        return;
    }
    SSL_CTX_free(tls->context);
    tls->context = fresh;
    memcpy(tls->stamps, stamps, sizeof(stamps));
    tls->reload_failed = false;
    SSL_SESSION_free(tls->session); /* it belongs to the certificates of before */
    tls->session = NULL;
    rv_log(REEVE_LOG_INFO, "tls.reloaded", "TLS files changed and were read again", NULL);
}

/* ---- the context ------------------------------------------------------------------------------------------------ */

reeve_status rv_tls_create(rv_tls **ret, const rv_tls_settings *settings, rv_error *error)
{
    *ret = NULL;
    rv_tls *tls = rv_zalloc(sizeof(*tls));
    if (tls == NULL) return rv_fail(error, REEVE_ENOMEM, "out of memory for TLS");
    tls->settings = settings;
    take_stamps(settings, tls->stamps);
    reeve_status status = make_context(tls, &tls->context, error);
    if (status != REEVE_OK) {
        rv_free(tls);
        return status;
    }
    if (pthread_mutex_init(&tls->lock, NULL) != 0) abort();
    *ret = tls;
    return REEVE_OK;
}

void rv_tls_destroy(rv_tls *tls)
{
    if (tls == NULL) return;
    SSL_SESSION_free(tls->session);
    SSL_CTX_free(tls->context);
    if (pthread_mutex_destroy(&tls->lock) != 0) abort();
    rv_free(tls);
}

uint64_t rv_tls_resumed(const rv_tls *tls)
{
    return tls->resumed;
}

void rv_tls_note(rv_tls *tls, SSL *ssl)
{
    if (SSL_session_reused(ssl) != 1) return;
    lock(tls);
    tls->resumed++;
    unlock(tls);
}

/* The name that the certificate must have; it is sent along, so that a server of many names can choose, but an address
 * is not. */
static bool expect_name(SSL *ssl, const char *name)
{
    unsigned char address[sizeof(struct in6_addr)];
    bool is_address = inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
    if (is_address) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set_tlsext_host_name(ssl, name) == 1 && SSL_set1_host(ssl, name) == 1;
}

SSL *rv_tls_open(rv_tls *tls, const char *host)
{
    lock(tls);
    reload(tls);
    SSL *ssl = SSL_new(tls->context);
    if (ssl != NULL && tls->session != NULL) (void)SSL_set_session(ssl, tls->session); /* else a full handshake */
    unlock(tls);
    const char *name = tls->settings->server_name != NULL ? tls->settings->server_name : host;
    if (ssl == NULL || expect_name(ssl, name)) return ssl;
    SSL_free(ssl);
    return NULL;
}
