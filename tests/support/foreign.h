/*
 * foreign.h - tasks of a producer in another language that does not use the scripts: an envelope in `tasks`, and the id
 * where the test puts it. Needs a place (queue.h).
 */
#ifndef TEST_FOREIGN_H
#define TEST_FOREIGN_H

#include "support/queue.h"

/* Envelopes that are malformed, each in another way. */
extern const char *const test_malformed[];
extern const size_t test_malformed_count;

/* HSET tasks, and ZADD set, of a queue. */
void test_foreign(const char *queue, const char *set, double score, const char *id, const char *envelope);

#endif
