#include "protocol/spec_copy.h"

#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

/* The block is filled twice: without memory, to learn its size, then in earnest. */
typedef struct block {
    char *memory; /* NULL: only the size is counted */
    size_t used;
} block;

static void *add_bytes(block *to, const void *data, size_t length, size_t alignment)
{
    size_t start = (to->used + alignment - 1) / alignment * alignment;
    to->used = start + length;
    if (to->memory == NULL) return NULL;
    if (length > 0) memcpy(to->memory + start, data, length);
    return to->memory + start;
}

static const char *add_text(block *to, const char *text)
{
    return text != NULL ? add_bytes(to, text, strlen(text) + 1, 1) : NULL;
}

static const char *const *add_texts(block *to, const char *const *texts, size_t count)
{
    const char **ret = add_bytes(to, texts, count * sizeof(*ret), alignof(max_align_t));
    for (size_t i = 0; i < count; i++) {
        const char *text = add_text(to, texts[i]);
        if (ret != NULL) ret[i] = text;
    }
    return ret;
}

static const reeve_meta *add_meta(block *to, const reeve_task_spec *spec)
{
    reeve_meta *meta = add_bytes(to, spec->meta, spec->meta_count * sizeof(*meta), alignof(max_align_t));
    for (size_t i = 0; i < spec->meta_count; i++) {
        const char *key = add_text(to, spec->meta[i].key), *value = add_text(to, spec->meta[i].value);
        if (meta != NULL) meta[i] = (reeve_meta){key, value};
    }
    return meta;
}

static const reeve_parent *add_parents(block *to, const reeve_task_spec *spec)
{
    reeve_parent *after = add_bytes(to, spec->after, spec->after_count * sizeof(*after), alignof(max_align_t));
    for (size_t i = 0; i < spec->after_count; i++) {
        const char *handle = add_text(to, spec->after[i].handle);
        if (after != NULL) after[i].handle = handle;
    }
    return after;
}

static const void *add_payload(block *to, reeve_bytes payload)
{
    static const char end = '\0';
    void *data = add_bytes(to, payload.data, payload.length, 1);
    (void)add_bytes(to, &end, 1, 1);
    return data;
}

/* The spec itself is the first in the block. */
static reeve_task_spec *fill(block *to, const reeve_task_spec *spec, const char *id)
{
    reeve_task_spec copy = *spec;
    reeve_task_spec *ret = add_bytes(to, spec, sizeof(*spec), alignof(max_align_t));
    copy.size = sizeof(copy);
    copy.queue = add_text(to, spec->queue);
    copy.type = add_text(to, spec->type);
    copy.id = add_text(to, id != NULL ? id : spec->id);
    copy.group = add_text(to, spec->group);
    copy.unique = add_text(to, spec->unique);
    copy.on_dead = add_text(to, spec->on_dead);
    copy.payload.data = add_payload(to, spec->payload);
    if (spec->backoff != NULL)
        copy.backoff = add_bytes(to, spec->backoff, sizeof(*spec->backoff), alignof(max_align_t));
    copy.tags = add_texts(to, spec->tags, spec->tag_count);
    copy.limit_keys = add_texts(to, spec->limit_keys, spec->limit_key_count);
    copy.meta = add_meta(to, spec);
    copy.after = add_parents(to, spec);
    if (ret != NULL) *ret = copy;
    return ret;
}

reeve_task_spec *rv_spec_copy(const reeve_task_spec *spec, const char *id)
{
    block to = {NULL, 0};
    (void)fill(&to, spec, id);
    to.memory = rv_alloc(to.used);
    to.used = 0;
    return to.memory != NULL ? fill(&to, spec, id) : NULL;
}
