/* Tasks whose envelopes nobody understands, among others: no other task is lost or stuck. */
#include <stdio.h>
#include <string.h>

#include "reeve/dead.h"
#include "support/foreign.h"
#include "support/limits.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

/* One of each kind, in a set of q, with scores from `first` on, one apart: "m00", "m01", ... */
static void put_malformed(const char *set, double first)
{
    for (size_t i = 0; i < test_malformed_count; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "m%02zu", i);
        test_foreign("q", set, first + (double)i, id, test_malformed[i]);
    }
}

static void leave(void)
{
    uint64_t back = 0;
    const rv_reply *reply;
    for (bool more = true; more;) {
        rv_leave_build(test_conn, &hand.prefixes[0], hand.sessions[0], 200);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_true(rv_leave_read(reply, &back, &more));
    }
}

#define SCORE 1099511628032.0 /* of the first task in an empty queue */

static void due_neighbours_become_ready(void **state)
{
    (void)state;
    put_malformed("scheduled", 1);
    test_foreign("q", "scheduled", 0, "first", "{\"at\":1,\"type\":\"t\"}\n");
    test_foreign("q", "scheduled", 1000, "last", "{\"at\":1,\"type\":\"t\"}\n");
    test_tend_all("q");
    assert_string_equal(test_state("q", "first"), "ready");
    assert_string_equal(test_state("q", "last"), "ready");
}

static void neighbours_of_a_reaped_session_come_back(void **state)
{
    (void)state;
    put_malformed("ready", SCORE - 100);
    test_put("q", "x y");
    (void)test_lease(&hand, 100);
    assert_string_equal(test_state("q", "y"), "running");
    test_expire(&hand);
    test_tend_all("q");
    assert_string_equal(test_state("q", "x"), "ready");
    assert_string_equal(test_state("q", "y"), "ready");
}

static void neighbours_of_a_session_that_leaves_come_back(void **state)
{
    (void)state;
    put_malformed("ready", SCORE - 100);
    test_put("q", "x y");
    (void)test_lease(&hand, 100);
    leave();
    assert_string_equal(test_state("q", "x"), "ready");
    assert_string_equal(test_state("q", "y"), "ready");
    assert_int_equal(test_count("q", "running"), 0);
}

static void neighbours_under_limits_of_groups_are_leased(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put_malformed("ready", SCORE - 100);
    test_put_in("x y", "g", 0);
    assert_in_range(test_lease(&hand, 100), 1, test_malformed_count + 1);
    assert_string_equal(test_state("q", "x"), "running");
    assert_string_equal(test_state("q", "y"), "parked");
}

static void neighbours_are_swept(void **state)
{
    (void)state;
    reeve_swept swept = {0};
    put_malformed("ready", SCORE - 100);
    test_put("q", "x y");
    const reeve_filter filter = {.state = REEVE_STATE_READY, .type = "t"};
    test_ok(test_client, reeve_sweep(test_client, "q", REEVE_ACTION_DELETE, &filter, NULL, NULL, &swept));
    assert_in_range(swept.done, 2, test_malformed_count);
    assert_string_equal(test_state("q", "x"), "");
    assert_string_equal(test_state("q", "y"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(due_neighbours_become_ready, set_up),
        cmocka_unit_test_setup(neighbours_of_a_reaped_session_come_back, set_up),
        cmocka_unit_test_setup(neighbours_of_a_session_that_leaves_come_back, set_up),
        cmocka_unit_test_setup(neighbours_under_limits_of_groups_are_leased, set_up),
        cmocka_unit_test_setup(neighbours_are_swept, set_up),
    };
    return cmocka_run_group_tests_name("ct_malformed", tests, test_place_start, test_place_stop);
}
