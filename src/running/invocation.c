#include "running/invocation.h"

#include <stddef.h>

rv_item *rv_invocation_item(rv_thread *t, const reeve_task *task)
{
    if (task == &t->task) return &t->batch.items[t->batch.running];
    return ((const rv_invocation *)(const void *)((const char *)task - offsetof(rv_invocation, task)))->item;
}

atomic_bool *rv_invocation_stop(rv_thread *t, const rv_item *item)
{
    return item->call != NULL ? &item->call->stop : &t->stop;
}

atomic_bool *rv_invocation_cancelled(rv_thread *t, const rv_item *item)
{
    return item->call != NULL ? &item->call->cancelled : &t->cancelled;
}

char *rv_invocation_cancel_reason(rv_thread *t, const rv_item *item)
{
    return item->call != NULL ? item->call->cancel_reason : t->cancel_reason;
}

void rv_invocation_stop_all(rv_thread *t)
{
    atomic_store(&t->stop, true);
    for (size_t i = 0; i < t->batch.count; i++) {
        if (t->batch.items[i].call != NULL) atomic_store(&t->batch.items[i].call->stop, true);
    }
    if (t->batch.notice != NULL) rv_waker_ring(t->batch.notice);
}
