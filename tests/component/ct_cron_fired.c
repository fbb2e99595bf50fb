/* Recurring entries as workers fire them: a task a slot, after a downtime, without overlap, when the clock changes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cron.h"
#include "support/script.h"

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

/* Two zones by name in one process, whose local zone is another. */
static void zones_by_name(void **state)
{
    (void)state;
    const int64_t leap = 1679792400000; /* in Berlin; in New York the clock leapt two weeks before */
    test_cron_zone("Asia/Tokyo");
    test_clock_set(leap - TEST_HOUR);
    test_cron_set((reeve_cron_entry){.spec = "30 2 * * *", .zone = "Europe/Berlin"}, "t");
    reeve_task_spec task = {.queue = "q", .type = "t"};
    const reeve_cron_entry other = {.name = "m", .spec = "30 20 * * *", .zone = "America/New_York", .task = &task};
    test_ok(test_client, reeve_cron_set(test_client, &other, NULL));
    test_cron_start_worker("q");
    test_cron_later(1);
    assert_int_equal(test_cron_due(), leap);
    test_cron_later(TEST_HOUR);
    assert_true(test_cron_is_made(leap));
    assert_int_equal(test_cron_due(), leap + 24 * TEST_HOUR - 30 * TEST_MINUTE);
    assert_int_equal(test_number("ZSCORE reeve:{q}:cron:due m"), leap + 23 * TEST_HOUR + 30 * TEST_MINUTE);
    reeve_cron_entry *entry;
    test_ok(test_client, reeve_cron_get(test_client, NULL, "m", &entry));
    assert_string_equal(entry->zone, "America/New_York");
    assert_false(entry->local);
    reeve_cron_entry_free(entry);
    test_cron_stop_worker();
    test_cron_zone("UTC");
}

static void assert_ended(void)
{
    assert_int_equal(test_cron_due(), -1);
    reeve_cron_info *info = test_cron_only();
    assert_true(info->ended && !info->paused);
    assert_int_equal(info->next_ms, -1);
    reeve_cron_free(info, 1);
}

/* The tasks of slots count, not that of a call; a changed entry begins again. */
static void a_number_of_runs(void **state)
{
    (void)state;
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_cron_set((reeve_cron_entry){.spec = "* * * * *", .runs = 2}, "t");
    test_cron_start_worker("q");
    test_cron_later(1);
    test_ok(test_client, reeve_cron_run(test_client, "q", "n", NULL));
    test_cron_later(TEST_MINUTE);
    reeve_cron_info *info = test_cron_only();
    assert_int_equal(info->enqueued, 1);
    assert_int_equal(info->entry->runs, 2);
    reeve_cron_free(info, 1);
    test_cron_later(TEST_MINUTE);
    assert_int_equal(test_cron_due(), -1);
    assert_int_equal(test_cron_tasks(), 3);
    assert_true(test_cron_is_made(TEST_NOON + 2 * TEST_MINUTE));
    assert_ended();
    test_cron_set((reeve_cron_entry){.spec = "* * * * *", .runs = 2}, "t"); /* that is no change */
    assert_ended();
    test_cron_set((reeve_cron_entry){.spec = "* * * * *", .runs = 3}, "t");
    test_cron_later(TEST_MINUTE);
    info = test_cron_only();
    assert_int_equal(info->enqueued, 1);
    assert_true(!info->ended && !info->paused);
    reeve_cron_free(info, 1);
}

/* The last slot has passed, the end has not: a later end starts the entry again. */
static void an_end_that_is_moved(void **state)
{
    (void)state;
    bool changed;
    test_cron_set((reeve_cron_entry){.spec = "0 * * * *", .ends_ms = TEST_NOON + 90 * TEST_MINUTE}, "t");
    test_cron_start_worker("q");
    test_cron_later(1);
    test_cron_later(TEST_HOUR);
    assert_int_equal(test_cron_tasks(), 1);
    assert_ended();
    test_ok(test_client, reeve_cron_resume(test_client, "q", "n", &changed)); /* which is of no use */
    assert_false(changed);
    test_cron_later(1);
    assert_ended();
    test_cron_set((reeve_cron_entry){.spec = "0 * * * *", .ends_ms = TEST_NOON + 120 * TEST_MINUTE}, "t");
    test_cron_later(TEST_HOUR);
    assert_int_equal(test_cron_tasks(), 2);
    assert_ended();
    /* Paused, it is not started by a change. */
    test_ok(test_client, reeve_cron_pause(test_client, "q", "n", &changed));
    assert_true(changed);
    test_ok(test_client, reeve_cron_pause(test_client, "q", "n", &changed));
    assert_false(changed);
    test_cron_set((reeve_cron_entry){.spec = "0 * * * *"}, "t");
    assert_int_equal(test_cron_due(), -1);
    reeve_cron_info *info = test_cron_only();
    assert_true(info->paused && !info->ended);
    reeve_cron_free(info, 1);
    test_ok(test_client, reeve_cron_resume(test_client, "q", "n", &changed));
    assert_true(changed);
}

/* Releases that do not know cron:stopped only remove an entry from cron:due. */
static void what_an_older_release_stopped(void **state)
{
    (void)state;
    bool changed;
    test_cron_set((reeve_cron_entry){.spec = "* * * * *", .ends_ms = TEST_NOON + TEST_HOUR}, "t");
    (void)test_cmd(test_conn, "ZREM " Q "cron:due n");
    reeve_cron_info *info = test_cron_only();
    assert_true(info->paused && !info->ended);
    reeve_cron_free(info, 1);
    test_cron_set((reeve_cron_entry){.spec = "0 * * * *", .ends_ms = TEST_NOON + TEST_HOUR}, "t");
    assert_int_equal(test_cron_due(), -1);
    test_ok(test_client, reeve_cron_resume(test_client, "q", "n", &changed));
    assert_true(changed);
    (void)test_cmd(test_conn, "ZREM " Q "cron:due n");
    (void)test_cmd(test_conn, "DEL " Q "cron:stopped");
    test_clock_advance(TEST_HOUR + 1);
    assert_ended();
    test_cron_set((reeve_cron_entry){.spec = "0 * * * *", .runs = 2}, "t");
    assert_true(test_cron_due() > 0);
    (void)test_cmd(test_conn, "ZREM " Q "cron:due n");
    (void)test_cmd(test_conn, "HSET " Q "cron:runs n 2");
    assert_ended();
    test_cron_set((reeve_cron_entry){.spec = "0 * * * *", .runs = 3}, "t");
    assert_true(test_cron_due() > 0);
}

static long long script_calls(void)
{
    const char *line = strstr(test_cmd(test_conn, "INFO commandstats"), "cmdstat_evalsha:calls=");
    return line != NULL ? atoll(line + strlen("cmdstat_evalsha:calls=")) : 0;
}

static void a_backfill(void **state)
{
    (void)state;
    reeve_backfill done;
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_cron_set((reeve_cron_entry){.spec = "0 * * * *", .no_overlap = true, .runs = 1, .jitter_ms = 5000}, "t");
    test_ok(test_client, reeve_cron_pause(test_client, "q", "n", NULL));
    const int64_t from = TEST_NOON - 200 * TEST_HOUR;
    test_ok(test_client, reeve_cron_backfill(test_client, "q", "n", from, TEST_NOON, 1000, true, &done));
    assert_int_equal(done.slots, 201);
    assert_int_equal(test_cron_tasks(), 0);
    long long calls = script_calls();
    test_ok(test_client, reeve_cron_backfill(test_client, "q", "n", from, TEST_NOON, 60, false, &done));
    assert_int_equal(script_calls() - calls, 3); /* it reads the entry, then a call for each 50 slots */
    assert_int_equal(done.slots, 60);
    assert_int_equal(done.enqueued, 60);
    assert_true(test_cron_is_made(from));
    test_ok(test_client, reeve_cron_backfill(test_client, "q", "n", from, TEST_NOON, 1000, false, &done));
    assert_int_equal(done.slots, 201);
    assert_int_equal(done.enqueued, 141);
    assert_int_equal(test_cron_tasks(), 201);
    reeve_cron_info *info = test_cron_only();
    assert_string_equal(info->last_id, "");
    assert_int_equal(info->enqueued, 0);
    assert_true(info->paused);
    reeve_cron_free(info, 1);
    test_refused(test_client, reeve_cron_backfill(test_client, "q", "none", 1, 2, 1, false, NULL), REEVE_ENOTFOUND,
                 "no recurring entry");
    test_refused(test_client, reeve_cron_backfill(test_client, "q", "n", 2, 1, 1, false, NULL), REEVE_EINVAL, "range");
    test_refused(test_client, reeve_cron_backfill(test_client, "q", "n", 1, 2, 0, false, NULL), REEVE_EINVAL, "slots");
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

/* More entries than a page are due that no worker understands, and stay so. The worker goes on to other pages, and does
 * not ask without a pause. */
static void an_entry_behind_a_page_that_no_worker_understands(void **state)
{
    (void)state;
    char name[16];
    for (int i = 0; i < 60; i++) {
        (void)snprintf(name, sizeof(name), "new%02d", i);
        (void)TEST_SCRIPT(cron, Q, "set", name, "{\"later\":1}\n\"type\":\"t\"}\n{}");
    }
    test_clock_advance(1);
    test_cron_set((reeve_cron_entry){.spec = "@daily"}, "t");
    test_clock_advance(TEST_HOUR * 24 - test_clock_now() % 2);
    test_cron_start_worker("q");
    TEST_AWAIT(test_number("HEXISTS " Q "settings upkeep") == 1);
    int64_t began = rv_now_ms();
    long long calls = script_calls();
    test_clock_advance(1);
    TEST_AWAIT(test_cron_due() > test_clock_now());
    assert_true(script_calls() - calls < 20 + (rv_now_ms() - began) / 50);
    test_cron_stop_worker();
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
        TEST(zones_by_name),
        TEST(a_number_of_runs),
        TEST(an_end_that_is_moved),
        TEST(what_an_older_release_stopped),
        TEST(a_backfill),
        TEST(many_entries_at_once),
        TEST(an_entry_that_cannot_be_understood),
        TEST(an_entry_behind_a_page_that_no_worker_understands),
    };
    test_cron_zone("UTC");
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_cron_fired", tests, test_place_start, test_place_stop);
}
