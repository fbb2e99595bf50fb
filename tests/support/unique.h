/*
 * unique.h - what tests of unique keys share: tasks of queue q with a key, and who holds it. Needs a place (queue.h).
 */
#ifndef TEST_UNIQUE_H
#define TEST_UNIQUE_H

#include "support/queue.h"

/* A completion that says that the task has a key. */
#define TEST_UNIQUE_DONE(task)                                          \
    {                                                                   \
        0,                                                              \
        {                                                               \
            .id = (task), .outcome = REEVE_OUTCOME_DONE, .unique = true \
        }                                                               \
    }

reeve_task_spec test_with_key(const char *id, const char *key);
reeve_status test_enqueue(reeve_task_spec spec, char ret_id[REEVE_ID_MAX]);
/* Enqueues a task with the key "k". */
void test_put_key(const char *id);
/* With the key "k", replacing who has it; its payload is its id. */
reeve_task_spec test_replacing(const char *id);
/* Enqueues one that holds "k" for a time. */
void test_put_for(const char *id, int64_t ms);

/* The id of the task that holds a key, or "(nil)". */
const char *test_holder(const char *key);
/* A task holds "k", and whoever comes is told so. */
void test_held_by(const char *id);
/* No key is held, and "k" can be had. */
void test_is_free(void);

/* Leases one task, which must be this one. */
void test_lease_one(test_hand *hand, const char *id);
/* Parks a ready task by hand, as a group at its limit does. */
void test_park(const char *id, const char *group);

#endif
