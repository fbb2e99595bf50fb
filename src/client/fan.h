/*
 * fan.h - what follows when a task was cancelled or deleted for which others waited, or which waited for others, carried out
 * at once: there may be no worker that would.
 */
#ifndef RV_CLIENT_FAN_H
#define RV_CLIENT_FAN_H

#include "client/client.h"

/*
 * Tells the tasks that are to hear of it, here and in other queues, up to some 10,000 of them; workers, or whoever maintains
 * the queues, do what is left. Failures are no matter: nothing is lost by them.
 */
void rv_fan_run(reeve_client *client, const char *queue);

#endif
