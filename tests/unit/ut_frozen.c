/* How a supervisor tells a frozen worker from one that was stopped together with it. */
#include "worker/frozen.h"

#include "support/cmocka.h"

#define FROZEN_MS 1000

static void counts_the_silence_of_a_worker(void **state)
{
    (void)state;
    host_frozen of = {0};
    assert_int_equal(host_frozen_silence(&of, 0, 5000), 0); /* it has not begun */
    for (int64_t now = 5000; now <= 6000; now += 500) {
        host_frozen_look(&of, now, FROZEN_MS);
        assert_int_equal(host_frozen_silence(&of, 5000, now), now - 5000);
    }
}

static void a_pause_of_both_is_no_silence(void **state)
{
    (void)state;
    host_frozen of = {0};
    host_frozen_look(&of, 5000, FROZEN_MS);
    host_frozen_look(&of, 9000, FROZEN_MS); /* it planned to look at 5500 */
    assert_int_equal(host_frozen_silence(&of, 4900, 9000), 0);
    host_frozen_look(&of, 9500, FROZEN_MS);
    assert_int_equal(host_frozen_silence(&of, 4900, 9500), 500);
    host_frozen_look(&of, 10000, FROZEN_MS);
    assert_int_equal(host_frozen_silence(&of, 4900, 10000), 1000);
}

/* A pause that is shorter than a late look leaves the worker time for a sign of life: it gives one four times in the
 * time. */
static void a_short_pause_leaves_time(void **state)
{
    (void)state;
    host_frozen of = {0};
    host_frozen_look(&of, 5000, FROZEN_MS);
    host_frozen_look(&of, 5000 + 625, FROZEN_MS);
    assert_true(host_frozen_silence(&of, 5000 - FROZEN_MS / 4, 5625) < FROZEN_MS);
}

static void without_a_worker_no_look_is_late(void **state)
{
    (void)state;
    host_frozen of = {0};
    host_frozen_look(&of, 5000, FROZEN_MS);
    host_frozen_rest(&of);
    host_frozen_look(&of, 60000, FROZEN_MS);
    assert_int_equal(of.since_ms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_the_silence_of_a_worker),
        cmocka_unit_test(a_pause_of_both_is_no_silence),
        cmocka_unit_test(a_short_pause_leaves_time),
        cmocka_unit_test(without_a_worker_no_look_is_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
