/* What is done to many tasks at once: which of them are picked, and what becomes of these. */
#include <stdio.h>
#include <string.h>

#include "support/bulk_update.h"
#include "support/clock.h"
#include "support/unique.h"

#define Q "reeve:{q}:"

static void put_dead(const char *id, const char *kind)
{
    test_put_ended((reeve_task_spec){.id = id}, REEVE_STATE_DEAD, kind);
}

/* ---- what is picked -------------------------------------------------------------------------------------------- */

static void each_action_in_each_state(void **state)
{
    (void)state;
    static const struct {
        reeve_state state;
        bool retry, cancel, delete;
    } table[] = {{REEVE_STATE_BLOCKED, false, true, true},   {REEVE_STATE_SCHEDULED, true, true, true},
                 {REEVE_STATE_READY, false, true, true},     {REEVE_STATE_PARKED, false, true, true},
                 {REEVE_STATE_RUNNING, false, false, false}, {REEVE_STATE_COMPLETED, true, false, true},
                 {REEVE_STATE_DEAD, true, false, true},      {REEVE_STATE_CANCELLED, true, false, true}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        for (int action = REEVE_ACTION_RETRY; action <= REEVE_ACTION_DELETE; action++) {
            (void)test_bulk_update_begin(NULL);
            test_put_ended((reeve_task_spec){.id = "completed"}, REEVE_STATE_COMPLETED, NULL);
            test_put_ended((reeve_task_spec){.id = "dead"}, REEVE_STATE_DEAD, "k");
            test_put_ended((reeve_task_spec){.id = "cancelled"}, REEVE_STATE_CANCELLED, NULL);
            test_put("q", "running");
            (void)test_lease(&test_bulk_update_hand, 1);
            test_put_spec((reeve_task_spec){.id = "parked", .group = "g"});
            test_park("parked", "g");
            test_put_spec((reeve_task_spec){.id = "scheduled", .in_ms = 60000});
            test_put("q", "ready");
            test_put_spec(
                (reeve_task_spec){.id = "blocked", .after = &(reeve_parent){.handle = "!"}, .after_count = 1});
            const char *name = reeve_state_name(table[i].state);
            bool may = action == REEVE_ACTION_RETRY    ? table[i].retry
                       : action == REEVE_ACTION_CANCEL ? table[i].cancel
                                                       : table[i].delete;
            const reeve_filter filter = {.state = table[i].state};
            char before[64];
            rv_copy_text(before, sizeof(before), test_digest());
            if (!may) {
                test_refused(
                    test_client,
                    reeve_bulk_update(test_client, "q", (reeve_action)action, &filter, NULL, NULL, &test_swept),
                    REEVE_EINVAL, "cannot ");
                assert_string_equal(test_digest(), before);
                continue;
            }
            test_bulk_update((reeve_action)action, filter, 1);
            assert_int_equal(test_swept.seen, 1);
            assert_int_equal(test_swept.refused, 0);
            static const char *const become[] = {"ready", "cancelled", ""};
            assert_string_equal(test_state("q", name), become[action]);
            assert_int_equal(test_number("HLEN " Q "tasks"), action == REEVE_ACTION_DELETE ? 7 : 8);
            if (table[i].state == REEVE_STATE_PARKED)
                assert_int_equal(test_number("EXISTS " Q "parked " Q "parked:g " Q "limit_due"), 0);
            if (table[i].state == REEVE_STATE_DEAD)
                assert_int_equal(test_number("EXISTS " Q "failures " Q "failures:k"), 0);
        }
    }
}

static void by_kind(void **state)
{
    (void)state;
    put_dead("a", "io");
    put_dead("b", "net");
    put_dead("c", "io");
    put_dead("d", " ");
    test_bulk_update(REEVE_ACTION_DELETE, (reeve_filter){.state = REEVE_STATE_DEAD, .kind = "none"}, 0);
    assert_int_equal(test_swept.seen, 0);
    test_bulk_update(REEVE_ACTION_RETRY, (reeve_filter){.state = REEVE_STATE_DEAD, .kind = "io"}, 2);
    assert_int_equal(test_swept.seen, 2);
    test_bulk_update(REEVE_ACTION_DELETE, (reeve_filter){.state = REEVE_STATE_DEAD, .kind = " "}, 1);
    test_states_are("ready:2 dead:1");
    assert_string_equal(test_cmd(test_conn, "ZRANGE " Q "failures 0 -1"), "[net]");
    (void)test_lease(&test_bulk_update_hand, 9);
    assert_string_equal(test_leased_ids(&test_bulk_update_hand), "a c"); /* in the order in which they died */
}

static void by_type_and_tag(void **state)
{
    (void)state;
    static const char *const red[] = {"red"}, *const both[] = {"blue", "red"}, *const odd[] = {"re", "\"red\""};
    const struct {
        const char *id, *type;
        const char *const *tags;
        size_t count;
    } tasks[] = {
        {"a", "t", red, 1}, {"b", "t/u", both, 2}, {"c", "t", NULL, 0}, {"d", "t", odd, 2}, {"e", "t/u", NULL, 0}};
    for (size_t i = 0; i < 5; i++) {
        test_put_spec((reeve_task_spec){
            .id = tasks[i].id, .type = tasks[i].type, .tags = tasks[i].tags, .tag_count = tasks[i].count});
    }
    reeve_filter filter = {.state = REEVE_STATE_READY, .type = "t/u", .tag = "red"};
    test_bulk_update(REEVE_ACTION_DELETE, filter, 1);
    assert_int_equal(test_swept.seen, 5);
    assert_string_equal(test_state("q", "b"), "");
    filter.type = NULL;
    test_bulk_update(REEVE_ACTION_CANCEL, filter, 1);
    assert_string_equal(test_state("q", "a"), "cancelled");
    filter.tag = "\"red\"";
    test_bulk_update(REEVE_ACTION_DELETE, filter, 1);
    assert_string_equal(test_state("q", "d"), "");
    test_bulk_update(REEVE_ACTION_DELETE, (reeve_filter){.state = REEVE_STATE_READY, .type = "t/u"}, 1);
    test_bulk_update(REEVE_ACTION_DELETE, (reeve_filter){.state = REEVE_STATE_READY, .type = "u"}, 0);
    test_states_are("ready:1 cancelled:1");
}

static void by_age(void **state)
{
    (void)state;
    /* Those that wait: since when they were enqueued. Those that ended: since then. */
    test_put("q", "w1 d1");
    test_put_spec((reeve_task_spec){.id = "s1", .in_ms = 9000000});
    test_clock_advance(1000);
    test_put("q", "w2");
    test_put_spec((reeve_task_spec){.id = "s2", .in_ms = 9000000});
    assert_int_equal(test_lease(&test_bulk_update_hand, 2), 2);
    test_settle(&test_bulk_update_hand, TEST_SNOOZE("w1", 0), TEST_DIE("d1", "k"));
    test_clock_advance(500);
    reeve_filter filter = {.state = REEVE_STATE_READY, .older_ms = 1501};
    test_bulk_update(REEVE_ACTION_CANCEL, filter, 0);
    assert_int_equal(test_swept.seen, 2);
    filter.older_ms = 1500;
    test_bulk_update(REEVE_ACTION_CANCEL, filter, 1);
    assert_string_equal(test_state("q", "w1"), "cancelled");
    filter.state = REEVE_STATE_SCHEDULED;
    test_bulk_update(REEVE_ACTION_RETRY, filter, 1);
    assert_string_equal(test_state("q", "s1"), "ready");
    filter.state = REEVE_STATE_DEAD;
    test_bulk_update(REEVE_ACTION_DELETE, filter, 0);
    filter.older_ms = 501;
    test_bulk_update(REEVE_ACTION_DELETE, filter, 0);
    filter.older_ms = 500;
    filter.kind = "k";
    test_bulk_update(REEVE_ACTION_DELETE, filter, 1);
    filter.kind = NULL;
    filter.older_ms = INT64_MAX;
    filter.state = REEVE_STATE_CANCELLED;
    test_bulk_update(REEVE_ACTION_DELETE, filter, 0);
}

static void an_empty_queue(void **state)
{
    (void)state;
    for (int i = 0; i < REEVE_STATE_COUNT; i++) {
        if (i == REEVE_STATE_RUNNING) continue;
        test_bulk_update(REEVE_ACTION_DELETE, (reeve_filter){.state = (reeve_state)i}, 0);
        assert_int_equal(test_swept.seen, 0);
    }
    assert_string_equal(test_cmd(test_conn, "KEYS *"), "[]");
}

/* ---- what becomes of them -------------------------------------------------------------------------------------- */

static void refused_ones_are_counted(void **state)
{
    (void)state;
    char id[REEVE_ID_MAX], key[20];
    for (int i = 0; i < 30; i++) {
        (void)snprintf(id, sizeof(id), "d%d", i);
        (void)snprintf(key, sizeof(key), "k%d", i % 10);
        test_put_ended((reeve_task_spec){.id = id, .unique = key}, REEVE_STATE_DEAD, "k");
    }
    test_put_spec((reeve_task_spec){.id = "x", .unique = "k0"});
    test_bulk_update(REEVE_ACTION_RETRY, (reeve_filter){.state = REEVE_STATE_DEAD}, 9); /* one a key, but for k0 */
    assert_int_equal(test_swept.seen, 30);
    assert_int_equal(test_swept.refused, 21);
    test_states_are("ready:10 dead:21");
    assert_int_equal(test_number("ZCARD " Q "failures:k"), 21);
}

/* It counts and names what a sweep would be about, and does nothing. */
static void a_preview_does_nothing(void **state)
{
    (void)state;
    char ids[REEVE_PREVIEW_MAX][REEVE_ID_MAX], before[64];
    size_t count = 99;
    const reeve_filter io = {.state = REEVE_STATE_DEAD, .kind = "io"};
    for (int i = 0; i < 12; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%02d", i);
        put_dead(id, i == 1 ? "net" : "io");
    }
    rv_copy_text(before, sizeof(before), test_digest());
    test_ok(test_client,
            reeve_bulk_update_preview(test_client, "q", REEVE_ACTION_DELETE, &io, &test_swept, ids, &count));
    assert_int_equal(test_swept.done, 11);
    assert_int_equal(count, REEVE_PREVIEW_MAX);
    assert_string_equal(ids[0], "n00");
    assert_string_equal(ids[1], "n02");
    assert_string_equal(ids[9], "n10");
    const reeve_filter none = {.state = REEVE_STATE_DEAD, .kind = "none"};
    test_ok(test_client,
            reeve_bulk_update_preview(test_client, "q", REEVE_ACTION_DELETE, &none, &test_swept, ids, &count));
    assert_int_equal(test_swept.done, 0);
    assert_int_equal(count, 0);
    test_refused(test_client,
                 reeve_bulk_update_preview(test_client, "q", REEVE_ACTION_CANCEL, &io, &test_swept, ids, &count),
                 REEVE_EINVAL, "cannot ");
    assert_string_equal(test_digest(), before);
}

static void another_thread_interrupts_it(void **state)
{
    (void)state;
    const reeve_filter dead = {.state = REEVE_STATE_DEAD};
    put_dead("n1", "io");
    reeve_client_interrupt(test_client);
    test_refused(test_client,
                 reeve_bulk_update_preview(test_client, "q", REEVE_ACTION_DELETE, &dead, &test_swept, NULL, NULL),
                 REEVE_EINTERRUPTED, "interrupted");
    reeve_client_interrupt(test_client);
    test_refused(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_DELETE, &dead, NULL, NULL, &test_swept),
                 REEVE_EINTERRUPTED, "interrupted");
    assert_int_equal(test_swept.done, 0);
    test_bulk_update(REEVE_ACTION_DELETE, dead, 1);
}

/* Who waits for one of them hears of it. */
static void unlocked_and_told(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .unique = "k"});
    test_put_spec((reeve_task_spec){.id = "b", .unique = "l"});
    (void)test_cmd(test_conn, "ZADD " Q "waiters 9000000000000 a 9000000000000 b");
    rv_conn *listener = test_conn_open(test_redis);
    const rv_reply *reply;
    (void)test_cmd(listener, "SUBSCRIBE " Q "done:a");
    test_bulk_update(REEVE_ACTION_CANCEL, (reeve_filter){.state = REEVE_STATE_READY}, 2);
    assert_int_equal(rv_conn_receive(listener, test_patience(), &reply), REEVE_OK);
    assert_string_equal(test_reply_text(reply), "[message " Q "done:a cancelled]");
    rv_conn_destroy(listener);
    assert_int_equal(test_number("EXISTS " Q "unique:k " Q "unique:l " Q "waiters"), 0);
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_action_in_each_state, test_bulk_update_begin),
        cmocka_unit_test_setup(by_kind, test_bulk_update_begin),
        cmocka_unit_test_setup(by_type_and_tag, test_bulk_update_begin),
        cmocka_unit_test_setup(by_age, test_bulk_update_begin),
        cmocka_unit_test_setup(an_empty_queue, test_bulk_update_begin),
        cmocka_unit_test_setup(refused_ones_are_counted, test_bulk_update_begin),
        cmocka_unit_test_setup(a_preview_does_nothing, test_bulk_update_begin),
        cmocka_unit_test_setup(another_thread_interrupts_it, test_bulk_update_begin),
        cmocka_unit_test_setup(unlocked_and_told, test_bulk_update_begin),
    };
    test_clock_set(1900000000000); /* it stands still */
    return cmocka_run_group_tests_name("ct_bulk_update", tests, test_place_start, test_place_stop);
}
