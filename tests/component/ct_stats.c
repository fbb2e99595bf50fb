/* Statistics: real workers' sums reach Redis exactly once, on the right day, and are read back. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/heartbeat_call.h"
#include "reeve/stats.h"
#include "support/clock.h"
#include "support/worker.h"

#define Q "reeve:{q}:"
#define DAY_MS INT64_C(86400000)

static int set_up(void **state)
{
    test_close_gate();
    test_clock_run();
    return test_place_empty(state);
}

/* Some days of queue q up to today, as one. */
static reeve_day *days(int64_t first, unsigned count)
{
    reeve_day *list, *sum;
    test_ok(test_client, reeve_stats(test_client, "q", first, count, &list));
    assert_int_equal(reeve_stats_sum(list, count, &sum), REEVE_OK);
    reeve_stats_free(list, count);
    return sum;
}

static reeve_day *today(void)
{
    return days(0, 1);
}

static uint64_t in_histogram(const reeve_times *times)
{
    uint64_t count = 0;
    for (size_t i = 0; i < REEVE_STATS_BUCKETS; i++) count += times->histogram[i];
    return count;
}

static void put_act(const char *queue, const char *words)
{
    test_put_spec(
        (reeve_task_spec){.queue = queue, .type = "act", .payload = {words, strlen(words) + 1}, .attempts = 2});
}

/* Days that have many fields come in several calls, each of them once. */
static void days_with_many_fields(void **state)
{
    (void)state;
    enum { DAYS = 90, FIELDS = 200 };
    reeve_day *list, *now = today();
    int64_t first = now->day - DAYS + 1;
    reeve_stats_free(now, 1);
    for (int i = 0; i < DAYS; i++) {
        long long day = (long long)first + i;
        (void)test_cmd(test_conn, "HSET " Q "stats:%lld completed %d", day, i + 1);
        for (int j = 0; j < FIELDS; j += 4)
            (void)test_cmd(test_conn, "HSET " Q "stats:%lld run:%d %d run:%d %d run:%d %d run:%d %d", day, j, i + j + 1,
                           j + 1, i + j + 2, j + 2, i + j + 3, j + 3, i + j + 4);
    }
    assert_string_equal(test_cmd(test_conn, "CONFIG RESETSTAT"), "OK");
    test_ok(test_client, reeve_stats(test_client, "q", 1 - DAYS, DAYS, &list));
    const char *calls = strstr(test_cmd(test_conn, "INFO commandstats"), "cmdstat_evalsha:calls=");
    assert_non_null(calls);
    assert_in_range(atoi(strchr(calls, '=') + 1), 3, 10);
    for (int i = 0; i < DAYS; i++) {
        assert_int_equal(list[i].day, first + i);
        assert_int_equal(list[i].completed, i + 1);
        assert_int_equal(list[i].run.histogram[FIELDS - 1], i + FIELDS);
    }
    reeve_stats_free(list, DAYS);
}

/* ---- what is counted ------------------------------------------------------------------------------------------- */

static void exact_after_a_clean_stop(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(3, 0);
    test_put_many("q", 2000, "n%04zu");
    for (int i = 0; i < 30; i++) put_act("q", "retry 0"); /* fails twice: tried again, dead */
    for (int i = 0; i < 20; i++) put_act("q", "fail");
    TEST_AWAIT(test_count("q", "completed") == 2000 && test_count("q", "dead") == 50);
    test_worker_end(worker);
    reeve_day *day = today();
    assert_int_equal(day->completed, 2000);
    assert_int_equal(day->failed, 80);
    assert_int_equal(day->retried, 30);
    assert_int_equal(day->dead, 50);
    assert_int_equal(day->crashed, 0);
    assert_int_equal(day->run.count, 2080);
    assert_int_equal(in_histogram(&day->run), 2080);
    assert_int_equal(day->wait.count, 2050); /* of first attempts */
    assert_int_equal(in_histogram(&day->wait), 2050);
    assert_true(day->run.sum >= 2080);
    assert_true(reeve_stats_percentile(&day->run, 99) >= reeve_stats_percentile(&day->run, 50));
    assert_int_equal(day->kind_count, 2);
    assert_string_equal(day->kinds[0].kind, "again");
    assert_int_equal(day->kinds[0].retried, 30);
    assert_int_equal(day->kinds[0].dead, 30);
    assert_string_equal(day->kinds[1].kind, "bad");
    assert_int_equal(day->kinds[1].retried, 0);
    assert_int_equal(day->kinds[1].dead, 20);
    reeve_stats_free(day, 1);
}

static void how_long_a_run_takes(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(2, 0);
    test_put_spec((reeve_task_spec){.type = "nap", .payload = {"120", 4}});
    test_put_spec((reeve_task_spec){.id = "late", .type = "hold", .timeout_ms = 60, .attempts = 1});
    TEST_AWAIT(test_count("q", "completed") == 1 && test_count("q", "dead") == 1);
    test_worker_end(worker);
    reeve_day *day = today();
    assert_int_equal(day->run.count, 2);
    uint64_t less = 0;
    for (size_t i = 0; i < 6; i++) less += day->run.histogram[i]; /* than 50 ms */
    assert_int_equal(less, 0);
    assert_int_equal(in_histogram(&day->run), 2);
    assert_in_range(day->run.sum, 180000, 60000000);
    assert_string_equal(day->kinds[0].kind, "timeout");
    reeve_stats_free(day, 1);
}

/* A task that is held up for 5 s before it is ready, or put off, has not waited for so long. */
static void how_long_a_task_waits(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(2, 0);
    test_put_spec((reeve_task_spec){.id = "n1", .in_ms = 5000});
    test_put_spec((reeve_task_spec){.id = "n2", .at_ms = test_clock_now() + 5000});
    TEST_AWAIT(test_count("q", "completed") == 2);
    put_act("q", "snooze 10");
    TEST_AWAIT(test_ran >= 12);
    test_put_spec((reeve_task_spec){.id = "n3", .in_ms = 3600000});
    test_ok(test_client, reeve_retry(test_client, "q", "n3"));
    test_put_spec((reeve_task_spec){.id = "n4", .in_ms = 3600000});
    test_ok(test_client, reeve_set_priority(test_client, "q", "n4", -3));
    test_ok(test_client, reeve_reschedule(test_client, "q", "n4", 0));
    TEST_AWAIT(test_count("q", "completed") == 4);
    test_worker_end(worker);
    reeve_day *day = today();
    assert_int_equal(day->completed, 4);
    assert_int_equal(day->run.count, 4);
    assert_int_equal(day->wait.count, 2);
    assert_in_range(day->wait.sum, 0, 4999);
    reeve_stats_free(day, 1);
    worker = test_worker_new(NULL);
    test_worker_pool(worker, "q", 1, 0);
    test_put("q", "n5");
    test_clock_advance(7000);
    test_worker_start(worker);
    TEST_AWAIT(test_count("q", "completed") == 5);
    test_worker_end(worker);
    day = today();
    assert_int_equal(day->wait.count, 3);
    assert_int_equal(day->wait.histogram[10 + 6], 1);
    reeve_stats_free(day, 1);
}

static void crashes_are_counted_where_they_are_found(void **state)
{
    (void)state;
    test_hand hand;
    test_put("q", "a b c");
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_lease(&hand, 3), 3);
    test_expire(&hand);
    test_maintain_all("q");
    reeve_day *day = today();
    assert_int_equal(day->crashed, 3);
    assert_int_equal(day->failed, 0);
    reeve_stats_free(day, 1);
}

static void what_scripts_and_tasks_at_most_once_end(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "x", .deadline_ms = 1000});
    TEST_AWAIT(strcmp(test_state("q", "x"), "dead") == 0 || (test_maintain_all("q"), false));
    reeve_worker *worker = test_worker_run(1, 0);
    test_put_spec((reeve_task_spec){.type = "act", .payload = {"fail", 5}, .at_most_once = true});
    TEST_AWAIT(test_ran == 1);
    test_worker_end(worker);
    reeve_day *day = today();
    assert_int_equal(day->dead, 1);
    assert_int_equal(day->completed, 1);
    assert_int_equal(day->failed, 1);
    assert_int_equal(day->run.count, 1);
    assert_int_equal(day->kind_count, 1);
    assert_string_equal(day->kinds[0].kind, "expired");
    assert_int_equal(day->kinds[0].dead, 1);
    reeve_stats_free(day, 1);
}

/* Too many workers died while they held it: the next one says so. */
static void what_its_crashes_end(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "x", .max_crashes = 1});
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_expire(&hand);
    test_maintain_all("q");
    reeve_worker *worker = test_worker_run(1, 0);
    TEST_AWAIT(test_count("q", "dead") == 1);
    test_worker_end(worker);
    reeve_day *day = today();
    assert_int_equal(day->crashed, 1);
    assert_int_equal(day->dead, 1);
    assert_int_equal(day->failed, 0);
    assert_int_equal(day->kind_count, 1);
    assert_string_equal(day->kinds[0].kind, "crash");
    assert_int_equal(day->kinds[0].dead, 1);
    assert_int_equal(day->wait.count, 0);
    reeve_stats_free(day, 1);
}

/* ---- flushes --------------------------------------------------------------------------------------------------- */

static rv_tally *tally_of(int64_t day, unsigned done, const char *kind)
{
    rv_tally *tally = rv_tally_new(day);
    const rv_settlement good = {.id = "i", .outcome = REEVE_OUTCOME_DONE};
    const rv_settlement bad = {.id = "i", .outcome = REEVE_OUTCOME_RETRY, .kind = kind};
    const rv_attempt attempt = {.type = "t", .type_length = 1, .wait_ms = 5, .run_us = 1000};
    for (unsigned i = 0; i < done; i++) rv_tally_add(tally, &good, &attempt);
    if (kind != NULL) rv_tally_add(tally, &bad, &attempt);
    return tally;
}

static bool flush(const test_hand *hand, const rv_tally *tally, uint64_t number)
{
    const rv_reply *reply;
    rv_heartbeat_reply ret;
    rv_heartbeat_call_build_flush(test_conn, &hand->prefixes[0], hand->sessions[0], 60000, tally, number);
    if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
    assert_true(rv_heartbeat_call_read(&ret, reply));
    return ret.alive;
}

static void a_flush_counts_once(void **state)
{
    (void)state;
    test_hand a, b;
    rv_tally *tally = tally_of(test_clock_now() / DAY_MS, 4, "io"), *more = tally_of(tally->day, 1, NULL);
    test_hand_init(&a, "1", "q");
    test_hand_init(&b, "1", "q");
    assert_false(flush(&a, tally, 1)); /* no session: nothing is added */
    assert_int_equal(test_number("DBSIZE"), 0);
    test_put("q", "x y");
    (void)test_lease(&a, 1);
    (void)test_lease(&b, 1);
    assert_true(flush(&a, tally, 1));
    assert_true(flush(&a, tally, 1)); /* its reply was lost */
    assert_true(flush(&b, more, 1));  /* each session has numbers of its own */
    assert_true(flush(&a, more, 2));
    assert_true(flush(&a, tally, 1)); /* an old one that was under way for long */
    reeve_day *day = today();
    assert_int_equal(day->completed, 6);
    assert_int_equal(day->retried, 1);
    assert_int_equal(day->run.count, 7);
    assert_int_equal(day->run.sum, 7000);
    assert_int_equal(day->wait.sum, 35);
    assert_int_equal(day->wait.histogram[3], 7);
    assert_int_equal(day->kinds[0].retried, 1);
    reeve_stats_free(day, 1);
    rv_tally_free(tally);
    rv_tally_free(more);
}

static void kinds_of_a_day_are_bounded(void **state)
{
    (void)state;
    test_hand hand;
    char kind[32];
    test_put("q", "x");
    test_hand_init(&hand, "1", "q");
    (void)test_lease(&hand, 1);
    for (unsigned i = 0; i < 150; i++) {
        (void)snprintf(kind, sizeof(kind), "kind %u", i % 120);
        rv_tally *tally = tally_of(test_clock_now() / DAY_MS, 0, kind);
        assert_true(flush(&hand, tally, i + 1));
        rv_tally_free(tally);
    }
    reeve_day *day = today();
    assert_int_equal(day->kind_count, 101);
    assert_int_equal(day->kinds[0].retried, 2); /* 30 of them came again */
    assert_string_equal(day->kinds[100].kind, "");
    assert_int_equal(day->kinds[100].retried, 20);
    assert_int_equal(day->retried, 150);
    reeve_stats_free(day, 1);
}

/* Connections are lost again and again while the worker flushes several times a second; its session lives. */
static void lost_replies_neither_double_nor_lose(void **state)
{
    (void)state;
    const reeve_worker_options options = {.session_ms = 1500, .redis = test_link_url()};
    test_link_make();
    /* A client that has lost a reply compares Redis's clock with its own: from a new connection on, both run. */
    test_clock_run();
    test_kill_connections();
    test_ok(test_client, reeve_resume(test_client, "q"));
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 2, 0);
    test_worker_start(worker);
    for (unsigned long round = 1; round <= 12; round++) {
        char format[16];
        (void)snprintf(format, sizeof(format), "r%02lu.%%zu", round);
        test_put_many("q", 50, format);
        if (round % 2 == 0) test_kill_connections();
        TEST_AWAIT(test_count("q", "completed") == 50 * round);
        int64_t until = rv_deadline(100);
        while (rv_now_ms() < until) test_pause();
        if (round % 3 == 0) test_kill_connections();
    }
    test_worker_end(worker);
    reeve_day *day = today();
    assert_int_equal(day->completed, 600);
    assert_int_equal(day->run.count, 600);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "counters completed"), "600");
    reeve_stats_free(day, 1);
    test_link_remove();
}

/* ---- days ------------------------------------------------------------------------------------------------------ */

static void a_task_belongs_to_the_day_on_which_it_is_settled(void **state)
{
    (void)state;
    int64_t midnight = (test_clock_now() / DAY_MS + 3) * DAY_MS;
    test_clock_set(midnight - 400);
    reeve_worker *worker = test_worker_run(1, 0);
    test_put("q", "a b c");
    TEST_AWAIT(test_count("q", "completed") == 3);
    test_put_spec((reeve_task_spec){.id = "over", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    test_clock_advance(700);
    test_open_gate();
    test_put("q", "d");
    TEST_AWAIT(test_count("q", "completed") == 5);
    test_worker_end(worker);
    reeve_day *list;
    test_ok(test_client, reeve_stats(test_client, "q", midnight / DAY_MS - 2, 4, &list));
    static const unsigned completed[] = {0, 3, 2, 0};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(list[i].day, midnight / DAY_MS - 2 + i);
        assert_int_equal(list[i].completed, completed[i]);
        assert_int_equal(list[i].run.count, completed[i]);
    }
    reeve_stats_free(list, 4);
    reeve_day *day = days(-1, 1); /* yesterday */
    assert_int_equal(day->completed, 3);
    reeve_stats_free(day, 1);
    /* Kept for 30 days after its end. */
    int64_t end = test_number("PEXPIRETIME " Q "stats:%lld", (long long)(midnight / DAY_MS - 1));
    assert_int_equal(end, midnight + 30 * DAY_MS);
    test_clock_set(midnight + 30 * DAY_MS + 1);
    day = days(-40, 41);
    assert_int_equal(day->completed, 2);
    reeve_stats_free(day, 1);
}

static void *stop_it(void *worker)
{
    TEST_MUST(reeve_worker_stop(worker, 10000) == REEVE_OK);
    return NULL;
}

/* Both are settled after the worker was told to stop, and it leaves with the heartbeat that follows. */
static void two_days_at_the_end(void **state)
{
    (void)state;
    int64_t midnight = (test_clock_now() / DAY_MS + 3) * DAY_MS;
    pthread_t stopping;
    test_clock_set(midnight - 400);
    reeve_worker *worker = test_worker_run(2, 0);
    test_put_spec((reeve_task_spec){.type = "nap", .payload = {"200", 4}});
    test_put_spec((reeve_task_spec){.type = "hold"});
    TEST_AWAIT(test_ran == 1 && test_begun == 1);
    assert_int_equal(pthread_create(&stopping, NULL, stop_it, worker), 0);
    TEST_AWAIT(test_count("q", "completed") == 1);
    test_clock_advance(700);
    test_open_gate();
    assert_int_equal(pthread_join(stopping, NULL), 0);
    reeve_worker_destroy(worker);
    reeve_day *list;
    test_ok(test_client, reeve_stats(test_client, "q", -1, 2, &list));
    assert_int_equal(list[0].completed, 1);
    assert_int_equal(list[1].completed, 1);
    reeve_stats_free(list, 2);
}

static void set_days(unsigned number)
{
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.stats_days = &number}));
}

static void kept_as_the_settings_say(void **state)
{
    (void)state;
    int64_t end = (test_clock_now() / DAY_MS + 1) * DAY_MS;
    const unsigned too_many = 3651;
    set_days(2);
    reeve_worker *worker = test_worker_run(1, 0);
    test_put("q", "a b c");
    TEST_AWAIT(test_count("q", "completed") == 3);
    test_worker_end(worker);
    assert_int_equal(test_number("PEXPIRETIME " Q "stats:%lld", (long long)(end / DAY_MS - 1)), end + 2 * DAY_MS);
    set_days(0);
    worker = test_worker_run(1, 0);
    test_put("q", "d");
    TEST_AWAIT(test_count("q", "completed") == 4);
    test_worker_end(worker);
    reeve_day *day = today();
    assert_int_equal(day->completed, 3);
    reeve_stats_free(day, 1);
    test_refused(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.stats_days = &too_many}),
                 REEVE_EINVAL, "3651");
}

static void what_is_refused(void **state)
{
    (void)state;
    reeve_day *list = NULL;
    test_refused(test_client, reeve_stats(test_client, "q", 0, 0, &list), REEVE_EINVAL, "from 1 to 400");
    test_refused(test_client, reeve_stats(test_client, "q", 0, 401, &list), REEVE_EINVAL, "from 1 to 400");
    test_refused(test_client, reeve_stats(test_client, "q", INT64_MIN, 1, &list), REEVE_EINVAL, "no day");
    test_refused(test_client, reeve_stats(test_client, "q q", 0, 1, &list), REEVE_EINVAL, "q q");
    assert_int_equal(reeve_stats(NULL, "q", 0, 1, &list), REEVE_EINVAL);
    assert_null(list);
    test_ok(test_client, reeve_stats(test_client, "q", 0, 400, &list));
    assert_int_equal(list[399].completed, 0);
    reeve_stats_free(list, 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(days_with_many_fields, set_up),
        cmocka_unit_test_setup(exact_after_a_clean_stop, set_up),
        cmocka_unit_test_setup(how_long_a_run_takes, set_up),
        cmocka_unit_test_setup(how_long_a_task_waits, set_up),
        cmocka_unit_test_setup(crashes_are_counted_where_they_are_found, set_up),
        cmocka_unit_test_setup(what_scripts_and_tasks_at_most_once_end, set_up),
        cmocka_unit_test_setup(what_its_crashes_end, set_up),
        cmocka_unit_test_setup(a_flush_counts_once, set_up),
        cmocka_unit_test_setup(kinds_of_a_day_are_bounded, set_up),
        cmocka_unit_test_setup(lost_replies_neither_double_nor_lose, set_up),
        cmocka_unit_test_setup(a_task_belongs_to_the_day_on_which_it_is_settled, set_up),
        cmocka_unit_test_setup(two_days_at_the_end, set_up),
        cmocka_unit_test_setup(kept_as_the_settings_say, set_up),
        cmocka_unit_test_setup(what_is_refused, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_stats", tests, test_place_start, test_place_stop);
}
