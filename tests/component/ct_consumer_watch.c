/* A consumer's descriptor: readable when a task may be ready, and when a lease is lost or cancelled. */
#include <poll.h>
#include <string.h>

#include "support/consumer.h"
#include "support/worker.h"

static reeve_consumer *c;
static int fd;

#define Q "reeve:{q}:"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static void begin(const char *queues, int64_t session_ms)
{
    const reeve_consumer_options options = {.session_ms = session_ms};
    c = test_consumer_open(queues, &options);
    fd = reeve_consumer_descriptor(c);
    assert_true(fd >= 0);
    assert_int_equal(reeve_consumer_descriptor(c), fd);
}

static void end(void)
{
    test_good(c, reeve_consumer_close(c));
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

static bool is_readable(void)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, 0) == 1;
}

static bool is_blocked(void)
{
    return strstr(test_cmd(test_conn, "INFO clients"), "blocked_clients:0") == NULL;
}

/* Leases nothing, until the thread waits: a wake-up from before may stand. */
static void rest(void)
{
    int64_t until = test_patience();
    do {
        assert_string_equal(test_pull(c, 1, false), "");
        for (int i = 0; i < 20 && !is_readable() && !is_blocked(); i++) test_pause();
        if (rv_now_ms() > until) fail_msg("it does not come to rest");
    } while (is_readable() || !is_blocked());
}

static void a_task_makes_it_readable(void **state)
{
    (void)state;
    begin("q", 0);
    for (int i = 0; i < 3; i++) { /* without a session, and with one */
        rest();
        assert_int_equal(test_number("EXISTS " Q "idle"), 0);
        test_put("q", "a");
        TEST_AWAIT(is_readable());
        assert_string_equal(test_pull(c, 2, false), "a");
        test_good(c, test_settle_done(c, 0, NULL));
        test_ok(test_client, reeve_delete(test_client, "q", "a"));
    }
    end();
}

static void any_of_its_queues_does(void **state)
{
    (void)state;
    begin("p q", 0);
    assert_string_equal(test_pull(c, 1, false), "");
    test_put("q", "a");
    TEST_AWAIT(is_readable());
    assert_string_equal(test_pull(c, 1, false), "a");
    end();
}

/* Others are not to wait for a program that does not come. */
static void a_wake_up_that_is_not_used_is_passed_on(void **state)
{
    (void)state;
    begin("q", 0);
    rest();
    test_put("q", "a");
    TEST_AWAIT(is_readable());
    TEST_AWAIT(test_number("EXISTS " Q "wake") == 1);
    reeve_worker *worker = test_worker_run(1, 1);
    TEST_AWAIT_STATE("a", "completed");
    test_worker_end(worker);
    end();
}

/* What it was woken for has gone to another: nothing stays behind. */
static void another_may_be_faster(void **state)
{
    (void)state;
    begin("q", 0);
    test_put("q", "first");
    assert_string_equal(test_pull(c, 1, false), "first"); /* its session has begun */
    rest();
    test_put("q", "a");
    TEST_AWAIT(is_readable());
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    assert_string_equal(test_pull(c, 1, false), "");
    assert_int_equal(test_number("EXISTS " Q "idle"), 0);
    rest();
    test_put("q", "b");
    TEST_AWAIT(is_readable());
    assert_string_equal(test_pull(c, 1, false), "b");
    end();
}

static void a_limit_does_not_keep_it_readable(void **state)
{
    (void)state;
    test_ok(test_client, reeve_pause(test_client, "q"));
    begin("q", 0);
    test_put("q", "a");
    for (int i = 0; i < 3; i++) rest();
    test_ok(test_client, reeve_resume(test_client, "q"));
    TEST_AWAIT(is_readable());
    assert_string_equal(test_pull(c, 1, false), "a");
    end();
}

static void a_cancel_makes_it_readable(void **state)
{
    (void)state;
    bool running;
    begin("q", 0);
    test_put("q", "a");
    assert_string_equal(test_pull(c, 1, false), "a");
    assert_false(is_readable());
    test_ok(test_client, reeve_cancel_with_running(test_client, "q", "a", &running));
    TEST_AWAIT(is_readable());
    assert_true(reeve_task_is_cancelled(test_pulled[0]));
    end();
}

static void a_lost_session_makes_it_readable(void **state)
{
    (void)state;
    begin("q", 600);
    test_put("q", "a");
    assert_string_equal(test_pull(c, 1, false), "a");
    test_take_session_away(test_consumer_session());
    TEST_AWAIT(is_readable());
    assert_true(reeve_task_should_stop(test_pulled[0]));
    end();
}

static void a_time_limit_makes_it_readable(void **state)
{
    (void)state;
    begin("q", 0);
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "a", .timeout_ms = 50});
    assert_string_equal(test_pull(c, 1, false), "a");
    TEST_AWAIT(is_readable());
    assert_true(reeve_task_should_stop(test_pulled[0]));
    end();
}

static void it_works_after_lost_connections(void **state)
{
    (void)state;
    begin("q", 0);
    for (int i = 0; i < 10; i++) {
        (void)test_pull(c, 1, false);
        test_kill_connections();
        test_ok(test_client, reeve_resume(test_client, "q")); /* (a lost enqueue is not repeated after a delete) */
        test_put("q", "a");
        while (true) {
            TEST_AWAIT(is_readable());
            if (strcmp(test_pull(c, 1, false), "a") == 0) break;
        }
        test_good(c, test_settle_done(c, 0, NULL));
        test_ok(test_client, reeve_delete(test_client, "q", "a"));
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_task_makes_it_readable, set_up),
        cmocka_unit_test_setup(any_of_its_queues_does, set_up),
        cmocka_unit_test_setup(a_wake_up_that_is_not_used_is_passed_on, set_up),
        cmocka_unit_test_setup(another_may_be_faster, set_up),
        cmocka_unit_test_setup(a_limit_does_not_keep_it_readable, set_up),
        cmocka_unit_test_setup(a_cancel_makes_it_readable, set_up),
        cmocka_unit_test_setup(a_lost_session_makes_it_readable, set_up),
        cmocka_unit_test_setup(a_time_limit_makes_it_readable, set_up),
        cmocka_unit_test_setup(it_works_after_lost_connections, set_up),
    };
    return cmocka_run_group_tests_name("ct_consumer_watch", tests, test_place_start, test_place_stop);
}
