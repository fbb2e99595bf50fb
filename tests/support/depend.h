/*
 * depend.h - tasks that wait for others: put in by a line, ended by hand. Needs a place (queue.h).
 */
#ifndef TEST_DEPEND_H
#define TEST_DEPEND_H

#include "reeve/depend.h"
#include "support/queue.h"

/* Enqueues q/id after some parents: handles, separated by blanks, each with a policy's letter and a colon before it
 * ("f:q/a"; f fail, g go, w wait, x death); a g before the colon ("fg:q/a"): known or gone. */
void test_put_after(const char *queue, const char *id, const char *parents);

/* Adds such edges. */
void test_add_edges(const char *queue, const char *id, const char *parents);

/* Leases the one task that is first in the queue, which must be this one, and ends it. */
void test_complete(const char *queue, const char *id);
void test_kill(const char *queue, const char *id);

/* Tends queues and carries their messages until there is nothing left of either; names, separated by blanks. */
void test_settle_queues(const char *queues);

/* The same of the queues p and q, with nothing left behind in either. */
void test_settle_all(void);

/* Fails when a task is in another state. */
void test_state_is(const char *queue, const char *id, const char *state);

/* The outbox of q is full of messages to a queue that takes none: no more are made meanwhile. */
void test_fill_outbox(void);

/* Every task of a queue is where it should be: nothing of edges is left behind but what belongs to tasks that are
 * there. */
void test_no_edges_left(const char *queue);

/* The task of the queue "q" died of a parent, with these words in its message. */
void test_died_of(const char *id, const char *words);

#endif
