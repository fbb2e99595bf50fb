/* Which queues a thread asks in each turn, where its pool has queues in several hash slots of a cluster. */
#include "running/round.h"

#include <string.h>

#include "support/cmocka.h"

#define QUEUES 5

static unsigned slots[QUEUES] = {0, 0, 1, 0, 2};
static bool woken[QUEUES];
static rv_pool pool;
static rv_thread thread;

static int set_up(void **state)
{
    (void)state;
    memset(&pool, 0, sizeof(pool));
    memset(&thread, 0, sizeof(thread));
    memset(woken, 0, sizeof(woken));
    pool.queue_session_count = QUEUES;
    pool.slots = slots;
    pool.slot_count = 3;
    thread.pool = &pool;
    thread.round.woken = woken;
    return rv_queue_order_init(&thread.order, REEVE_ORDER_STRICT, QUEUES, NULL) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rv_queue_order_fini(&thread.order);
    return 0;
}

/* One turn that leases so many tasks; returns whether the round goes on. */
static bool turn(size_t first, size_t count, size_t leased)
{
    rv_round_choose(&thread, true);
    assert_int_equal(thread.first_place, first);
    assert_int_equal(thread.place_count, count);
    thread.fresh = leased;
    bool goes_on = rv_round_goes_on(&thread, false);
    if (!goes_on) rv_queue_order_settle(&thread.order, 0);
    return goes_on;
}

static void a_round_asks_all_queues_slot_by_slot_in_their_order(void **state)
{
    (void)state;
    assert_true(turn(0, 2, 0));
    assert_int_equal(thread.round.slot, 0);
    assert_true(turn(2, 1, 0));
    assert_int_equal(thread.round.slot, 1);
    assert_true(turn(3, 1, 0));
    assert_int_equal(thread.round.slot, 0);
    assert_false(turn(4, 1, 0));
    assert_true(rv_round_end(&thread));
    assert_true(turn(0, 2, 0));
}

static void a_round_ends_with_the_first_lease(void **state)
{
    (void)state;
    assert_true(turn(0, 2, 0));
    assert_false(turn(2, 1, 3));
    assert_true(rv_round_end(&thread));
    assert_false(turn(0, 2, 1));
}

static void a_turn_whose_session_was_gone_is_taken_again(void **state)
{
    (void)state;
    assert_true(turn(0, 2, 0));
    rv_round_choose(&thread, true);
    thread.fresh = 0;
    assert_true(rv_round_goes_on(&thread, true));
    assert_true(turn(2, 1, 0));
}

static void a_woken_thread_asks_the_slots_that_it_was_woken_for(void **state)
{
    const bool for_slots[3] = {true, false, true};
    (void)state;
    rv_round_note_woken(&thread, for_slots);
    assert_true(turn(0, 2, 0));
    assert_true(rv_round_is_woken(&thread) == false); /* it was asked */
    rv_round_choose(&thread, true);
    assert_true(rv_round_is_woken(&thread));
    assert_int_equal(thread.first_place, 3);
    /* The only queue of the turn is named twice: the thread is not registered there. */
    assert_int_equal(thread.place_count, 2);
    assert_int_equal(rv_round_place(&thread, 1), 3);
    assert_int_equal(rv_round_queue(&thread, 1), 3);
    thread.fresh = 0;
    assert_true(rv_round_goes_on(&thread, false));
    assert_false(turn(4, 2, 0));
    assert_true(rv_round_end(&thread));
    assert_true(turn(0, 2, 0));
    assert_true(turn(2, 1, 0));
}

static void wake_ups_that_were_not_used_are_left_over(void **state)
{
    const bool for_slots[3] = {true, true, true};
    (void)state;
    rv_round_note_woken(&thread, for_slots);
    assert_false(turn(0, 2, 1));
    assert_true(rv_round_next_left(&thread));
    assert_int_equal(thread.first_place, 2);
    assert_int_equal(thread.place_count, 1);
    assert_true(rv_round_next_left(&thread));
    assert_int_equal(thread.first_place, 3);
    assert_true(rv_round_next_left(&thread));
    assert_int_equal(thread.first_place, 4);
    assert_false(rv_round_next_left(&thread));
    assert_true(rv_round_end(&thread));
    rv_round_note_woken(&thread, for_slots);
    assert_false(turn(0, 2, 1));
    assert_false(rv_round_end(&thread));
}

static void a_time_out_wakes_for_nothing_and_all_are_asked(void **state)
{
    const bool for_slots[3] = {false, false, false};
    (void)state;
    rv_round_note_woken(&thread, for_slots);
    assert_true(turn(0, 2, 0));
    assert_true(turn(2, 1, 0));
}

static void one_slot_is_one_turn(void **state)
{
    (void)state;
    pool.slots = NULL;
    assert_false(turn(0, QUEUES, 0));
    assert_false(turn(0, QUEUES, 0));
    assert_true(rv_round_end(&thread));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_round_asks_all_queues_slot_by_slot_in_their_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_round_ends_with_the_first_lease, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_turn_whose_session_was_gone_is_taken_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_woken_thread_asks_the_slots_that_it_was_woken_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wake_ups_that_were_not_used_are_left_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_time_out_wakes_for_nothing_and_all_are_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_slot_is_one_turn, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("ut_round", tests, NULL, NULL);
}
