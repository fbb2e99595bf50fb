#include "running/claim.h"

#include <string.h>

#include "base/lock.h"

void rv_claim_init(rv_claim *claim, const char *ns, const char *queue, const char *worker)
{
    memset(claim, 0, sizeof(*claim));
    rv_copy_text(claim->queue, sizeof(claim->queue), queue);
    rv_prefix_set(&claim->prefix, ns, queue);
    rv_lock_init(&claim->lock);
    rv_copy_text(claim->worker, sizeof(claim->worker), worker);
    rv_session_id(claim->session, claim->worker);
}

void rv_claim_rename(rv_claim *claim, const char *worker)
{
    rv_copy_text(claim->worker, sizeof(claim->worker), worker);
    rv_session_id(claim->session, claim->worker);
}

void rv_claim_fini(rv_claim *claim)
{
    while (claim->tallies != NULL) {
        rv_tally *next = claim->tallies->next;
        rv_tally_free(claim->tallies);
        claim->tallies = next;
    }
    rv_tally_free(claim->flushing);
    rv_lock_fini(&claim->lock);
}

bool rv_claim_get(rv_claim *claim, char ret_session[RV_SESSION_LENGTH + 1])
{
    rv_lock(&claim->lock);
    bool begun = claim->begun;
    memcpy(ret_session, claim->session, sizeof(claim->session));
    rv_unlock(&claim->lock);
    return begun;
}

void rv_claim_begin(rv_claim *claim, const char *session)
{
    rv_lock(&claim->lock);
    if (strcmp(claim->session, session) == 0) claim->begun = true;
    rv_unlock(&claim->lock);
}

bool rv_claim_lose(rv_claim *claim, const char *session)
{
    rv_lock(&claim->lock);
    bool present = strcmp(claim->session, session) == 0;
    if (present) {
        rv_session_id(claim->session, claim->worker);
        claim->begun = false;
    }
    rv_unlock(&claim->lock);
    return present;
}

void rv_claim_set_policy(rv_claim *claim, const char *text, size_t length)
{
    rv_task_policy policy;
    bool given = length > 0 && rv_policy_read(&policy, text, length);
    if (!given && !atomic_load_explicit(&claim->has_policy, memory_order_relaxed)) return;
    rv_lock(&claim->lock);
    if (given) claim->policy = policy;
    atomic_store_explicit(&claim->has_policy, given, memory_order_relaxed);
    rv_unlock(&claim->lock);
}

bool rv_claim_get_policy(rv_claim *claim, rv_task_policy *ret)
{
    if (!atomic_load_explicit(&claim->has_policy, memory_order_relaxed)) return false;
    rv_lock(&claim->lock);
    bool given = atomic_load_explicit(&claim->has_policy, memory_order_relaxed);
    if (given) *ret = claim->policy;
    rv_unlock(&claim->lock);
    return given;
}

/* ---- statistics ------------------------------------------------------------------------------------------------ */

rv_tally *rv_claim_open_tally(rv_claim *claim, int64_t now_ms)
{
    int64_t day = now_ms / RV_DAY_MS;
    rv_lock(&claim->lock);
    rv_tally **at = &claim->tallies;
    while (*at != NULL && ((*at)->next != NULL || (*at)->day != day)) at = &(*at)->next;
    if (*at == NULL) *at = rv_tally_new(day);
    return *at;
}

void rv_claim_close_tally(rv_claim *claim)
{
    rv_unlock(&claim->lock);
}

static rv_tally *take_tally(rv_claim *claim)
{
    rv_lock(&claim->lock);
    rv_tally *tally = claim->tallies;
    if (tally != NULL) claim->tallies = tally->next;
    rv_unlock(&claim->lock);
    return tally;
}

const rv_tally *rv_claim_flush(rv_claim *claim, const char *session, uint64_t *ret_number)
{
    bool unsure = claim->flushing != NULL && claim->flush_under[0] != '\0';
    if (unsure && strcmp(claim->flush_under, session) != 0) {
        rv_tally_free(claim->flushing);
        claim->flushing = NULL;
    }
    if (claim->flushing == NULL) {
        claim->flushing = take_tally(claim);
        claim->flush_number++;
    }
    rv_copy_text(claim->flush_under, sizeof(claim->flush_under), claim->flushing != NULL ? session : "");
    *ret_number = claim->flush_number;
    return claim->flushing;
}

void rv_claim_flushed(rv_claim *claim, bool taken)
{
    claim->flush_under[0] = '\0';
    if (!taken) return;
    rv_tally_free(claim->flushing);
    claim->flushing = NULL;
}

bool rv_claim_has_tally(rv_claim *claim)
{
    rv_lock(&claim->lock);
    bool has = claim->tallies != NULL || claim->flushing != NULL;
    rv_unlock(&claim->lock);
    return has;
}
