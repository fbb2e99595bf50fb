/*
 * bulk_insert.h - many plain tasks of a call, or much of them, are laid (src/lua/lib/bulk_insert.lua): their envelopes and ids go into
 * Redis by commands of a transaction, which enqueue.lua ends. So Lua does not see them, which is half of what they would
 * cost Redis, and of large ones two thirds.
 *
 * The envelopes say when they were enqueued, by Redis's clock: a client knows it from the replies to calls of several
 * tasks. Before the first such reply, and on a new connection, calls are sent as arguments of the script.
 */
#ifndef RV_CLIENT_BULK_INSERT_H
#define RV_CLIENT_BULK_INSERT_H

#include "client/client_enqueue.h"

/* The most that payload and metadata of a task that is laid may take. (Large envelopes are noted in the queue's
 * settings.) */
#define RV_BULK_INSERT_BYTES ((size_t)32 * 1024)

/* now_ms: Redis's, of a reply that has just come. */
void rv_bulk_insert_note_clock(reeve_client *client, int64_t now_ms);

/* Tasks that were laid in this queue had to be taken up again: the next calls go there as arguments. */
void rv_bulk_insert_note_uncommon(reeve_client *client, const char *queue);

/* Whether a call that is plain, and sent for the first time, is to be laid. */
bool rv_bulk_insert_pays(rv_enqueue_pipeline *p, const rv_enqueue_call *call);

/* Whether Redis is to be asked, behind this call, for what laying takes: once for a client, because commands that are
 * carried out without a transaction do half of it. Adds the commands for that; the reply of its command `step`. */
bool rv_bulk_insert_needs_probe(const rv_enqueue_pipeline *p, const rv_enqueue_call *call);
void rv_bulk_insert_probe(rv_enqueue_pipeline *p, rv_conn *conn, const rv_enqueue_call *call);
void rv_bulk_insert_probed(rv_enqueue_pipeline *p, size_t step, const rv_reply *reply);

/* Adds its commands, and notes its packet. */
void rv_bulk_insert_build(rv_enqueue_pipeline *p, rv_conn *conn, rv_enqueue_call *call);

/* Before a call is sent again that was laid: adds a command after which the earlier try is not carried out any more. */
void rv_bulk_insert_forbid(const rv_enqueue_pipeline *p, rv_conn *conn, const rv_enqueue_call *call);

/* The reply to command `step` of a call that is laid; those of one call come in order. Returns what is enqueue.lua's answer, or an error in place of it; NULL: not yet; or
 * Redis does not know the script (any more), and p->again says that the call is to be sent again. */
const rv_reply *rv_bulk_insert_reply(rv_enqueue_pipeline *p, size_t step, const rv_reply *reply);

#endif
