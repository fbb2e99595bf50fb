/* What a task says of itself: a bounded log that goes where it goes. */
#include <stdio.h>
#include <string.h>

#include "protocol/handler_call.h"
#include "support/clock.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

/* Says as many lines as its payload tells; its first attempt fails. */
static reeve_outcome talk(reeve_task *task, void *user)
{
    int count = atoi(reeve_task_payload(task).data);
    (void)user;
    for (int i = 1; i <= count; i++)
        TEST_MUST(reeve_task_log(task, "attempt %u: line %d", reeve_task_attempt(task), i) == REEVE_OK);
    if (reeve_task_attempt(task) == 1) return reeve_task_retry(task, 0, "again", "once more");
    return reeve_task_done(task, NULL, 0);
}

/* A line that is too long, and one that is no UTF-8. */
static reeve_outcome babble(reeve_task *task, void *user)
{
    static char much[2 * REEVE_MESSAGE_MAX];
    (void)user;
    memset(much, 'm', sizeof(much) - 1);
    memcpy(much + REEVE_MESSAGE_MAX - 1, "\xc3\xa4", 2);
    TEST_MUST(reeve_task_log(task, "%s", much) == REEVE_OK);
    TEST_MUST(reeve_task_log(task, "%s", "\xff x") == REEVE_OK);
    return reeve_task_fail(task, "bad", "for good");
}

static reeve_worker *start(void)
{
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_handle(worker, "talk", talk, NULL), REEVE_OK);
    assert_int_equal(reeve_worker_handle(worker, "babble", babble, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    return worker;
}

static void put(const char *type, const char *payload)
{
    test_put_spec((reeve_task_spec){.id = "x", .type = type, .payload = {payload, strlen(payload)}});
}

static void lines_stay_with_the_task(void **state)
{
    (void)state;
    reeve_worker *worker = start();
    put("talk", "2");
    TEST_AWAIT_STATE("x", "completed");
    reeve_task_info *info = test_show("q", "x");
    static const char *const expected[] = {"attempt 1: line 1", "attempt 1: line 2", "attempt 2: line 1",
                                           "attempt 2: line 2"};
    assert_int_equal(info->logged, 4);
    assert_int_equal(info->log_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(info->log[i].text, expected[i]);
        assert_in_range(info->log[i].time_ms, i > 0 ? info->log[i - 1].time_ms : info->enqueued_ms, info->ended_ms);
    }
    reeve_task_info_free(info);
    test_worker_end(worker);
    reeve_task_info **list;
    size_t count;
    uint64_t total;
    test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_COMPLETED, 0, 10, &list, &count, &total));
    assert_int_equal(list[0]->logged, 4); /* a list tells how many */
    assert_int_equal(list[0]->log_count, 0);
    reeve_task_list_free(list, count);
    test_ok(test_client, reeve_delete(test_client, "q", "x"));
    assert_int_equal(test_number("EXISTS " Q "info:x"), 0);
}

/* The same thread has both attempts, in the same millisecond of Redis's clock. */
static void a_line_of_the_next_attempt_is_not_taken_for_the_last_one(void **state)
{
    (void)state;
    test_clock_set(test_clock_now());
    reeve_worker *worker = start();
    put("talk", "1");
    TEST_AWAIT_STATE("x", "completed");
    test_clock_run();
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->log_count, 2);
    assert_string_equal(info->log[1].text, "attempt 2: line 1");
    reeve_task_info_free(info);
    test_worker_end(worker);
}

static void the_last_ones_are_kept(void **state)
{
    (void)state;
    reeve_worker *worker = start();
    put("talk", "130");
    TEST_AWAIT_STATE("x", "completed");
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->logged, 260);
    assert_int_equal(info->log_count, REEVE_LOG_LINES);
    assert_string_equal(info->log[0].text, "attempt 2: line 31");
    assert_string_equal(info->log[99].text, "attempt 2: line 130");
    reeve_task_info_free(info);
    assert_int_equal(test_number("HLEN " Q "info:x"), REEVE_LOG_LINES + 2 + 5); /* and what it failed of */
    test_worker_end(worker);
}

static void lines_are_text_of_bounded_length(void **state)
{
    (void)state;
    reeve_worker *worker = start();
    put("babble", "");
    TEST_AWAIT_STATE("x", "dead");
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->log_count, 2);
    assert_int_equal(strlen(info->log[0].text), REEVE_MESSAGE_MAX - 1); /* not half a character */
    assert_string_equal(info->log[1].text, "? x");
    reeve_task_info_free(info);
    test_worker_end(worker);
}

static long long say(unsigned number, const char *line)
{
    const rv_reply *reply;
    char lease[64];
    (void)snprintf(lease, sizeof(lease), "%lld %s", (long long)hand.now_ms, hand.thread);
    rv_handler_call_log(test_conn, &hand.prefixes[0], hand.sessions[0], "x", lease, number, line);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    return (long long)rv_reply_int(reply, -1);
}

static void a_line_sent_twice_is_said_once(void **state)
{
    (void)state;
    test_put("q", "x");
    assert_int_equal(say(1, "early"), 0);
    (void)test_lease(&hand, 1);
    for (int i = 0; i < 2; i++) assert_int_equal(say(1, "one"), 1);
    for (int i = 0; i < 2; i++) assert_int_equal(say(2, "two"), 1);
    test_expire(&hand);
    test_maintain_all("q");
    assert_int_equal(say(3, "late"), 0);
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->log_count, 2);
    assert_string_equal(info->log[1].text, "two");
    reeve_task_info_free(info);
}

static void nothing_is_left_where_nothing_is_kept(void **state)
{
    (void)state;
    const reeve_keep none = {.age_ms = 0, .count = -1};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    test_put("q", "x");
    (void)test_lease(&hand, 1);
    assert_int_equal(say(1, "one"), 1);
    test_settle(&hand, TEST_SNOOZE("x", 0)); /* whoever has it next has said nothing */
    reeve_worker *worker = start();
    TEST_AWAIT_STATE("x", "");
    assert_int_equal(test_number("EXISTS " Q "info:x"), 0);
    test_worker_end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(lines_stay_with_the_task, set_up),
        cmocka_unit_test_setup(a_line_of_the_next_attempt_is_not_taken_for_the_last_one, set_up),
        cmocka_unit_test_setup(the_last_ones_are_kept, set_up),
        cmocka_unit_test_setup(lines_are_text_of_bounded_length, set_up),
        cmocka_unit_test_setup(a_line_sent_twice_is_said_once, set_up),
        cmocka_unit_test_setup(nothing_is_left_where_nothing_is_kept, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_task_log", tests, test_place_start, test_place_stop);
}
