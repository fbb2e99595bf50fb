/*
 * fan.h - what follows when a task was cancelled or deleted for which others waited, or which waited for others,
 * carried out at once: there may be no worker that would.
 */
#ifndef RV_CLIENT_FAN_H
#define RV_CLIENT_FAN_H

#include "client/client.h"

/*
 * Informs the waiting tasks, in this queue and others, up to about 10,000 of them; workers, or other processes that
 * maintain the queues, do the rest. Failures are ignored: nothing is lost by them.
 */
void rv_fan_run(reeve_client *client, const char *queue);

/*
 * The same after a call whose reply does not say whether somebody is to be informed: one round trip if nobody is. queue:
 * a partition's exact name. client->error stays as it is. Replies of earlier calls are not valid any more.
 */
void rv_fan_follow(reeve_client *client, const char *queue);

#endif
