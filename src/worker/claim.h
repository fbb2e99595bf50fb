/*
 * claim.h - the worker's sessions: one a queue, begun by the first lease there, kept alive by the keeper, and replaced
 * by a new one when it was lost. What was leased under the old one is then refused, and never confused with the new.
 */
#ifndef RV_CLAIM_H
#define RV_CLAIM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/id.h"
#include "queue/policy.h"
#include "queue/session.h"

typedef struct rv_claim {
    char queue[REEVE_QUEUE_MAX + 1]; /* never changes */
    rv_prefix prefix;                /* never changes */
    pthread_mutex_t lock;            /* guards what follows; held for moments only, no other lock is taken under it */
    char session[RV_SESSION_LENGTH + 1];
    bool begun;               /* it stands in Redis, as far as we know */
    rv_session_totals totals; /* settled under this session */
    rv_task_policy policy;    /* the queue's, as last heard of */
    atomic_bool has_policy;   /* it says something; written under the lock, read by anybody */
} rv_claim;

void rv_claim_init(rv_claim *claim, const char *ns, const char *queue);
void rv_claim_fini(rv_claim *claim);

/* Copies the present session; returns whether it has begun. */
bool rv_claim_get(rv_claim *claim, char ret_session[RV_SESSION_LENGTH + 1], rv_session_totals *ret_totals);

/* The session has begun: it leased something. Nothing happens when it is not the present one any more. */
void rv_claim_begin(rv_claim *claim, const char *session);

/* The session is gone from Redis: there is a new one from now on. False when it was not the present one. */
bool rv_claim_lose(rv_claim *claim, const char *session);

/* Adds to the session's totals, if it is still the present one. */
void rv_claim_count(rv_claim *claim, const char *session, const rv_session_totals *more);

/* What Redis says of the queue's policy (policy.h) now; empty, or what is none: it has none. */
void rv_claim_set_policy(rv_claim *claim, const char *text, size_t length);

/* Copies the queue's policy; false, with nothing copied and no lock taken, when it has none. */
bool rv_claim_get_policy(rv_claim *claim, rv_task_policy *ret);

#endif
