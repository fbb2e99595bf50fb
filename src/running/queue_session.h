/*
 * queue_session.h - the worker's sessions: one for each queue. It begins before the first lease in the queue,
 * heartbeats renew it, and a new one replaces it when it was lost. Redis then refuses the outcomes of tasks that were leased
 * under the old one.
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

/* What is known of a queue's policy. */
enum { RV_POLICY_NONE, RV_POLICY_GIVEN, RV_POLICY_UNKNOWN };

struct rv_flight_queue;
struct rv_task_metrics;

typedef struct rv_queue_session {
    char queue[REEVE_QUEUE_MAX + 1];   /* never changes */
    rv_prefix prefix;                  /* never changes */
    char worker[RV_RANDOM_LENGTH + 1]; /* never changes */
    uint16_t number;                   /* in the flight record (flight.h); never changes */
    struct rv_flight_queue *flight;    /* its place there, or NULL; set before the worker starts */
    pthread_mutex_t lock;              /* guards what follows; held for moments only, no other lock is taken under it */
    char session[RV_SESSION_LENGTH + 1];
    bool begun;              /* it exists in Redis, as far as the worker knows */
    bool wanted;             /* it has not begun, and a turn found a task that it could lease */
    rv_task_policy policy;   /* the queue's, as Redis returned it last */
    atomic_int policy_state; /* RV_POLICY_*; written under the lock, read without it */
    atomic_bool away;        /* no pool serves the queue: no heartbeat and no maintenance. Changes under
                              * reeve_worker.changing */
    atomic_bool last_look;   /* it went away, and is to be maintained once more */
    bool spares;             /* its expired sessions are spared for a while; of the scheduler alone */
    bool refused;            /* its messages to other queues were not taken; of the scheduler alone */
    size_t carry_skip;       /* how many messages were refused last time; only for the scheduler */
    int64_t reread;     /* how far its messages that were set aside were put back; -1: all; of the scheduler alone */
    atomic_bool unsent; /* its notices could not be sent lately; written by the scheduler */
    atomic_llong result_max;         /* the queue's, as Redis returned it last; 0: none. Any thread */
    atomic_llong payload_max;        /* the same */
    struct rv_task_metrics *metrics; /* task_metrics.h; NULL: the worker counts none. Set before the first turn */
    rv_tally *tallies;               /* tallies to flush, one a day; outcomes are added to the last one */
    /* of the heartbeat thread alone, which changes `flushing` under the lock: */
    rv_tally *flushing;    /* on its way to Redis, perhaps there; not changed any more */
    uint64_t flush_number; /* its number */
    /* the number of heartbeats in a row at which a wake-up or task had not reached its threads (unheard.h) */
    unsigned unheard;
    rv_session_text flush_under; /* the session under which it may have been taken; "": none */
} rv_queue_session;

/* worker: its id. */
void rv_queue_session_init(rv_queue_session *queue_session, const char *ns, const char *queue, const char *worker);
void rv_queue_session_fini(rv_queue_session *queue_session);

/* Another worker's id, and a new session. Before it is used. */
void rv_queue_session_rename(rv_queue_session *queue_session, const char *worker);

/* Copies the present session; returns whether it has begun. */
bool rv_queue_session_get(rv_queue_session *queue_session, char ret_session[RV_SESSION_LENGTH + 1]);

/* The session has begun. Without effect when it is not the present one any more. */
void rv_queue_session_begin(rv_queue_session *queue_session, const char *session);

/* A turn found a task in the queue that the session could lease, and not the session. */
void rv_queue_session_want(rv_queue_session *queue_session);
/* Whether the present session has not begun, and is to begin now. */
bool rv_queue_session_is_wanted(rv_queue_session *queue_session);

/* The session is gone from Redis: a new one is in use from now on. False when it was not the present one. */
bool rv_queue_session_lose(rv_queue_session *queue_session, const char *session);

/*
 * The tally for outcomes that were settled at now_ms (on Redis's clock). NULL: no memory; the outcomes are not
 * counted. Locks the queue session until rv_queue_session_close_tally.
 */
rv_tally *rv_queue_session_open_tally(rv_queue_session *queue_session, int64_t now_ms);
void rv_queue_session_close_tally(rv_queue_session *queue_session);

/*
 * For the heartbeat thread: the tally to flush with a heartbeat of a session, and its number; NULL: there is none.
 * It stays the same until rv_queue_session_flushed reports its result. It is dropped when the session that may have
 * accepted it is gone without a reply: it must not count twice.
 */
const rv_tally *rv_queue_session_flush(rv_queue_session *queue_session, const char *session, uint64_t *ret_number);

/* The reply of the heartbeat came. taken: the tally was accepted; else the session is gone. */
void rv_queue_session_flushed(rv_queue_session *queue_session, bool taken);

/* Whether outcomes wait to be flushed. */
bool rv_queue_session_has_tally(rv_queue_session *queue_session);

/*
 * Sets the policy of the queue (attempt_policy.h) as Redis returned it. Empty or malformed: the queue has none. For
 * want of memory the one that was known stays; if there was none, it is not known until Redis returns it again, with
 * the next maintenance.
 */
void rv_queue_session_set_policy(rv_queue_session *queue_session, const char *text, size_t length);

/* Copies the queue's policy; false, with nothing copied and no lock taken, when it has none. */
bool rv_queue_session_get_policy(rv_queue_session *queue_session, rv_task_policy *ret);

/* False: the queue has a policy, and there was no memory to read it. Takes no lock. */
bool rv_queue_session_knows_policy(const rv_queue_session *queue_session);

#endif
