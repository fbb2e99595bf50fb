#include "running/own_thread.h"

#include <string.h>

static _Thread_local const rv_thread *own_thread;

void rv_own_thread_set(const rv_thread *t)
{
    own_thread = t;
}

const rv_thread *rv_own_thread_get(void)
{
    return own_thread;
}

/* Without snprintf, which a signal handler may not call. */
static void copy(char *ret, size_t size, const char *text, size_t length)
{
    if (text == NULL) length = 0;
    if (length >= size) length = size - 1;
    if (length > 0) memcpy(ret, text, length);
    ret[length] = '\0';
}

void rv_own_thread_task(rv_own_task *ret)
{
    const rv_thread *t = own_thread;
    ret->id[0] = '\0';
    if (t == NULL || t->batch.running >= t->batch.count) return;
    const rv_item *item = &t->batch.items[t->batch.running];
    const rv_envelope *envelope = &item->lease.envelope;
    const char *queue = t->pool->queue_sessions[item->lease.queue]->queue;
    copy(ret->queue, sizeof(ret->queue), queue, strlen(queue));
    copy(ret->type, sizeof(ret->type), envelope->type, envelope->type_length);
    ret->since_ms = t->batch.running_since_ms;
    copy(ret->id, sizeof(ret->id), item->lease.id, rv_lease_id_length(&item->lease));
}
