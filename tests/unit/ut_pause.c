/* How a process finds out for how long it did not run. */
#include "base/pause.h"

#include "base/clock.h"
#include "support/cmocka.h"

enum { KEEPER, HEART };

static void what_sleeps_as_planned_was_not_paused(void **state)
{
    (void)state;
    rv_pause pause;
    rv_pause_init(&pause);
    assert_int_equal(rv_pause_take(&pause, 1000), 0);
    rv_pause_sleep(&pause, KEEPER, 1000, 2000);
    rv_pause_sleep(&pause, HEART, 1500, 6500);
    rv_pause_wake(&pause, KEEPER, 2000 + RV_PAUSE_LATE_MS);
    assert_int_equal(rv_pause_take(&pause, 3000), 0);
    rv_pause_sleep(&pause, KEEPER, 3000, RV_FOREVER);
    rv_pause_wake(&pause, HEART, 6500);
    assert_int_equal(rv_pause_take(&pause, 100000), 0); /* the other one worked for so long */
    rv_pause_fini(&pause);
}

static void a_late_thread_shows_a_pause_once(void **state)
{
    (void)state;
    rv_pause pause;
    rv_pause_init(&pause);
    rv_pause_sleep(&pause, HEART, 1000, 6000);
    rv_pause_sleep(&pause, KEEPER, 1200, RV_FOREVER);
    rv_pause_wake(&pause, KEEPER, 60000);
    assert_int_equal(rv_pause_take(&pause, 60001), 58800);
    rv_pause_wake(&pause, HEART, 60002);
    assert_int_equal(rv_pause_take(&pause, 60003), 0);
    rv_pause_fini(&pause);
}

static void pauses_add_up_until_they_are_taken(void **state)
{
    (void)state;
    rv_pause pause;
    rv_pause_init(&pause);
    rv_pause_sleep(&pause, HEART, 1000, 2000);
    rv_pause_wake(&pause, HEART, 4000);
    rv_pause_sleep(&pause, HEART, 4000, 5000);
    rv_pause_wake(&pause, HEART, 9000);
    assert_int_equal(rv_pause_take(&pause, 9000), 8000);
    rv_pause_fini(&pause);
}

/* On a busy machine each thread wakes up late. Time limits end nevertheless. */
static void a_thread_that_is_always_a_little_late_is_not_paused(void **state)
{
    (void)state;
    rv_pause pause;
    int64_t now = 1000, lost = 0;
    rv_pause_init(&pause);
    for (int i = 0; i < 10; i++) {
        rv_pause_sleep(&pause, HEART, now, now + 5000);
        now += 5300;
        rv_pause_wake(&pause, HEART, now);
        lost += rv_pause_take(&pause, now);
    }
    assert_int_equal(lost, 10 * 600);
    rv_pause_fini(&pause);
}

static void a_sleep_that_is_over_already_is_not_late(void **state)
{
    (void)state;
    rv_pause pause;
    rv_pause_init(&pause);
    rv_pause_sleep(&pause, KEEPER, 9000, 1000);
    rv_pause_wake(&pause, KEEPER, 9100);
    assert_int_equal(rv_pause_take(&pause, 9100), 0);
    rv_pause_fini(&pause);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_sleeps_as_planned_was_not_paused),
        cmocka_unit_test(a_late_thread_shows_a_pause_once),
        cmocka_unit_test(pauses_add_up_until_they_are_taken),
        cmocka_unit_test(a_thread_that_is_always_a_little_late_is_not_paused),
        cmocka_unit_test(a_sleep_that_is_over_already_is_not_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
