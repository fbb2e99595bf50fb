/*
 * session.h - what a worker says of its session in a queue, and what it does for the queue: builds calls of heartbeat.lua,
 * end_session.lua and maintain.lua on a connection and reads their replies. No threads in here.
 */
#ifndef RV_PROTOCOL_SESSION_H
#define RV_PROTOCOL_SESSION_H

#include "protocol/definition.h"
#include "protocol/keys.h"
#include "protocol/tally.h"
#include "redis/conn.h"

void rv_beat_build(rv_conn *conn, const rv_prefix *prefix, const char *session, int64_t session_ms);
/* The same with sums for the statistics. number: larger than that of any flush before it, or that of the one sent
 * again. */
void rv_beat_build_flush(rv_conn *conn, const rv_prefix *prefix, const char *session, int64_t session_ms,
                         const rv_tally *tally, uint64_t number);

typedef struct rv_beat_reply {
    bool alive;    /* false: the session is gone */
    bool woken;    /* a wake-up waits for a thread of the queue */
    uint64_t held; /* tasks of the session */
} rv_beat_reply;

/* False: no such reply. */
bool rv_beat_read(rv_beat_reply *ret, const rv_reply *reply);

/* What one call of end_session.lua hands to the next, so that groups take turns among the tasks of both; "" at first. */
typedef char rv_leave_turns[8192];

void rv_leave_build(rv_conn *conn, const rv_prefix *prefix, const char *session, unsigned most);
bool rv_leave_read(const rv_reply *reply, uint64_t *ret_given_back, bool *ret_more);
/* The same of calls that follow one another. */
void rv_leave_build_next(rv_conn *conn, const rv_prefix *prefix, const char *session, unsigned most,
                         const rv_leave_turns turns);
void rv_leave_read_turns(const rv_reply *reply, rv_leave_turns ret);

typedef struct rv_tend_reply {
    bool more;          /* come again at once */
    int64_t next_in_ms; /* come again after that long; -1: nothing is due */
    uint64_t promoted;
    uint64_t recovered;
    uint64_t trimmed;
    const char *session;    /* whose tasks were recovered, or "" */
    const rv_reply *policy; /* the queue's policy (task_policy.h) as text, empty when it has none; NULL: not told */
    int64_t now_ms;         /* on Redis's clock */
    const rv_reply *due;    /* rv_tend_due; NULL: not told */
    int64_t result_max;     /* the queue's, or 0 */
    uint64_t outbox;        /* messages to other queues (client_depend.h) */
    int64_t spared_ms; /* for how long sessions are spared that expired while nobody maintained the queue; 0: none */
    bool unread;       /* there are messages that were set aside as not understood */
    bool unsent;       /* notices of the queue could not be sent lately: it is to be looked at often */
} rv_tend_reply;

/* A recurring entry that is due (fire.lua). */
typedef struct rv_tend_due {
    const char *name;
    int64_t due_ms;
    const char *line; /* its definition's first line (protocol/cron_definition.h) */
    size_t length;
} rv_tend_due;

#define RV_TEND_DUE_MAX RV_CRON_DUE_MAX /* with so many there may be more */

/* session_ms: how long a session of the caller's lives; 0: it has none. */
void rv_tend_build(rv_conn *conn, const rv_prefix *prefix, unsigned most, int64_t session_ms);
bool rv_tend_read(rv_tend_reply *ret, const rv_reply *reply);
/* The entry at an index, from 0; false: there are no more. */
bool rv_tend_due_at(const rv_tend_reply *tended, size_t index, rv_tend_due *ret);

#endif
