/*
 * outbox.h - messages between queues (outbox.lua), carried.
 */
#ifndef RV_CLIENT_OUTBOX_H
#define RV_CLIENT_OUTBOX_H

#include "client/client.h"

/*
 * Carries messages of a queue until there are none, or `max` rounds are done; each is a handful of round trips. The
 * connection is open, with nothing pending. *ret_carried (may be NULL): how many messages. Errors are those of the
 * connection, or REEVE_EREDIS, with words: what was not carried stays.
 */
reeve_status rv_outbox_carry(rv_conn *conn, const char *ns, const char *queue, unsigned max, size_t *ret_carried,
                             rv_error *error);

/* The same, until a deadline (monotonic ms). */
reeve_status rv_outbox_carry_by(rv_conn *conn, const char *ns, const char *queue, unsigned max, int64_t deadline,
                                size_t *ret_carried, rv_error *error);

/*
 * As the first, behind the first *skip messages, which were refused the last time; *skip (0 at first) becomes how many to
 * pass over the next time, so that those behind any number of refused ones have their turn; 0 at the end of all.
 */
reeve_status rv_outbox_carry_on(rv_conn *conn, const char *ns, const char *queue, unsigned max, size_t *skip,
                                size_t *ret_carried, rv_error *error);

/*
 * As the first; those that were set aside as not understood are put back first, some each round: this version may
 * understand them. *from: 0 at first; then as it was left, until it is -1: then all were put back.
 */
reeve_status rv_outbox_carry_unread(rv_conn *conn, const char *ns, const char *queue, unsigned max, int64_t *from,
                                    size_t *ret_carried, rv_error *error);

/* The same over a client's connection, a few rounds; failures are no matter: workers do the same. */
void rv_outbox_client_carry(reeve_client *client, const char *queue);

/*
 * Until all messages that the queue has now are carried, by whomever. REEVE_EREDIS: some cannot be. Else the errors of
 * the connection.
 */
reeve_status rv_outbox_client_settle(reeve_client *client, const char *queue);

#endif
