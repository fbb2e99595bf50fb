#include "upkeep/failover_watch.h"

#include "base/backoff.h"
#include "base/id.h"
#include "redis/sentinel_watch.h"
#include "running/os_thread.h"
#include "running/wakeup.h"

static void watch(reeve_worker *worker, rv_dialog *dialog, unsigned *tries)
{
    const rv_topology_ask ask = {
        .deadline = RV_FOREVER, .waker = &worker->failover.waker, .quit = &worker->quit, .slot = -1};
    rv_error error = {0};
    bool moved;
    reeve_status status = rv_sentinel_watch(worker->target, dialog, &ask, &moved, &error);
    if (moved) rv_wakeup_moved(worker);
    if (status == REEVE_OK || status == REEVE_ETIMEOUT) {
        *tries = 0;
        return;
    }
    /* Connections report Sentinels that cannot be reached. */
    (void)rv_waker_wait(&worker->failover.waker, rv_deadline(rv_backoff_reconnect(++*tries, rv_random_unit())));
}

static void *watch_main(void *argument)
{
    reeve_worker *worker = argument;
    rv_dialog dialog;
    unsigned tries = 0;
    rv_dialog_init(&dialog, &worker->quit);
    while (!atomic_load(&worker->failover.ends)) watch(worker, &dialog, &tries);
    rv_dialog_fini(&dialog);
    return NULL;
}

reeve_status rv_failover_watch_start(reeve_worker *worker, rv_error *error)
{
    rv_failover *failover = &worker->failover;
    if (!rv_sentinel_watch_is_possible(worker->target)) return REEVE_OK;
    reeve_status status = rv_waker_init(&failover->waker, error);
    if (status != REEVE_OK) return status;
    status = rv_os_thread_start(&failover->id, watch_main, worker, "reeve-failover", error);
    failover->started = status == REEVE_OK;
    if (status != REEVE_OK) rv_waker_fini(&failover->waker);
    return status;
}

void rv_failover_watch_end(reeve_worker *worker)
{
    rv_failover *failover = &worker->failover;
    if (!failover->started) return;
    atomic_store(&failover->ends, true);
    rv_waker_ring(&failover->waker);
    rv_os_thread_join(failover->id, &worker->quit);
    rv_waker_fini(&failover->waker);
    failover->started = false;
}
