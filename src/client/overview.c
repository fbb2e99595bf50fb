#include "client/overview.h"

#include <stdio.h>
#include <string.h>

#include "client/partitions.h"
#include "client/stand_in.h"
#include "protocol/scripts.h"

enum { QUEUES, WORKERS, CRON, PAGE, PARTS };

typedef struct overview_call {
    const rv_overview_request *request;
    rv_prefix prefix;
    const char *ns;
    bool knows_cron; /* the reply had the entries, of which there may be none */
    bool has_page;   /* else the page is read by a call of its own, or not at all */
} overview_call;

static void build(rv_conn *conn, bool again, const void *context)
{
    const overview_call *call = context;
    const rv_overview_request *request = call->request;
    (void)again;
    rv_cmd_script(conn, &rv_script_overview, 1, 5);
    rv_arg(conn, call->prefix.text, call->prefix.length);
    rv_args(conn, call->ns);
    rv_args(conn, request->workers ? "workers" : "");
    rv_args(conn, request->cron ? "cron" : "");
    rv_args(conn, call->has_page ? reeve_state_name(request->state) : "");
    rv_argi(conn, (int64_t)request->limit);
}

static reeve_status read_queues(reeve_client *client, const rv_reply *part, rv_overview *ret)
{
    if (rv_reply_is(part, RV_ARRAY)) return rv_overview_read_queues(client, part, &ret->queues, &ret->queue_count);
    return REEVE_OK;
}

/* What of the reply is there. */
static reeve_status read_parts(reeve_client *client, overview_call *call, const rv_reply *reply, rv_overview *ret)
{
    const rv_reply *workers = rv_reply_at(reply, WORKERS), *cron = rv_reply_at(reply, CRON);
    const rv_reply *page = rv_reply_at(reply, PAGE);
    reeve_status status = read_queues(client, rv_reply_at(reply, QUEUES), ret);
    if (status == REEVE_OK && workers != NULL && rv_reply_is(workers, RV_ARRAY))
        status = rv_overview_read_workers(client, workers, &ret->workers, &ret->worker_count);
    if (status == REEVE_OK && cron != NULL && rv_reply_is(cron, RV_ARRAY)) {
        status = rv_overview_read_cron(client, cron, &ret->cron, &ret->cron_count);
        call->knows_cron = status == REEVE_OK;
        if (status == REEVE_ETOOBIG) status = REEVE_OK;
    }
    if (status == REEVE_OK && call->has_page && page != NULL && rv_reply_is(page, RV_ARRAY))
        status = rv_inspect_read_page(client, call->request->queue, page, &ret->tasks, &ret->task_count, NULL);
    return status;
}

/* By one call. */
static reeve_status read_at_once(reeve_client *client, overview_call *call, rv_overview *ret)
{
    const rv_reply *reply;
    reeve_status status = rv_client_call(client, build, call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count > PARTS) return rv_client_odd_reply(client, "overview");
    return read_parts(client, call, reply, ret);
}

/* What is still missing, each by its own calls. */
static reeve_status read_rest(reeve_client *client, const overview_call *call, rv_overview *ret)
{
    const rv_overview_request *request = call->request;
    reeve_status status = REEVE_OK;
    if (ret->queues == NULL) status = reeve_queues(client, &ret->queues, &ret->queue_count);
    if (status == REEVE_OK && request->workers && ret->workers == NULL)
        status = reeve_workers(client, &ret->workers, &ret->worker_count);
    if (status == REEVE_OK && request->cron && !call->knows_cron)
        status = reeve_cron_list(client, NULL, &ret->cron, &ret->cron_count);
    if (status == REEVE_OK && request->queue != NULL && ret->tasks == NULL)
        status =
            reeve_list(client, request->queue, request->state, 0, request->limit, &ret->tasks, &ret->task_count, NULL);
    return status;
}

reeve_status rv_overview_read(reeve_client *client, const rv_overview_request *request, rv_overview *ret)
{
    overview_call call = {.request = request, .ns = client->ns};
    rv_overview read = {0};
    reeve_status status = REEVE_OK;
    if (request->queue != NULL) status = rv_keys_check_queue(request->queue, &client->error);
    if (status != REEVE_OK) return status;
    call.has_page = request->queue != NULL && rv_partitions_find(client, request->queue) == NULL;
    rv_keys_set_prefix(&call.prefix, client->ns, call.has_page ? request->queue : "default");
    (void)rv_partitions_find(client, ""); /* so that they are not old */
    if (client->url.kind != RV_URL_CLUSTER && client->stand_in == NULL) status = read_at_once(client, &call, &read);
    if (status == REEVE_OK || status == REEVE_EREDIS) status = read_rest(client, &call, &read);
    if (status == REEVE_OK)
        *ret = read;
    else
        rv_overview_free(&read);
    return status;
}

void rv_overview_free(rv_overview *overview)
{
    reeve_queues_free(overview->queues);
    reeve_workers_free(overview->workers, overview->worker_count);
    reeve_cron_free(overview->cron, overview->cron_count);
    reeve_task_list_free(overview->tasks, overview->task_count);
    *overview = (rv_overview){0};
}
