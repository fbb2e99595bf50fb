#include "running/queue_session.h"

#include <string.h>

#include "base/lock.h"
#include "running/flight.h"
#include "running/task_metrics.h"

void rv_queue_session_init(rv_queue_session *queue_session, const char *ns, const char *queue, const char *worker)
{
    memset(queue_session, 0, sizeof(*queue_session));
    rv_copy_text(queue_session->queue, sizeof(queue_session->queue), queue);
    rv_keys_set_prefix(&queue_session->prefix, ns, queue);
    rv_lock_init(&queue_session->lock);
    rv_copy_text(queue_session->worker, sizeof(queue_session->worker), worker);
    rv_session_id(queue_session->session, queue_session->worker);
}

void rv_queue_session_rename(rv_queue_session *queue_session, const char *worker)
{
    rv_copy_text(queue_session->worker, sizeof(queue_session->worker), worker);
    rv_session_id(queue_session->session, queue_session->worker);
}

void rv_queue_session_fini(rv_queue_session *queue_session)
{
    while (queue_session->tallies != NULL) {
        rv_tally *next = queue_session->tallies->next;
        rv_tally_free(queue_session->tallies);
        queue_session->tallies = next;
    }
    rv_tally_free(queue_session->flushing);
    rv_task_metrics_free(queue_session->metrics);
    rv_lock_fini(&queue_session->lock);
}

bool rv_queue_session_get(rv_queue_session *queue_session, char ret_session[RV_SESSION_LENGTH + 1])
{
    rv_lock(&queue_session->lock);
    bool begun = queue_session->begun;
    memcpy(ret_session, queue_session->session, sizeof(queue_session->session));
    rv_unlock(&queue_session->lock);
    return begun;
}

void rv_queue_session_begin(rv_queue_session *queue_session, const char *session)
{
    rv_lock(&queue_session->lock);
    if (strcmp(queue_session->session, session) == 0) {
        queue_session->begun = true;
        queue_session->wanted = false;
    }
    rv_unlock(&queue_session->lock);
}

void rv_queue_session_want(rv_queue_session *queue_session)
{
    rv_lock(&queue_session->lock);
    queue_session->wanted = true;
    rv_unlock(&queue_session->lock);
}

bool rv_queue_session_is_wanted(rv_queue_session *queue_session)
{
    rv_lock(&queue_session->lock);
    bool wanted = queue_session->wanted && !queue_session->begun;
    rv_unlock(&queue_session->lock);
    return wanted;
}

bool rv_queue_session_lose(rv_queue_session *queue_session, const char *session)
{
    rv_lock(&queue_session->lock);
    bool present = strcmp(queue_session->session, session) == 0;
    if (present) {
        rv_session_id(queue_session->session, queue_session->worker);
        queue_session->begun = false;
        if (queue_session->flight != NULL) rv_flight_note_session(queue_session->flight, queue_session->session);
    }
    rv_unlock(&queue_session->lock);
    return present;
}

static int policy_state(const rv_queue_session *queue_session)
{
    return atomic_load_explicit(&queue_session->policy_state, memory_order_relaxed);
}

void rv_queue_session_set_policy(rv_queue_session *queue_session, const char *text, size_t length)
{
    rv_task_policy policy;
    reeve_status status = length > 0 ? rv_task_policy_read(&policy, text, length) : REEVE_EINVAL;
    int known = policy_state(queue_session), state = status == REEVE_OK ? RV_POLICY_GIVEN : RV_POLICY_NONE;
    if (status == REEVE_ENOMEM) state = known == RV_POLICY_GIVEN ? RV_POLICY_GIVEN : RV_POLICY_UNKNOWN;
    if (status != REEVE_OK && state == known) return;
    rv_lock(&queue_session->lock);
    if (status == REEVE_OK) queue_session->policy = policy;
    atomic_store_explicit(&queue_session->policy_state, state, memory_order_relaxed);
    rv_unlock(&queue_session->lock);
}

bool rv_queue_session_get_policy(rv_queue_session *queue_session, rv_task_policy *ret)
{
    if (policy_state(queue_session) != RV_POLICY_GIVEN) return false;
    rv_lock(&queue_session->lock);
    bool given = policy_state(queue_session) == RV_POLICY_GIVEN;
    if (given) *ret = queue_session->policy;
    rv_unlock(&queue_session->lock);
    return given;
}

bool rv_queue_session_knows_policy(const rv_queue_session *queue_session)
{
    return policy_state(queue_session) != RV_POLICY_UNKNOWN;
}

/* ---- statistics ------------------------------------------------------------------------------------------------ */

rv_tally *rv_queue_session_open_tally(rv_queue_session *queue_session, int64_t now_ms)
{
    int64_t day = now_ms / RV_DAY_MS;
    rv_lock(&queue_session->lock);
    rv_tally **at = &queue_session->tallies;
    while (*at != NULL && ((*at)->next != NULL || (*at)->day != day)) at = &(*at)->next;
    if (*at == NULL) *at = rv_tally_new(day);
    return *at;
}

void rv_queue_session_close_tally(rv_queue_session *queue_session)
{
    rv_unlock(&queue_session->lock);
}

static rv_tally *take_tally(rv_queue_session *queue_session)
{
    rv_tally *tally = queue_session->tallies;
    if (tally != NULL) queue_session->tallies = tally->next;
    return tally;
}

const rv_tally *rv_queue_session_flush(rv_queue_session *queue_session, const char *session, uint64_t *ret_number)
{
    rv_lock(&queue_session->lock);
    bool unsure = queue_session->flushing != NULL && queue_session->flush_under[0] != '\0';
    if (unsure && strcmp(queue_session->flush_under, session) != 0) {
        rv_tally_free(queue_session->flushing);
        queue_session->flushing = NULL;
    }
    if (queue_session->flushing == NULL) {
        queue_session->flushing = take_tally(queue_session);
        queue_session->flush_number++;
    }
    rv_copy_text(queue_session->flush_under, sizeof(queue_session->flush_under),
                 queue_session->flushing != NULL ? session : "");
    *ret_number = queue_session->flush_number;
    const rv_tally *flushing = queue_session->flushing;
    rv_unlock(&queue_session->lock);
    return flushing;
}

void rv_queue_session_flushed(rv_queue_session *queue_session, bool taken)
{
    rv_lock(&queue_session->lock);
    queue_session->flush_under[0] = '\0';
    rv_tally *done = taken ? queue_session->flushing : NULL;
    if (taken) queue_session->flushing = NULL;
    rv_unlock(&queue_session->lock);
    rv_tally_free(done);
}

bool rv_queue_session_has_tally(rv_queue_session *queue_session)
{
    rv_lock(&queue_session->lock);
    bool has = queue_session->tallies != NULL || queue_session->flushing != NULL;
    rv_unlock(&queue_session->lock);
    return has;
}
