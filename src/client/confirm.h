/*
 * confirm.h - waits until replicas, or the disk, have what was enqueued.
 */
#ifndef RV_CLIENT_CONFIRM_H
#define RV_CLIENT_CONFIRM_H

#include "client/client.h"

/* Checks it, and sets defaults: REEVE_EINVAL. */
reeve_status rv_confirm_choose(reeve_confirmation *ret, const reeve_confirmation *given, rv_error *error);

/* What the client wants of enqueues of a queue, or of a partition of it. */
const reeve_confirmation *rv_confirm_find(const reeve_client *client, const char *queue);

/* Whether something is to be waited for; adds it to what *sum wants. */
bool rv_confirm_add(reeve_confirmation *sum, const reeve_confirmation *more);

/*
 * Whether all that the server did before is where *wanted says. One round trip, for its time at most. epoch: that of the
 * connection over which the tasks were enqueued: another one may be to a server that lacks them. *error: why not,
 * REEVE_UNCONFIRMED.
 */
bool rv_confirm_run(reeve_client *client, const reeve_confirmation *wanted, unsigned epoch, rv_error *error);

#endif
