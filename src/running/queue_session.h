/*
 * queue_session.h - the worker's sessions: one a queue, begun by the first lease there, kept alive by the keeper, and
 * replaced by a new one when it was lost. What was leased under the old one is then refused, and never confused with
 * the new.
 */
#ifndef RV_RUNNING_QUEUE_SESSION_H
#define RV_RUNNING_QUEUE_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/id.h"
#include "protocol/keys.h"
#include "protocol/tally.h"
#include "protocol/task_policy.h"

typedef char rv_session_text[RV_SESSION_LENGTH + 1];

typedef struct rv_queue_session {
    char queue[REEVE_QUEUE_MAX + 1];   /* never changes */
    rv_prefix prefix;                  /* never changes */
    char worker[RV_RANDOM_LENGTH + 1]; /* never changes */
    pthread_mutex_t lock;              /* guards what follows; held for moments only, no other lock is taken under it */
    char session[RV_SESSION_LENGTH + 1];
    bool begun;             /* it stands in Redis, as far as we know */
    rv_task_policy policy;  /* the queue's, as last heard of */
    atomic_bool has_policy; /* it says something; written under the lock, read by anybody */
    bool spares;            /* its expired sessions are spared for a while; of the scheduler alone */
    bool refused;           /* its messages to other queues were not taken; of the scheduler alone */
    size_t carry_skip;      /* so many of them were refused the last time; of the scheduler alone */
    int64_t reread;     /* how far its messages that were set aside were put back; -1: all; of the scheduler alone */
    atomic_bool unsent; /* its notices could not be sent lately; written by the scheduler */
    atomic_llong result_max; /* the queue's, as last heard of; 0: none. Written and read by anybody */
    rv_tally *tallies;       /* what is to be flushed, a day each; the latest comes last and is added to */
    /* of the heartbeat thread alone: */
    rv_tally *flushing;          /* on its way to Redis, perhaps there; not changed any more */
    uint64_t flush_number;       /* its number */
    unsigned unheard;            /* for so many heartbeats in a row something did not reach its threads (unheard.h) */
    rv_session_text flush_under; /* the session under which it may have been taken; "": none */
} rv_queue_session;

/* worker: its id. */
void rv_queue_session_init(rv_queue_session *queue_session, const char *ns, const char *queue, const char *worker);
void rv_queue_session_fini(rv_queue_session *queue_session);

/* Another worker's id, and a new session. Before it is used. */
void rv_queue_session_rename(rv_queue_session *queue_session, const char *worker);

/* Copies the present session; returns whether it has begun. */
bool rv_queue_session_get(rv_queue_session *queue_session, char ret_session[RV_SESSION_LENGTH + 1]);

/* The session has begun. Nothing happens when it is not the present one any more. */
void rv_queue_session_begin(rv_queue_session *queue_session, const char *session);

/* The session is gone from Redis: there is a new one from now on. False when it was not the present one. */
bool rv_queue_session_lose(rv_queue_session *queue_session, const char *session);

/*
 * Where to add what was settled at a time (on Redis's clock) for the statistics; NULL: no memory, it is left out. The
 * queue session is locked from then on, until rv_queue_session_close_tally.
 */
rv_tally *rv_queue_session_open_tally(rv_queue_session *queue_session, int64_t now_ms);
void rv_queue_session_close_tally(rv_queue_session *queue_session);

/*
 * For the heartbeat thread: what to flush with a heartbeat of a session, and its number; NULL: nothing. It is the same
 * one until rv_queue_session_flushed says what became of it. (When the session that may have taken it is gone without
 * having said so, it is dropped: it must not count twice.)
 */
const rv_tally *rv_queue_session_flush(rv_queue_session *queue_session, const char *session, uint64_t *ret_number);

/* The heartbeat was answered: taken, or not, as the session is gone. */
void rv_queue_session_flushed(rv_queue_session *queue_session, bool taken);

/* Whether anything is to be flushed. */
bool rv_queue_session_has_tally(rv_queue_session *queue_session);

/* What Redis says of the queue's policy (attempt_policy.h) now; empty, or what is none: it has none. */
void rv_queue_session_set_policy(rv_queue_session *queue_session, const char *text, size_t length);

/* Copies the queue's policy; false, with nothing copied and no lock taken, when it has none. */
bool rv_queue_session_get_policy(rv_queue_session *queue_session, rv_task_policy *ret);

#endif
