/*
 * turn_call.h - a thread's turn: settle what it finished, lease what it takes next; and what else is said of leases.
 * Builds calls of turn.lua, recover.lua, progress.lua, checkpoint.lua, log.lua, hold.lua on a connection and reads their
 * replies; no threads in here.
 */
#ifndef RV_PROTOCOL_TURN_CALL_H
#define RV_PROTOCOL_TURN_CALL_H

#include "base/id.h"
#include "protocol/definition.h"
#include "protocol/envelope.h"
#include "protocol/keys.h"
#include "redis/conn.h"

#define RV_BATCH_MAX 256

/* What became of a task. All pointers are borrowed. */
typedef struct rv_settlement {
    const char *id;
    size_t id_length;      /* of one that is malformed: it may have zero bytes; 0: up to its zero byte */
    reeve_outcome outcome; /* done, retry, fail, snooze */
    bool has_info;         /* done: info:<id> exists, so that it must be looked after */
    bool checkpoint;       /* done: it has one, which goes now; only with has_info */
    bool unique;           /* done: the task holds a lock, which goes now */
    bool keeps_key;        /* done, of one that begins now: its key is free with once.lua, not with this */
    bool has_result;
    reeve_bytes result;
    bool deadline;    /* done: it had one */
    bool records_run; /* done: when it began, and where, is kept with its record */
    bool begun;       /* snooze: its handler ran */
    int64_t delay_ms; /* retry, snooze */
    bool counts;      /* fail: it is a failure of an attempt */
    const char *kind;
    const char *message;
    reeve_bytes hands; /* done: tasks that it hands on (rv_hand_write) */
    size_t hand_count;
} rv_settlement;

/* Appends a task that is handed on: what turn.lua takes of a checked spec. */
void rv_hand_write(rv_buf *out, const reeve_task_spec *spec, const char *id);

/* A queue to lease from. */
typedef struct rv_turn_queue {
    const rv_prefix *prefix;
    const char *session;
    const char *join; /* the session's description when it has not begun in this queue, else "" */
} rv_turn_queue;

/* Outcomes for one session of one queue. */
typedef struct rv_turn_group {
    const rv_prefix *prefix;
    const char *session;
    const char *lease; /* "<since ms> <thread>": outcomes of this lease only; NULL: of whatever the session holds */
    const rv_settlement *const *items;
    size_t count;
} rv_turn_group;

/* Whether a thread that finds nothing is to be handed a task when one comes (one queue only). */
typedef enum rv_hand {
    RV_HAND_NO,
    RV_HAND_IDLE,  /* from now on */
    RV_HAND_AGAIN, /* it may be waiting for one from before, or have been handed it meanwhile */
    RV_HAND_WOKEN  /* as IDLE; it took a wake-up (any number of queues) */
} rv_hand;

typedef struct rv_turn {
    const char *thread;
    rv_hand hand;
    unsigned want;
    int64_t session_ms;
    const rv_turn_queue *queues;
    size_t queue_count;
    const rv_turn_group *groups;
    size_t group_count;
} rv_turn;

/* Adds one call of turn.lua. */
void rv_turn_build(rv_conn *conn, const rv_turn *turn);

/* A leased task; pointers lead into the reply. The header and type inside the envelope are not ended by a zero byte. */
typedef struct rv_lease {
    size_t queue; /* index among turn.queues */
    const char *id;
    size_t id_length; /* as in rv_settlement */
    int64_t since_ms; /* when it was leased, on Redis's clock */
    rv_envelope envelope;
    unsigned failures;
    unsigned crashes;
    bool has_info;
    bool has_checkpoint;
    bool crashed_alone; /* a worker died while it ran this task and nothing else */
} rv_lease;

/* A reply of turn.lua. refused and gone are lists; see turn.lua. */
typedef struct rv_turn_reply {
    int64_t now_ms;
    const rv_reply *refused; /* see rv_turn_refused */
    const rv_reply *gone;    /* indexes into turn.queues, from 1 */
    const rv_reply *extras;
    const rv_reply *whole;
    bool flat; /* it is the leases of one queue, or nothing */
} rv_turn_reply;

/* A task that was handed to a thread: what its list held, if that was not empty. id: where its id goes; the rest leads
 * into the text. False: it is no task. */
bool rv_turn_handed(rv_lease *ret, char id[REEVE_ID_MAX], const rv_reply *text);

/* How long the task was ready before it was leased, in ms; -1 when that says nothing: it was not its first attempt, or
 * it was put off. */
int64_t rv_lease_wait(const rv_lease *lease);

bool rv_turn_read(rv_turn_reply *ret, const rv_reply *reply);

/* The id of an element of refused, and in *ret_group the index of its group among turn.groups. NULL: it names none of
 * so many groups. */
const char *rv_turn_refused(const rv_reply *element, size_t groups, size_t *ret_group);

/* True when the thread is to wait for what it is handed, in its list (rv_turn.hand). */
bool rv_turn_is_idle(const rv_turn_reply *reply);

/* Copies the leases into leases[0 .. max); returns how many. queues: turn.queue_count. One that is no task, or of no
 * such queue (impossible), is left out and counted in *ret_bad. One whose envelope is malformed is among the leases
 * (rv_envelope_take). */
size_t rv_turn_leases(const rv_turn_reply *reply, size_t queues, rv_lease *leases, size_t max, size_t *ret_bad);

/*
 * The policies of queues (task_policy.h) in which the turn began a session, one after the other: start with *next = 0.
 * Returns the text (empty: it has none), and in *ret_queue the index among turn.queues; NULL: there are no more.
 */
const rv_reply *rv_turn_policy(const rv_turn_reply *reply, size_t *next, size_t *ret_queue);
/* What the queue that was told last says of results: at most so many bytes, or 0. */
int64_t rv_turn_result_max(const rv_turn_reply *reply, size_t next);

/* ---- recall ---------------------------------------------------------------------------------------------------- */

void rv_recall_build(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *thread,
                     const char *cursor);

typedef struct rv_recall_reply {
    bool alive;
    const char *cursor; /* "0" at the end */
    const rv_reply *extras;
    const rv_reply *tasks;
    size_t next_task, next_extra; /* how far they have been read */
} rv_recall_reply;

bool rv_recall_read(rv_recall_reply *ret, const rv_reply *reply);
/* The next ones, at most max; 0: there are no more. They point into the reply. */
size_t rv_recall_leases(rv_recall_reply *reply, size_t queue, rv_lease *leases, size_t max);

/* ---- regain ---------------------------------------------------------------------------------------------------- */

/* Before rv_regain_task for each of `count` tasks. */
void rv_regain_build(rv_conn *conn, const rv_prefix *prefix, const char *session, size_t count);
void rv_regain_task(rv_conn *conn, const char *id, int64_t since_ms, const char *thread);

/* ---- progress -------------------------------------------------------------------------------------------------- */

/* words may be NULL. */
void rv_progress_build(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id, int percent,
                       const char *words);

/* ---- heartbeat ------------------------------------------------------------------------------------------------- */

/* Answers 1 when the session holds the task, else 0. */
void rv_held_build(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id);

/* ---- checkpoints and the log ----------------------------------------------------------------------------------- */

void rv_checkpoint_build(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id, reeve_bytes data);

/* Answers the bytes, or nil. */
void rv_last_checkpoint_build(rv_conn *conn, const rv_prefix *prefix, const char *id);

/* number: of the line in its lease, "<since ms> <thread>", from 1. */
void rv_log_build(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id, const char *lease,
                  unsigned number, const char *line);

/* ---- hold ------------------------------------------------------------------------------------------------------ */

/* No task of the queue, or of a group in it (NULL: the queue), starts for a while; never shortens a hold that stands.
 */
void rv_pause_for_build(rv_conn *conn, const rv_prefix *prefix, const char *group, int64_t delay_ms);

#endif
