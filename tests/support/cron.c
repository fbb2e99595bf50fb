#include "support/cron.h"

#include <stdlib.h>
#include <time.h>

#define Q "reeve:{q}:"

static reeve_worker *worker;

int test_cron_set_up(void **state)
{
    test_clock_set(TEST_NOON);
    test_close_gate();
    return test_place_empty(state);
}

int test_cron_tear_down(void **state)
{
    (void)state;
    test_open_gate();
    reeve_worker_destroy(worker);
    worker = NULL;
    return 0;
}

void test_cron_zone(const char *name)
{
    assert_int_equal(setenv("TZ", name, 1), 0);
    tzset();
}

reeve_worker *test_cron_start_worker(const char *queues)
{
    worker = test_worker_new(&(reeve_worker_options){.session_ms = 20 * TEST_HOUR});
    test_worker_pool(worker, queues, 2, 0);
    test_worker_start(worker);
    return worker;
}

void test_cron_stop_worker(void)
{
    reeve_worker_destroy(worker);
    worker = NULL;
}

void test_cron_set(reeve_cron_entry entry, const char *type)
{
    reeve_task_spec task = {.queue = "q", .type = type};
    if (!entry.task) entry.task = &task;
    if (!entry.name) entry.name = "n";
    test_ok(test_client, reeve_cron_set(test_client, &entry, NULL));
}

int64_t test_cron_due(void)
{
    const char *score = test_cmd(test_conn, "ZSCORE " Q "cron:due n");
    return score[0] == '(' ? -1 : atoll(score);
}

void test_cron_look(void)
{
    const rv_reply *reply;
    rv_cmd(test_conn, 3);
    rv_args(test_conn, "PUBLISH");
    rv_args(test_conn, "reeve:control");
    rv_args(test_conn, "due q 0");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    TEST_AWAIT(test_cron_due() < 0 || test_cron_due() > test_clock_now());
}

void test_cron_later(int64_t ms)
{
    test_clock_advance(ms);
    test_cron_look();
}

bool test_cron_is_made(int64_t slot)
{
    return test_number("HEXISTS " Q "tasks cron:n:%lld", (long long)slot) == 1;
}

long long test_cron_tasks(void)
{
    return test_number("HLEN " Q "tasks");
}

reeve_cron_info *test_cron_only(void)
{
    reeve_cron_info *list;
    size_t count;
    test_ok(test_client, reeve_cron_list(test_client, "q", &list, &count));
    assert_int_equal(count, 1);
    return list;
}
