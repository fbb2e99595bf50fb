/*
 * sweep.h - what tests of sweeps share: tasks of queue q that have ended, one sweep, and what there is after it. Needs
 * a place (queue.h) with a clock that stands still (clock.h).
 */
#ifndef TEST_BULK_UPDATE_H
#define TEST_BULK_UPDATE_H

#include "reeve/dead.h"
#include "support/queue.h"

/* A death of a kind. */
#define TEST_DIE(task, of)                                                                            \
    {                                                                                                 \
        0,                                                                                            \
        {                                                                                             \
            .id = (task), .outcome = REEVE_OUTCOME_FAIL, .counts = true, .kind = (of), .message = "m" \
        }                                                                                             \
    }

/* The thread that runs the tasks, of one session that outlives every test. */
extern test_hand test_bulk_update_hand;
/* What the last sweep did. */
extern reeve_bulk_result test_swept;

/* For set-up functions: an empty place and a new hand. */
int test_bulk_update_begin(void **state);

/* Brings a new task to its end: completed, cancelled, or dead of a kind. Nothing else may be ready. */
void test_put_ended(reeve_task_spec spec, reeve_state end, const char *kind);
/* Many that die in one moment, of kind "k". */
void test_put_many_dead(size_t count);

/* One sweep by test_client, which must be done to so many tasks. */
void test_bulk_update(reeve_action action, reeve_filter filter, uint64_t done);

/* One call of bulk_update.lua by test_conn for all tasks in a state, with nothing else asked of them; its reply,
 * which stays valid until the connection's next call. */
const rv_reply *test_bulk_update_step(const char *action, const char *state, const char *cursor, const char *max);

/* How many tasks there are in each state that has some, in the order of reeve_state: "ready:2 dead:1". */
void test_states_are(const char *expected);

#endif
