#include "stopper.h"

#include "signals.h"

static void *stop(void *argument)
{
    host_stopper *stopper = argument;

    stopper->status = reeve_worker_stop(stopper->worker, stopper->deadline_ms);
    atomic_store(&stopper->done, true);
    host_signals_wake();
    return NULL;
}

bool host_stopper_start(host_stopper *stopper, reeve_worker *worker, int64_t deadline_ms)
{
    *stopper = (host_stopper){.worker = worker, .deadline_ms = deadline_ms};
    stopper->started = pthread_create(&stopper->id, NULL, stop, stopper) == 0;
    if (!stopper->started) return false;
    (void)pthread_setname_np(stopper->id, "reeve-stop");
    return true;
}

reeve_status host_stopper_join(host_stopper *stopper)
{
    (void)pthread_join(stopper->id, NULL);
    stopper->started = false;
    return stopper->status;
}
