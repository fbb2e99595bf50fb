#include "web_serving.h"

#include "client/why_explain.h"
#include "protocol/serving.h"
#include "web_snapshot.h"

/* For a page of the dashboard; NULL: the call reads the registry. */
static web_snapshot *snapshot_for(web_call *call)
{
    if (rv_http_server_header(call->http, "X-Reeve-Page") == NULL) return NULL;
    return web_snapshots_recent(call->web->snapshots);
}

static int64_t count(const reeve_worker_info *list, size_t length, const char *queue)
{
    rv_serving found;

    return rv_serving_count(&found, list, length, queue, NULL) == REEVE_OK ? (int64_t)found.workers : -1;
}

int64_t web_serving_count(web_call *call, const char *queue)
{
    web_snapshot *snapshot = snapshot_for(call);
    reeve_worker_info *list = NULL;
    size_t length = 0;
    int64_t workers = -1;

    if (snapshot != NULL) {
        workers = count(snapshot->workers, snapshot->worker_count, queue);
        web_snapshots_release(call->web->snapshots, snapshot);
    } else if (reeve_workers(call->client, &list, &length) == REEVE_OK) {
        workers = count(list, length, queue);
        reeve_workers_free(list, length);
    }
    return workers;
}

reeve_status web_serving_why(web_call *call, const char *queue, const char *id, reeve_why **ret)
{
    web_snapshot *snapshot = snapshot_for(call);
    rv_why_workers workers = {.list = NULL};

    if (snapshot != NULL) workers = (rv_why_workers){.list = snapshot->workers, .count = snapshot->worker_count};
    reeve_status status = rv_why_explain(call->client, queue, id, &workers, ret);
    web_snapshots_release(call->web->snapshots, snapshot);
    return status;
}
