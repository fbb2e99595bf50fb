#include "support/specs.h"

#include <stdio.h>
#include <string.h>

#include "support/segments.h"

reeve_task_spec test_specs[TEST_SPECS];
reeve_enqueued test_results[TEST_SPECS];
char test_ids[TEST_SPECS][REEVE_ID_MAX];

void test_specs_make(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(test_ids[i], REEVE_ID_MAX, "n%04zu", i);
        test_specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .id = test_ids[i]};
    }
    memset(test_results, 0xff, sizeof(test_results));
}

void test_specs_expect_in_order(size_t count)
{
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_ready_count("q"), count);
    for (size_t at = 0; at < count;) {
        size_t got = test_lease(&hand, 250);
        assert_true(got > 0);
        for (size_t i = 0; i < got; i++) assert_string_equal(hand.leased[i].id, test_ids[at++]);
    }
}
