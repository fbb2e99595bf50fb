/* Completed tasks keep when they began, where the completion says so: only then, and only as long as their records. */
#include <string.h>

#include "support/queue.h"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "3", "q");
    return test_place_empty(state);
}

#define RECORDED(task)                                                       \
    {                                                                        \
        0,                                                                   \
        {                                                                    \
            .id = (task), .outcome = REEVE_OUTCOME_DONE, .records_run = true \
        }                                                                    \
    }

static void a_run_is_recorded(void **state)
{
    (void)state;
    test_put("q", "a b");
    assert_int_equal(test_lease(&hand, 2), 2);
    reeve_task_info *running = test_show("q", "a");
    assert_string_equal(running->thread, "3");
    test_settle(&hand, RECORDED("a"), TEST_DONE("b"));
    reeve_task_info *a = test_show("q", "a"), *b = test_show("q", "b");
    assert_int_equal(a->state, REEVE_STATE_COMPLETED);
    assert_true(a->started_ms == running->started_ms && a->started_ms > 0 && a->started_ms <= a->ended_ms);
    assert_string_equal(a->session, hand.sessions[0]);
    const size_t length = strcspn(hand.sessions[0], "-");
    assert_int_equal(strlen(a->worker), length);
    assert_memory_equal(a->worker, hand.sessions[0], length);
    assert_string_equal(a->thread, "3");
    assert_true(b->started_ms == -1 && b->thread == NULL && b->worker == NULL && b->session == NULL);
    assert_int_equal(test_number("SISMEMBER reeve:{q}:completed_extra a"), 1);
    assert_int_equal(test_number("EXISTS reeve:{q}:info:b"), 0);
    reeve_task_info_free(running);
    reeve_task_info_free(a);
    reeve_task_info_free(b);
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    assert_int_equal(test_number("EXISTS reeve:{q}:info:a reeve:{q}:completed_extra"), 0);
}

/* A completion that is refused, or whose record is not kept, leaves nothing. */
static void nothing_is_left_of_what_is_not_kept(void **state)
{
    const reeve_keep none = {0};
    (void)state;
    test_put("q", "a b");
    assert_int_equal(test_lease(&hand, 2), 2);
    test_settle(&hand, TEST_DONE("a"));
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    test_settle(&hand, RECORDED("a"));
    assert_string_equal(hand.refused, "a");
    assert_int_equal(test_number("EXISTS reeve:{q}:info:a"), 0);
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    test_settle(&hand, RECORDED("b"));
    assert_int_equal(test_number("EXISTS reeve:{q}:info:b reeve:{q}:completed_extra reeve:{q}:tasks"), 0);
}

static void the_setting_is_kept(void **state)
{
    const reeve_queue_policy policy = {.attempts = 3, .record_runs = true};
    reeve_queue_settings *settings;
    (void)state;
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.policy = &policy}));
    test_ok(test_client, reeve_queue_settings_get(test_client, "q", &settings));
    assert_true(settings->policy->record_runs);
    assert_int_equal(settings->policy->attempts, 3);
    reeve_queue_settings_free(settings);
    test_ok(test_client,
            reeve_queue_set(test_client, "q", &(reeve_queue_settings){.policy = &(reeve_queue_policy){0}}));
    test_ok(test_client, reeve_queue_settings_get(test_client, "q", &settings));
    assert_false(settings->policy->record_runs);
    reeve_queue_settings_free(settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_run_is_recorded, set_up),
        cmocka_unit_test_setup(nothing_is_left_of_what_is_not_kept, set_up),
        cmocka_unit_test_setup(the_setting_is_kept, set_up),
    };
    return cmocka_run_group_tests_name("ct_record_runs", tests, test_place_start, test_place_stop);
}
