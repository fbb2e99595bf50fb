#include "protocol/outgoing.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "protocol/spec.h"

bool rv_outgoing_has(const rv_layers *layers)
{
    for (size_t i = 0; layers != NULL && i < layers->count; i++) {
        if (layers->list[i].enqueue != NULL) return true;
    }
    return false;
}

void rv_outgoing_fini(reeve_outgoing *outgoing)
{
    rv_chunks_free(outgoing->chunks);
    outgoing->chunks = NULL;
}

static reeve_status call_layer(reeve_outgoing *outgoing, const reeve_layer *layer)
{
    rv_error_clear(outgoing->error);
    outgoing->layer = layer;
    reeve_status status = layer->enqueue(outgoing, outgoing->spec, layer->user);
    if (outgoing->error->status != REEVE_OK) return outgoing->error->status;
    if (status == REEVE_OK) return REEVE_OK;
    return rv_fail(outgoing->error, status, "the layer \"%s\" refuses the task: %s", layer->name,
                   reeve_status_text(status));
}

reeve_status rv_outgoing_apply(reeve_outgoing *outgoing, const rv_layers *layers, const reeve_size_limits *size_limits,
                               reeve_task_spec *spec, rv_error *error)
{
    reeve_size_limits before = *size_limits;
    before.payload = INT64_MAX;
    reeve_status status = rv_spec_check_under(spec, &before, error);
    outgoing->spec = spec;
    outgoing->error = error;
    for (size_t i = layers->count; i > 0 && status == REEVE_OK; i--) {
        const reeve_layer *layer = &layers->list[i - 1];
        if (layer->enqueue == NULL || spec->type == NULL) continue;
        if (rv_layers_fits(layer, spec->type)) status = call_layer(outgoing, layer);
    }
    return status;
}

/* ---- what a layer calls ------------------------------------------------------------------------------------------ */

void *reeve_outgoing_alloc(reeve_outgoing *task, size_t size)
{
    return rv_chunks_add(&task->chunks, size);
}

static reeve_status no_memory(reeve_outgoing *task)
{
    return rv_fail(task->error, REEVE_ENOMEM, "the layer \"%s\": no memory", task->layer->name);
}

reeve_status reeve_outgoing_set_payload(reeve_outgoing *task, const void *data, size_t length)
{
    char *copy = rv_chunks_add_copy(&task->chunks, data, length);
    if (copy == NULL) return no_memory(task);
    task->spec->payload = (reeve_bytes){copy, length};
    return REEVE_OK;
}

static size_t find_meta(const reeve_task_spec *spec, const char *key)
{
    size_t at = 0;
    while (at < spec->meta_count && (spec->meta[at].key == NULL || strcmp(spec->meta[at].key, key) != 0)) at++;
    return at;
}

const char *reeve_outgoing_meta(const reeve_outgoing *task, const char *key)
{
    size_t at = key != NULL ? find_meta(task->spec, key) : task->spec->meta_count;
    return at < task->spec->meta_count ? task->spec->meta[at].value : NULL;
}

/* The list is the program's: it is copied, and left as it is. */
reeve_status reeve_outgoing_set_meta(reeve_outgoing *task, const char *key, const char *value)
{
    reeve_task_spec *spec = task->spec;
    if (key == NULL) return rv_fail(task->error, REEVE_EINVAL, "the layer \"%s\": no key", task->layer->name);
    size_t at = find_meta(spec, key), count = spec->meta_count;
    if (value == NULL && at == count) return REEVE_OK;
    reeve_meta *list = rv_chunks_add(&task->chunks, (count + 1) * sizeof(*list));
    if (list == NULL) return no_memory(task);
    if (count > 0) memcpy(list, spec->meta, count * sizeof(*list));
    if (value == NULL) {
        memmove(&list[at], &list[at + 1], (count - at - 1) * sizeof(*list));
        count--;
    } else {
        list[at].key = rv_chunks_add_copy(&task->chunks, key, strlen(key));
        list[at].value = rv_chunks_add_copy(&task->chunks, value, strlen(value));
        if (list[at].key == NULL || list[at].value == NULL) return no_memory(task);
        if (at == count) count++;
    }
    spec->meta = list;
    spec->meta_count = count;
    return REEVE_OK;
}

/* Each key changes the one before. */
void reeve_outgoing_set_digest_key(reeve_outgoing *task, const void *key, size_t length)
{
    rv_siphash_key *mixed = &task->digest_key;
    mixed->word[0] = rv_siphash(mixed, key, length);
    mixed->word[1] = rv_siphash(mixed, key, length);
}

reeve_status reeve_outgoing_refuse(reeve_outgoing *task, reeve_status status, const char *format, ...)
{
    char words[384] = "";
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    return rv_fail(task->error, status != REEVE_OK ? status : REEVE_EINVAL, "the layer \"%s\": %s", task->layer->name,
                   words);
}
