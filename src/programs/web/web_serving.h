/*
 * web_serving.h - what depends on the registry of workers. The pages of the dashboard get it from the list of the
 * newest snapshot, which a stream of events keeps new: each of them would have a thousand records read otherwise.
 */
#ifndef WEB_SERVING_H
#define WEB_SERVING_H

#include "web.h"

/* The number of live workers that serve a queue; -1: not known. */
int64_t web_serving_count(web_call *call, const char *queue);

/* As reeve_task_why, or reeve_queue_why if id is NULL. */
reeve_status web_serving_why(web_call *call, const char *queue, const char *id, reeve_why **ret);

#endif
