#include "client/stand_in.h"

#include <string.h>

#include "base/fork.h"
#include "base/id.h"
#include "base/mem.h"
#include "client/client_enqueue.h"
#include "protocol/spec.h"

reeve_status rv_stand_in_open(reeve_client **ret, const rv_stand_in *stand_in, void *context,
                              const reeve_size_limits *size_limits, rv_error *error)
{
    reeve_client *client = rv_zalloc(sizeof(*client));
    if (client == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a client");
    client->generation = rv_fork_generation();
    rv_copy_text(client->ns, sizeof(client->ns), "reeve");
    rv_buf_init(&client->scratch, 1);
    client->waker.fd = -1;
    reeve_status status = rv_size_limits_choose(&client->size_limits, size_limits, error);
    if (status == REEVE_OK) status = rv_waker_init(&client->waker, error);
    if (status != REEVE_OK) {
        reeve_client_close(client);
        return status;
    }
    client->stand_in = stand_in;
    client->stand_in_context = context;
    *ret = client;
    return REEVE_OK;
}

reeve_status rv_stand_in_refuse(reeve_client *client)
{
    return rv_fail(&client->error, REEVE_EUNSUPPORTED,
                   "a client for tests has no Redis: it can enqueue, show, wait for, retry, cancel and delete tasks");
}

static reeve_status enqueue_one(reeve_client *client, const reeve_task_spec *spec, const reeve_task_spec *all,
                                size_t count, reeve_enqueued *result, rv_error *error)
{
    char other[REEVE_ID_MAX] = "";
    *result = (reeve_enqueued){.status = rv_spec_check_under(spec, &client->size_limits, error)};
    if (result->status != REEVE_OK) return result->status;
    if (spec->id != NULL)
        rv_copy_text(result->id, sizeof(result->id), spec->id);
    else
        rv_uuid7(result->id);
    result->status = client->stand_in->enqueue(client->stand_in_context, spec, result->id, all, count, other);
    if (other[0] != '\0') rv_copy_text(result->id, sizeof(result->id), other);
    if (result->status == REEVE_OK) return REEVE_OK;
    char words[sizeof(error->text)];
    reeve_enqueued_error(client, spec, result, words, sizeof(words));
    return rv_fail(error, result->status, "%s", words);
}

reeve_status rv_stand_in_enqueue(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                 reeve_enqueued *results)
{
    rv_error first = {0};
    client->cause_count = 0;
    for (size_t i = 0; i < count; i++) {
        rv_error error = {0};
        if (enqueue_one(client, &specs[i], specs, count, &results[i], &error) == REEVE_OK) continue;
        if (first.status == REEVE_OK) first = error;
    }
    client->error = first;
    return first.status;
}

reeve_status rv_stand_in_script(reeve_client *client, const rv_simple_call *call, const rv_reply **ret)
{
    const rv_reply *reply = client->stand_in->script(client->stand_in_context, call);
    if (reply == NULL) return rv_stand_in_refuse(client);
    rv_error_clear(&client->error);
    *ret = reply;
    return REEVE_OK;
}
