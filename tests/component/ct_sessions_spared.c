/* Sessions that expired while nobody maintained the queue are spared once: an outage, a frozen Redis or a clock set
 * forward does not make crashes of tasks that run. */
#include <stdio.h>
#include <string.h>

#include "support/clock.h"
#include "support/worker.h"

#define Q "reeve:{q}:"
enum { SESSION_MS = 1500, OLD = 4, NEW = 2, TASKS = 16, NAP_MS = 7000 };

static reeve_worker *workers[OLD + NEW];

static int set_up(void **state)
{
    test_clock_run();
    test_close_gate();
    return test_place_empty(state);
}

static void start(int number)
{
    workers[number] = test_worker_new(&(reeve_worker_options){.session_ms = SESSION_MS});
    test_worker_pool(workers[number], "q", TASKS / OLD, 1);
    test_worker_start(workers[number]);
}

static void put_naps(void)
{
    char id[16], payload[16];
    int length = snprintf(payload, sizeof(payload), "%d", NAP_MS);
    for (int i = 0; i < TASKS; i++) {
        (void)snprintf(id, sizeof(id), "n%d", i);
        test_put_spec((reeve_task_spec){.id = id, .type = "nap", .payload = {payload, (size_t)length}});
    }
}

static void begin(void)
{
    for (int i = 0; i < OLD; i++) start(i);
    put_naps();
    TEST_AWAIT(test_count("q", "running") == TASKS && test_ran == TASKS);
    /* Heartbeats have come in all sessions, and each has more than half of its life before it. */
    TEST_AWAIT(test_number("ZCARD " Q "sessions") == OLD);
}

static void end(int count)
{
    TEST_AWAIT(test_count("q", "completed") == TASKS);
    for (int i = 0; i < TASKS; i++) assert_int_equal(test_runs[i], 1);
    for (int i = 0; i < count; i++) {
        assert_int_equal(test_worker_stats(workers[i]).refused, 0);
        test_worker_end(workers[i]);
    }
    reeve_queue_info info;
    test_ok(test_client, reeve_queue(test_client, "q", &info));
    assert_int_equal(info.crashed_total, 0);
}

static void sleep_ms(int64_t ms)
{
    for (int64_t until = rv_deadline(ms); rv_now_ms() < until;) test_pause();
}

static void a_frozen_redis_makes_no_crash(void **state)
{
    (void)state;
    begin();
    test_redis_freeze(test_redis);
    sleep_ms(SESSION_MS + 500);
    start(OLD);
    start(OLD + 1);
    sleep_ms(1000);
    test_redis_thaw(test_redis);
    end(OLD + NEW);
}

static void a_clock_set_forward_makes_no_crash(void **state)
{
    (void)state;
    begin();
    test_clock_advance(3600000);
    start(OLD);
    end(OLD + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_frozen_redis_makes_no_crash, set_up),
        cmocka_unit_test_setup(a_clock_set_forward_makes_no_crash, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_sessions_spared", tests, test_place_start, test_place_stop);
}
