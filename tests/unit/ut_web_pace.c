/*
 * ut_web_pace.c - how often shared answers are read again, by what they cost, and which requests take them.
 */
#include "support/cmocka.h"
#include "web/web_pace.h"
#include "web/web_shared.h"

static web_pace answer(int64_t interval_ms, int64_t cost_us, unsigned calm)
{
    return (web_pace){.interval_ms = interval_ms, .cost_us = cost_us, .calm = calm};
}

static int64_t interval_of_many(const web_pace *pace, unsigned count)
{
    web_pace_sum sum = {0};

    for (unsigned i = 0; i < count; i++) web_pace_add(&sum, pace);
    return web_pace_interval(pace, &sum);
}

static void keeps_the_interval_within_the_budget(void **state)
{
    web_pace changes = answer(1000, 100, 0), rests = answer(1000, 100, 2);

    (void)state;
    assert_int_equal(interval_of_many(&changes, 1), 1000);
    assert_int_equal(interval_of_many(&changes, WEB_PACE_BUDGET_US / 100), 1000);
    assert_int_equal(interval_of_many(&rests, WEB_PACE_BUDGET_US / 100), 1000);
}

/* What a second costs is the budget: count * cost / interval. */
static void spends_the_budget_and_no_more(void **state)
{
    web_pace changes = answer(1000, 100, 0), rests = answer(1000, 100, 2);

    (void)state;
    for (unsigned times = 2; times <= 32; times *= 2) {
        unsigned count = times * WEB_PACE_BUDGET_US / 100;
        assert_int_equal(interval_of_many(&changes, count), 1000 * times);
        assert_int_equal(interval_of_many(&rests, count), 1000 * times);
    }
    assert_int_equal(interval_of_many(&changes, 1000000), WEB_PACE_INTERVAL_MAX_MS);
}

static void reads_what_changes_more_often(void **state)
{
    web_pace changes = answer(1000, 100, 0), rests = answer(1000, 100, 2), seldom = answer(10000, 100, 0);
    web_pace_sum sum = {0};

    (void)state;
    for (unsigned i = 0; i < 100; i++) web_pace_add(&sum, &rests);
    web_pace_add(&sum, &changes);
    web_pace_add(&sum, &seldom);
    assert_true(web_pace_interval(&rests, &sum) >= 3 * web_pace_interval(&changes, &sum));
    assert_true(web_pace_interval(&seldom, &sum) >= 9 * web_pace_interval(&changes, &sum));
}

/* A call that was delayed once, on a busy machine, does not keep its answer from being read for a minute. */
static void believes_high_costs_slowly(void **state)
{
    web_pace pace = {.interval_ms = 1000};
    int64_t least = 0;

    (void)state;
    web_pace_note(&pace, &least, 100, true);
    assert_int_equal(pace.cost_us, 100);
    web_pace_note(&pace, &least, 50000, true);
    assert_in_range(pace.cost_us, 100, 130);
    for (int i = 0; i < 20; i++) web_pace_note(&pace, &least, 50000, true);
    assert_in_range(pace.cost_us, 300, 500);
    web_pace_note(&pace, &least, 80, true);
    assert_int_equal(pace.cost_us, 80);
    assert_int_equal(least, 80);
    web_pace other = {.interval_ms = 1000};
    web_pace_note(&other, &least, 70000, true); /* the first of many that are read at the same time */
    assert_in_range(other.cost_us, 80, 110);
}

static void counts_readings_without_a_change(void **state)
{
    web_pace pace = {.interval_ms = 1000};
    int64_t least = 0;

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(pace.calm, i < 2 ? i : 2);
        web_pace_note(&pace, &least, 100, false);
    }
    web_pace_note(&pace, &least, 100, true);
    assert_int_equal(pace.calm, 0);
}

static void takes_an_old_answer_only_if_the_request_says_so(void **state)
{
    static const struct {
        const char *header;
        int64_t interval_ms; /* -1: it is read */
    } all[] = {{NULL, -1},
               {"", -1},
               {"max-age=1", -1},
               {"max-stale", -1},
               {"max-age=1, max-stale", 1000},
               {"Max-Stale,\tMAX-AGE=10", 10000},
               {"no-transform, max-age=60,max-stale=5", 60000},
               {"max-age=0, max-stale", -1},
               {"max-age, max-stale", -1},
               {"max-age=1x, max-stale", -1},
               {"max-age=12345678901234567, max-stale", -1},
               {"max-age=99999999999999999999, max-stale", -1},
               {"max-ages=1, max-stale", -1},
               {"x-max-age=1, max-stale", -1},
               {"max-age=3600,max-stale,", 3600000},
               {"max-age=3601,max-stale", -1},
               {",,, ,", -1}};

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        int64_t interval_ms = -1;
        bool may = web_shared_may_be_old(all[i].header, &interval_ms);
        assert_int_equal(may ? interval_ms : -1, all[i].interval_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_the_interval_within_the_budget),
                                       cmocka_unit_test(spends_the_budget_and_no_more),
                                       cmocka_unit_test(reads_what_changes_more_often),
                                       cmocka_unit_test(believes_high_costs_slowly),
                                       cmocka_unit_test(counts_readings_without_a_change),
                                       cmocka_unit_test(takes_an_old_answer_only_if_the_request_says_so)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
