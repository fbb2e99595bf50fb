#include "redis/topology.h"

static reeve_status to_endpoint(const rv_url *url, rv_address *ret)
{
    *ret = (rv_address){.host = url->endpoints[0].host,
                        .port = url->endpoints[0].port,
                        .tls = url->tls,
                        .secret = url->kind == RV_URL_TLS};
    return REEVE_OK;
}

static reeve_status unsupported(const rv_url *url, const char *what, rv_error *error)
{
    return rv_fail(error, REEVE_EUNSUPPORTED,
                   "%s: this version of reeve cannot speak to %s; use redis:// or unix:// instead", url->redacted,
                   what);
}

reeve_status rv_topology_resolve(const rv_url *url, rv_address *ret, rv_error *error)
{
    switch (url->kind) {
    case RV_URL_TCP:
        return to_endpoint(url, ret);
    case RV_URL_UNIX:
        *ret = (rv_address){.path = url->path};
        return REEVE_OK;
    case RV_URL_TLS:
        if (rv_tls_is_built()) return to_endpoint(url, ret);
        return rv_fail(error, REEVE_EUNSUPPORTED, "%s: this build of reeve has no TLS (it was made with REEVE_TLS=OFF)",
                       url->redacted);
    case RV_URL_SENTINEL:
        return unsupported(url, "Redis Sentinel (redis-sentinel://)", error);
    case RV_URL_CLUSTER:
        return unsupported(url, "Redis Cluster (redis-cluster://)", error);
    case RV_URL_EMBEDDED:
        /* Who joined the embedded server has its unix URL. */
        return rv_fail(error, REEVE_EUNSUPPORTED, "%s: an embedded server has to be joined first", url->redacted);
    }
    return rv_fail(error, REEVE_EUNSUPPORTED, "unknown kind of Redis URL");
}
