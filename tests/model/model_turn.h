/*
 * model_turn.h - what the parts of a turn share: model_turn.c sends it and takes note of what it hears, model_settle.c
 * says what becomes of what was settled, model_lease.c of what is leased.
 */
#ifndef TEST_MODEL_TURN_H
#define TEST_MODEL_TURN_H

#include "model/model_dependencies.h"

/* What a thread says of a task. */
enum { DONE, DONE_RECORD, RESULT, RETRY_LATER, FAIL, FAIL_UNCOUNTED, SNOOZE, BACK, ENDS_CANCELLED, DISCARDS };
enum { ITEMS = 24 };

typedef struct item {
    int queue, id, how, number;
    bool info;   /* done: there is info of the task, ... */
    bool unique; /* ... it has a unique key */
    bool keeps;  /* ... and keeps it: the task runs at most once, and begins now */
    bool deadline, checkpoint;
    bool runs;      /* done: its run is recorded */
    bool own;       /* done: its record is kept for a time of its own */
    bool begun;     /* snoozed by its handler */
    char lease[64]; /* "": any */
    bool held;
    bool hands_on; /* a task, which is enqueued with its completion */
    int hand_queue;
    model_incoming hand;
} item;

typedef struct turn {
    int hand, thread, want;
    int other;        /* a thread that this one calls for, too, or -1 */
    int keys[QUEUES]; /* the queues, those first that are leased from */
    int from;         /* how many that are */
    bool idles;       /* it asks to be handed a task where nothing is found, ... */
    bool again;       /* and may be handed one already */
    bool woken;       /* it waited for this turn, and took a token */
    bool named;
    bool by_id; /* a task is leased by its id, out of its turn */
    item items[ITEMS];
    int count;
    /* what came of it */
    int leased;
    struct {
        int queue, id;
    } given[QUEUES * SLOTS];
    size_t told; /* of how many leased tasks there is something to tell */
    bool idle, other_idle;
    bool gone[QUEUES], looked[QUEUES], put_off[QUEUES];
    /* limits: which there are; of each group, how many were started, and their units; 0: of the queue; the most units */
    int64_t scores[QUEUES][SLOTS]; /* of those that were ready before; -1: was not */
    char limit_state[QUEUES][16];
    int started[QUEUES][KEYS + 1], units[QUEUES][KEYS + 1], debt[QUEUES];
} turn;

/* Done with a result, and nothing else to say. (Now and then one has a record all the same.) */
bool model_is_plain_result(const item *one);
/* Whether a group's results are sent as one. */
bool model_is_result_block(const turn *t, int first);
/* A lease as it stands in Redis. */
void model_name_lease(char text[64], int64_t since_ms, int thread);
/* How long a retry waits; a snooze waits one more. */
int64_t model_delay(const item *one);

/* A group is of one queue, or of one lease: where the one ends that begins with this item. */
int model_group_end(const turn *t, int first);
void model_settle_all(turn *t, const rv_reply *refused);
void model_lease_all(turn *t, const rv_reply *reply);
/* The thread that a task is for, by its place among those that are leased. */
int model_taker_of(const turn *t, int place);
/* The session stands in the queue. */
bool model_is_in_session(const turn *t, int queue);
/* The session holds a suspect, and not this one. */
bool model_has_another_suspect(const turn *t, int queue, int id);
void model_take(turn *t, int queue, const rv_reply *id_reply, const rv_reply *envelope, const rv_reply *extras);
/* The hand knows now what was settled, and what it has. */
void model_hear(const turn *t);
void model_check_envelope(const model_task *task, const char *id, const char *envelope);

#endif
