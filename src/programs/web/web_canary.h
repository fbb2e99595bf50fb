/*
 * web_canary.h - a task sent through each watched queue now and then, which any worker completes without a handler: how long
 * that takes is what a task of the queue has to expect. The task has one id, so that several servers share it, and one that a
 * server left behind is found by the next.
 */
#ifndef WEB_CANARY_H
#define WEB_CANARY_H

#include "web.h"

#define WEB_CANARY_QUEUES_MAX 100
#define WEB_CANARY_INTERVAL_MS 30000 /* the default */

/* Whether a text names queues, separated by commas. */
bool web_canary_is_list(const char *text);

/* Starts the thread. NULL: no memory. `queues` as web_canary_is_list. */
struct web_canary *web_canary_open(web_server *web, const char *queues, int64_t interval_ms);
/* Waits for the thread. A task that is under way stays: the next server finds it. NULL is ignored. */
void web_canary_close(struct web_canary *canary);

/* Calls `each` for every watched queue. seconds: from the enqueue to the end of the last task, or the age of the one that is
 * under way, if that is more; negative: not known yet. */
void web_canary_each(struct web_canary *canary, void (*each)(void *user, const char *queue, double seconds),
                     void *user);

#endif
