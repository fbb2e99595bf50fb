/* Recurring entries as workers fire them: a task a slot, after a downtime, without overlap, when the clock changes. */
#include <stdio.h>
#include <string.h>

#include "support/cron.h"

#define Q "reeve:{q}:"

/* ---- slots ----------------------------------------------------------------------------------------------------- */

static void a_slot_makes_a_task(void **state)
{
    (void)state;
    reeve_task_spec task = {
        .queue = "q", .type = "nap", .payload = {"1", 1}, .priority = -5, .group = "g", .weight = 4, .attempts = 3};
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_cron_set((reeve_cron_entry){.spec = "* * * * *", .task = &task}, NULL);
    test_cron_start_worker("q");
    test_cron_later(1);
    assert_int_equal(test_cron_due(), TEST_NOON + TEST_MINUTE);
    assert_int_equal(test_cron_tasks(), 0);
    test_cron_later(TEST_MINUTE - 2);
    assert_int_equal(test_cron_tasks(), 0);
    test_cron_later(1);
    assert_true(test_cron_is_made(TEST_NOON + TEST_MINUTE));
    assert_int_equal(test_cron_tasks(), 1);
    assert_int_equal(test_cron_due(), TEST_NOON + 2 * TEST_MINUTE);
    reeve_cron_info *entry = test_cron_only();
    assert_string_equal(entry->last_id, "cron:n:1700049660000");
    reeve_cron_free(entry, 1);
    reeve_task_info *info = test_show("q", "cron:n:1700049660000");
    assert_int_equal(info->state, REEVE_STATE_READY);
    assert_string_equal(info->type, "nap");
    assert_int_equal(info->payload.length, 1);
    assert_int_equal(info->priority, -5);
    assert_string_equal(info->group, "g");
    assert_int_equal(info->attempts, 3);
    assert_int_equal(info->enqueued_ms, TEST_NOON + TEST_MINUTE);
    reeve_task_info_free(info);
    assert_true(atoll(test_cmd(test_conn, "ZSCORE " Q "ready cron:n:1700049660000")) < 0);
    test_ok(test_client, reeve_resume(test_client, "q"));
    TEST_AWAIT(atomic_load(&test_ran) == 1);
}

/* The scheduler hears of an entry that comes while it sleeps, and of nothing else. */
static void an_entry_that_comes_to_an_idle_worker(void **state)
{
    (void)state;
    test_clock_run();
    reeve_worker *worker = test_cron_start_worker("q other");
    TEST_AWAIT(test_worker_stats(worker).connected);
    test_cron_set((reeve_cron_entry){.spec = "every 300ms"}, "t");
    TEST_AWAIT(atomic_load(&test_ran) >= 3);
}

/* ---- catch-up and overlap -------------------------------------------------------------------------------------- */

static void downtime(reeve_catch_up catch_up, unsigned max, bool no_overlap, int count, int64_t first)
{
    (void)test_cmd(test_conn, "FLUSHALL");
    test_clock_set(TEST_NOON);
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_cron_set(
        (reeve_cron_entry){.spec = "*/10 * * * *", .catch_up = catch_up, .catch_up_max = max, .no_overlap = no_overlap},
        "t");
    test_cron_start_worker("q");
    test_cron_later(1);
    test_cron_stop_worker();
    test_clock_set(TEST_NOON + TEST_HOUR + TEST_MINUTE);
    test_cron_start_worker("q");
    test_cron_look();
    assert_int_equal(test_cron_tasks(), count);
    for (int i = 0; i < count; i++) assert_true(test_cron_is_made(TEST_NOON + first + i * 10 * TEST_MINUTE));
    assert_int_equal(test_cron_due(), TEST_NOON + TEST_HOUR + 10 * TEST_MINUTE);
    test_cron_later(9 * TEST_MINUTE); /* and goes on as ever, but for one that would overlap */
    assert_int_equal(test_cron_tasks(), count + !no_overlap);
    test_cron_stop_worker();
}

static void a_downtime(void **state)
{
    (void)state;
    downtime(REEVE_CATCH_UP_ONCE, 0, false, 1, TEST_HOUR);
    downtime(REEVE_CATCH_UP_SKIP, 0, false, 0, 0);
    downtime(REEVE_CATCH_UP_ALL, 0, false, 6, 10 * TEST_MINUTE);
    downtime(REEVE_CATCH_UP_ALL, 2, false, 2, 50 * TEST_MINUTE);
    downtime(REEVE_CATCH_UP_ALL, 4, true, 1, TEST_HOUR);
}

static void assert_slot(const char *id, int64_t slot)
{
    char text[24];
    TEST_AWAIT_STATE(id, "completed");
    reeve_task_info *info = test_show("q", id);
    (void)snprintf(text, sizeof(text), "%lld", (long long)slot);
    assert_string_equal(info->result.data, text);
    reeve_task_info_free(info);
}

/* Also of one that was missed; and none of a task that was made by hand. */
static void a_handler_is_told_the_slot(void **state)
{
    char id[REEVE_ID_MAX];
    (void)state;
    test_cron_set((reeve_cron_entry){.spec = "*/10 * * * *", .catch_up = REEVE_CATCH_UP_ALL}, "slot");
    test_cron_start_worker("q");
    test_cron_later(1);
    test_cron_stop_worker();
    test_clock_set(TEST_NOON + 21 * TEST_MINUTE);
    test_cron_start_worker("q");
    test_cron_look();
    for (int i = 1; i <= 2; i++) {
        const int64_t slot = TEST_NOON + i * 10 * TEST_MINUTE;
        (void)snprintf(id, sizeof(id), "cron:n:%lld", (long long)slot);
        assert_slot(id, slot);
    }
    test_ok(test_client, reeve_cron_run(test_client, "q", "n", id));
    assert_slot(id, -1);
}

static void no_overlap(void **state)
{
    (void)state;
    char id[REEVE_ID_MAX];
    test_cron_set((reeve_cron_entry){.spec = "* * * * *", .no_overlap = true}, "hold");
    test_cron_start_worker("q");
    test_cron_later(1);
    test_cron_later(TEST_MINUTE);
    TEST_AWAIT(atomic_load(&test_begun) == 1);
    test_cron_later(TEST_MINUTE);
    test_cron_later(TEST_MINUTE);
    test_refused(test_client, reeve_cron_run(test_client, "q", "n", id), REEVE_ESTATE, "overlap");
    assert_int_equal(test_cron_tasks(), 1);
    test_open_gate();
    TEST_AWAIT(test_count("q", "completed") == 1);
    test_cron_later(TEST_MINUTE);
    assert_true(test_cron_is_made(TEST_NOON + 4 * TEST_MINUTE));
    TEST_AWAIT(test_count("q", "completed") == 2);
    test_ok(test_client, reeve_cron_run(test_client, "q", "n", id));
    TEST_AWAIT(test_count("q", "completed") == 3);
    /* A last one that is not there any more is no hindrance. */
    test_ok(test_client, reeve_delete(test_client, "q", id));
    test_cron_later(TEST_MINUTE);
    assert_true(test_cron_is_made(TEST_NOON + 5 * TEST_MINUTE));
}

/* ---- odd slots ------------------------------------------------------------------------------------------------- */

/* An id that is taken is left alone, and holds up nothing. */
static void a_slot_whose_task_is_there(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "cron:n:1700049660000", .type = "hold"});
    test_cron_set((reeve_cron_entry){.spec = "* * * * *"}, "t");
    test_cron_start_worker("q");
    test_cron_later(1);
    test_cron_later(TEST_MINUTE);
    assert_int_equal(test_cron_tasks(), 1);
    test_cron_later(TEST_MINUTE);
    assert_true(test_cron_is_made(TEST_NOON + 2 * TEST_MINUTE));
    reeve_task_info *info = test_show("q", "cron:n:1700049660000");
    assert_string_equal(info->type, "hold");
    reeve_task_info_free(info);
}

/* Berlin, 2023-03-26: the clock leaps from 2:00 to 3:00 at 1:00 UTC; 2023-10-29: from 3:00 to 2:00. */
static void clock_changes(void **state)
{
    (void)state;
    const int64_t leap = 1679792400000, fall = 1698541200000;
    test_cron_zone("Europe/Berlin");
    test_clock_set(leap - TEST_HOUR);
    test_cron_set((reeve_cron_entry){.spec = "30 2 * * *", .local = true}, "t");
    test_cron_start_worker("q");
    test_cron_later(1);
    assert_int_equal(test_cron_due(), leap);
    test_cron_later(TEST_HOUR);
    assert_true(test_cron_is_made(leap));
    assert_int_equal(test_cron_due(), leap + 24 * TEST_HOUR - 30 * TEST_MINUTE);
    test_ok(test_client, reeve_cron_remove(test_client, "q", "n"));
    test_clock_set(fall - TEST_HOUR);
    test_cron_set((reeve_cron_entry){.spec = "30 2 * * *", .local = true}, "t");
    test_cron_later(1);
    assert_int_equal(test_cron_due(), fall - 30 * TEST_MINUTE);
    test_cron_later(TEST_HOUR);
    assert_true(test_cron_is_made(fall - 30 * TEST_MINUTE));
    assert_int_equal(test_cron_due(), fall + 24 * TEST_HOUR + 30 * TEST_MINUTE);
    test_cron_stop_worker();
    test_cron_zone("UTC");
}

/* More entries than one look tells of. */
static void many_entries_at_once(void **state)
{
    (void)state;
    reeve_task_spec task = {.queue = "q", .type = "t"};
    char name[16];
    for (int i = 0; i < 180; i++) {
        (void)snprintf(name, sizeof(name), "e%d", i);
        test_cron_set((reeve_cron_entry){.name = name, .spec = "* * * * *", .task = &task}, NULL);
    }
    test_cron_set((reeve_cron_entry){.spec = "* * * * *"}, "t");
    test_cron_start_worker("q");
    test_cron_later(1);
    TEST_AWAIT(test_number("ZCOUNT " Q "cron:due -inf %lld", (long long)test_clock_now()) == 0);
    test_cron_later(TEST_MINUTE);
    TEST_AWAIT(atomic_load(&test_ran) == 181);
    assert_int_equal(test_cron_tasks(), 181);
}

/* ---- what cannot be understood --------------------------------------------------------------------------------- */

static atomic_uint broken_logged;

static void on_log(const reeve_log_record *record, void *user)
{
    (void)user;
    if (strcmp(record->event, "cron.broken") == 0) atomic_fetch_add(&broken_logged, 1);
}

static void an_entry_that_cannot_be_understood(void **state)
{
    (void)state;
    reeve_log_set(on_log, NULL, REEVE_LOG_ERROR);
    (void)test_cmd(test_conn, "HSET " Q "cron bad rubbish worse {\"spec\":\"every_blue_moon\"}");
    (void)test_cmd(test_conn, "ZADD " Q "cron:due 1 bad 2 worse 3 ghost");
    test_cron_set((reeve_cron_entry){.spec = "* * * * *"}, "t");
    test_cron_start_worker("q");
    test_cron_later(1);
    for (int i = 1; i <= 5; i++) {
        test_cron_later(TEST_MINUTE);
        TEST_AWAIT(atomic_load(&test_ran) == (unsigned long)i);
    }
    assert_int_equal(atomic_load(&broken_logged), 2);
    assert_int_equal(test_number("ZCARD " Q "cron:due"), 3); /* for a worker that knows better; the ghost is gone */
    (void)test_cmd(test_conn, "HSET " Q "cron bad other_rubbish");
    test_cron_later(TEST_MINUTE);
    TEST_AWAIT(atomic_load(&broken_logged) == 3);
    test_cron_stop_worker();
    reeve_log_set(NULL, NULL, REEVE_LOG_OFF);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_cron_set_up, test_cron_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_slot_makes_a_task),
        TEST(an_entry_that_comes_to_an_idle_worker),
        TEST(a_downtime),
        TEST(a_handler_is_told_the_slot),
        TEST(no_overlap),
        TEST(a_slot_whose_task_is_there),
        TEST(clock_changes),
        TEST(many_entries_at_once),
        TEST(an_entry_that_cannot_be_understood),
    };
    test_cron_zone("UTC");
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_cron_fired", tests, test_place_start, test_place_stop);
}
