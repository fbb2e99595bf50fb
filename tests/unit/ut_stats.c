/* Statistics without Redis: buckets, sums that add up exactly, percentiles; what a worker tallies, and what it flushes
 * when. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "running/queue_session.h"
#include "support/cmocka.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* ---- buckets --------------------------------------------------------------------------------------------------- */

static void buckets_follow_each_other(void **state)
{
    (void)state;
    int64_t from, to, before = 0;
    for (size_t i = 0; i < REEVE_STATS_BUCKETS; i++) {
        reeve_stats_bucket(i, &from, &to);
        assert_int_equal(from, before);
        assert_true(to > from);
        assert_int_equal(rv_times_bucket(from), i);
        assert_int_equal(rv_times_bucket(to - 1), i);
        before = to;
    }
    assert_int_equal(before, INT64_MAX);
    reeve_stats_bucket(100000, &from, &to);
    assert_int_equal(from, 99 * DAY);
    assert_int_equal(rv_times_bucket(-5), 0);
}

static bool is_a_bucket(int64_t from, int64_t to)
{
    int64_t begins, ends;
    reeve_stats_bucket(rv_times_bucket(from), &begins, &ends);
    return begins == from && ends == to;
}

static void seconds_minutes_hours_days(void **state)
{
    (void)state;
    assert_true(is_a_bucket(5, 10));
    assert_true(is_a_bucket(500, 1000));
    for (int64_t i = 1; i < 60; i++) assert_true(is_a_bucket(i * SECOND, (i + 1) * SECOND));
    for (int64_t i = 1; i < 60; i++) assert_true(is_a_bucket(i * MINUTE, (i + 1) * MINUTE));
    for (int64_t i = 1; i < 24; i++) assert_true(is_a_bucket(i * HOUR, (i + 1) * HOUR));
    for (int64_t i = 1; i < 99; i++) assert_true(is_a_bucket(i * DAY, (i + 1) * DAY));
}

/* ---- sums ------------------------------------------------------------------------------------------------------ */

/* What Redis would have of them, and a reader make of it. */
static reeve_times flushed(const rv_times *times, unsigned unit_us)
{
    reeve_times ret = {.count = times->count, .sum = times->sum, .unit_us = unit_us};
    ret.min_ms = (double)times->min * unit_us / 1000;
    ret.max_ms = (double)times->max * unit_us / 1000;
    memcpy(ret.squares, times->squares, sizeof(ret.squares));
    rv_times_carry(ret.squares);
    for (size_t i = 0; i < REEVE_STATS_BUCKETS; i++) ret.histogram[i] = times->buckets[i];
    rv_times_reckon(&ret);
    return ret;
}

static void assert_near(double value, double expected, double share)
{
    if (fabs(value - expected) > fabs(expected) * share) fail_msg("%.12g is not %.12g", value, expected);
}

static void mean_and_deviation(void **state)
{
    (void)state;
    static const int64_t us[] = {1500, 2500, 3500, 100500, 7};
    rv_times times = {0};
    double mean = 0, variance = 0;
    for (size_t i = 0; i < 5; i++) {
        rv_times_add_us(&times, us[i]);
        mean += (double)us[i] / 1000 / 5;
    }
    for (size_t i = 0; i < 5; i++) variance += pow((double)us[i] / 1000 - mean, 2) / 5;
    reeve_times read = flushed(&times, 1);
    assert_int_equal(read.count, 5);
    assert_near(read.mean_ms, mean, 1e-12);
    assert_near(read.variance, variance, 1e-9);
    assert_near(read.deviation_ms, sqrt(variance), 1e-9);
    assert_int_equal(read.histogram[rv_times_bucket(100)], 1);
    assert_int_equal(read.histogram[rv_times_bucket(2)], 2);
    memset(&times, 0, sizeof(times));
    for (int i = 0; i < 1000; i++) rv_times_add_ms(&times, 123456789);
    read = flushed(&times, 1000);
    assert_near(read.mean_ms, 123456789, 1e-12);
    assert_true(read.deviation_ms < 10); /* (all alike: what is left is the rounding of doubles) */
    memset(&times, 0, sizeof(times));
    read = flushed(&times, 1);
    assert_true(read.mean_ms == 0 && read.variance == 0 && read.deviation_ms == 0);
}

/* The largest there are, as many as a day may have. */
static void nothing_overflows(void **state)
{
    (void)state;
    rv_times times = {0};
    for (int i = 0; i < 1000000; i++) rv_times_add_us(&times, INT64_MAX);
    assert_int_equal(times.sum, 99 * DAY * 1000 * 1000000);
    assert_int_equal(times.buckets[REEVE_STATS_BUCKETS - 1], 1000000);
    reeve_times read = flushed(&times, 1), sum = read;
    assert_true(read.squares[0] < RV_SQUARE_PART && read.squares[1] < RV_SQUARE_PART);
    assert_near(read.mean_ms, 99.0 * DAY, 1e-12);
    assert_near(read.deviation_ms / (99.0 * DAY) + 1, 1, 1e-6);
    rv_times_merge(&sum, &read);
    rv_times_reckon(&sum);
    assert_near(sum.mean_ms, 99.0 * DAY, 1e-12);
    rv_times small = {0};
    rv_times_add_ms(&small, -7);
    assert_int_equal(small.sum, 0);
    assert_int_equal(small.count, 1);
}

/* Parts that are added up are the same as the whole, bit by bit, in whichever order. */
static void parts_make_the_whole(void **state)
{
    (void)state;
    rv_times whole = {0}, parts[7] = {{0}};
    srand(5);
    for (int i = 0; i < 50000; i++) {
        int64_t us = (int64_t)rand() * (rand() % 4 == 0 ? rand() % 4000 : 1) / (1 + rand() % 100000);
        rv_times_add_us(&whole, us);
        rv_times_add_us(&parts[rand() % 7], us);
    }
    for (int step = 1; step < 7; step++) {
        reeve_times sum = {.unit_us = 1}, direct = flushed(&whole, 1);
        for (int i = 0, at = step; i < 7; i++, at = (at + step) % 7) {
            reeve_times one = flushed(&parts[at], 1);
            rv_times_merge(&sum, &one);
        }
        rv_times_reckon(&sum);
        assert_memory_equal(&sum, &direct, sizeof(sum));
    }
}

/* ---- percentiles ----------------------------------------------------------------------------------------------- */

static void percentiles_lie_in_their_buckets(void **state)
{
    (void)state;
    rv_times times = {0};
    reeve_times none = {0};
    for (int64_t ms = 0; ms < 60000; ms += 10) rv_times_add_ms(&times, ms);
    reeve_times read = flushed(&times, 1000);
    assert_near(reeve_stats_percentile(&read, 50), 30000, 0.01);
    assert_near(reeve_stats_percentile(&read, 95), 57000, 0.01);
    assert_near(reeve_stats_percentile(&read, 99), 59400, 0.01);
    assert_near(reeve_stats_percentile(&read, 100), 60000, 0.001);
    assert_true(reeve_stats_percentile(&read, 0) < 2);
    assert_true(reeve_stats_percentile(&read, 200) == reeve_stats_percentile(&read, 100));
    assert_true(reeve_stats_percentile(&none, 50) == -1);
    memset(&times, 0, sizeof(times));
    for (int i = 0; i < 99; i++) rv_times_add_ms(&times, 7);
    rv_times_add_ms(&times, 5 * HOUR);
    read = flushed(&times, 1000);
    /* Where all are alike the bucket's width is no matter: 20 of 200 ms in that of 200 to 500. */
    rv_times alike = {0};
    for (int i = 0; i < 20; i++) rv_times_add_ms(&alike, 200);
    reeve_times same = flushed(&alike, 1000);
    for (int percent = 0; percent <= 100; percent += 25)
        assert_near(reeve_stats_percentile(&same, percent), 200, 0.001);
    rv_times_add_ms(&alike, 230);
    same = flushed(&alike, 1000);
    assert_true(reeve_stats_percentile(&same, 50) < 210 && reeve_stats_percentile(&same, 100) < 231);
    double half = reeve_stats_percentile(&read, 50), max = reeve_stats_percentile(&read, 99.5);
    assert_true(half >= 5 && half < 10);
    assert_true(max >= 5 * HOUR && max <= 6 * HOUR);
    rv_times_add_ms(&times, 1000 * DAY);
    read = flushed(&times, 1000);
    assert_true(reeve_stats_percentile(&read, 100) == 99.0 * DAY);
}

/* ---- tallies --------------------------------------------------------------------------------------------------- */

static const rv_settlement done = {.id = "i", .outcome = REEVE_OUTCOME_DONE},
                           retry = {.id = "i", .outcome = REEVE_OUTCOME_RETRY, .kind = "io"},
                           dead = {.id = "i", .outcome = REEVE_OUTCOME_FAIL, .counts = true, .kind = "io"},
                           poison = {.id = "i", .outcome = REEVE_OUTCOME_FAIL, .kind = "crash"},
                           snooze = {.id = "i", .outcome = REEVE_OUTCOME_SNOOZE};

/* An attempt of a task of type "t". */
static void tally_one(rv_tally *tally, const rv_settlement *outcome, int64_t wait_ms, int64_t run_us)
{
    rv_tally_add(tally, outcome, &(rv_attempt){.type = "t", .type_length = 1, .wait_ms = wait_ms, .run_us = run_us});
}

static void what_a_worker_tallies(void **state)
{
    (void)state;
    rv_tally *tally = rv_tally_new(5);
    tally_one(tally, &done, 20, 3000);
    tally_one(tally, &done, -1, 3000);
    tally_one(tally, &retry, 40, 3000);
    tally_one(tally, &dead, -1, 3000);
    tally_one(tally, &poison, 10, 3000);
    tally_one(tally, &snooze, 10, 3000);
    assert_int_equal(tally->completed, 2);
    assert_int_equal(tally->failed, 2);
    assert_int_equal(tally->retried, 1);
    assert_int_equal(tally->dead, 2);
    assert_int_equal(tally->run.count, 4);
    assert_int_equal(tally->run.sum, 12000);
    assert_int_equal(tally->wait.count, 2);
    assert_int_equal(tally->wait.sum, 60);
    assert_int_equal(tally->kind_count, 2);
    assert_string_equal(tally->kinds[0].kind, "io");
    assert_int_equal(tally->kinds[0].retried, 1);
    assert_int_equal(tally->kinds[0].dead, 1);
    assert_string_equal(tally->kinds[1].kind, "crash");
    assert_int_equal(tally->run.min, 3000);
    assert_int_equal(tally->wait.min, 20);
    assert_int_equal(tally->wait.max, 40);
    assert_int_equal(tally->types.count, 1);
    const rv_type_tally *type = &tally->types.list[0];
    assert_string_equal(type->type, "t");
    assert_int_equal(type->completed, 2);
    assert_int_equal(type->failed, 2);
    assert_int_equal(type->dead, 2);
    assert_int_equal(type->run.count, 4);
    assert_int_equal(type->wait.sum, 60);
    assert_int_equal(type->wait.min, 20);
    assert_int_equal(type->wait.max, 40);
    rv_tally_free(tally);
    rv_tally_free(NULL);
}

static void kinds_are_bounded(void **state)
{
    (void)state;
    rv_tally *tally = rv_tally_new(5);
    for (int i = 0; i < 300; i++) {
        char kind[32];
        (void)snprintf(kind, sizeof(kind), "kind %d", i % 150);
        rv_settlement one = retry;
        one.kind = kind;
        tally_one(tally, &one, -1, 1);
    }
    assert_int_equal(tally->kind_count, RV_TALLY_KINDS + 1);
    assert_string_equal(tally->kinds[RV_TALLY_KINDS].kind, "");
    assert_int_equal(tally->kinds[RV_TALLY_KINDS].retried, 100);
    assert_int_equal(tally->kinds[0].retried, 2);
    rv_tally_free(tally);
}

static void types_are_bounded(void **state)
{
    (void)state;
    rv_tally *tally = rv_tally_new(5);
    for (int i = 0; i < 300; i++) {
        char type[32];
        int length = snprintf(type, sizeof(type), "type %d", i % 150);
        rv_tally_add(tally, &done, &(rv_attempt){.type = type, .type_length = (size_t)length, .run_us = 1 + i});
    }
    assert_int_equal(tally->types.count, RV_TALLY_TYPES + 1);
    assert_string_equal(tally->types.list[RV_TALLY_TYPES].type, "");
    assert_int_equal(tally->types.list[RV_TALLY_TYPES].completed, 100);
    assert_int_equal(tally->types.list[0].completed, 2);
    assert_int_equal(tally->types.list[0].run.min, 1);
    assert_int_equal(tally->types.list[0].run.max, 151);
    rv_tally_free(tally);
}

/* ---- flushes --------------------------------------------------------------------------------------------------- */

static void add(rv_queue_session *queue_session, int64_t now_ms)
{
    tally_one(rv_queue_session_open_tally(queue_session, now_ms), &done, 1, 1);
    rv_queue_session_close_tally(queue_session);
}

static void a_flush_is_the_same_until_it_is_answered(void **state)
{
    (void)state;
    rv_queue_session queue_session;
    uint64_t number, first;
    rv_queue_session_init(&queue_session, "reeve", "q", "0123456789abcdef");
    assert_null(rv_queue_session_flush(&queue_session, "s", &number));
    assert_false(rv_queue_session_has_tally(&queue_session));
    add(&queue_session, 5 * DAY);
    assert_true(rv_queue_session_has_tally(&queue_session));
    const rv_tally *tally = rv_queue_session_flush(&queue_session, "s", &first);
    assert_int_equal(tally->completed, 1);
    add(&queue_session, 5 * DAY);
    assert_ptr_equal(rv_queue_session_flush(&queue_session, "s", &number), tally); /* no answer: again */
    assert_int_equal(number, first);
    assert_int_equal(tally->completed, 1);
    rv_queue_session_flushed(&queue_session, true);
    tally = rv_queue_session_flush(&queue_session, "s", &number);
    assert_true(number > first);
    assert_int_equal(tally->completed, 1);
    rv_queue_session_flushed(&queue_session,
                             false); /* the session is gone: nothing was added, so the next one brings it */
    assert_ptr_equal(rv_queue_session_flush(&queue_session, "s2", &number), tally);
    rv_queue_session_flushed(&queue_session, true);
    assert_null(rv_queue_session_flush(&queue_session, "s2", &number));
    rv_queue_session_flushed(&queue_session, true);
    assert_false(rv_queue_session_has_tally(&queue_session));
    rv_queue_session_fini(&queue_session);
}

static void what_may_have_been_added_is_not_added_twice(void **state)
{
    (void)state;
    rv_queue_session queue_session;
    uint64_t number;
    rv_queue_session_init(&queue_session, "reeve", "q", "0123456789abcdef");
    add(&queue_session, 5 * DAY);
    add(&queue_session, 5 * DAY);
    assert_int_equal(rv_queue_session_flush(&queue_session, "s", &number)->completed, 2);
    add(&queue_session, 5 * DAY); /* the reply is lost, and then the session: the two are dropped, and no more */
    assert_int_equal(rv_queue_session_flush(&queue_session, "s2", &number)->completed, 1);
    rv_queue_session_fini(&queue_session);
}

static void each_day_is_flushed_by_itself(void **state)
{
    (void)state;
    rv_queue_session queue_session;
    uint64_t number;
    rv_queue_session_init(&queue_session, "reeve", "q", "0123456789abcdef");
    add(&queue_session, 6 * DAY - 1);
    add(&queue_session, 6 * DAY);
    add(&queue_session, 6 * DAY + 1);
    const rv_tally *tally = rv_queue_session_flush(&queue_session, "s", &number);
    assert_int_equal(tally->day, 5);
    assert_int_equal(tally->completed, 1);
    rv_queue_session_flushed(&queue_session, true);
    tally = rv_queue_session_flush(&queue_session, "s", &number);
    assert_int_equal(tally->day, 6);
    assert_int_equal(tally->completed, 2);
    rv_queue_session_fini(&queue_session);
}

/* ---- days ------------------------------------------------------------------------------------------------------ */

static void days_add_up(void **state)
{
    (void)state;
    reeve_kind_stats kinds[] = {
        {.kind = "", .dead = 9}, {.kind = "io", .retried = 2, .dead = 1}, {.kind = "a", .dead = 3}};
    reeve_day list[] = {{.day = 20, .days = 1, .completed = 5, .failed = 2, .kinds = kinds, .kind_count = 2},
                        {.day = 18, .days = 1, .completed = 7, .dead = 1, .kinds = kinds + 1, .kind_count = 2},
                        {.day = 18, .days = 1, .retried = 4, .crashed = 3}};
    list[0].run = (reeve_times){.count = 2, .sum = 3000, .squares = {999999999, 999999999, 0}, .unit_us = 1};
    list[1].run = (reeve_times){.count = 1, .sum = 3000, .squares = {1, 0, 0}, .unit_us = 1};
    reeve_day *sum;
    assert_int_equal(reeve_stats_sum(list, 3, &sum), REEVE_OK);
    assert_int_equal(sum->day, 18);
    assert_int_equal(sum->days, 3);
    assert_int_equal(sum->completed, 12);
    assert_int_equal(sum->failed, 2);
    assert_int_equal(sum->retried, 4);
    assert_int_equal(sum->dead, 1);
    assert_int_equal(sum->crashed, 3);
    assert_int_equal(sum->run.squares[0], 0);
    assert_int_equal(sum->run.squares[1], 0);
    assert_int_equal(sum->run.squares[2], 1);
    assert_near(sum->run.mean_ms, 2, 1e-12);
    assert_int_equal(sum->kind_count, 3);
    assert_string_equal(sum->kinds[0].kind, "io"); /* the most frequent first, the others last */
    assert_int_equal(sum->kinds[0].retried, 4);
    assert_string_equal(sum->kinds[1].kind, "a");
    assert_string_equal(sum->kinds[2].kind, "");
    reeve_stats_free(sum, 1);
    assert_int_equal(reeve_stats_sum(NULL, 0, &sum), REEVE_OK);
    assert_int_equal(sum->days, 0);
    reeve_stats_free(sum, 1);
    reeve_stats_free(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_follow_each_other),
        cmocka_unit_test(seconds_minutes_hours_days),
        cmocka_unit_test(mean_and_deviation),
        cmocka_unit_test(nothing_overflows),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(percentiles_lie_in_their_buckets),
        cmocka_unit_test(what_a_worker_tallies),
        cmocka_unit_test(kinds_are_bounded),
        cmocka_unit_test(types_are_bounded),
        cmocka_unit_test(a_flush_is_the_same_until_it_is_answered),
        cmocka_unit_test(what_may_have_been_added_is_not_added_twice),
        cmocka_unit_test(each_day_is_flushed_by_itself),
        cmocka_unit_test(days_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
