#include "support/design.h"

#include <string.h>

#include "support/check.h"

reeve_consumer *test_one, *test_two;

/* A minute: no lease ends because the machine is busy. */
static reeve_consumer *open_consumer(void)
{
    const reeve_consumer_options options = {.session_ms = 60000};
    return test_consumer_open("q", &options);
}

int test_design_begin(void **state)
{
    int status = test_place_empty(state);
    reeve_client_close(test_client); /* it takes the names of queues as known, which the server has forgotten */
    test_client = test_client_open(600000);
    test_one = open_consumer();
    test_two = open_consumer();
    return status;
}

int test_design_end(void **state)
{
    (void)state;
    test_good(test_one, reeve_consumer_close(test_one));
    test_good(test_two, reeve_consumer_close(test_two));
    test_one = test_two = NULL;
    assert_int_equal(test_count("q", "running"), 0);
    test_check_finds("q", "");
    return 0;
}

reeve_task *test_take(reeve_consumer *consumer, const char *id)
{
    assert_string_equal(test_pull(consumer, 1, true), id);
    return test_pulled[0];
}

void test_take_nothing(reeve_consumer *consumer)
{
    assert_string_equal(test_pull(consumer, 1, false), "");
}

void test_complete_task(reeve_consumer *consumer, reeve_task *task, const char *result)
{
    const size_t length = result != NULL ? strlen(result) : 0;
    test_good(consumer, reeve_consumer_settle(consumer, task, reeve_task_done(task, result, length)));
}

void test_fail_task(reeve_consumer *consumer, reeve_task *task, const char *kind, const char *message)
{
    test_good(consumer, reeve_consumer_settle(consumer, task, reeve_task_fail(task, kind, "%s", message)));
}

void test_retry_task(reeve_consumer *consumer, reeve_task *task, int64_t delay_ms)
{
    test_good(consumer, reeve_consumer_settle(consumer, task, reeve_task_retry(task, delay_ms, "kind", "message")));
}

void test_end_lease(const char *id)
{
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->state, REEVE_STATE_RUNNING);
    test_take_session_away(info->session);
    reeve_task_info_free(info);
}

void test_take_and_die(const char *id)
{
    reeve_consumer *dies = open_consumer();
    (void)test_take(dies, id);
    test_good(dies, reeve_consumer_detach(dies));
    test_end_lease(id);
}

bool test_is_blocked(void)
{
    return strstr(test_cmd(test_conn, "INFO clients"), "blocked_clients:0") == NULL;
}

int64_t test_failures(const char *id)
{
    reeve_task_info *info = test_show("q", id);
    const int64_t failures = info->failures;
    reeve_task_info_free(info);
    return failures;
}

int64_t test_crashes(const char *id)
{
    reeve_task_info *info = test_show("q", id);
    const int64_t crashes = info->crashes;
    reeve_task_info_free(info);
    return crashes;
}

void test_expect_error(const char *id, const char *kind, const char *message)
{
    reeve_task_info *info = test_show("q", id);
    assert_string_equal(info->error_kind, kind);
    assert_string_equal(info->error_message, message);
    reeve_task_info_free(info);
}
