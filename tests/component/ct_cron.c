/* Recurring entries: kept, listed and steered; fired by workers, once a slot, on a clock that the test moves. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "queue/scripts.h"
#include "reeve/cron.h"
#include "support/clock.h"
#include "support/worker.h"

#define Q "reeve:{q}:"
#define NOON 1700049600000 /* 2023-11-15T12:00:00Z */
#define MINUTE 60000LL
#define HOUR (60 * MINUTE)

static reeve_worker *worker;

static int set_up(void **state)
{
    test_clock_set(NOON);
    test_close_gate();
    return test_place_empty(state);
}

static int tear_down(void **state)
{
    (void)state;
    test_open_gate();
    reeve_worker_destroy(worker);
    worker = NULL;
    return 0;
}

/* Its sessions outlive what the tests do to the clock. */
static void start_worker(const char *queues)
{
    worker = test_worker_new(&(reeve_worker_options){.session_ms = 20 * HOUR});
    test_worker_pool(worker, queues, 2, 0);
    test_worker_start(worker);
}

static void stop_worker(void)
{
    reeve_worker_destroy(worker);
    worker = NULL;
}

static void set_entry(reeve_cron_entry entry, const char *type)
{
    reeve_task_spec task = {.queue = "q", .type = type};
    if (!entry.task) entry.task = &task;
    if (!entry.name) entry.name = "n";
    test_ok(test_client, reeve_cron_set(test_client, &entry, NULL));
}

/* When the entry is to be looked at; -1: not at all. */
static int64_t due(void)
{
    const char *score = test_cmd(test_conn, "ZSCORE " Q "cron:due n");
    return score[0] == '(' ? -1 : atoll(score);
}

/* Has the workers look, and waits until they have: the entry is due later then. */
static void look(void)
{
    const rv_reply *reply;
    rv_cmd(test_conn, 3);
    rv_args(test_conn, "PUBLISH");
    rv_args(test_conn, "reeve:control");
    rv_args(test_conn, "due q 0");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    TEST_AWAIT(due() < 0 || due() > test_clock_now());
}

static void later(int64_t ms)
{
    test_clock_advance(ms);
    look();
}

static bool is_made(int64_t slot)
{
    return test_number("HEXISTS " Q "tasks cron:n:%lld", (long long)slot) == 1;
}

static long long tasks(void)
{
    return test_number("HLEN " Q "tasks");
}

/* The one entry of queue q. */
static reeve_cron_info *only_entry(void)
{
    reeve_cron_info *list;
    size_t count;
    test_ok(test_client, reeve_cron_list(test_client, "q", &list, &count));
    assert_int_equal(count, 1);
    return list;
}

/* ---- kept ------------------------------------------------------------------------------------------------------ */

static void set_and_changed(void **state)
{
    (void)state;
    bool changed = false;
    reeve_task_spec task = {.queue = "q", .type = "t", .payload = {"a\0b", 3}};
    reeve_cron_entry entry = {.name = "n", .spec = "0 * * * *", .task = &task};
    test_ok(test_client, reeve_cron_set(test_client, &entry, &changed));
    assert_true(changed);
    assert_int_equal(test_number("SISMEMBER reeve:queues q"), 1);
    test_clock_advance(MINUTE);
    int64_t before = due();
    test_ok(test_client, reeve_cron_set(test_client, &entry, &changed));
    assert_false(changed);
    assert_int_equal(due(), before);
    task.priority = 1;
    test_ok(test_client, reeve_cron_set(test_client, &entry, &changed));
    assert_true(changed);
    assert_true(due() > before);
    entry.spec = "nonsense";
    test_refused(test_client, reeve_cron_set(test_client, &entry, &changed), REEVE_EINVAL, "nonsense");
    assert_int_equal(test_number("HLEN " Q "cron"), 1);
}

static void listed(void **state)
{
    (void)state;
    reeve_task_spec task = {.queue = "q", .type = "t", .payload = {"a\0b", 3}, .group = "g"};
    set_entry(
        (reeve_cron_entry){
            .spec = "30 * * * *", .catch_up = REEVE_CATCH_UP_ALL, .local = true, .no_overlap = true, .task = &task},
        NULL);
    reeve_cron_info *info = only_entry();
    assert_string_equal(info->queue, "q");
    assert_string_equal(info->name, "n");
    assert_string_equal(info->spec, "30 * * * *");
    assert_true(info->local && info->no_overlap && !info->paused);
    assert_int_equal(info->catch_up, REEVE_CATCH_UP_ALL);
    assert_int_equal(info->catch_up_most, 100);
    assert_int_equal(info->next_ms, NOON + 30 * MINUTE); /* though no worker has looked yet */
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
    char queue[16];
    reeve_task_spec task = {.queue = queue, .type = "t"};
    for (int i = 149; i >= 0; i--) {
        (void)snprintf(queue, sizeof(queue), "q%03d", i);
        set_entry((reeve_cron_entry){.name = "b", .spec = "@daily", .task = &task}, NULL);
        if (i % 2 == 0) set_entry((reeve_cron_entry){.name = "a", .spec = "@daily", .task = &task}, NULL);
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
    reeve_cron_info *info = only_entry();
    assert_string_equal(info->spec, "");
    assert_string_equal(info->type, "");
    assert_int_equal(info->next_ms, -1);
    reeve_cron_free(info, 1);
    test_ok(test_client, reeve_cron_remove(test_client, "q", "n"));
}

/* ---- fired ----------------------------------------------------------------------------------------------------- */

static void a_slot_makes_a_task(void **state)
{
    (void)state;
    reeve_task_spec task = {
        .queue = "q", .type = "nap", .payload = {"1", 1}, .priority = -5, .group = "g", .weight = 4, .max_attempts = 3};
    test_ok(test_client, reeve_pause(test_client, "q"));
    set_entry((reeve_cron_entry){.spec = "* * * * *", .task = &task}, NULL);
    start_worker("q");
    later(1);
    assert_int_equal(due(), NOON + MINUTE);
    assert_int_equal(tasks(), 0);
    later(MINUTE - 2);
    assert_int_equal(tasks(), 0);
    later(1);
    assert_true(is_made(NOON + MINUTE));
    assert_int_equal(tasks(), 1);
    assert_int_equal(due(), NOON + 2 * MINUTE);
    reeve_cron_info *entry = only_entry();
    assert_string_equal(entry->last_id, "cron:n:1700049660000");
    reeve_cron_free(entry, 1);
    reeve_task_info *info = test_show("q", "cron:n:1700049660000");
    assert_int_equal(info->state, REEVE_STATE_READY);
    assert_string_equal(info->type, "nap");
    assert_int_equal(info->payload.length, 1);
    assert_int_equal(info->priority, -5);
    assert_string_equal(info->group, "g");
    assert_int_equal(info->max_attempts, 3);
    assert_int_equal(info->enqueued_ms, NOON + MINUTE);
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
    start_worker("q other");
    TEST_AWAIT(test_worker_stats(worker).connected);
    set_entry((reeve_cron_entry){.spec = "every 300ms"}, "t");
    TEST_AWAIT(atomic_load(&test_ran) >= 3);
}

static void downtime(reeve_catch_up catch_up, unsigned most, bool no_overlap, int count, int64_t first)
{
    (void)test_cmd(test_conn, "FLUSHALL");
    test_clock_set(NOON);
    test_ok(test_client, reeve_pause(test_client, "q"));
    set_entry(
        (reeve_cron_entry){
            .spec = "*/10 * * * *", .catch_up = catch_up, .catch_up_most = most, .no_overlap = no_overlap},
        "t");
    start_worker("q");
    later(1);
    stop_worker();
    test_clock_set(NOON + HOUR + MINUTE);
    start_worker("q");
    look();
    assert_int_equal(tasks(), count);
    for (int i = 0; i < count; i++) assert_true(is_made(NOON + first + i * 10 * MINUTE));
    assert_int_equal(due(), NOON + HOUR + 10 * MINUTE);
    later(9 * MINUTE); /* and goes on as ever, but for one that would overlap */
    assert_int_equal(tasks(), count + !no_overlap);
    stop_worker();
}

static void a_downtime(void **state)
{
    (void)state;
    downtime(REEVE_CATCH_UP_ONCE, 0, false, 1, HOUR);
    downtime(REEVE_CATCH_UP_SKIP, 0, false, 0, 0);
    downtime(REEVE_CATCH_UP_ALL, 0, false, 6, 10 * MINUTE);
    downtime(REEVE_CATCH_UP_ALL, 2, false, 2, 50 * MINUTE);
    downtime(REEVE_CATCH_UP_ALL, 4, true, 1, HOUR);
}

static void no_overlap(void **state)
{
    (void)state;
    char id[REEVE_ID_MAX];
    set_entry((reeve_cron_entry){.spec = "* * * * *", .no_overlap = true}, "hold");
    start_worker("q");
    later(1);
    later(MINUTE);
    TEST_AWAIT(atomic_load(&test_begun) == 1);
    later(MINUTE);
    later(MINUTE);
    test_refused(test_client, reeve_cron_run(test_client, "q", "n", id), REEVE_ESTATE, "overlap");
    assert_int_equal(tasks(), 1);
    test_open_gate();
    TEST_AWAIT(test_count("q", "completed") == 1);
    later(MINUTE);
    assert_true(is_made(NOON + 4 * MINUTE));
    TEST_AWAIT(test_count("q", "completed") == 2);
    test_ok(test_client, reeve_cron_run(test_client, "q", "n", id));
    TEST_AWAIT(test_count("q", "completed") == 3);
    /* A last one that is not there any more is no hindrance. */
    test_ok(test_client, reeve_delete(test_client, "q", id));
    later(MINUTE);
    assert_true(is_made(NOON + 5 * MINUTE));
}

static void paused_and_resumed(void **state)
{
    (void)state;
    bool changed;
    char id[REEVE_ID_MAX];
    set_entry((reeve_cron_entry){.spec = "* * * * *", .catch_up = REEVE_CATCH_UP_ALL}, "t");
    start_worker("q");
    later(1);
    test_ok(test_client, reeve_cron_pause(test_client, "q", "n", &changed));
    assert_true(changed);
    test_ok(test_client, reeve_cron_pause(test_client, "q", "n", &changed));
    assert_false(changed);
    reeve_cron_info *info = only_entry();
    assert_true(info->paused);
    assert_int_equal(info->next_ms, -1);
    reeve_cron_free(info, 1);
    later(5 * MINUTE);
    /* A change does not end it, a run is possible. */
    set_entry((reeve_cron_entry){.spec = "* * * * *"}, "nap");
    set_entry((reeve_cron_entry){.spec = "* * * * *", .catch_up = REEVE_CATCH_UP_ALL}, "t");
    assert_int_equal(due(), -1);
    assert_int_equal(tasks(), 0);
    test_ok(test_client, reeve_cron_run(test_client, "q", "n", id));
    assert_string_equal(id, "cron:n:now:1700049900001");
    TEST_AWAIT(atomic_load(&test_ran) == 1);
    test_ok(test_client, reeve_cron_resume(test_client, "q", "n", &changed));
    assert_true(changed);
    test_ok(test_client, reeve_cron_resume(test_client, "q", "n", &changed));
    assert_false(changed);
    later(1);
    assert_int_equal(due(), NOON + 6 * MINUTE);
    assert_int_equal(tasks(), 1);
    later(MINUTE);
    assert_true(is_made(NOON + 6 * MINUTE));
    assert_int_equal(tasks(), 2);
}

static void runs_in_one_millisecond(void **state)
{
    (void)state;
    char first[REEVE_ID_MAX], second[REEVE_ID_MAX];
    set_entry((reeve_cron_entry){.spec = "@yearly"}, "t");
    int64_t before = due();
    test_ok(test_client, reeve_cron_run(test_client, "q", "n", first));
    test_ok(test_client, reeve_cron_run(test_client, "q", "n", second));
    test_ok(test_client, reeve_cron_run(test_client, "q", "n", NULL));
    assert_string_not_equal(first, second);
    assert_int_equal(test_count("q", "ready"), 3);
    assert_int_equal(due(), before);
}

static void a_changed_definition(void **state)
{
    (void)state;
    set_entry((reeve_cron_entry){.spec = "*/10 * * * *", .catch_up = REEVE_CATCH_UP_ALL}, "t");
    start_worker("q");
    later(1);
    later(4 * MINUTE);
    set_entry((reeve_cron_entry){.spec = "*/3 * * * *", .catch_up = REEVE_CATCH_UP_ALL}, "nap");
    later(1);
    assert_int_equal(due(), NOON + 6 * MINUTE); /* not the one that was at 3 */
    later(2 * MINUTE);
    assert_int_equal(tasks(), 1);
    reeve_task_info *info = test_show("q", "cron:n:1700049960000");
    assert_string_equal(info->type, "nap");
    reeve_task_info_free(info);
    test_ok(test_client, reeve_cron_remove(test_client, "q", "n"));
    later(HOUR);
    assert_int_equal(tasks(), 1);
    assert_int_equal(test_number("EXISTS " Q "cron " Q "cron:due " Q "cron:last"), 0);
}

/* An id that is taken is left alone, and holds up nothing. */
static void a_slot_whose_task_is_there(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "cron:n:1700049660000", .type = "hold"});
    set_entry((reeve_cron_entry){.spec = "* * * * *"}, "t");
    start_worker("q");
    later(1);
    later(MINUTE);
    assert_int_equal(tasks(), 1);
    later(MINUTE);
    assert_true(is_made(NOON + 2 * MINUTE));
}

static void zone(const char *name)
{
    assert_int_equal(setenv("TZ", name, 1), 0);
    tzset();
}

/* Berlin, 2023-03-26: the clock leaps from 2:00 to 3:00 at 1:00 UTC; 2023-10-29: from 3:00 to 2:00. */
static void clock_changes(void **state)
{
    (void)state;
    const int64_t leap = 1679792400000, fall = 1698541200000;
    zone("Europe/Berlin");
    test_clock_set(leap - HOUR);
    set_entry((reeve_cron_entry){.spec = "30 2 * * *", .local = true}, "t");
    start_worker("q");
    later(1);
    assert_int_equal(due(), leap);
    later(HOUR);
    assert_true(is_made(leap));
    assert_int_equal(due(), leap + 24 * HOUR - 30 * MINUTE);
    test_ok(test_client, reeve_cron_remove(test_client, "q", "n"));
    test_clock_set(fall - HOUR);
    set_entry((reeve_cron_entry){.spec = "30 2 * * *", .local = true}, "t");
    later(1);
    assert_int_equal(due(), fall - 30 * MINUTE);
    later(HOUR);
    assert_true(is_made(fall - 30 * MINUTE));
    assert_int_equal(due(), fall + 24 * HOUR + 30 * MINUTE);
    stop_worker();
    zone("UTC");
}

/* More entries than one look tells of, some with slots that cannot be understood. */
static void many_entries_at_once(void **state)
{
    (void)state;
    reeve_task_spec task = {.queue = "q", .type = "t"};
    char name[16];
    for (int i = 0; i < 180; i++) {
        (void)snprintf(name, sizeof(name), "e%d", i);
        set_entry((reeve_cron_entry){.name = name, .spec = "* * * * *", .task = &task}, NULL);
    }
    set_entry((reeve_cron_entry){.spec = "* * * * *"}, "t");
    start_worker("q");
    later(1);
    TEST_AWAIT(test_number("ZCOUNT " Q "cron:due -inf %lld", (long long)test_clock_now()) == 0);
    later(MINUTE);
    TEST_AWAIT(atomic_load(&test_ran) == 181);
    assert_int_equal(tasks(), 181);
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
    set_entry((reeve_cron_entry){.spec = "* * * * *"}, "t");
    start_worker("q");
    later(1);
    for (int i = 1; i <= 5; i++) {
        later(MINUTE);
        TEST_AWAIT(atomic_load(&test_ran) == (unsigned long)i);
    }
    assert_int_equal(atomic_load(&broken_logged), 2);
    assert_int_equal(test_number("ZCARD " Q "cron:due"), 3); /* for a worker that knows better; the ghost is gone */
    (void)test_cmd(test_conn, "HSET " Q "cron bad other_rubbish");
    later(MINUTE);
    TEST_AWAIT(atomic_load(&broken_logged) == 3);
    stop_worker();
    reeve_log_set(NULL, NULL, REEVE_LOG_OFF);
}

/* ---- twice ----------------------------------------------------------------------------------------------------- */

static long long fire(const char *due_ms, const char *next, const char *id)
{
    const rv_reply *reply;
    rv_cmd_script(test_conn, &rv_script_fire, 1, 4);
    rv_args(test_conn, Q);
    rv_args(test_conn, "n");
    rv_args(test_conn, due_ms);
    rv_args(test_conn, next);
    rv_args(test_conn, id);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    assert_int_equal(reply->type, RV_INT);
    return reply->number;
}

static void sent_twice(void **state)
{
    (void)state;
    char was[48], before[64];
    set_entry((reeve_cron_entry){.spec = "* * * * *"}, "t");
    (void)snprintf(was, sizeof(was), "%lld", (long long)due());
    assert_int_equal(fire("77", "88", "a"), -1);
    assert_int_equal(fire(was, "88", "a"), 1);
    rv_copy_text(before, sizeof(before), test_digest());
    assert_int_equal(fire(was, "88", "a"), -1);
    assert_int_equal(fire(was, "88", "b"), -1);
    assert_string_equal(test_digest(), before);
    assert_int_equal(fire("", "", "c"), 1);
    rv_copy_text(before, sizeof(before), test_digest());
    assert_int_equal(fire("", "", "c"), 0);
    assert_string_equal(test_digest(), before);
    assert_int_equal(fire("88", "-1", "d"), 1);
    assert_int_equal(due(), -1);
    assert_int_equal(fire("88", "-1", "d"), -1);
    assert_int_equal(fire("", "", "e"), 1);
    assert_int_equal(test_count("q", "ready"), 4);
}

/* ---- many workers ---------------------------------------------------------------------------------------------- */

#define WORKERS 4
#define SLOTS 25

static int by_number(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

static void add_slots(const char *start, reeve_state state, int64_t *slots, int64_t *late, size_t *n)
{
    reeve_task_info **list;
    size_t count;
    test_ok(test_client, reeve_list(test_client, "q", state, 0, 1000, &list, &count, NULL));
    for (size_t i = 0; i < count && *n < 1000; i++) {
        if (strncmp(list[i]->id, start, strlen(start)) != 0) continue;
        slots[*n] = atoll(list[i]->id + strlen(start));
        late[*n] = list[i]->enqueued_ms - slots[*n];
        ++*n;
    }
    reeve_task_list_free(list, count);
}

/* The tasks of an entry follow one another without a gap, one a slot, and each came at its time. */
static void assert_slots(const char *start)
{
    static int64_t slots[1000], late[1000];
    size_t n = 0;
    add_slots(start, REEVE_STATE_READY, slots, late, &n);
    add_slots(start, REEVE_STATE_COMPLETED, slots, late, &n);
    assert_true(n >= SLOTS);
    qsort(slots, n, sizeof(*slots), by_number);
    qsort(late, n, sizeof(*late), by_number);
    assert_true(late[0] >= 0);
    assert_in_range(late[n / 2], 0, 50); /* (An idle machine has 1 or 2.) */
    for (size_t i = 0; i < n; i++) {
        /* (What a machine that stood still has missed is made up for by c alone.) */
        if (start[5] == 'c' || late[n - 1] < 1900) assert_int_equal(slots[i], slots[0] + 100 * (int64_t)i);
    }
}

static void many_workers(void **state)
{
    (void)state;
    reeve_worker *workers[WORKERS];
    test_clock_run();
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = test_worker_new(NULL);
        test_worker_pool(workers[i], "q", 1, 0);
        test_worker_start(workers[i]);
    }
    set_entry((reeve_cron_entry){.name = "a", .spec = "every 100ms"}, "t");
    set_entry((reeve_cron_entry){.name = "b", .spec = "every 100ms", .catch_up = REEVE_CATCH_UP_SKIP}, "t");
    set_entry((reeve_cron_entry){.name = "c", .spec = "every 100ms", .catch_up = REEVE_CATCH_UP_ALL}, "t");
    TEST_AWAIT(atomic_load(&test_ran) >= 3 * (SLOTS + 2));
    for (int i = 0; i < WORKERS; i++) {
        /* (Connections that are lost change nothing, nor does a worker that goes.) */
        if (i == 1) test_kill_connections();
        reeve_worker_destroy(workers[i]);
    }
    assert_slots("cron:a:");
    assert_slots("cron:b:");
    assert_slots("cron:c:");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(set_and_changed),
        TEST(listed),
        TEST(listed_over_many_queues),
        TEST(what_is_not_there),
        TEST(a_definition_that_is_not_ours),
        TEST(a_slot_makes_a_task),
        TEST(an_entry_that_comes_to_an_idle_worker),
        TEST(a_downtime),
        TEST(no_overlap),
        TEST(paused_and_resumed),
        TEST(runs_in_one_millisecond),
        TEST(a_changed_definition),
        TEST(a_slot_whose_task_is_there),
        TEST(clock_changes),
        TEST(many_entries_at_once),
        TEST(an_entry_that_cannot_be_understood),
        TEST(sent_twice),
        TEST(many_workers),
    };
    zone("UTC");
    test_options.clock = true;
    return cmocka_run_group_tests(tests, test_place_start, test_place_stop);
}
