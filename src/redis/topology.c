#include "redis/topology.h"

#include "base/clock.h"
#include "redis/sentinel.h"
#include "redis/topology_private.h"

/* An attempt to connect takes this share of the time that is left, so that there is time for another question, */
#define ATTEMPT_SHARE 3
/* but not less than this. */
#define ATTEMPT_MIN_MS 1000

static reeve_status to_endpoint(const rv_url *url, rv_address *ret)
{
    *ret = (rv_address){.port = url->endpoints[0].port, .tls = url->tls, .secret = url->is_tls};
    rv_copy_text(ret->host, sizeof(ret->host), url->endpoints[0].host);
    return REEVE_OK;
}

reeve_status rv_topology_check(const rv_url *url, rv_error *error)
{
    if (url->is_tls && !rv_tls_is_built())
        return rv_fail(error, REEVE_EUNSUPPORTED, "%s: this build of reeve has no TLS (it was made with REEVE_TLS=OFF)",
                       url->redacted);
    switch (url->kind) {
    case RV_URL_TCP:
    case RV_URL_TLS:
    case RV_URL_UNIX:
    case RV_URL_SENTINEL:
    case RV_URL_CLUSTER: /* cluster_links.c connects to its nodes, each by a URL of one server */
        return REEVE_OK;
    case RV_URL_EMBEDDED:
        /* Who joined the embedded server has its unix URL. */
        return rv_fail(error, REEVE_EUNSUPPORTED, "%s: an embedded server has to be joined first", url->redacted);
    }
    return rv_fail(error, REEVE_EUNSUPPORTED, "unknown kind of Redis URL");
}

reeve_status rv_topology_create(rv_topology **ret, const rv_url *url, rv_error *error)
{
    *ret = NULL;
    return url->kind == RV_URL_SENTINEL ? rv_sentinel_create(ret, url, error) : REEVE_OK;
}

void rv_topology_destroy(rv_topology *topology)
{
    if (topology) topology->ops->destroy(topology);
}

reeve_status rv_topology_resolve(const rv_url *url, const rv_topology_ask *ask, rv_address *ret, rv_error *error)
{
    if (url->topology) return url->topology->ops->resolve(url->topology, url, ask, ret, error);
    reeve_status status = rv_topology_check(url, error);
    if (status != REEVE_OK) return status;
    switch (url->kind) {
    case RV_URL_TCP:
    case RV_URL_TLS:
        return to_endpoint(url, ret);
    case RV_URL_UNIX:
        *ret = (rv_address){.path = url->path};
        return REEVE_OK;
    case RV_URL_SENTINEL:
    case RV_URL_CLUSTER:
    case RV_URL_EMBEDDED:
        break;
    }
    return rv_fail(error, REEVE_ECONNECT, "the URL was not made ready for connecting");
}

int64_t rv_topology_attempt(const rv_url *url, int64_t deadline)
{
    int64_t now = rv_now_ms();
    if (!url->topology || deadline == RV_FOREVER || deadline <= now) return deadline;
    int64_t share = (deadline - now) / ATTEMPT_SHARE;
    int64_t until = now + (share < ATTEMPT_MIN_MS ? ATTEMPT_MIN_MS : share);
    return until < deadline ? until : deadline;
}

bool rv_topology_failed(const rv_url *url, const rv_address *address)
{
    rv_topology *topology = url->topology;
    return topology && topology->ops->failed && topology->ops->failed(topology, address);
}

void rv_topology_opened(const rv_url *url, rv_address *address)
{
    rv_topology *topology = url->topology;
    if (topology && topology->ops->opened) topology->ops->opened(topology, url, address);
}

void rv_topology_write_servers(const rv_url *url, rv_buf *out)
{
    rv_topology *topology = url->topology;
    if (topology && topology->ops->write_servers) topology->ops->write_servers(topology, out);
}

bool rv_topology_is_current(const rv_url *url, const rv_address *address)
{
    return rv_topology_moves(url) == address->generation;
}

unsigned rv_topology_moves(const rv_url *url)
{
    return url->topology ? atomic_load(&url->topology->generation) : 0;
}
