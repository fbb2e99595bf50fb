/*
 * circle.h - tasks that wait for each other in a circle, across queues.
 */
#ifndef RV_CLIENT_CIRCLE_H
#define RV_CLIENT_CIRCLE_H

#include "client/client.h"
#include "protocol/why_facts.h"

/* A blocked task, of which `facts` tells: searches for a way from parent to parent that leads back to it, over at most
 * 128 tasks, of each of which the first 10 parents are followed. *ret: the handles between, separated by blanks, each
 * of which waits for the next and the last for the task itself, to be freed with rv_free; NULL: none was found.
 * *ret_count: the tasks of the circle. */
reeve_status rv_circle_find(reeve_client *client, const char *queue, const char *id, const rv_why_facts *facts,
                            char **ret, size_t *ret_count);

#endif
