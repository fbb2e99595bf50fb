#include "upkeep/missed.h"

#include "base/lock.h"
#include "base/mem.h"

typedef struct rv_missed {
    struct rv_missed *next;
    rv_revoke revoke;
} rv_missed;

bool rv_missed_add(reeve_worker *worker, const rv_revoke *revoke)
{
    rv_keeper *keeper = &worker->keeper;
    rv_missed *missed = rv_zalloc(sizeof(*missed));
    if (missed == NULL) return false;
    missed->revoke = *revoke;
    rv_lock(&keeper->thread.lock);
    missed->next = keeper->missed;
    keeper->missed = missed;
    rv_unlock(&keeper->thread.lock);
    rv_waker_ring(&keeper->thread.waker);
    return true;
}

static rv_missed *take_all(rv_keeper *keeper)
{
    rv_lock(&keeper->thread.lock);
    rv_missed *first = keeper->missed;
    keeper->missed = NULL;
    rv_unlock(&keeper->thread.lock);
    return first;
}

void rv_missed_take(reeve_worker *worker)
{
    for (rv_missed *missed = take_all(&worker->keeper), *next; missed != NULL; missed = next) {
        next = missed->next;
        (void)rv_cancel_running_revoke(worker, &missed->revoke);
        rv_free(missed);
    }
}

void rv_missed_fini(reeve_worker *worker)
{
    for (rv_missed *missed = take_all(&worker->keeper), *next; missed != NULL; missed = next) {
        next = missed->next;
        rv_free(missed);
    }
}
