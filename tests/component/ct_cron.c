/* Recurring entries as they are kept: set, listed, paused, run by hand, changed and removed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cron.h"
#include "support/script.h"

#define Q "reeve:{q}:"

/* ---- set and listed -------------------------------------------------------------------------------------------- */

static void set_and_changed(void **state)
{
    (void)state;
    bool changed = false;
    reeve_task_spec task = {.queue = "q", .type = "t", .payload = {"a\0b", 3}};
    reeve_cron_entry entry = {.name = "n", .spec = "0 * * * *", .task = &task};
    test_ok(test_client, reeve_cron_set(test_client, &entry, &changed));
    assert_true(changed);
    assert_int_equal(test_number("SISMEMBER reeve:queues q"), 1);
    test_clock_advance(TEST_MINUTE);
    int64_t before = test_cron_due();
    test_ok(test_client, reeve_cron_set(test_client, &entry, &changed));
    assert_false(changed);
    assert_int_equal(test_cron_due(), before);
    task.priority = 1;
    test_ok(test_client, reeve_cron_set(test_client, &entry, &changed));
    assert_true(changed);
    assert_true(test_cron_due() > before);
    entry.spec = "nonsense";
    test_refused(test_client, reeve_cron_set(test_client, &entry, &changed), REEVE_EINVAL, "nonsense");
    assert_int_equal(test_number("HLEN " Q "cron"), 1);
}

static void listed(void **state)
{
    (void)state;
    reeve_task_spec task = {.queue = "q", .type = "t", .payload = {"a\0b", 3}, .group = "g"};
    test_cron_set(
        (reeve_cron_entry){
            .spec = "30 * * * *", .catch_up = REEVE_CATCH_UP_ALL, .local = true, .no_overlap = true, .task = &task},
        NULL);
    reeve_cron_info *info = test_cron_only();
    assert_string_equal(info->queue, "q");
    assert_string_equal(info->name, "n");
    assert_string_equal(info->spec, "30 * * * *");
    assert_true(info->local && info->no_overlap && !info->paused);
    assert_int_equal(info->catch_up, REEVE_CATCH_UP_ALL);
    assert_int_equal(info->catch_up_max, 100);
    assert_int_equal(info->next_ms, TEST_NOON + 30 * TEST_MINUTE); /* though no worker has looked yet */
    assert_string_equal(info->last_id, "");
    assert_string_equal(info->type, "t");
    assert_int_equal(info->payload.length, 3);
    assert_memory_equal(info->payload.data, "a\0b", 3);
    reeve_cron_free(info, 1);
    reeve_cron_free(NULL, 0);
}

static void listed_over_many_queues(void **state)
{
    (void)state;
    char queue[16], name[16];
    reeve_task_spec task = {.queue = queue, .type = "t"};
    for (int i = 149; i >= 0; i--) {
        (void)snprintf(queue, sizeof(queue), "q%03d", i);
        (void)snprintf(name, sizeof(name), "b%d", i);
        test_cron_set((reeve_cron_entry){.name = name, .spec = "@daily", .task = &task}, NULL);
        name[0] = 'a';
        if (i % 2 == 0) test_cron_set((reeve_cron_entry){.name = name, .spec = "@daily", .task = &task}, NULL);
    }
    test_put("empty", "x");
    reeve_cron_info *list;
    size_t count;
    test_ok(test_client, reeve_cron_list(test_client, NULL, &list, &count));
    assert_int_equal(count, 225);
    for (size_t i = 0; i + 1 < count; i++) {
        int order = strcmp(list[i].queue, list[i + 1].queue);
        assert_true(order < 0 || (order == 0 && strcmp(list[i].name, list[i + 1].name) < 0));
    }
    reeve_cron_free(list, count);
    test_ok(test_client, reeve_cron_list(test_client, "empty", &list, &count));
    assert_int_equal(count, 0);
    reeve_cron_free(list, count);
    test_refused(test_client, reeve_cron_list(test_client, "no queue", &list, &count), REEVE_EINVAL, "no queue");
}

/* Many entries of a queue come in pages: no call reads all of them. */
static void many_of_one_queue(void **state)
{
    (void)state;
    enum { MANY = 1500, PAGES = 5 };
    char name[16];
    reeve_task_spec task = {.queue = "q", .type = "t"};
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof(name), "e%04d", i);
        test_cron_set((reeve_cron_entry){.name = name, .spec = i % 3 == 0 ? "every 60s" : "@daily", .task = &task},
                      NULL);
    }
    (void)test_cmd(test_conn, "CONFIG RESETSTAT");
    reeve_cron_info *list;
    size_t count;
    test_ok(test_client, reeve_cron_list(test_client, "q", &list, &count));
    const char *pages = strstr(test_cmd(test_conn, "INFO commandstats"), "cmdstat_hscan:calls=");
    assert_true(pages != NULL && atoi(pages + strlen("cmdstat_hscan:calls=")) >= PAGES);
    assert_int_equal(count, MANY);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof(name), "e%04d", i);
        assert_string_equal(list[i].name, name);
        assert_string_equal(list[i].spec, i % 3 == 0 ? "every 60s" : "@daily");
        assert_false(list[i].paused);
    }
    reeve_cron_free(list, count);
}

static void what_is_not_there(void **state)
{
    (void)state;
    bool changed;
    char id[REEVE_ID_MAX];
    test_refused(test_client, reeve_cron_remove(test_client, "q", "n"), REEVE_ENOTFOUND, "q/n");
    test_refused(test_client, reeve_cron_pause(test_client, "q", "n", &changed), REEVE_ENOTFOUND, "q/n");
    test_refused(test_client, reeve_cron_resume(test_client, "q", "n", &changed), REEVE_ENOTFOUND, "q/n");
    test_refused(test_client, reeve_cron_run(test_client, "q", "n", id), REEVE_ENOTFOUND, "q/n");
    test_refused(test_client, reeve_cron_run(test_client, "q", "a:b", id), REEVE_EINVAL, "a:b");
    test_refused(test_client, reeve_cron_pause(test_client, "a:b", "n", &changed), REEVE_EINVAL, "a:b");
    assert_int_equal(test_number("EXISTS " Q "cron " Q "cron:due"), 0);
}

static void a_definition_that_is_not_ours(void **state)
{
    (void)state;
    (void)test_cmd(test_conn, "HSET " Q "cron n rubbish");
    reeve_cron_info *info = test_cron_only();
    assert_string_equal(info->spec, "");
    assert_string_equal(info->type, "");
    assert_int_equal(info->next_ms, -1);
    reeve_cron_free(info, 1);
    test_ok(test_client, reeve_cron_remove(test_client, "q", "n"));
}

/* ---- steered --------------------------------------------------------------------------------------------------- */

static void paused_and_resumed(void **state)
{
    (void)state;
    bool changed;
    char id[REEVE_ID_MAX];
    test_cron_set((reeve_cron_entry){.spec = "* * * * *", .catch_up = REEVE_CATCH_UP_ALL}, "t");
    test_cron_start_worker("q");
    test_cron_later(1);
    test_ok(test_client, reeve_cron_pause(test_client, "q", "n", &changed));
    assert_true(changed);
    test_ok(test_client, reeve_cron_pause(test_client, "q", "n", &changed));
    assert_false(changed);
    reeve_cron_info *info = test_cron_only();
    assert_true(info->paused);
    assert_int_equal(info->next_ms, -1);
    reeve_cron_free(info, 1);
    test_cron_later(5 * TEST_MINUTE);
    /* A change does not end it, a run is possible. */
    test_cron_set((reeve_cron_entry){.spec = "* * * * *"}, "nap");
    test_cron_set((reeve_cron_entry){.spec = "* * * * *", .catch_up = REEVE_CATCH_UP_ALL}, "t");
    assert_int_equal(test_cron_due(), -1);
    assert_int_equal(test_cron_tasks(), 0);
    test_ok(test_client, reeve_cron_run(test_client, "q", "n", id));
    assert_string_equal(id, "cron:n:now:1700049900001");
    TEST_AWAIT(atomic_load(&test_ran) == 1);
    test_ok(test_client, reeve_cron_resume(test_client, "q", "n", &changed));
    assert_true(changed);
    test_ok(test_client, reeve_cron_resume(test_client, "q", "n", &changed));
    assert_false(changed);
    test_cron_later(1);
    assert_int_equal(test_cron_due(), TEST_NOON + 6 * TEST_MINUTE);
    assert_int_equal(test_cron_tasks(), 1);
    test_cron_later(TEST_MINUTE);
    assert_true(test_cron_is_made(TEST_NOON + 6 * TEST_MINUTE));
    assert_int_equal(test_cron_tasks(), 2);
}

static void runs_in_one_millisecond(void **state)
{
    (void)state;
    char first[REEVE_ID_MAX], second[REEVE_ID_MAX];
    test_cron_set((reeve_cron_entry){.spec = "@yearly"}, "t");
    int64_t before = test_cron_due();
    test_ok(test_client, reeve_cron_run(test_client, "q", "n", first));
    test_ok(test_client, reeve_cron_run(test_client, "q", "n", second));
    test_ok(test_client, reeve_cron_run(test_client, "q", "n", NULL));
    assert_string_not_equal(first, second);
    assert_int_equal(test_count("q", "ready"), 3);
    assert_int_equal(test_cron_due(), before);
}

static void a_changed_definition(void **state)
{
    (void)state;
    test_cron_set((reeve_cron_entry){.spec = "*/10 * * * *", .catch_up = REEVE_CATCH_UP_ALL}, "t");
    test_cron_start_worker("q");
    test_cron_later(1);
    test_cron_later(4 * TEST_MINUTE);
    test_cron_set((reeve_cron_entry){.spec = "*/3 * * * *", .catch_up = REEVE_CATCH_UP_ALL}, "nap");
    test_cron_later(1);
    assert_int_equal(test_cron_due(), TEST_NOON + 6 * TEST_MINUTE); /* not the one that was at 3 */
    test_cron_later(2 * TEST_MINUTE);
    assert_int_equal(test_cron_tasks(), 1);
    reeve_task_info *info = test_show("q", "cron:n:1700049960000");
    assert_string_equal(info->type, "nap");
    reeve_task_info_free(info);
    test_ok(test_client, reeve_cron_remove(test_client, "q", "n"));
    test_cron_later(TEST_HOUR);
    assert_int_equal(test_cron_tasks(), 1);
    assert_int_equal(test_number("EXISTS " Q "cron " Q "cron:due " Q "cron:last"), 0);
}

/* An interval goes on when the clock is set back, though its slots come again and their tasks are kept; an entry of
 * times of the day waits: each of its slots counts once. */
static void an_interval_when_the_clock_goes_back(void **state)
{
    (void)state;
    test_cron_set((reeve_cron_entry){.spec = "every 1m"}, "t");
    test_cron_set((reeve_cron_entry){.name = "daily", .spec = "@daily"}, "t");
    test_cron_start_worker("q");
    test_cron_later(1);
    for (int i = 1; i <= 3; i++) test_cron_later(TEST_MINUTE);
    TEST_AWAIT(atomic_load(&test_ran) == 3);
    long long daily = test_number("ZSCORE " Q "cron:due daily");
    test_clock_advance(-TEST_HOUR);
    test_cron_look();
    TEST_AWAIT(test_cron_due() < TEST_NOON);
    test_cron_later(TEST_MINUTE);
    TEST_AWAIT(atomic_load(&test_ran) == 4);
    test_cron_later(58 * TEST_MINUTE); /* (of those that were missed the last one counts) */
    TEST_AWAIT(atomic_load(&test_ran) == 5);
    assert_int_equal(test_cron_tasks(), 5);
    assert_int_equal(test_number("HEXISTS " Q "tasks cron:n:%lld", TEST_NOON + 2 * TEST_MINUTE + 1), 1);
    assert_int_equal(test_number("ZSCORE " Q "cron:due daily"), daily);
}

/* More than a page of them is due for ever; the one behind them comes all the same. */
static void many_that_no_worker_understands(void **state)
{
    (void)state;
    char name[16];
    for (int i = 0; i < 50; i++) {
        (void)snprintf(name, sizeof(name), "new%02d", i);
        (void)TEST_SCRIPT(cron, Q, "set", name, "{\"later\":1}\n\"type\":\"t\"}\n{}");
    }
    test_clock_advance(1);
    (void)TEST_SCRIPT(cron, Q, "set", "good", "{\"spec\":\"@daily\"}\n\"type\":\"t\"}\n{}");
    bool found = false;
    for (int i = 0; i < 4 && !found; i++) {
        test_clock_advance(1);
        found = strstr(TEST_SCRIPT(maintain, Q, "200", "15000"), "good") != NULL;
    }
    assert_true(found);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_cron_set_up, test_cron_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(set_and_changed),
        TEST(listed),
        TEST(listed_over_many_queues),
        TEST(many_of_one_queue),
        TEST(what_is_not_there),
        TEST(a_definition_that_is_not_ours),
        TEST(paused_and_resumed),
        TEST(runs_in_one_millisecond),
        TEST(a_changed_definition),
        TEST(many_that_no_worker_understands),
        TEST(an_interval_when_the_clock_goes_back),
    };
    test_cron_zone("UTC");
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_cron", tests, test_place_start, test_place_stop);
}
