/*
 * turn_build.h - calls of turn.lua: settle finished tasks, lease the next ones.
 */
#ifndef RV_PROTOCOL_TURN_BUILD_H
#define RV_PROTOCOL_TURN_BUILD_H

#include "protocol/keys.h"
#include "protocol/settlement.h"
#include "redis/conn.h"

#define RV_BATCH_MAX 256

/* A queue to lease from. */
typedef struct rv_turn_queue {
    const rv_prefix *prefix;
    const char *session;
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
    RV_HAND_IDLE,   /* from now on */
    RV_HAND_AGAIN,  /* it may be waiting for one from before, or have been handed it meanwhile */
    RV_HAND_WOKEN,  /* as IDLE; it took a wake-up (any number of queues) */
    RV_HAND_SEVERAL /* it calls for other threads, too: see turn.thread. Of one queue: as IDLE */
} rv_hand;

typedef struct rv_turn {
    const char *thread; /* its name; with RV_HAND_SEVERAL: for each task the name of its thread, see turn.lua */
    rv_hand hand;
    unsigned want;
    const rv_turn_queue *queues;
    size_t queue_count;
    const rv_turn_group *groups;
    size_t group_count;
} rv_turn;

/* Adds one call of turn.lua. */
void rv_turn_build(rv_conn *conn, const rv_turn *turn);

#endif
