#include "running/descriptors.h"

#include "base/log.h"

void rv_descriptors_check(reeve_worker *worker, const rv_waker *waker)
{
    if (rv_waker_is_whole(waker) || atomic_exchange(&worker->torn, true)) return;
    rv_log(REEVE_LOG_ERROR, "worker.descriptors",
           "a handler closed file descriptors of this process that the worker needs", "worker", worker->id, NULL);
    if (worker->on_descriptors_lost != NULL) worker->on_descriptors_lost();
}
