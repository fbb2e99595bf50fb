#include "support/costs_path.h"

#include <stdio.h>

test_hand test_costs_path_hand;

void test_costs_path_begin(void)
{
    test_hand_init(&test_costs_path_hand, "1", "q");
    test_costs_path_hand.session_ms = 1000000000;
    (void)test_place_empty(NULL);
}

int test_costs_path_set_up(void **state)
{
    (void)state;
    test_costs_path_begin();
    return 0;
}

void test_costs_path_put(const char *name, size_t n, reeve_task_spec like)
{
    static char ids[3 * TEST_COSTS_PATH_BATCH + 1][REEVE_ID_MAX], keys[3 * TEST_COSTS_PATH_BATCH + 1][REEVE_ID_MAX];
    static reeve_task_spec specs[3 * TEST_COSTS_PATH_BATCH + 1];
    static reeve_enqueued results[3 * TEST_COSTS_PATH_BATCH + 1];
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%s%03zu", name, i);
        (void)snprintf(keys[i], sizeof(keys[i]), "key-%s%03zu", name, i);
        specs[i] = like;
        specs[i].queue = "q";
        specs[i].type = "t";
        specs[i].id = ids[i];
        if (like.unique != NULL) specs[i].unique = keys[i];
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, n, results));
}

test_costs test_costs_path_enqueue(size_t n, reeve_task_spec like)
{
    test_costs_path_put("a", 1, like);
    test_costs_path_put("c", 1, like);
    test_costs_reset();
    test_costs_path_put("b", n, like);
    return test_costs_read();
}

test_costs test_costs_path_turn(size_t n, reeve_task_spec like, rv_settlement how)
{
    static test_outcome outcomes[TEST_COSTS_PATH_BATCH];
    static char ids[TEST_COSTS_PATH_BATCH][REEVE_ID_MAX];
    test_costs_path_put("t", 3 * n, like);
    assert_int_equal(test_lease(&test_costs_path_hand, (unsigned)n), n);
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%s", test_costs_path_hand.leased[i].id);
        outcomes[i] = (test_outcome){0, how};
        outcomes[i].is.id = ids[i];
    }
    test_costs_reset();
    assert_int_equal(test_turn(&test_costs_path_hand, (unsigned)n, outcomes, n), n);
    test_costs ret = test_costs_read();
    assert_string_equal(test_costs_path_hand.refused, "");
    return ret;
}

test_costs test_costs_path_plain_enqueue(size_t n)
{
    test_costs_path_begin();
    return test_costs_path_enqueue(n, (reeve_task_spec){0});
}

test_costs test_costs_path_full_enqueue(size_t n)
{
    test_costs_path_begin();
    return test_costs_path_enqueue(n, (reeve_task_spec){.priority = -5});
}

test_costs test_costs_path_plain_turn(size_t n)
{
    test_costs_path_begin();
    return test_costs_path_turn(n, (reeve_task_spec){0}, (rv_settlement){.outcome = REEVE_OUTCOME_DONE});
}
