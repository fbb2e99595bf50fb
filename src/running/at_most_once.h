/*
 * at_most_once.h - tasks that run at most once: settled as done before they run.
 */
#ifndef RV_RUNNING_AT_MOST_ONCE_H
#define RV_RUNNING_AT_MOST_ONCE_H

#include "running/attempt_policy.h"
#include "running/worker_state.h"

/*
 * Settles the running item as completed; from then on it is accepted, whatever its outcome. Waits while the
 * connection is lost. False: the session does not hold the item any more, or that could not be found out; then it
 * must not run.
 */
bool rv_at_most_once_settle(rv_thread *thread, rv_item *item, const rv_attempt_policy *policy);

/* Its handler has returned: frees the unique key that it kept until now. Waits for a lost connection to come back; once
 * the worker leaves, the key goes with its session. */
void rv_at_most_once_end(rv_thread *thread, const rv_item *item, const rv_attempt_policy *policy);

#endif
