/* A consumer leases one task by its id: out of its turn, but not against pauses and limits. */
#include <stdio.h>
#include <string.h>

#include "support/consumer.h"
#include "support/limits.h"
#include "support/worker.h"

static reeve_consumer *c;

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static void end(void)
{
    test_good(c, reeve_consumer_close(c));
    assert_int_equal(test_count("q", "running"), 0);
}

static reeve_status lease(const char *id)
{
    test_pulled_count = 0;
    return reeve_consumer_lease_id(c, "q", id, &test_pulled[0]);
}

#define REFUSED(id, status, words)                                                                   \
    do {                                                                                             \
        assert_int_equal(lease(id), status);                                                         \
        if (strstr(reeve_consumer_error(c), words) == NULL) fail_msg("%s", reeve_consumer_error(c)); \
    } while (0)

/* Tasks that stand by themselves, and tasks of a segment. */
static void it_is_leased_out_of_its_turn(void **state)
{
    (void)state;
    c = test_consumer_open("p q", NULL);
    test_put("q", "a b c d e");
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "low", .priority = -5, .payload = {"bytes", 5}});
    test_good(c, lease("d"));
    assert_string_equal(reeve_task_handle(test_pulled[0]), "q/d");
    assert_string_equal(test_state("q", "d"), "running");
    test_good(c, test_settle_done(c, 0, "result"));
    assert_string_equal(test_state("q", "d"), "completed");
    test_good(c, lease("low"));
    assert_string_equal(reeve_task_payload(test_pulled[0]).data, "bytes");
    test_good(c, test_settle_done(c, 0, NULL));
    assert_string_equal(test_pull(c, 8, false), "a b c e");
    end();
}

static void what_is_not_ready_is_refused(void **state)
{
    (void)state;
    c = test_consumer_open("q", &(reeve_consumer_options){.max = 1});
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "s", .in_ms = 60000});
    test_put("q", "a b");
    REFUSED("none", REEVE_ENOTFOUND, "no task q/none");
    REFUSED("s", REEVE_EREFUSED, "scheduled");
    assert_int_equal(reeve_consumer_lease_id(c, "elsewhere", "a", &test_pulled[0]), REEVE_EINVAL);
    assert_int_equal(lease("\n"), REEVE_EINVAL);
    test_good(c, lease("a"));
    REFUSED("b", REEVE_ESTATE, "at most 1");
    reeve_task *a = test_pulled[0];
    test_good(c, reeve_consumer_settle(c, a, reeve_task_done(a, NULL, 0)));
    REFUSED("a", REEVE_EREFUSED, "completed");
    assert_int_equal(reeve_pause(test_client, "q"), REEVE_OK);
    REFUSED("b", REEVE_EREFUSED, "paused");
    assert_int_equal(reeve_resume(test_client, "q"), REEVE_OK);
    test_good(c, lease("b"));
    end();
}

/* Outcomes that wait to be sent go first. */
static void outcomes_for_later_are_sent(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put("q", "a b");
    test_good(c, lease("a"));
    test_good(c, reeve_consumer_settle_later(c, test_pulled[0], reeve_task_done(test_pulled[0], NULL, 0)));
    test_good(c, lease("b"));
    assert_string_equal(test_state("q", "a"), "completed");
    end();
}

static void limits_hold(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "a", .group = "g"});
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "b", .group = "g"});
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "c", .group = "h"});
    test_limit_queue(2, NULL);
    test_limit_group("g", 1, NULL);
    test_good(c, lease("b"));
    reeve_task *b = test_pulled[0];
    REFUSED("a", REEVE_EREFUSED, "limit");
    test_good(c, lease("c"));
    test_good(c, reeve_consumer_settle(c, b, reeve_task_done(b, NULL, 0)));
    test_good(c, lease("a"));
    test_limits_agree();
    end();
}

/* All its units are taken from the rates of its queue and its group. */
static void a_cost_is_taken(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "a", .group = "g", .cost = 5});
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "b", .group = "g"});
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "c", .cost = 20});
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "d"});
    test_limit_queue(0, TEST_RATE(20, 3600000, 20));
    test_limit_group("g", 0, TEST_RATE(5, 3600000, 5));
    test_good(c, lease("a"));
    test_good(c, reeve_consumer_settle(c, test_pulled[0], reeve_task_done(test_pulled[0], NULL, 0)));
    REFUSED("b", REEVE_EREFUSED, "limit");
    test_good(c, lease("c"));
    test_good(c, reeve_consumer_settle(c, test_pulled[0], reeve_task_done(test_pulled[0], NULL, 0)));
    REFUSED("d", REEVE_EREFUSED, "limit");
    test_limits_agree();
    end();
}

/* What was counted of it before is told with the lease. */
static void an_attempt_goes_on_counting(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put("q", "a");
    test_good(c, lease("a"));
    test_good(c, reeve_consumer_settle(c, test_pulled[0], reeve_task_retry(test_pulled[0], 0, "k", "m")));
    TEST_AWAIT_STATE("a", "ready");
    test_good(c, lease("a"));
    assert_int_equal(reeve_task_attempt(test_pulled[0]), 2);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_is_leased_out_of_its_turn, set_up),
        cmocka_unit_test_setup(what_is_not_ready_is_refused, set_up),
        cmocka_unit_test_setup(outcomes_for_later_are_sent, set_up),
        cmocka_unit_test_setup(limits_hold, set_up),
        cmocka_unit_test_setup(a_cost_is_taken, set_up),
        cmocka_unit_test_setup(an_attempt_goes_on_counting, set_up),
    };
    return cmocka_run_group_tests_name("ct_lease_id", tests, test_place_start, test_place_stop);
}
