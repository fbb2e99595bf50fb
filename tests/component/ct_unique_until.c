/* Unique keys that are held until the start, or for a time. */
#include <string.h>

#include "support/clock.h"
#include "support/script.h"
#include "support/unique.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

/* ---- until it has started -------------------------------------------------------------------------------------- */

static void put_until_started(const char *id, int64_t delay_ms)
{
    reeve_task_spec spec = test_with_key(id, "k");
    spec.unique_until_started = true;
    spec.in_ms = delay_ms;
    test_put_spec(spec);
}

static void free_when_it_starts(void **state)
{
    (void)state;
    put_until_started("a", 0);
    test_held_by("a");
    test_lease_one(&hand, "a");
    test_is_free();
    put_until_started("b", 0);
    test_held_by("b");
    test_settle(&hand, TEST_UNIQUE_DONE("a")); /* not its key any more */
    test_held_by("b");
    test_lease_one(&hand, "b");
    test_is_free();
}

/* The task stays ready, with its key, where Redis refuses the lease. */
static void held_by_a_task_whose_lease_is_refused(void **state)
{
    (void)state;
    static const char *const rights[] = {"hset", "zremrangebyrank"};
    put_until_started("first", 0);
    test_lease_one(&hand, "first");
    put_until_started("a", 0);
    for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
        (void)test_cmd(test_conn, "ACL SETUSER default -%s", rights[i]);
        const char *reply = TEST_SCRIPT(turn, Q, "1", "1", "1", "", hand.sessions[0]);
        assert_non_null(strstr(reply, "NOPERM"));
        (void)test_cmd(test_conn, "ACL SETUSER default +%s", rights[i]);
        assert_string_equal(test_state("q", "a"), "ready");
        test_held_by("a");
    }
    test_lease_one(&hand, "a");
    test_is_free();
}

static void a_second_start_frees_nothing(void **state)
{
    (void)state;
    put_until_started("a", 0);
    test_lease_one(&hand, "a");
    test_put_key("b");
    test_settle(&hand, TEST_SNOOZE("a", 0));
    test_lease_one(&hand, "a");
    test_held_by("b");
    test_settle(&hand, TEST_FAIL("a"));
    test_held_by("b");
    test_refused(test_client, reeve_retry(test_client, "q", "a"), REEVE_EUNIQUE, "held by q/b");
    test_ok(test_client, reeve_cancel(test_client, "q", "b"));
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    test_held_by("a"); /* it waits, and starts anew */
    test_lease_one(&hand, "a");
    test_is_free();
}

static void until_started_but_never(void **state)
{
    (void)state;
    put_until_started("a", 60000);
    test_held_by("a");
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
    test_is_free();
    put_until_started("b", 0);
    test_ok(test_client, reeve_delete(test_client, "q", "b"));
    test_is_free();
    put_until_started("c", 1000);
    test_clock_advance(1001);
    test_maintain_all("q");
    test_held_by("c");
    test_lease_one(&hand, "c");
    test_is_free();
}

/* Among others in a batch; with a text in a payload that looks like the option. */
static void many_start_at_once(void **state)
{
    (void)state;
    reeve_task_spec liar = test_with_key("y", "k3");
    liar.payload = (reeve_bytes){"\"until\":\"started\"", 17};
    test_put("q", "x");
    put_until_started("a", 0);
    test_put_spec(liar);
    reeve_task_spec spec = test_with_key("b", "k2");
    spec.unique_until_started = true;
    test_put_spec(spec);
    assert_int_equal(test_lease(&hand, 9), 4);
    assert_string_equal(test_leased_ids(&hand), "x a y b");
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "unique:*"), "[" Q "unique:k3]");
    test_settle(&hand, TEST_RETRY("y", 60000)); /* (it is marked from now on) */
    test_ok(test_client, reeve_retry(test_client, "q", "y"));
    test_lease_one(&hand, "y");
    assert_string_equal(test_holder("k3"), "y");
}

/* ---- for a time ------------------------------------------------------------------------------------------------ */

static void it_stands_for_its_time(void **state)
{
    (void)state;
    test_put_for("a", 10000);
    test_lease_one(&hand, "a");
    test_settle(&hand, TEST_UNIQUE_DONE("a"));
    test_held_by("a");
    test_clock_advance(9999);
    test_held_by("a");
    test_clock_advance(2);
    test_is_free();
    test_put_for("b", 10000);
    test_lease_one(&hand, "b");
    test_settle(&hand, TEST_FAIL("b"));
    test_held_by("b");
    test_ok(test_client, reeve_retry(test_client, "q", "b")); /* it has its own key still */
    test_held_by("b");
    test_clock_advance(10001);
    test_is_free();
}

static void for_a_time_with_nothing_kept(void **state)
{
    (void)state;
    const reeve_keep none = {0};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    test_put_for("a", 10000);
    test_lease_one(&hand, "a");
    test_settle(&hand, TEST_UNIQUE_DONE("a"));
    assert_string_equal(test_state("q", "a"), "");
    test_held_by("a");
    /* The very same id does not come by it either, whatever it asks for. */
    reeve_task_spec again = test_with_key("a", "k");
    again.unique_for_ms = 10000;
    assert_int_equal(test_enqueue(again, NULL), REEVE_EUNIQUE);
    again.on_conflict = REEVE_CONFLICT_REPLACE;
    assert_int_equal(test_enqueue(again, NULL), REEVE_EUNIQUE);
    test_clock_advance(10001);
    test_ok(test_client, test_enqueue(again, NULL));
}

static void its_time_ends_before_the_task(void **state)
{
    (void)state;
    test_put_for("a", 10000);
    test_clock_advance(10001);
    test_put_for("b", 10000);
    test_held_by("b");
    test_lease_one(&hand, "a");
    test_settle(&hand, TEST_UNIQUE_DONE("a"));
    test_held_by("b");
}

static void what_ends_it_before_its_time(void **state)
{
    (void)state;
    test_put_for("a", 10000);
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
    test_is_free();
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    test_put_for("a", 10000);
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    test_is_free();
    test_put_for("a", 10000);
    test_lease_one(&hand, "a");
    test_settle(&hand, TEST_UNIQUE_DONE("a"));
    test_ok(test_client, reeve_delete(test_client, "q", "a")); /* its record, by hand */
    test_is_free();
    /* But not retention. */
    const reeve_keep none = {.age_ms = 0, .count = -1};
    test_put_for("a", 10000);
    test_lease_one(&hand, "a");
    test_settle(&hand, TEST_UNIQUE_DONE("a"));
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    test_clock_advance(1);
    test_maintain_all("q");
    assert_string_equal(test_state("q", "a"), "");
    test_held_by("a");
}

static void a_very_long_time(void **state)
{
    (void)state;
    test_put_for("a", INT64_MAX);
    test_held_by("a");
    assert_true(test_number("PTTL " Q "unique:k") > 0);
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    test_is_free();
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(free_when_it_starts, set_up),
        cmocka_unit_test_setup(held_by_a_task_whose_lease_is_refused, set_up),
        cmocka_unit_test_setup(a_second_start_frees_nothing, set_up),
        cmocka_unit_test_setup(until_started_but_never, set_up),
        cmocka_unit_test_setup(many_start_at_once, set_up),
        cmocka_unit_test_setup(it_stands_for_its_time, set_up),
        cmocka_unit_test_setup(for_a_time_with_nothing_kept, set_up),
        cmocka_unit_test_setup(its_time_ends_before_the_task, set_up),
        cmocka_unit_test_setup(what_ends_it_before_its_time, set_up),
        cmocka_unit_test_setup(a_very_long_time, set_up),
    };
    test_clock_set(1900000000000); /* it stands still */
    return cmocka_run_group_tests_name("ct_unique_until", tests, test_place_start, test_place_stop);
}
