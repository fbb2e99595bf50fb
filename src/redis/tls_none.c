/* A build without TLS (-DREEVE_TLS=OFF). */
#include "redis/tls.h"
#include "redis/transport.h"

bool rv_tls_is_built(void)
{
    return false;
}

reeve_status rv_tls_create(rv_tls **ret, const rv_tls_settings *settings, rv_error *error)
{
    (void)settings;
    *ret = NULL;
    return rv_fail(error, REEVE_EUNSUPPORTED, "this build of reeve has no TLS");
}

void rv_tls_destroy(rv_tls *tls)
{
    (void)tls;
}

reeve_status rv_tls_start(rv_tls *tls, rv_transport *transport, const char *host, int64_t deadline,
                          const rv_waker *waker, rv_error *error)
{
    (void)tls;
    (void)host;
    (void)deadline;
    (void)waker;
    rv_transport_close(transport, true);
    return rv_fail(error, REEVE_ECONNECT, "this build of reeve has no TLS");
}

uint64_t rv_tls_resumed(const rv_tls *tls)
{
    (void)tls;
    return 0;
}
