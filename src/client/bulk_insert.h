/*
 * bulk_insert.h - large calls of plain tasks are bulk-inserted (src/lua/lib/bulk_insert.lua): a transaction writes
 * their envelopes and ids to Redis, and enqueue.lua ends it. The tasks bypass Lua, which saves half of their cost in
 * Redis, and two thirds for large ones. The envelopes contain the enqueue time by Redis's clock, which a client
 * knows from the replies to calls of several tasks. Before the first such reply, and on a new connection, calls are
 * sent as arguments of the script.
 */
#ifndef RV_CLIENT_BULK_INSERT_H
#define RV_CLIENT_BULK_INSERT_H

#include "client/client_enqueue.h"

/* The maximum size of payload and metadata of a bulk-inserted task. The script would note larger envelopes in the
 * queue's settings. */
#define RV_BULK_INSERT_BYTES ((size_t)32 * 1024)

/* now_ms: Redis's, of a reply that has just come. */
void rv_bulk_insert_note_clock(reeve_client *client, int64_t now_ms);

/* A bulk insert into this queue fell back to arguments: the next calls to it are sent as arguments, too. */
void rv_bulk_insert_note_uncommon(reeve_client *client, const char *queue);

/* Whether a plain call that is sent for the first time is to be bulk-inserted. */
bool rv_bulk_insert_pays(rv_enqueue_pipeline *p, const rv_enqueue_call *call);

/* A probe behind a call finds out, once for a client, whether transactions work: without one, Redis would execute
 * the commands of a bulk insert one by one. Whether this call needs a probe; its commands; the reply to its command
 * `step`. */
bool rv_bulk_insert_needs_probe(const rv_enqueue_pipeline *p, const rv_enqueue_call *call);
void rv_bulk_insert_probe(rv_enqueue_pipeline *p, rv_conn *conn, const rv_enqueue_call *call);
void rv_bulk_insert_probed(rv_enqueue_pipeline *p, size_t step, const rv_reply *reply);

/* Adds the commands of a bulk insert, and sets call->segment. */
void rv_bulk_insert_build(rv_enqueue_pipeline *p, rv_conn *conn, rv_enqueue_call *call);

/* Before a bulk-inserted call is repeated: adds a command after which Redis does not execute the earlier transaction
 * any more. */
void rv_bulk_insert_forbid(const rv_enqueue_pipeline *p, rv_conn *conn, const rv_enqueue_call *call);

/* Takes the reply to command `step` of a bulk-inserted call, in order. Returns the reply of enqueue.lua or an error
 * in place of it. NULL: it has not come yet; or Redis does not know the script, and p->again is set, so that the
 * call is sent again. */
const rv_reply *rv_bulk_insert_reply(rv_enqueue_pipeline *p, size_t step, const rv_reply *reply);

#endif
