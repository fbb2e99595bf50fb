/*
 * depend.h - the inside of edges between tasks (lib/links.lua): their letters, and messages between queues.
 */
#ifndef RV_DEPEND_H
#define RV_DEPEND_H

#include "queue/client.h"
#include "reeve/depend.h"

extern const reeve_parent rv_parent_open;

/* The letter of a checked policy. */
char rv_policy_letter(reeve_on_parent_death policy);

/* Checks a parent of a task (id NULL: not known yet). */
reeve_status rv_check_parent(const reeve_parent *parent, const char *queue, const char *id, rv_error *error);

/* The queue and the id of a handle that is well formed; false when it is not. */
bool rv_handle_split(const char *handle, char queue[REEVE_QUEUE_MAX + 1], char id[REEVE_ID_MAX]);

/* Whether any of them is in another queue. */
bool rv_parents_elsewhere(const reeve_parent *parents, size_t count, const char *queue);

/* ---- messages between queues (outbox.lua) ---------------------------------------------------------------------- */

/*
 * Carries messages of a queue until there are none, or `most` rounds are done; each is a handful of round trips. The connection
 * is open, with nothing pending. *ret_carried (may be NULL): how many messages. Errors are those of the connection, or
 * REEVE_EREDIS, with words: what was not carried stays.
 */
reeve_status rv_outbox_carry(rv_conn *conn, const char *ns, const char *queue, unsigned most, size_t *ret_carried,
                             rv_error *error);

/* The same over a client's connection, a few rounds; failures are no matter: workers do the same. */
void rv_client_carry(reeve_client *client, const char *queue);

#endif
