/* A slot of a recurring entry is fired once, though the call is sent twice and though many workers look. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/cron.h"

#define Q "reeve:{q}:"
#define WORKERS 4
#define SLOTS 25

/* ---- sent twice ------------------------------------------------------------------------------------------------ */

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
    test_cron_set((reeve_cron_entry){.spec = "* * * * *"}, "t");
    (void)snprintf(was, sizeof(was), "%lld", (long long)test_cron_due());
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
    test_ok(test_client, reeve_delete(test_client, "q", "c")); /* (as when it has run, and no record is kept) */
    assert_int_equal(fire("", "", "c"), 0);
    assert_string_equal(test_cmd(test_conn, "HEXISTS " Q "tasks c"), "0");
    assert_int_equal(fire("88", "-1", "d"), 1);
    assert_int_equal(test_cron_due(), -1);
    assert_int_equal(fire("88", "-1", "d"), -1);
    assert_int_equal(fire("", "", "e"), 1);
    assert_int_equal(test_count("q", "ready"), 3);
}

/* ---- many workers ---------------------------------------------------------------------------------------------- */

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

/* A machine that stands still for some seconds, as a busy one may, misses slots: c alone makes up for them, late. */
enum { MISSED_MS = 1000 };

/* The tasks of an entry follow one another without a gap, one a slot, and each came at its time. Returns how late the
 * last one came. */
static int64_t assert_slots(const char *start, bool is_whole)
{
    static int64_t slots[1000], late[1000];
    size_t n = 0;
    add_slots(start, REEVE_STATE_READY, slots, late, &n);
    add_slots(start, REEVE_STATE_COMPLETED, slots, late, &n);
    assert_true(n >= SLOTS);
    qsort(slots, n, sizeof(*slots), by_number);
    qsort(late, n, sizeof(*late), by_number);
    assert_true(late[0] >= 0);
    if (late[n - 1] < MISSED_MS) assert_in_range(late[n / 2], 0, MISSED_MS / 4); /* An idle machine has 1 or 2. */
    for (size_t i = 1; i < n; i++) {
        assert_true(slots[i] > slots[i - 1]);
        if (is_whole) assert_int_equal(slots[i], slots[0] + 100 * (int64_t)i);
    }
    return late[n - 1];
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
    test_cron_set((reeve_cron_entry){.name = "a", .spec = "every 100ms"}, "t");
    test_cron_set((reeve_cron_entry){.name = "b", .spec = "every 100ms", .catch_up = REEVE_CATCH_UP_SKIP}, "t");
    test_cron_set((reeve_cron_entry){.name = "c", .spec = "every 100ms", .catch_up = REEVE_CATCH_UP_ALL}, "t");
    TEST_AWAIT(atomic_load(&test_ran) >= 3 * (SLOTS + 2));
    for (int i = 0; i < WORKERS; i++) {
        /* Connections that are lost change nothing, nor does a worker that goes. */
        if (i == 1) test_kill_connections();
        reeve_worker_destroy(workers[i]);
    }
    bool is_whole = assert_slots("cron:c:", true) < MISSED_MS;
    (void)assert_slots("cron:a:", is_whole);
    (void)assert_slots("cron:b:", is_whole);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_cron_set_up, test_cron_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(sent_twice),
        TEST(many_workers),
    };
    test_cron_zone("UTC");
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_cron_once", tests, test_place_start, test_place_stop);
}
