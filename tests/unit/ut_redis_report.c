/* The beginning and the end of an outage are told once, whichever thread finds out when. */
#include <string.h>

#include "running/redis_report.h"
#include "support/cmocka.h"

static unsigned downs, ups;

static void count_outages(const reeve_log_record *record, void *user)
{
    (void)user;
    downs += strcmp(record->event, "redis.down") == 0;
    ups += strcmp(record->event, "redis.up") == 0;
}

static char words[] = "redis://127.0.0.1";
static rv_url target = {.redacted = words};
static reeve_worker worker = {.target = &target};

static int begin(void **state)
{
    (void)state;
    downs = ups = 0;
    reeve_log_set(count_outages, NULL, REEVE_LOG_INFO);
    return 0;
}

static int end(void **state)
{
    (void)state;
    reeve_log_set(NULL, NULL, REEVE_LOG_OFF);
    return 0;
}

static void each_is_told_once(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 2; i++) {
        rv_redis_report_down(&worker, rv_redis_report_try(&worker), "gone");
        rv_redis_report_down(&worker, rv_redis_report_try(&worker), "gone");
        assert_int_equal(downs, i);
        assert_int_equal(ups, i - 1);
        rv_redis_report_up(&worker, NULL);
        rv_redis_report_up(&worker, NULL);
        assert_int_equal(downs, i);
        assert_int_equal(ups, i);
    }
}

/* One that could not connect says so after another could. */
static void late_words_say_nothing(void **state)
{
    (void)state;
    unsigned tried = rv_redis_report_try(&worker);
    rv_redis_report_up(&worker, NULL);
    rv_redis_report_down(&worker, tried, "gone");
    assert_int_equal(downs, 0);
    rv_redis_report_down(&worker, rv_redis_report_try(&worker), "gone");
    assert_int_equal(downs, 1);
    rv_redis_report_up(&worker, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_is_told_once, begin, end),
        cmocka_unit_test_setup_teardown(late_words_say_nothing, begin, end),
    };
    return cmocka_run_group_tests_name("ut_redis_report", tests, NULL, NULL);
}
