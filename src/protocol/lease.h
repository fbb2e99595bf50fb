/*
 * lease.h - a leased task, as replies of turn.lua, of recover.lua and of a hand-over contain it.
 */
#ifndef RV_PROTOCOL_LEASE_H
#define RV_PROTOCOL_LEASE_H

#include <string.h>

#include "base/id.h"
#include "protocol/envelope.h"
#include "redis/reply.h"

/* A leased task; pointers lead into the reply. The header and type inside the envelope are not ended by a zero byte. */
typedef struct rv_lease {
    size_t queue; /* index among turn.queues */
    const char *id;
    size_t id_length; /* as in rv_settlement */
    int64_t since_ms; /* when it was leased, on Redis's clock */
    rv_envelope envelope;
    unsigned failures;
    unsigned crashes;
    unsigned snoozes; /* counted ones */
    bool has_info;
    bool has_checkpoint;
    bool crashed_alone; /* a worker died while it ran this task and nothing else */
} rv_lease;

/* The length of a lease's id, also of one that has zero bytes. */
static inline size_t rv_lease_id_length(const rv_lease *lease)
{
    return lease->id_length > 0 ? lease->id_length : strlen(lease->id);
}

/* Whether this is the id of the leased task. */
static inline bool rv_lease_has_id(const rv_lease *lease, const char *id, size_t length)
{
    return rv_lease_id_length(lease) == length && memcmp(lease->id, id, length) == 0;
}

/* Reads the id and the envelope of a leased task. queue: its index. False: they are no task. */
bool rv_lease_read(rv_lease *ret, size_t queue, const rv_reply *id, const rv_reply *envelope);

/* Reads the failures, crashes and marks of a flagged task from a reply's extras, which have the order of its leases.
 * *next: where to look first, 0 at the beginning. */
void rv_lease_read_extra(rv_lease *lease, const rv_reply *extras, size_t *next);

/* A task that was handed to a thread: the content of the thread's list, if that was not empty. id: receives the id; the
 * rest points into the text. False: it is no task. */
bool rv_lease_read_handed(rv_lease *ret, char id[REEVE_ID_MAX], const rv_reply *text);

/* How long the task was ready before it was leased, in ms; -1 when that is not meaningful: it was not the first
 * attempt, or the task was postponed. */
int64_t rv_lease_wait(const rv_lease *lease);

#endif
