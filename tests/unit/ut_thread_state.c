/* The states of a worker's thread: changes that are allowed, and what they mean to others. */
#include "running/thread_state.h"
#include "support/cmocka.h"

static const rv_thread_state all[] = {RV_THREAD_TURN, RV_THREAD_WAIT, RV_THREAD_IDLE, RV_THREAD_AGAIN,
                                      RV_THREAD_RECOVER};

#define COUNT (sizeof(all) / sizeof(all[0]))

static void a_thread_may_stay_in_its_state(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) assert_true(rv_thread_state_may_change(all[i], all[i]));
}

static void recovery_is_possible_from_any_state(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) assert_true(rv_thread_state_may_change(all[i], RV_THREAD_RECOVER));
}

static void recovery_ends_with_a_turn_only(void **state)
{
    (void)state;
    assert_true(rv_thread_state_may_change(RV_THREAD_RECOVER, RV_THREAD_TURN));
    assert_false(rv_thread_state_may_change(RV_THREAD_RECOVER, RV_THREAD_WAIT));
    assert_false(rv_thread_state_may_change(RV_THREAD_RECOVER, RV_THREAD_IDLE));
    assert_false(rv_thread_state_may_change(RV_THREAD_RECOVER, RV_THREAD_AGAIN));
}

static void a_registered_thread_does_not_wait_for_wake_ups_without_a_turn(void **state)
{
    (void)state;
    assert_false(rv_thread_state_may_change(RV_THREAD_IDLE, RV_THREAD_WAIT));
    assert_true(rv_thread_state_may_change(RV_THREAD_IDLE, RV_THREAD_AGAIN));
    assert_true(rv_thread_state_may_change(RV_THREAD_AGAIN, RV_THREAD_WAIT));
}

static void a_turn_ends_the_wait_and_keeps_the_registration(void **state)
{
    rv_thread thread = {.state = RV_THREAD_WAIT};
    (void)state;
    rv_thread_state_begin_turn(&thread);
    assert_int_equal(thread.state, RV_THREAD_TURN);
    thread.state = RV_THREAD_IDLE;
    assert_true(rv_thread_state_waits(&thread) && rv_thread_state_is_registered(&thread));
    rv_thread_state_begin_turn(&thread);
    assert_int_equal(thread.state, RV_THREAD_AGAIN);
    assert_true(!rv_thread_state_waits(&thread) && rv_thread_state_is_registered(&thread));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_may_stay_in_its_state),
        cmocka_unit_test(recovery_is_possible_from_any_state),
        cmocka_unit_test(recovery_ends_with_a_turn_only),
        cmocka_unit_test(a_registered_thread_does_not_wait_for_wake_ups_without_a_turn),
        cmocka_unit_test(a_turn_ends_the_wait_and_keeps_the_registration),
    };
    return cmocka_run_group_tests_name("ut_thread_state", tests, NULL, NULL);
}
