#include "client/client_layers.h"

#include <string.h>

#include "base/layout.h"
#include "base/mem.h"
#include "client/client_enqueue.h"
#include "protocol/outgoing.h"

reeve_status reeve_client_add_layer_sized(reeve_client *client, const reeve_layer *given, size_t layer_size)
{
    reeve_layer layer;
    if (client == NULL || given == NULL) return REEVE_EINVAL;
    rv_error_clear(&client->error);
    reeve_status status = RV_LAYOUT_READ(&layer, given, layer_size, "the layer", &client->error);
    return status == REEVE_OK ? rv_layers_add(&client->layers, &layer, &client->error) : status;
}

/* The tasks of a call: those that the layers let through stand one behind the other. */
typedef struct passage {
    reeve_outgoing outgoing;
    reeve_task_spec *specs;
    reeve_enqueued *results;
    size_t *origins; /* of each: its index in the call */
    size_t count;
    size_t failed; /* the first task that a layer refused, or SIZE_MAX */
    rv_error error;
} passage;

static void free_passage(passage *p)
{
    rv_outgoing_fini(&p->outgoing);
    rv_free(p->specs);
    rv_free(p->results);
    rv_free(p->origins);
}

static void pass(reeve_client *client, passage *p, const reeve_task_spec *spec, size_t index, reeve_enqueued *result)
{
    rv_error error = {0};
    p->specs[p->count] = *spec;
    *result = (reeve_enqueued){
        .status = rv_outgoing_apply(&p->outgoing, &client->layers, &client->size_limits, &p->specs[p->count], &error)};
    if (result->status == REEVE_OK) {
        p->origins[p->count++] = index;
        return;
    }
    if (p->failed != SIZE_MAX) return;
    p->failed = index;
    p->error = error;
}

/* The message of the first failure of the call is the client's. */
static reeve_status take_results(reeve_client *client, const passage *p, reeve_enqueued *results)
{
    size_t failed = SIZE_MAX;
    for (size_t i = 0; i < p->count; i++) {
        results[p->origins[i]] = p->results[i];
        if (p->results[i].status != REEVE_OK && failed == SIZE_MAX) failed = p->origins[i];
    }
    if (p->failed != SIZE_MAX) rv_client_note_cause(client, "", &p->error);
    if (p->failed < failed) client->error = p->error;
    return client->error.status;
}

reeve_status rv_client_layers_enqueue(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                      reeve_enqueued *results)
{
    passage p = {.specs = rv_zalloc_array(count + 1, sizeof(*p.specs)),
                 .results = rv_zalloc_array(count + 1, sizeof(*p.results)),
                 .origins = rv_zalloc_array(count + 1, sizeof(*p.origins)),
                 .failed = SIZE_MAX};
    if (p.specs == NULL || p.results == NULL || p.origins == NULL) {
        for (size_t i = 0; i < count; i++) results[i] = (reeve_enqueued){.status = REEVE_ENOMEM};
        free_passage(&p);
        return rv_fail(&client->error, REEVE_ENOMEM, "no memory for %zu tasks", count);
    }
    for (size_t i = 0; i < count; i++) pass(client, &p, &specs[i], i, &results[i]);
    (void)rv_client_enqueue_run(client, p.specs, p.count, p.results);
    reeve_status status = take_results(client, &p, results);
    free_passage(&p);
    return status;
}
