/*
 * confirm.h - waits until replicas have received what was enqueued.
 */
#ifndef RV_CLIENT_CONFIRM_H
#define RV_CLIENT_CONFIRM_H

#include "client/client.h"

/*
 * Whether client->wait_replicas replicas have received all that the server did before. One round trip, for
 * client->wait_replicas_ms at most. epoch: that of the connection over which the tasks were enqueued: another one may be
 * to a server that lacks them. *error: why not, REEVE_UNCONFIRMED.
 */
bool rv_confirm_replicas(reeve_client *client, unsigned epoch, rv_error *error);

#endif
