/*
 * announced.h - the events of queue q, as short words. Needs a place (queue.h).
 */
#ifndef TEST_ANNOUNCED_H
#define TEST_ANNOUNCED_H

#include "support/queue.h"

/* From now on q keeps so many events. */
void test_keep_events(int64_t count);

/* Nothing was looked at yet; times are told as ms from this one on. */
void test_announced_anew(int64_t since_ms);

/* What was told since the last call, of one task or of all (NULL): "enqueued:a scheduled:b@5000 retry:a+60(k)". */
const char *test_announced_of(const char *id);
#define test_announced() test_announced_of(NULL)

#endif
