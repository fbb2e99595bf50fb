#include "running/phase.h"

#include "base/log.h"
#include "running/admission.h"
#include "running/forked.h"

/* Everybody looks at the phase again. */
static void ring_everybody(reeve_worker *worker)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        for (unsigned j = 0; j < pool->thread_count; j++) rv_waker_ring(&rv_worker_pool_thread(pool, j)->waker);
    }
    rv_waker_ring(&worker->heart.thread.waker);
    rv_waker_ring(&worker->keeper.thread.waker);
    rv_waker_ring(&worker->scheduler.thread.waker);
    rv_admission_recheck(worker);
}

void rv_phase_set(reeve_worker *worker, rv_phase phase)
{
    rv_phase now = rv_worker_phase(worker);
    while (now < phase) {
        int expected = now;
        if (atomic_compare_exchange_strong(&worker->phase, &expected, (int)phase)) break;
        now = (rv_phase)expected;
    }
    ring_everybody(worker);
}

bool rv_phase_quiet(reeve_worker *worker)
{
    int running = RV_PHASE_RUNNING;
    if (rv_worker_is_forked(worker)) return false;
    if (!atomic_compare_exchange_strong(&worker->phase, &running, RV_PHASE_QUIET)) return false;
    rv_log(REEVE_LOG_INFO, "worker.quiet", "the worker takes no new tasks", "worker", worker->id, NULL);
    ring_everybody(worker);
    return true;
}

/* Why a quiet worker stays so; NULL: it may resume. */
static const char *why_quiet(const reeve_worker *worker)
{
    if (atomic_load(&worker->outdated)) return "a newer release of reeve changed the data format: upgrade this worker";
    return atomic_load(&worker->drains) ? "the worker is stopping" : NULL;
}

reeve_status rv_phase_resume(reeve_worker *worker, rv_error *error)
{
    int quiet = RV_PHASE_QUIET;
    if (rv_worker_is_forked(worker))
        return rv_fail(error, REEVE_ESTATE, "the process was forked after the start of the worker");
    if (why_quiet(worker) != NULL) return rv_fail(error, REEVE_ESTATE, "%s", why_quiet(worker));
    if (!atomic_compare_exchange_strong(&worker->phase, &quiet, RV_PHASE_RUNNING)) {
        if (quiet == RV_PHASE_RUNNING) return REEVE_OK;
        return rv_fail(error, REEVE_ESTATE, "%s",
                       quiet == RV_PHASE_CREATED ? "the worker was not started" : "the worker is stopping");
    }
    /* That may have changed in the meantime. */
    if (why_quiet(worker) != NULL) {
        rv_phase_set(worker, RV_PHASE_QUIET);
        return rv_fail(error, REEVE_ESTATE, "%s", why_quiet(worker));
    }
    rv_log(REEVE_LOG_INFO, "worker.resumed", "the worker takes tasks again", "worker", worker->id, NULL);
    ring_everybody(worker);
    return REEVE_OK;
}

const char *rv_phase_word(const reeve_worker *worker)
{
    rv_phase phase = rv_worker_phase(worker);

    if (phase <= RV_PHASE_RUNNING) return "running";
    return phase == RV_PHASE_QUIET && !atomic_load(&worker->drains) ? "quiet" : "stopping";
}

bool rv_phase_is_leasing(const reeve_worker *worker)
{
    return rv_worker_phase(worker) <= RV_PHASE_RUNNING && atomic_load(&worker->heart.connected) &&
           !atomic_load(&worker->refused);
}
