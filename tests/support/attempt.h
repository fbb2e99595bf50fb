/*
 * attempt.h - what tests of reeve/testing.h share: an attempt that is expected to be run, and a handler that tells.
 */
#ifndef TEST_ATTEMPT_H
#define TEST_ATTEMPT_H

#include "reeve/testing.h"

/* Runs a handler of this function; fails the test when nothing was run. The caller frees the report. */
reeve_test_report *test_attempt(reeve_handler_fn handler, void *user, const reeve_test_options *options);

/* A handler that tells of its task: "handle type id attempt crashes enqueued_ms group traceparent payload". */
reeve_outcome test_describe(reeve_task *task, void *user);

#endif
