#include "renewal.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/process_memory.h"
#include "signals.h"
#include "worker/abandon.h"

#define LOOK_MS 1000
#define KEPT_MAX 64 /* more at once are not reported with their stacks */

static struct {
    pthread_mutex_t lock; /* guards all */
    const char *list[KEPT_MAX];
    size_t first;
    size_t count;
} stuck = {.lock = PTHREAD_MUTEX_INITIALIZER};

void host_renewal_note_stuck(const char *thread, bool spared)
{
    (void)spared;
    rv_lock(&stuck.lock);
    if (stuck.count < KEPT_MAX) stuck.list[(stuck.first + stuck.count++) % KEPT_MAX] = thread;
    rv_unlock(&stuck.lock);
    host_signals_wake();
}

const char *host_renewal_stuck(void)
{
    const char *thread = NULL;

    rv_lock(&stuck.lock);
    if (stuck.count > 0) {
        thread = stuck.list[stuck.first];
        stuck.first = (stuck.first + 1) % KEPT_MAX;
        stuck.count--;
    }
    rv_unlock(&stuck.lock);
    return thread;
}

const char *host_renewal_reason(const rv_config *config, reeve_worker *worker)
{
    reeve_worker_stats stats;
    unsigned unspared;
    int64_t max_tasks = config->worker.max_tasks, max_memory = config->worker.max_memory;

    (void)rv_worker_stuck(worker, &unspared);
    if (unspared > 0) return "stuck threads";
    if (max_memory > 0 && rv_process_memory(0) >= max_memory) return "max_memory";
    if (max_tasks <= 0) return NULL;
    reeve_worker_get_stats(worker, &stats);
    return stats.completed + stats.failed >= (uint64_t)max_tasks ? "max_tasks" : NULL;
}

int64_t host_renewal_next(const rv_config *config)
{
    return config->worker.max_tasks > 0 || config->worker.max_memory > 0 ? rv_deadline(LOOK_MS) : RV_FOREVER;
}
