/* Rights that are taken away while a worker's turns need them, and given again: turns fail, some of them half way. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/depend.h"
#include "support/proxy.h"
#include "support/user.h"
#include "support/worker.h"

static int set_up(void **state)
{
    (void)test_place_empty(state);
    test_user_set(TEST_USER_NO_CHANNELS);
    return 0;
}

static bool was_denied(void)
{
    return strcmp(test_cmd(test_conn, "ACL LOG 1"), "[]") != 0;
}

static long long ended(void)
{
    return (long long)(test_count("q", "completed") + test_count("q", "dead"));
}

/* Maintenance asks before it does anything, which Redis does not note: what is scheduled waits for it. */
static void take_and_give(const char *right)
{
    for (int i = 0; i < 5 && test_count("q", "ready") > 0; i++) {
        assert_string_equal(test_cmd(test_conn, "ACL LOG RESET"), "OK");
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER w -%s", right), "OK");
        TEST_AWAIT(was_denied() || test_count("q", "ready") == 0);
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER w +%s", right), "OK");
        long long so_far = ended();
        TEST_AWAIT(ended() > so_far || test_count("q", "ready") == 0);
    }
}

static void turns_without_a_right_lose_no_task(void **state)
{
    (void)state;
    enum { COUNT = 800 };
    const char *const rights[] = {"zadd", "hset", "hdel", "zremrangebyrank", "zincrby", "zrem", "hincrby", "lpop"};
    for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
        (void)set_up(state);
        reeve_worker *worker = test_worker_new(&(reeve_worker_options){.redis = test_user_url, .session_ms = 60000});
        test_worker_pool(worker, "q", 4, 8);
        for (int n = 0; n < COUNT; n++) {
            char id[16];
            (void)snprintf(id, sizeof(id), "n%d", n);
            const reeve_bytes payload = n % 8 == 0 ? (reeve_bytes){"retry 1", 7} : (reeve_bytes){"fail", 4};
            test_put_spec(n % 4 != 0 ? (reeve_task_spec){.id = id, .type = "t"}
                                     : (reeve_task_spec){.id = id, .type = "act", .payload = payload, .attempts = 2});
        }
        test_worker_start(worker);
        TEST_AWAIT(ended() >
                   0); /* a session has begun: its first turn asks for its rights, which Redis does not note */
        take_and_give(rights[i]);
        int64_t until = test_patience();
        while (ended() < COUNT && rv_now_ms() < until) (void)usleep(1000);
        if (ended() != COUNT) fail_msg("without %s: %lld of %d ended", rights[i], ended(), COUNT);
        test_worker_end(worker);
    }
}

/* ---- and replies are lost ---------------------------------------------------------------------------------------- */

/* The reply of the turn that failed half way is lost with its connection: what it left nowhere is taken back all the
 * same. */

static test_proxy *proxy;
static reeve_worker *lossy;

/* A worker of one thread that has a session, and lacks a right that its turns need from now on. */
static void start_lossy(const char *right)
{
    char url[512];
    proxy = test_proxy_start(test_redis);
    (void)snprintf(url, sizeof(url), "unix://w:p@%s", test_proxy_url(proxy) + strlen("unix://"));
    test_close_gate();
    lossy = test_worker_new(&(reeve_worker_options){.redis = url, .session_ms = 60000});
    test_worker_pool(lossy, "q", 1, 8);
    test_put("q", "n0");
    test_worker_start(lossy);
    TEST_AWAIT_STATE("n0", "completed");
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w -%s", right), "OK");
}

/* Behind the one that began the session one task has ended. */
static void end_lossy(const char *right)
{
    TEST_AWAIT(test_proxy_lost(proxy) > 0);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w +%s", right), "OK");
    int64_t until = test_patience();
    while (ended() < 2 && rv_now_ms() < until) (void)usleep(1000);
    assert_int_equal(ended(), 2);
    test_worker_end(lossy);
    test_proxy_stop(proxy);
}

static void a_turn_without_a_right_and_reply_loses_no_task(void **state)
{
    (void)state;
    start_lossy("zadd");
    test_put_spec((reeve_task_spec){.id = "lone", .type = "stubborn"});
    TEST_AWAIT(test_begun == 1);
    test_proxy_lose(proxy, "\r\n1\r\n$4\r\nlone\r\n", 0);
    test_open_gate();
    end_lossy("zadd");
}

static void a_delivery_without_a_right_and_reply_loses_no_task(void **state)
{
    (void)state;
    start_lossy("zadd");
    test_proxy_lose(proxy, "\r\nkeeper\r\n", 0);
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold", .timeout_ms = 60, .attempts = 1});
    end_lossy("zadd");
    test_state_is("q", "x", "dead");
}

static void what_runs_at_most_once_without_a_right_and_reply_is_not_lost(void **state)
{
    (void)state;
    start_lossy("zadd");
    test_proxy_lose(proxy, "\r\nn1\r\n", 0);
    test_put_spec((reeve_task_spec){.id = "n1", .type = "t", .at_most_once = true});
    end_lossy("zadd");
    assert_int_equal(test_runs[1], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(turns_without_a_right_lose_no_task, set_up),
        cmocka_unit_test_setup(a_turn_without_a_right_and_reply_loses_no_task, set_up),
        cmocka_unit_test_setup(a_delivery_without_a_right_and_reply_loses_no_task, set_up),
        cmocka_unit_test_setup(what_runs_at_most_once_without_a_right_and_reply_is_not_lost, set_up),
    };
    return cmocka_run_group_tests_name("ct_rights_turns", tests, test_place_start, test_place_stop);
}
