/*
 * enqueue_plan.c - specs are checked, get ids, and become calls of enqueue.lua: one a run of specs of the same queue,
 * as far as the limits of a call and of a pipeline allow.
 */
#include "client/enqueue_plan.h"

#include <string.h>

#include "base/id.h"
#include "client/bulk_insert.h"
#include "client/client.h"
#include "client/partition_enqueue.h"
#include "protocol/spec.h"

/* The limits of one script call and of one pipeline: Redis serves nobody else during a call. */
#define CALL_TASKS 250
#define CALL_BYTES ((size_t)1024 * 1024)
/* What Redis has to do for the tasks of a call, in units of about 10 us. */
#define CALL_WORK 500
#define PIPELINE_BYTES ((size_t)8 * 1024 * 1024)

typedef rv_enqueue_call call;
typedef rv_enqueue_pipeline pipeline;

bool rv_enqueue_plan_note_failure(pipeline *p, size_t index, reeve_status status)
{
    p->results[index].status = status;
    if (index >= p->failed) return false;
    p->failed = index;
    return true;
}

/* What a task's parents take in a call, about. */
static size_t after_bytes(const reeve_task_spec *spec)
{
    return spec->after_count * (REEVE_HANDLE_MAX + 8);
}

/* What a task's metadata take, whatever is escaped in them. */
static size_t meta_bytes(const reeve_task_spec *spec)
{
    size_t bytes = 0;
    for (size_t i = 0; i < spec->meta_count; i++)
        bytes += 6 * (strlen(spec->meta[i].key) + strlen(spec->meta[i].value)) + 6;
    return bytes;
}

/* Room for the head of a task's envelope, whatever is escaped in it, so that building cannot fail half way. */
static reeve_status make_room(rv_buf *scratch, const reeve_task_spec *spec, rv_error *error)
{
    size_t options = 4096 + after_bytes(spec) + meta_bytes(spec);
    for (size_t i = 0; i < spec->tag_count; i++) options += 6 * strlen(spec->tags[i]) + 3;
    for (size_t i = 0; i < spec->limit_key_count; i++) options += 6 * strlen(spec->limit_keys[i]) + 3;
    rv_buf_clear(scratch);
    if (rv_buf_reserve(scratch, options)) return REEVE_OK;
    return rv_fail(error, REEVE_ENOMEM, "no memory for the options of a task");
}

/* Refuses what can be refused here, and gives ids. Returns false when the spec is not to be sent. */
static bool prepare(pipeline *p, size_t index)
{
    const reeve_task_spec *spec = &p->specs[index];
    reeve_enqueued *result = &p->results[index];
    rv_error error;
    rv_error_clear(&error);
    result->id[0] = '\0';
    result->status = rv_enqueue_error_check(spec, &p->client->size_limits, &error);
    if (result->status == REEVE_OK && (p->fits == NULL || p->fits[index] == 0))
        result->status = rv_partition_enqueue_check(p->client, spec->queue, &error);
    if (result->status == REEVE_OK) result->status = make_room(&p->client->scratch, spec, &error);
    if (result->status != REEVE_OK) {
        if (rv_enqueue_plan_note_failure(p, index, result->status)) p->error = error;
        return false;
    }
    if (spec->id != NULL) {
        rv_copy_text(result->id, sizeof(result->id), spec->id);
    } else {
        rv_uuid7(result->id);
        if (p->fits != NULL && p->fits[index] > 0)
            rv_partition_fit_id(result->id, rv_partition_number(spec->queue), p->fits[index]);
    }
    return true;
}

static size_t work_of(const reeve_task_spec *spec)
{
    return 1 + spec->tag_count + spec->after_count + (spec->on_conflict != REEVE_CONFLICT_REJECT ? 10 : 0);
}

/* Whether `handle` is that of the task. */
static bool is_named(const reeve_task_spec *spec, const char *handle)
{
    size_t length = strlen(spec->queue);
    return spec->id != NULL && strncmp(handle, spec->queue, length) == 0 && handle[length] == '/' &&
           strcmp(handle + length + 1, spec->id) == 0;
}

/* Behind the last of the specs that can be in the same call and that this one has as a parent; 0: there is none. */
static size_t last_parent(const pipeline *p, size_t index, size_t count)
{
    const reeve_task_spec *spec = &p->specs[index];
    size_t end = count - index > CALL_TASKS ? index + CALL_TASKS : count;
    for (size_t last = end; spec->after_count > 0 && last > index + 1; last--) {
        const reeve_task_spec *later = &p->specs[last - 1];
        if (later->id == NULL || later->queue == NULL || strcmp(later->queue, spec->queue) != 0) continue;
        for (size_t i = 0; i < spec->after_count; i++) {
            if (spec->after[i].handle != NULL && is_named(later, spec->after[i].handle)) return last;
        }
    }
    return 0;
}

/* Whether a task goes with those of the call. A task may name parents that come behind it in the same call: before
 * these the call is not ended for its work. */
static bool may_join(const pipeline *p, const call *c, size_t index, size_t size)
{
    const reeve_task_spec *spec = &p->specs[index];
    return c->count < CALL_TASKS && c->bytes + size <= CALL_BYTES &&
           (index < c->until || c->work + work_of(spec) <= CALL_WORK) &&
           strcmp(p->specs[c->first].queue, spec->queue) == 0;
}

size_t rv_enqueue_plan_next(pipeline *p, size_t next, size_t count)
{
    size_t total = 0;
    call *c = NULL;
    p->call_count = 0;
    for (; next < count; next++) {
        const reeve_task_spec *spec = &p->specs[next];
        bool good = prepare(p, next);
        if (!good) {
            if (c != NULL) c->span++;
            continue;
        }
        size_t size = spec->payload.length + after_bytes(spec);
        if (c == NULL || !may_join(p, c, next, size)) {
            if (p->call_count == RV_PIPELINE_CALLS || (c != NULL && total + size > PIPELINE_BYTES)) break;
            c = &p->calls[p->call_count++];
            *c = (call){.first = next, .plain = true, .fresh = true};
        }
        c->count++;
        c->span++;
        c->plain = c->plain && !rv_spec_has_options(spec);
        c->fresh = c->fresh && spec->id == NULL && size + meta_bytes(spec) <= RV_BULK_INSERT_BYTES;
        c->bytes += size;
        c->work += work_of(spec);
        size_t until = last_parent(p, next, count);
        if (until > c->until) c->until = until;
        total += size;
    }
    return next;
}
