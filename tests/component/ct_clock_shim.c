/* The clock that a test moves (support/clock.h): it stands still, moves when told, and everything in Redis follows. */
#include <stdio.h>

#include "support/clock.h"
#include "support/queue.h"

#define START 1700000000000

/* What TIME answers: microseconds since the epoch. */
static long long time_of(const char *answer)
{
    long long seconds, us;
    assert_int_equal(sscanf(answer, "[%lld %lld]", &seconds, &us), 2);
    return 1000000 * seconds + us;
}

static long long time_outside(void)
{
    return time_of(test_cmd(test_conn, "TIME"));
}

static long long time_inside(void)
{
    return time_of(test_cmd(test_conn, "EVAL return{redis.call('TIME')[1],redis.call('TIME')[2]} 0"));
}

static void assert_time(int64_t ms)
{
    assert_int_equal(test_clock_now(), ms);
    assert_int_equal(time_inside(), 1000 * ms);
    assert_int_equal(time_outside(), 1000 * ms);
}

static void it_stands_still(void **state)
{
    (void)state;
    test_clock_set(START);
    assert_time(START);
    int64_t until = rv_deadline(150); /* (the server's own cron, which looks at the clock, has run by then) */
    while (rv_now_ms() < until) assert_time(START);
}

static void it_moves_when_told(void **state)
{
    (void)state;
    const int64_t steps[] = {1, 999, 60000, 90LL * 86400000, -1, -86400000, 7};
    int64_t now = START;
    test_clock_set(START);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        test_clock_advance(steps[i]);
        now += steps[i];
        assert_time(now);
    }
    for (int i = 0; i < 1000; i++) {
        test_clock_advance(1);
        assert_int_equal(i % 2 ? time_inside() : time_outside(), 1000 * (now + i + 1));
    }
    test_clock_set(START);
    assert_time(START);
}

static void keys_expire_by_it(void **state)
{
    (void)state;
    test_clock_set(START);
    for (int i = 0; i < 100; i++) {
        assert_string_equal(test_cmd(test_conn, "SET a 1 PX 1000"), "OK");
        assert_string_equal(test_cmd(test_conn, "EVAL return(redis.call('SET','b','2','PX','1000')) 0"), "OK");
        test_clock_advance(1000);
        assert_string_equal(test_cmd(test_conn, "MGET a b"), "[1 2]"); /* Redis lets them live through their last */
        test_clock_advance(1);
        assert_string_equal(test_cmd(test_conn, "GET b"), "(nil)");
        assert_string_equal(test_cmd(test_conn, "EVAL return(redis.call('GET','a')) 0"), "(nil)");
    }
}

static reeve_status wait_shortly(rv_conn *conn, int64_t deadline)
{
    const rv_reply *reply = NULL;
    rv_cmd(conn, 3);
    rv_args(conn, "BLPOP");
    rv_args(conn, "none");
    rv_args(conn, "0.03");
    return rv_conn_call_blocking(conn, deadline, &reply);
}

static void a_blocked_client_waits_by_it(void **state)
{
    (void)state;
    rv_conn *conn = test_conn_open(test_redis);
    test_clock_set(START);
    assert_int_equal(wait_shortly(conn, rv_deadline(300)), REEVE_ETIMEOUT);
    test_clock_run();
    assert_int_equal(rv_conn_open(conn, test_patience()), REEVE_OK);
    assert_int_equal(wait_shortly(conn, test_patience()), REEVE_OK);
    rv_conn_destroy(conn);
}

static void it_runs_from_where_it_stands(void **state)
{
    (void)state;
    test_clock_set(START);
    test_clock_run();
    int64_t began = rv_now_ms();
    long long last = time_outside();
    assert_in_range(last, 1000 * START, 1000 * (START + 5000));
    while (rv_now_ms() < began + 50) {
        long long now = rv_now_ms() % 2 ? time_inside() : time_outside();
        assert_true(now >= last);
        last = now;
    }
    last = time_outside();
    assert_true(last >= 1000 * (START + 40));
    test_clock_advance(3600000);
    assert_in_range(time_inside(), last + 3600000000, last + 3605000000);
    test_clock_set(START);
    assert_time(START);
}

/* Another server of the same test has the same clock, and one that did not ask for it has the real one. */
static void only_who_asks_has_it(void **state)
{
    (void)state;
    const test_redis_options clock = {.clock = true};
    test_clock_set(START);
    rv_test_redis *both[] = {test_redis_start(&clock), test_redis_start(NULL)};
    for (int i = 0; i < 2; i++) {
        rv_conn *conn = test_conn_open(both[i]);
        long long now = time_of(test_cmd(conn, "TIME"));
        if (i == 0) assert_int_equal(now, 1000 * START);
        if (i == 1) assert_in_range(now, 1000 * (rv_wall_ms() - 5000), 1000 * (rv_wall_ms() + 5000));
        rv_conn_destroy(conn);
        test_redis_stop(both[i]);
    }
}

/* A restart keeps it, and a script's clock is the one that tasks are scheduled by. */
static void tasks_become_due_by_it(void **state)
{
    (void)state;
    test_clock_set(START);
    test_redis_restart(test_redis);
    test_conn_again();
    assert_time(START);
    test_ok(test_client, reeve_resume(test_client, "q")); /* a new connection, which knows this clock */
    test_put_spec((reeve_task_spec){.id = "x", .in_ms = 60000});
    test_clock_advance(59999);
    assert_int_equal(test_maintain("q", 200).promoted, 0);
    test_clock_advance(1);
    assert_int_equal(test_maintain("q", 200).promoted, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_stands_still, test_place_empty),
        cmocka_unit_test_setup(it_moves_when_told, test_place_empty),
        cmocka_unit_test_setup(keys_expire_by_it, test_place_empty),
        cmocka_unit_test_setup(a_blocked_client_waits_by_it, test_place_empty),
        cmocka_unit_test_setup(it_runs_from_where_it_stands, test_place_empty),
        cmocka_unit_test_setup(only_who_asks_has_it, test_place_empty),
        cmocka_unit_test_setup(tasks_become_due_by_it, test_place_empty),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_clock_shim", tests, test_place_start, test_place_stop);
}
