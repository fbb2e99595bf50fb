/*
 * turn_reply.h - the reply of turn.lua.
 */
#ifndef RV_PROTOCOL_TURN_REPLY_H
#define RV_PROTOCOL_TURN_REPLY_H

#include "protocol/lease.h"
#include "redis/arena.h"

/* A reply of turn.lua. refused and gone are lists; see turn.lua. */
typedef struct rv_turn_reply {
    int64_t now_ms;
    const rv_reply *refused; /* see rv_turn_reply_refused */
    const rv_reply *gone;    /* indexes into turn.queues, from 1 */
    const rv_reply *extras;
    const rv_reply *whole;
    bool flat; /* it is the leases of one queue, or nothing */
} rv_turn_reply;

bool rv_turn_reply_read(rv_turn_reply *ret, const rv_reply *reply);

/* Returns the id of an element of `refused`; *ret_group: the index of its group in turn.groups. NULL: the element is
 * malformed. */
const char *rv_turn_reply_refused(const rv_reply *element, size_t groups, size_t *ret_group, size_t *ret_length);

/* Whether Redis registered the thread, so that it waits in its list to be handed a task (rv_turn.hand). */
bool rv_turn_reply_is_idle(const rv_turn_reply *reply);

/* Copies the leases into leases[0 .. max); returns how many. queues: turn.queue_count. Malformed elements are left
 * out and counted in *ret_bad. A task with a malformed envelope is among the leases (rv_envelope_take). */
size_t rv_turn_reply_leases(const rv_turn_reply *reply, size_t queues, rv_lease *leases, size_t max, size_t *ret_bad);

/* How many tasks were leased. */
size_t rv_turn_reply_count(const rv_turn_reply *reply);

/* Where one stands that goes through them, from {0} on. */
typedef struct rv_turn_reply_place {
    size_t list;
    size_t at;
    size_t extra;
} rv_turn_reply_place;

/* Copies the next lease, of the rv_turn_reply_count that there are; its memory is of the arena. queues:
 * turn.queue_count. False: no memory, or the element is malformed; the place moves on all the same. */
bool rv_turn_reply_copy_next(const rv_turn_reply *reply, size_t queues, rv_turn_reply_place *place, rv_arena *arena,
                             rv_lease *ret);

#endif
