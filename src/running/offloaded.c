#include "running/offloaded.h"

#include <string.h>

#include "base/lock.h"

unsigned long rv_offloaded_settled(reeve_worker *worker)
{
    rv_lock(&worker->keeper.thread.lock);
    unsigned long settled = worker->keeper.settled;
    rv_unlock(&worker->keeper.thread.lock);
    return settled;
}

static bool is_of_lease(const rv_offloaded *offloaded, const rv_queue_session *queue_session, const char *session,
                        const rv_lease *lease)
{
    return offloaded->kept != NULL && offloaded->queue_session == queue_session &&
           offloaded->since_ms == lease->since_ms && strcmp(offloaded->session, session) == 0 &&
           rv_lease_has_id(lease, offloaded->settlement.id, rv_settlement_id_length(&offloaded->settlement));
}

bool rv_offloaded_find(reeve_worker *worker, const rv_queue_session *queue_session, const char *session,
                       unsigned long settled, const rv_lease *leases, size_t count, bool *ret_held)
{
    rv_keeper *keeper = &worker->keeper;
    rv_lock(&keeper->thread.lock);
    bool same = keeper->settled == settled;
    for (size_t i = 0; same && i < count; i++) {
        ret_held[i] = false;
        for (size_t j = 0; j < keeper->offloaded_count && !ret_held[i]; j++)
            ret_held[i] = is_of_lease(&keeper->offloaded[j], queue_session, session, &leases[i]);
    }
    rv_unlock(&keeper->thread.lock);
    return same;
}
