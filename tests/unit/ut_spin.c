/* When a call looks for its reply before it sleeps, and when it does not. */
#include "redis/spin.h"

#include <sched.h>

#include "base/clock.h"
#include "support/cmocka.h"

#define LONG_US 1000000000

/* A call of which the reply has come in time. Says whether it looked. */
static bool call_answered(rv_spin *spin)
{
    rv_spin_begin(spin);
    bool looked = rv_spin_goes_on(spin);
    rv_spin_end(spin);
    spin->replied_us = rv_now_us() + LONG_US; /* (so that the next one follows at once, however slow this machine is) */
    return looked;
}

/* A call that looks in vain, if it looks. */
static bool call_in_vain(rv_spin *spin)
{
    spin->max_us = 1;
    rv_spin_begin(spin);
    bool looks = spin->until_us > 0;
    while (rv_spin_goes_on(spin)) continue;
    rv_spin_end(spin);
    spin->replied_us = rv_now_us() + LONG_US;
    spin->max_us = LONG_US;
    return looks;
}

static void follows(rv_spin *spin)
{
    rv_spin_init(spin, LONG_US);
    spin->max_us = LONG_US; /* (although there may be one processor only) */
    (void)call_answered(spin);
}

static void who_calls_now_and_then_does_not(void **state)
{
    (void)state;
    rv_spin spin;
    rv_spin_init(&spin, LONG_US);
    assert_false(call_answered(&spin));
    spin.replied_us = rv_now_us() - 1000;
    assert_false(call_answered(&spin));
}

static void who_calls_again_at_once_does(void **state)
{
    (void)state;
    rv_spin spin;
    follows(&spin);
    for (int i = 0; i < 5; i++) assert_true(call_answered(&spin));
}

static void expect_rest(rv_spin *spin, unsigned calls)
{
    for (unsigned i = 0; i < calls; i++) assert_false(call_answered(spin));
}

static void more_rarely_in_vain_and_back(void **state)
{
    (void)state;
    rv_spin spin;
    follows(&spin);
    for (unsigned misses = 1; misses <= 12; misses++) {
        assert_true(call_in_vain(&spin));
        expect_rest(&spin, 1u << (misses < 10 ? misses : 10));
    }
    for (unsigned misses = 9; misses > 0; misses--) {
        assert_true(call_answered(&spin));
        expect_rest(&spin, 1u << misses);
    }
    for (int i = 0; i < 5; i++) assert_true(call_answered(&spin));
}

static void nobody_else_could_run(void **state)
{
    (void)state;
    rv_spin spin;
    cpu_set_t mine, one;
    assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
    size_t processor = 0;
    while (!CPU_ISSET(processor, &mine)) processor++;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    rv_spin_init(&spin, LONG_US);
    assert_int_equal(sched_setaffinity(0, sizeof(mine), &mine), 0);
    for (int i = 0; i < 3; i++) assert_false(call_answered(&spin));
}

static void never(void **state)
{
    (void)state;
    rv_spin spin;
    for (int max = -1; max <= 0; max++) {
        rv_spin_init(&spin, max);
        for (int i = 0; i < 3; i++) assert_false(call_answered(&spin));
    }
}

static void never_for_long(void **state)
{
    (void)state;
    rv_spin spin;
    rv_spin_init(&spin, INT64_MAX);
    assert_true(spin.max_us == 0 || spin.max_us == RV_SPIN_MAX_US);
    spin.max_us = RV_SPIN_MAX_US;
    spin.replied_us = rv_now_us() + LONG_US;
    rv_spin_begin(&spin);
    assert_true(spin.until_us - rv_now_us() <= RV_SPIN_MAX_US);
    while (rv_spin_goes_on(&spin)) continue;
    rv_spin_end(&spin);
    assert_int_equal(spin.misses, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_calls_now_and_then_does_not),
        cmocka_unit_test(who_calls_again_at_once_does),
        cmocka_unit_test(more_rarely_in_vain_and_back),
        cmocka_unit_test(nobody_else_could_run),
        cmocka_unit_test(never),
        cmocka_unit_test(never_for_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
