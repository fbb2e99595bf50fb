/* Circuit breakers: where too many attempts fail, a queue or a group starts no task for a while; then one task tries. */
#include "reeve/limits.h"

#include <string.h>

#include "support/clock.h"
#include "support/maintain.h"
#include "support/queue.h"

static test_hand hand;

static const reeve_breaker breaker = {.failures = 50, .attempts = 4, .window_ms = 10000, .pause_ms = 5000};

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

static void break_queue(void)
{
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.breaker = &breaker}));
}

static void break_groups(void)
{
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.group_breaker = &breaker}));
}

static void put_in(const char *group, const char *id)
{
    test_put_spec((reeve_task_spec){.id = id, .group = group});
}

static const char *state_of(const char *name)
{
    return test_cmd(test_conn, "HGET reeve:{q}:breakers %s", name);
}

static bool is_state(const char *name, char letter)
{
    return state_of(name)[0] == letter;
}

static void pass(int64_t ms)
{
    test_clock_advance(ms);
    test_maintain_all("q");
}

/* a and b complete, c and d fail: half of four. */
static void open_queue(void)
{
    break_queue();
    test_put("q", "a b c d");
    assert_int_equal(test_lease(&hand, 4), 4);
    test_settle(&hand, TEST_FAIL("c"));
    test_settle(&hand, TEST_DONE("a"), TEST_DONE("b"));
    assert_true(is_state("q", 'c'));
    test_settle(&hand, TEST_RETRY("d", 1000000));
    assert_true(is_state("q", 'o'));
}

static void nothing_is_counted_before_a_failure(void **state)
{
    (void)state;
    break_queue();
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_DONE("a"));
    assert_int_equal(test_number("EXISTS reeve:{q}:breakers"), 0);
}

static void a_queue_is_paused_and_one_task_tries(void **state)
{
    (void)state;
    open_queue();
    test_put("q", "e f g");
    assert_int_equal(test_lease(&hand, 3), 0);
    pass(5001);
    assert_int_equal(test_lease(&hand, 3), 1);
    assert_string_equal(test_leased_ids(&hand), "e");
    assert_true(is_state("q", 't'));
    assert_int_equal(test_lease(&hand, 3), 0);
    test_settle(&hand, TEST_DONE("e"));
    assert_int_equal(test_number("EXISTS reeve:{q}:breakers"), 0);
    assert_int_equal(test_lease(&hand, 3), 2);
}

static void it_opens_again_when_that_task_fails(void **state)
{
    (void)state;
    open_queue();
    test_put("q", "e f");
    pass(5001);
    assert_int_equal(test_lease(&hand, 2), 1);
    pass(1000);
    test_settle(&hand, TEST_FAIL("e"));
    assert_true(is_state("q", 'o'));
    pass(4500);
    assert_int_equal(test_lease(&hand, 2), 0);
    pass(501);
    assert_int_equal(test_lease(&hand, 2), 1);
}

/* Its worker died, say. */
static void another_task_tries_when_that_one_has_no_outcome(void **state)
{
    (void)state;
    open_queue();
    test_put("q", "e f");
    pass(5001);
    assert_int_equal(test_lease(&hand, 2), 1);
    pass(5001);
    assert_int_equal(test_lease(&hand, 2), 1);
    test_settle(&hand, TEST_DONE("e"));
    assert_true(is_state("q", 't'));
    test_settle(&hand, TEST_DONE("f"));
    assert_int_equal(test_number("EXISTS reeve:{q}:breakers"), 0);
}

static void tasks_that_began_before_do_not_count(void **state)
{
    (void)state;
    break_queue();
    test_put("q", "a b c d e f");
    assert_int_equal(test_lease(&hand, 6), 6);
    test_settle(&hand, TEST_FAIL("a"), TEST_FAIL("b"), TEST_FAIL("c"), TEST_FAIL("d"));
    assert_true(is_state("q", 'o'));
    test_settle(&hand, TEST_DONE("e"), TEST_FAIL("f"));
    assert_true(is_state("q", 'o'));
}

static void a_window_ends(void **state)
{
    (void)state;
    break_queue();
    test_put("q", "a b c d");
    assert_int_equal(test_lease(&hand, 4), 4);
    test_settle(&hand, TEST_FAIL("a"), TEST_FAIL("b"), TEST_FAIL("c"));
    test_clock_advance(10001);
    test_settle(&hand, TEST_FAIL("d"));
    assert_true(is_state("q", 'c'));
}

static void a_group_is_paused_and_others_go_on(void **state)
{
    static const char *const ids[] = {"a", "b", "c", "d"};
    (void)state;
    break_groups();
    for (int i = 0; i < 4; i++) put_in("g", ids[i]);
    assert_int_equal(test_lease(&hand, 4), 4);
    test_settle(&hand, TEST_FAIL("a"), TEST_FAIL("b"), TEST_FAIL("c"), TEST_FAIL("d"));
    assert_true(is_state("g:g", 'o'));
    put_in("g", "e");
    put_in("g", "f");
    put_in("h", "x");
    assert_int_equal(test_lease(&hand, 3), 1);
    assert_string_equal(test_leased_ids(&hand), "x");
    assert_string_equal(test_state("q", "e"), "parked");
    pass(5001);
    assert_int_equal(test_lease(&hand, 3), 1);
    assert_string_equal(test_leased_ids(&hand), "e");
    assert_true(is_state("g:g", 't'));
    pass(10);
    assert_int_equal(test_lease(&hand, 3), 0);
    test_settle(&hand, TEST_DONE("e"));
    test_maintain_all("q");
    assert_int_equal(test_lease(&hand, 3), 1);
    assert_string_equal(test_leased_ids(&hand), "f");
}

/* Without an outcome of the task that tries, nothing waits for ever. */
static void a_group_tries_again(void **state)
{
    static const char *const ids[] = {"a", "b", "c", "d"};
    (void)state;
    break_groups();
    for (int i = 0; i < 4; i++) put_in("g", ids[i]);
    assert_int_equal(test_lease(&hand, 4), 4);
    test_settle(&hand, TEST_FAIL("a"), TEST_FAIL("b"), TEST_FAIL("c"), TEST_FAIL("d"));
    put_in("g", "e");
    put_in("g", "f");
    pass(5001);
    assert_int_equal(test_lease(&hand, 3), 1);
    pass(5001);
    assert_int_equal(test_lease(&hand, 3), 1);
    assert_string_equal(test_leased_ids(&hand), "f");
}

static void a_longer_pause_by_hand_stays(void **state)
{
    int64_t until;
    (void)state;
    open_queue();
    test_put("q", "e f");
    pass(5001);
    assert_int_equal(test_lease(&hand, 1), 1);
    test_ok(test_client, reeve_pause_for(test_client, "q", NULL, 60000, &until));
    test_settle(&hand, TEST_DONE("e"));
    assert_int_equal(test_number("EXISTS reeve:{q}:breakers"), 0);
    assert_int_equal(test_lease(&hand, 1), 0);
}

static void it_is_switched_off(void **state)
{
    const reeve_breaker none = {0};
    (void)state;
    open_queue();
    test_put("q", "e f");
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.breaker = &none}));
    assert_int_equal(test_number("EXISTS reeve:{q}:breakers"), 0);
    pass(5001);
    assert_int_equal(test_lease(&hand, 2), 2);
    assert_int_equal(test_number("HEXISTS reeve:{q}:settings in_force"), 0);
}

static void what_groups_counted_goes(void **state)
{
    (void)state;
    break_groups();
    put_in("g", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_FAIL("a"));
    assert_true(is_state("g:g", 'c'));
    pass(10001);
    assert_int_equal(test_number("EXISTS reeve:{q}:breakers"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_counted_before_a_failure, set_up),
        cmocka_unit_test_setup(a_queue_is_paused_and_one_task_tries, set_up),
        cmocka_unit_test_setup(it_opens_again_when_that_task_fails, set_up),
        cmocka_unit_test_setup(another_task_tries_when_that_one_has_no_outcome, set_up),
        cmocka_unit_test_setup(tasks_that_began_before_do_not_count, set_up),
        cmocka_unit_test_setup(a_window_ends, set_up),
        cmocka_unit_test_setup(a_group_is_paused_and_others_go_on, set_up),
        cmocka_unit_test_setup(a_group_tries_again, set_up),
        cmocka_unit_test_setup(a_longer_pause_by_hand_stays, set_up),
        cmocka_unit_test_setup(it_is_switched_off, set_up),
        cmocka_unit_test_setup(what_groups_counted_goes, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_breaker", tests, test_place_start, test_place_stop);
}
