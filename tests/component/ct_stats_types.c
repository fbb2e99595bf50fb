/* Statistics by type, extremes, and statistics by minute: what heartbeats add, and what is read back. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/minutes.h"
#include "protocol/heartbeat_call.h"
#include "reeve/stats.h"
#include "support/clock.h"
#include "support/worker.h"

#define Q "reeve:{q}:"
#define DAY_MS INT64_C(86400000)
#define MINUTE_MS INT64_C(60000)

static test_hand hand;
static uint64_t flushes;

/* A session holds a task, so that its heartbeats count. */
static int set_up(void **state)
{
    int failed = test_place_empty(state);
    test_put("q", "held");
    test_hand_init(&hand, "1", "q");
    (void)test_lease(&hand, 1);
    flushes = 0;
    return failed;
}

static reeve_day *today(void)
{
    reeve_day *day;
    test_ok(test_client, reeve_stats(test_client, "q", 0, 1, &day));
    return day;
}

static const reeve_type_stats *type_of(const reeve_day *day, const char *type)
{
    for (size_t i = 0; i < day->type_count; i++)
        if (strcmp(day->types[i].type, type) == 0) return &day->types[i];
    return NULL;
}

static rv_tally *new_tally(void)
{
    return rv_tally_new(test_clock_now() / DAY_MS);
}

static void add(rv_tally *tally, const char *type, reeve_outcome outcome, int64_t wait_ms, int64_t run_us)
{
    rv_settlement settlement = {.id = "i", .outcome = outcome, .kind = outcome == REEVE_OUTCOME_DONE ? NULL : "io"};
    if (outcome == REEVE_OUTCOME_FAIL) settlement.counts = true;
    rv_tally_add(tally, &settlement,
                 &(rv_attempt){.type = type, .type_length = strlen(type), .wait_ms = wait_ms, .run_us = run_us});
}

/* Sends and frees it. */
static void flush(rv_tally *tally)
{
    const rv_reply *reply;
    rv_heartbeat_reply beat;
    rv_heartbeat_call_build_flush(test_conn, &hand.prefixes[0], hand.sessions[0], 60000, tally, ++flushes);
    if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
    assert_true(rv_heartbeat_call_read(&beat, reply) && beat.alive);
    rv_tally_free(tally);
}

static void expect_range(const reeve_range *range, uint64_t count, double mean, double min, double max)
{
    assert_int_equal(range->count, count);
    assert_true(range->mean_ms == mean && range->min_ms == min && range->max_ms == max);
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

static void types_are_told_apart(void **state)
{
    (void)state;
    rv_tally *tally = new_tally();
    add(tally, "mail", REEVE_OUTCOME_DONE, 10, 2000);
    add(tally, "mail", REEVE_OUTCOME_DONE, -1, 4000);
    add(tally, "mail", REEVE_OUTCOME_RETRY, 30, 6000);
    add(tally, "thumb", REEVE_OUTCOME_DONE, 0, 90000);
    flush(tally);
    tally = new_tally();
    add(tally, "mail", REEVE_OUTCOME_FAIL, 2, 1000);
    add(tally, "mail", REEVE_OUTCOME_DONE, -1, 7000);
    flush(tally);
    reeve_day *day = today();
    assert_int_equal(day->type_count, 2);
    assert_string_equal(day->types[0].type, "thumb"); /* it took the most time */
    const reeve_type_stats *mail = type_of(day, "mail");
    assert_int_equal(mail->completed, 3);
    assert_int_equal(mail->failed, 2);
    assert_int_equal(mail->dead, 1);
    expect_range(&mail->wait, 3, 14, 2, 30);
    expect_range(&mail->run, 5, 4, 1, 7);
    expect_range(&day->types[0].wait, 1, 0, 0, 0);
    expect_range(&day->types[0].run, 1, 90, 90, 90);
    reeve_stats_free(day, 1);
}

static void of_the_whole_day_the_extremes_are_exact(void **state)
{
    (void)state;
    static const int64_t rounds[][2] = {{5000, 9000}, {6000, 7000}, {4000, 8000}};
    for (size_t i = 0; i < 3; i++) {
        rv_tally *tally = new_tally();
        add(tally, "t", REEVE_OUTCOME_DONE, (int64_t)i, rounds[i][0]);
        add(tally, "t", REEVE_OUTCOME_DONE, 3, rounds[i][1]);
        flush(tally);
    }
    reeve_day *day = today();
    assert_true(day->run.min_ms == 4 && day->run.max_ms == 9);
    assert_true(day->wait.min_ms == 0 && day->wait.max_ms == 3);
    assert_true(reeve_stats_percentile(&day->run, 100) == 9);
    reeve_stats_free(day, 1);
}

static void types_of_a_day_are_bounded(void **state)
{
    (void)state;
    char type[32];
    for (unsigned i = 0; i < 150; i++) {
        (void)snprintf(type, sizeof(type), "type-%u", i % 120);
        rv_tally *tally = new_tally();
        add(tally, type, REEVE_OUTCOME_DONE, 1, 1000);
        flush(tally);
    }
    reeve_day *day = today();
    assert_int_equal(day->type_count, 101);
    assert_string_equal(day->types[100].type, "");
    assert_int_equal(day->types[100].completed, 20);
    assert_int_equal(type_of(day, "type-0")->completed, 2); /* 30 of them came again */
    assert_int_equal(day->completed, 150);
    reeve_stats_free(day, 1);
}

static void days_add_up(void **state)
{
    (void)state;
    rv_tally *tally = new_tally();
    add(tally, "t", REEVE_OUTCOME_DONE, 1, 1000);
    add(tally, "u", REEVE_OUTCOME_DONE, 1, 1000);
    flush(tally);
    reeve_day *day = today(), *sum;
    const reeve_day both[] = {*day, *day};
    assert_int_equal(reeve_stats_sum(both, 2, &sum), REEVE_OK);
    assert_int_equal(sum->type_count, 2);
    expect_range(&type_of(sum, "t")->run, 2, 1, 1, 1);
    reeve_stats_free(sum, 1);
    reeve_stats_free(day, 1);
}

static void set_field_of(const char *key, const char *name, const char *value)
{
    const rv_reply *reply;
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "HSET");
    rv_args(test_conn, key);
    rv_args(test_conn, name);
    rv_args(test_conn, value);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
}

static void set_field(const char *name, const char *value)
{
    char key[64];
    (void)snprintf(key, sizeof(key), Q "stats:%lld", (long long)(test_clock_now() / DAY_MS));
    set_field_of(key, name, value);
}

/* What another program wrote in place of a field is written over, and counts as nothing. */
static void foreign_values_do_no_harm(void **state)
{
    (void)state;
    static const char *const values[] = {"x", "1 2 3", "-1 0 0 0 0 0 0 0 0 0 0", "1e400 0 0 0 0 0 0 0 0 0 0", ""};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        set_field("type:t", values[i]);
        set_field("run:min", values[i]);
        set_field("run:max", values[i]);
        reeve_day *day = today();
        assert_int_equal(day->type_count, 0);
        reeve_stats_free(day, 1);
        rv_tally *tally = new_tally();
        add(tally, "t", REEVE_OUTCOME_DONE, 5, 3000);
        flush(tally);
        day = today();
        assert_int_equal(type_of(day, "t")->completed, 1);
        expect_range(&type_of(day, "t")->run, 1, 3, 3, 3);
        reeve_stats_free(day, 1);
    }
}

/* A real worker: each type as often as it ran. */
static void a_worker_tells_types(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(2, 0);
    for (int i = 0; i < 30; i++) test_put_spec((reeve_task_spec){.type = "nap", .payload = {"1", 1}});
    for (int i = 0; i < 5; i++) test_put_spec((reeve_task_spec){.type = "act", .payload = {"fail", 5}, .attempts = 1});
    TEST_AWAIT(test_count("q", "completed") == 30 && test_count("q", "dead") == 5);
    test_worker_end(worker);
    reeve_day *day = today();
    assert_int_equal(type_of(day, "nap")->completed, 30);
    assert_int_equal(type_of(day, "nap")->run.count, 30);
    assert_true(type_of(day, "nap")->run.min_ms >= 1);
    assert_int_equal(type_of(day, "act")->dead, 5);
    reeve_stats_free(day, 1);
}

/* ---- minutes --------------------------------------------------------------------------------------------------- */

static void minutes_are_kept_for_a_day(void **state)
{
    (void)state;
    reeve_minute *list;
    test_clock_set(test_clock_now() / DAY_MS * DAY_MS + 59 * MINUTE_MS + 30000);
    for (int i = 0; i < 3; i++) { /* in the minutes 59 of one hour, 0 and 1 of the next */
        rv_tally *tally = new_tally();
        for (int j = 0; j <= i; j++) add(tally, "t", REEVE_OUTCOME_DONE, 10, 30000000);
        flush(tally);
        flush(new_tally());
        test_clock_set(test_clock_now() + MINUTE_MS);
    }
    test_ok(test_client, reeve_stats_minutes(test_client, "q", 5, &list));
    static const unsigned completed[] = {0, 1, 2, 3, 0};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(list[i].at_ms, (test_clock_now() / MINUTE_MS - 4 + i) * MINUTE_MS);
        assert_int_equal(list[i].completed, completed[i]);
        assert_int_equal(list[i].runs, completed[i]);
        assert_int_equal(list[i].run_us, completed[i] * 30000000);
        assert_int_equal(list[i].wait_ms, completed[i] * 10);
    }
    reeve_stats_minutes_free(list);
    assert_in_range(test_number("PTTL " Q "minutes:%lld", (long long)(test_clock_now() / MINUTE_MS / 60)), DAY_MS,
                    DAY_MS + 120 * MINUTE_MS);
    test_ok(test_client, reeve_stats_minutes(test_client, "q", 1440, &list));
    uint64_t sum = 0;
    for (int i = 0; i < 1440; i++) sum += list[i].completed;
    assert_int_equal(sum, 6);
    reeve_stats_minutes_free(list);
}

/* ---- five minutes ---------------------------------------------------------------------------------------------- */

static rv_five_minutes *last_hour(void)
{
    reeve_minute *list;
    rv_five_minutes *times;
    test_ok(test_client, rv_minutes_read(test_client, "q", 60, &list, &times));
    reeve_stats_minutes_free(list);
    for (int64_t i = 0; i < 12; i++) assert_int_equal(times[i].at_ms, (test_clock_now() / 300000 - 11 + i) * 300000);
    return times;
}

/* How many buckets of a day lie within a bucket of five minutes. */
static uint64_t buckets_within(size_t wide)
{
    uint64_t count = 0;
    for (size_t i = 0; i < REEVE_STATS_BUCKETS; i++) {
        int64_t from, to;
        reeve_stats_bucket(i, &from, &to);
        if (from < rv_wide_times_begin(wide)) continue;
        if (wide + 1 < RV_WIDE_BUCKETS && from >= rv_wide_times_begin(wide + 1)) break;
        count++;
    }
    return count;
}

/* The script and C agree on where each bucket begins. */
static void a_time_of_each_bucket_is_in_its_wide_bucket(void **state)
{
    (void)state;
    rv_tally *tally = new_tally();
    uint64_t sum = 0;
    for (size_t i = 0; i < REEVE_STATS_BUCKETS; i++) {
        int64_t from, to;
        reeve_stats_bucket(i, &from, &to);
        add(tally, "t", REEVE_OUTCOME_DONE, from, from * 1000 + 1);
        sum += (uint64_t)from;
    }
    flush(tally);
    rv_five_minutes *times = last_hour();
    assert_int_equal(times[11].wait.sum, sum);
    assert_int_equal(times[11].run.sum, sum * 1000 + REEVE_STATS_BUCKETS - 1); /* the last one is the maximum */
    for (size_t i = 0; i < RV_WIDE_BUCKETS; i++) {
        assert_int_equal(times[11].wait.count[i], buckets_within(i));
        assert_int_equal(times[11].run.count[i], buckets_within(i));
    }
    assert_int_equal(rv_wide_times_count(&times[10].wait), 0);
    rv_free(times);
}

static void times_are_kept_by_five_minutes(void **state)
{
    (void)state;
    test_clock_set(test_clock_now() / DAY_MS * DAY_MS + 58 * MINUTE_MS);
    for (int i = 0; i < 6; i++) { /* 58 and 59 of one hour; 0 to 3 of the next */
        rv_tally *tally = new_tally();
        for (int j = 0; j <= i; j++) add(tally, "t", REEVE_OUTCOME_DONE, j == 0 ? -1 : 7, 30000000);
        flush(tally);
        flush(new_tally());
        test_clock_set(test_clock_now() + MINUTE_MS);
    }
    rv_five_minutes *times = last_hour();
    assert_int_equal(times[10].run.count[15], 3);
    assert_int_equal(times[10].wait.count[3], 1);
    assert_int_equal(times[11].run.count[15], 18);
    assert_int_equal(times[11].run.sum, 18 * 30000000);
    assert_int_equal(times[11].wait.count[3], 14);
    assert_int_equal(rv_wide_times_count(&times[9].run), 0);
    rv_free(times);
}

/* What another program wrote in place of times is written over, and counts as nothing. */
static void foreign_times_do_no_harm(void **state)
{
    (void)state;
    static const char *const values[] = {"x", "-1 2", "1 2 x", "",
                                         "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        int64_t minute = test_clock_now() / MINUTE_MS;
        char key[64], field[16];
        (void)snprintf(key, sizeof(key), Q "minutes:%lld", (long long)(minute / 60));
        (void)snprintf(field, sizeof(field), "run:%lld", (long long)(minute % 60 / 5));
        set_field_of(key, field, values[i]);
        rv_five_minutes *times = last_hour();
        assert_int_equal(rv_wide_times_count(&times[11].run), 0);
        rv_free(times);
        rv_tally *tally = new_tally();
        add(tally, "t", REEVE_OUTCOME_DONE, 5, 3000);
        flush(tally);
        times = last_hour();
        assert_int_equal(rv_wide_times_count(&times[11].run), 1);
        rv_free(times);
    }
}

static void what_is_refused(void **state)
{
    (void)state;
    reeve_minute *list = NULL;
    test_refused(test_client, reeve_stats_minutes(test_client, "q", 0, &list), REEVE_EINVAL, "from 1 to 1440");
    test_refused(test_client, reeve_stats_minutes(test_client, "q", 1441, &list), REEVE_EINVAL, "from 1 to 1440");
    test_refused(test_client, reeve_stats_minutes(test_client, "q q", 1, &list), REEVE_EINVAL, "q q");
    assert_int_equal(reeve_stats_minutes(NULL, "q", 1, &list), REEVE_EINVAL);
    assert_null(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(types_are_told_apart, set_up),
        cmocka_unit_test_setup(of_the_whole_day_the_extremes_are_exact, set_up),
        cmocka_unit_test_setup(types_of_a_day_are_bounded, set_up),
        cmocka_unit_test_setup(days_add_up, set_up),
        cmocka_unit_test_setup(foreign_values_do_no_harm, set_up),
        cmocka_unit_test_setup(a_worker_tells_types, set_up),
        cmocka_unit_test_setup(minutes_are_kept_for_a_day, set_up),
        cmocka_unit_test_setup(a_time_of_each_bucket_is_in_its_wide_bucket, set_up),
        cmocka_unit_test_setup(times_are_kept_by_five_minutes, set_up),
        cmocka_unit_test_setup(foreign_times_do_no_harm, set_up),
        cmocka_unit_test_setup(what_is_refused, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_stats_types", tests, test_place_start, test_place_stop);
}
