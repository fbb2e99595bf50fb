#include "upkeep/outdated.h"

#include "base/log.h"
#include "base/text.h"
#include "protocol/definition.h"
#include "running/admission.h"

static void become_quiet(reeve_worker *worker)
{
    int running = RV_PHASE_RUNNING;
    if (!atomic_compare_exchange_strong(&worker->phase, &running, RV_PHASE_QUIET)) return;
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        for (unsigned j = 0; j < pool->thread_count; j++) rv_waker_ring(&rv_worker_pool_thread(pool, j)->waker);
    }
    rv_waker_ring(&worker->keeper.thread.waker);
    rv_admission_recheck(worker);
}

void rv_outdated_note(reeve_worker *worker, const rv_reply *reply)
{
    char found[RV_NUMBER_TEXT], known[RV_NUMBER_TEXT];
    int64_t format = rv_reply_is(reply, RV_TEXT) ? rv_reply_int(reply, 0) : 0;
    if (format <= RV_FORMAT || atomic_exchange(&worker->outdated, true)) return;
    become_quiet(worker);
    rv_log(REEVE_LOG_ERROR, "format.newer",
           "a newer release of reeve changed the data format of this namespace: this worker takes no more tasks; "
           "upgrade it",
           "namespace", worker->ns, "format", rv_number_text(found, (uint64_t)format), "known",
           rv_number_text(known, RV_FORMAT), NULL);
}
