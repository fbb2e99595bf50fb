/*
 * mangle.h - between a client and a real server, to change replies: they stay well-formed, but for a few, and say what
 * no server says. What is asked reaches the server as it is.
 *
 *     test_mangle *mangle = test_mangle_start(redis, seed);
 *     test_mangle_share(mangle, 50);          one reply in 50 is changed; 0: none
 *     ... a client opened with test_mangle_url(mangle) ...
 */
#ifndef TEST_MANGLE_H
#define TEST_MANGLE_H

#include <stdint.h>

#include "support/redis.h"

typedef struct test_mangle test_mangle;

test_mangle *test_mangle_start(rv_test_redis *redis, uint64_t seed);
void test_mangle_stop(test_mangle *mangle);
const char *test_mangle_url(const test_mangle *mangle);
void test_mangle_share(test_mangle *mangle, unsigned one_in);
/* How many replies were changed so far. */
unsigned long test_mangle_count(const test_mangle *mangle);

#endif
