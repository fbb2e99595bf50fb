#include "running/descriptors.h"

#include "base/log.h"

/* The kernel takes longer to close the descriptors of a worker. */
#define CLOSING_US 2

void rv_descriptors_check(reeve_worker *worker, const rv_waker *waker)
{
    if (rv_waker_is_whole(waker) || atomic_exchange(&worker->torn, true)) return;
    rv_log(REEVE_LOG_ERROR, "worker.descriptors",
           "a handler closed file descriptors of this process that the worker needs", "worker", worker->id, NULL);
    if (worker->on_descriptors_lost != NULL) worker->on_descriptors_lost();
}

void rv_descriptors_note_run(rv_thread *t, int64_t took_us)
{
    if (took_us > CLOSING_US) t->ran = true;
}

void rv_descriptors_check_before_call(rv_thread *t, bool has_company)
{
    if (!t->ran && !has_company) return;
    t->ran = false;
    rv_descriptors_check(t->worker, &t->waker);
}
