#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

#include "redis/tls_private.h"

/* What is wrong with the server's certificate. */
static void explain_certificate(long verdict, const char *name, char *text, size_t size)
{
    switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        (void)snprintf(text, size, "TLS: the server's certificate is not for %s; server_name names another", name);
        return;
    case X509_V_ERR_CERT_HAS_EXPIRED:
        (void)snprintf(text, size, "TLS: the server's certificate has expired");
        return;
    case X509_V_ERR_CERT_NOT_YET_VALID:
        (void)snprintf(text, size, "TLS: the server's certificate is not valid yet; compare the clocks");
        return;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        (void)snprintf(text, size,
                       "TLS: the server's certificate is from an unknown authority; set ca to the file of "
                       "its certificate");
        return;
    default:
        (void)snprintf(text, size, "TLS: the server's certificate: %s", X509_verify_cert_error_string(verdict));
    }
}

/* What the protocol's failure means to a user, or NULL. */
static const char *meaning(int reason)
{
    switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
        return "the server does not speak TLS on this port";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
        return "the server has no version of TLS that min_version allows";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
        return "the server wants a client certificate; set cert and key";
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
        return "the server refused the handshake; it may want a client certificate (cert, key)";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
        return "the server does not know the authority of the client certificate (cert)";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
        return "the server says that the client certificate (cert) has expired";
    default:
        return NULL;
    }
}

void rv_tls_explain(const rv_tls_stream *stream, const char *name, char *text, size_t size)
{
    char words[128];
    unsigned long code = ERR_peek_last_error();
    long verdict = SSL_get_verify_result(stream->ssl);
    const char *explained = meaning(ERR_GET_REASON(code));
    if (code != 0 && ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED && verdict != X509_V_OK)
        explain_certificate(verdict, name, text, size);
    else if (code != 0 && ERR_GET_LIB(code) == ERR_LIB_SSL && explained != NULL)
        (void)snprintf(text, size, "TLS: %s", explained);
    else if (code != 0 && ERR_reason_error_string(code) != NULL)
        (void)snprintf(text, size, "TLS: %s", ERR_reason_error_string(code));
    else if (stream->socket_errno != 0 && stream->socket_errno != EAGAIN)
        (void)snprintf(text, size, "TLS: %s", strerror_r(stream->socket_errno, words, sizeof(words)));
    else
        (void)snprintf(text, size, "TLS: the server closed the connection; it may not speak TLS on this port");
    ERR_clear_error();
}
