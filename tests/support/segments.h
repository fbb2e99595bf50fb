/*
 * segments.h - the ready tasks of a queue, whatever they stand in: places of their own, or segments
 * (src/lua/lib/segment.lua). Needs a place (queue.h).
 */
#ifndef TEST_SEGMENTS_H
#define TEST_SEGMENTS_H

#include "support/queue.h"

/*
 * Lua: ready_of(P, say) returns the ids and the scores of a queue's ready tasks, in their order, and calls say with
 * words for whatever is wrong with its segments: each member "+<p>" stands in `segments` and has a list that is not
 * empty, there are no others, each of its tasks says in its envelope that it came so, and no task is ready twice.
 */
extern const char test_ready_lua[];

/* The ids of the ready tasks, in their order: "[a b c]". Fails the test when the segments are wrong. Stays valid for
 * some calls. */
const char *test_ready(const char *queue);
/* How many these are. */
size_t test_ready_count(const char *queue);
/* The score of one; fails the test when it is not ready. */
int64_t test_ready_score(const char *queue, const char *id);

/* How many segments stand in a queue. */
long long test_segments(const char *queue);

/* One call that enqueues tasks with these ids, separated by blanks, into q; all are like one. Returns what it came to.
 */
reeve_status test_put_call(const char *ids, reeve_task_spec like);
/* The same with plain tasks, which are all taken. */
void test_put_together(const char *ids);

/* In queue q exactly these tasks are ready, in this order, and so many segments; and all is as limits.h says. */
void test_expect_ready(const char *ids, long long segments);
/* Nothing about segments is left in q. */
void test_no_segments(void);

/* Runs Lua on the server with one argument, on test_conn. The reply stays valid until the connection's next call. */
const rv_reply *test_eval(const char *const *parts, size_t count, const char *argument);

#endif
