/* What people and other scripts do to tasks that stand in segments, and what they see of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scripts.h"
#include "reeve/depend.h"
#include "support/clock.h"
#include "support/limits.h"
#include "support/segments.h"

#define Q "reeve:{q}:"

static test_hand a, b;

static int set_up(void **state)
{
    return test_limits_begin(state, 1700000000000, &a, &b);
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static void expect_page(const char *ids, size_t all, size_t offset, size_t limit)
{
    reeve_task_info **list;
    size_t count = 0;
    uint64_t total = 0;
    char letters[64] = "";
    test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_READY, offset, limit, &list, &count, &total));
    assert_int_equal(total, all);
    for (size_t i = 0; i < count; i++) letters[i] = list[i]->id[0];
    reeve_task_list_free(list, count);
    const size_t expected = offset >= all ? 0 : all - offset < limit ? all - offset : limit;
    if (count != expected || strncmp(letters, ids + (offset < all ? offset : all), expected) != 0)
        fail_msg("%zu from %zu on: %s", limit, offset, letters);
}

static void expect_pages(const char *ids)
{
    const size_t all = strlen(ids);
    for (size_t offset = 0; offset <= all + 1; offset++) {
        for (size_t limit = 1; limit <= all + 1; limit++) expect_page(ids, all, offset, limit);
    }
    assert_int_equal(test_count("q", "ready"), all);
}

static void pages(void **state)
{
    (void)state;
    test_put_together("a b c d");
    expect_pages("abcd");
    test_put_together("e f");
    test_put_together("g h i j k");
    expect_pages("abcdefghijk");
    test_put_together("l");
    expect_pages("abcdefghijkl");
    test_put_in("0", NULL, -5);
    test_put_in("z", NULL, 5);
    expect_pages("0abcdefghijklz");
    test_ok(test_client, reeve_cancel(test_client, "q", "e"));
    test_ok(test_client, reeve_cancel(test_client, "q", "f"));
    expect_pages("0abcdghijklz"); /* (two segments, side by side) */
    TEST_EXPECT_LEASE(&a, 3, "0 a b");
    expect_pages("cdghijklz");
    test_put_in("m", "group", 0);
    test_put_in("n", "group", 0);
    test_put_in("o", "group", 0);
    test_expect_ready("c m d n o g h i j k l z", test_segments("q"));
    assert_int_equal(test_count("q", "ready"), 12);
}

static void each_one(void **state)
{
    (void)state;
    test_put_together("a b c d");
    static const char *const ids[] = {"a", "b", "d"};
    for (size_t i = 0; i < 3; i++) {
        const char *id = ids[i];
        reeve_task_info *info = test_show("q", id);
        assert_string_equal(info->id, id);
        assert_string_equal(info->type, "t");
        assert_int_equal(info->state, REEVE_STATE_READY);
        reeve_task_info_free(info);
        assert_int_equal(reeve_wait(test_client, "q", id, 1, NULL), REEVE_ETIMEOUT);
        test_refused(test_client, reeve_retry(test_client, "q", id), REEVE_ESTATE, "ready");
    }
    reeve_queue_info info;
    test_clock_advance(5000);
    test_ok(test_client, reeve_queue(test_client, "q", &info));
    assert_int_equal(info.count[REEVE_STATE_READY], 4);
    TEST_EXPECT_LEASE(&a, 2, "a b");
    assert_int_equal(test_count("q", "ready"), 2);
    assert_int_equal(test_count("q", "running"), 2);
}

/* ---- steering ---------------------------------------------------------------------------------------------------- */

static const reeve_parent after = {.handle = "q/parent"};

static void cancel(const char *id)
{
    test_ok(test_client, reeve_cancel(test_client, "q", id));
}

static void delete (const char *id)
{
    test_ok(test_client, reeve_delete(test_client, "q", id));
}

static void later(const char *id)
{
    test_ok(test_client, reeve_reschedule_in(test_client, "q", id, 60000));
}

static void depend(const char *id)
{
    test_ok(test_client, reeve_add_dependency(test_client, "q", id, &after, 1));
}

static void move(const char *id)
{
    test_ok(test_client, reeve_set_priority(test_client, "q", id, 5));
}

static const struct {
    void (*act)(const char *id);
    const char *state;
} acts[] = {{cancel, "cancelled"}, {delete, ""}, {later, "scheduled"}, {depend, "blocked"}, {move, "ready"}};

/* One after the other, in an order, until none is left in the segment, with others before and behind. */
static void all_leave(size_t way, const char *in_order)
{
    char rest[16] = "abcd", moved[16] = "", all[64], farthest = '0';
    test_put_spec((reeve_task_spec){.id = "parent", .in_ms = 3600000});
    test_put_together("0");
    test_put_together("a b c d");
    test_put_together("x");
    for (size_t i = 0; in_order[i]; i++) {
        const char id[2] = {in_order[i], '\0'};
        acts[way].act(id);
        assert_string_equal(test_state("q", id), acts[way].state);
        char *at = strchr(rest, id[0]);
        memmove(at, at + 1, strlen(at));
        if (acts[way].act == move) strcat(moved, id);
        size_t n = (size_t)snprintf(all, sizeof(all), "0");
        for (size_t j = 0; rest[j]; j++) n += (size_t)snprintf(all + n, sizeof(all) - n, " %c", rest[j]);
        n += (size_t)snprintf(all + n, sizeof(all) - n, " x");
        for (size_t j = 0; moved[j]; j++) n += (size_t)snprintf(all + n, sizeof(all) - n, " %c", moved[j]);
        /* Those before one that leaves stand by themselves from then on. */
        if (id[0] > farthest) farthest = id[0];
        test_expect_ready(all, farthest < 'd' ? 1 : 0);
    }
    test_no_segments();
}

static void that_leave(void **state)
{
    static const char *const orders[] = {"abcd", "dcba", "bcad", "cadb", "dabc"};
    for (size_t way = 0; way < sizeof(acts) / sizeof(acts[0]); way++) {
        for (size_t i = 0; i < 5; i++) {
            (void)set_up(state);
            all_leave(way, orders[i]);
        }
    }
}

static void retried(void **state)
{
    (void)state;
    test_put_together("a b c d");
    cancel("b");
    test_ok(test_client, reeve_retry(test_client, "q", "b"));
    test_expect_ready("a c d b", 1);
    later("c");
    test_ok(test_client, reeve_retry(test_client, "q", "c"));
    test_expect_ready("a d b c", 1);
    cancel("b"); /* (which stands there by itself, and says still how it came) */
    delete ("b");
    TEST_EXPECT_LEASE(&a, 9, "a d c");
    TEST_SETTLE(&a, TEST_FAIL("d"), TEST_DONE("a"), TEST_DONE("c"));
    test_ok(test_client, reeve_retry(test_client, "q", "d"));
    test_expect_ready("d", 0);
    test_put_together("e f g h");
    delete ("d");
    test_expect_ready("e f g h", 1);
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

/* Returns how many it was done to. */
static int64_t bulk_update(const char *action, const char *type)
{
    char cursor[200] = "";
    int64_t seen = 0, done = 0;
    int steps = 0;
    do {
        const char *const args[] = {action, "ready", cursor, "10", "", type, "", "0"};
        const rv_reply *reply;
        rv_cmd_script(test_conn, &rv_script_bulk_update, 1, 8);
        rv_args(test_conn, Q);
        for (size_t i = 0; i < 8; i++) rv_args(test_conn, args[i]);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_int_equal(reply->count, 4);
        rv_copy_text(cursor, sizeof(cursor), reply->items[0]->text);
        assert_true(reply->items[1]->number <= 10);
        seen += reply->items[1]->number;
        done += reply->items[2]->number;
        test_limits_agree();
        assert_true(++steps < 50);
    } while (cursor[0]);
    assert_true(seen >= done);
    return done;
}

static void put_both_types(char name)
{
    char ids[24][REEVE_ID_MAX];
    reeve_task_spec specs[24];
    reeve_enqueued results[24];
    for (size_t i = 0; i < 24; i++) {
        (void)snprintf(ids[i], REEVE_ID_MAX, "%c%02zu", name, i);
        specs[i] = (reeve_task_spec){.queue = "q", .type = i % 3 == 1 ? "yes" : "no", .id = ids[i]};
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, 24, results));
}

static void swept(void **state)
{
    for (int way = 0; way < 2; way++) {
        (void)set_up(state);
        put_both_types('a');
        put_both_types('b');
        test_put_together("c");
        put_both_types('d');
        test_put_in("e", NULL, -1);
        put_both_types('f');
        assert_true(test_segments("q") >= 2);
        assert_int_equal(bulk_update(way ? "delete" : "cancel", "yes"), 32);
        assert_int_equal(test_count("q", "cancelled"), way ? 0 : 32);
        assert_int_equal(test_ready_count("q"), 66);
        char first[100];
        rv_copy_text(first, 29, test_ready("q"));
        assert_string_equal(first, "[e a00 a02 a03 a05 a06 a08 a");
        put_both_types('g');
        assert_int_equal(bulk_update(way ? "cancel" : "delete", "no"), 64 + 16);
        assert_int_equal(test_ready_count("q"), 10);
        assert_int_equal(bulk_update("delete", ""), 10);
        test_no_segments();
        assert_int_equal(test_number("EXISTS " Q "ready"), 0);
    }
}

/* Counts in steps of this many tasks, and changes nothing. Returns how many are meant. */
static int64_t look(const char *max, const char *type)
{
    char cursor[200] = "", before[64];
    int64_t seen = 0, meant = 0, done = 0;
    rv_copy_text(before, sizeof(before), test_digest());
    for (int steps = 0; steps == 0 || cursor[0]; steps++) {
        const char *const args[] = {"ready", cursor, max, "", type, "", "0"};
        const rv_reply *reply;
        rv_cmd_script(test_conn, &rv_script_bulk_look, 1, 7);
        rv_args(test_conn, Q);
        for (size_t i = 0; i < 7; i++) rv_args(test_conn, args[i]);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_int_equal(reply->count, 4);
        rv_copy_text(cursor, sizeof(cursor), reply->items[0]->text);
        assert_true(reply->items[1]->number <= strtol(max, NULL, 10));
        seen += reply->items[1]->number;
        meant += done = reply->items[2]->number;
        assert_int_equal(reply->items[3]->count, done < 10 ? done : 10);
        assert_true(steps < 200);
    }
    assert_int_equal(seen, test_ready_count("q"));
    assert_string_equal(test_digest(), before);
    return meant;
}

static void looked_at(void **state)
{
    static const char *const steps[] = {"1", "3", "7", "10", "1000"};
    (void)set_up(state);
    assert_int_equal(look("10", ""), 0);
    put_both_types('a');
    test_put_together("c");
    put_both_types('b');
    test_put_in("e", "g", -1);
    test_put_in("f", NULL, 1);
    put_both_types('d');
    assert_true(test_segments("q") >= 2);
    TEST_EXPECT_LEASE(&a, 3, "e a00 a01");
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        assert_int_equal(look(steps[i], "yes"), 23);
        assert_int_equal(look(steps[i], ""), test_ready_count("q"));
    }
    assert_true(test_segments("q") >= 2);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static void under_limits(void **state)
{
    (void)state;
    test_put_together("a b c d e f g h");
    test_ok(test_client, reeve_pause(test_client, "q"));
    TEST_EXPECT_LEASE(&a, 4, "");
    test_ok(test_client, reeve_resume(test_client, "q"));
    test_limit_queue(3, NULL);
    TEST_EXPECT_LEASE(&a, 4, "a");
    TEST_EXPECT_LEASE(&a, 4, "b");
    TEST_EXPECT_LEASE(&a, 4, "c");
    TEST_EXPECT_LEASE(&a, 4, "");
    test_expect_running(3);
    test_put_together("i j k l");
    TEST_SETTLE(&a, TEST_DONE("a"), TEST_DONE("b"));
    test_limit_queue(-1, TEST_RATE(2, 1000, 2));
    TEST_EXPECT_LEASE(&a, 4, "d e");
    TEST_EXPECT_LEASE(&a, 4, "");
    test_limit_queue(0, TEST_ANY_RATE);
    test_limit_groups(1, NULL);
    test_put_in("m n", "g", -1);
    TEST_EXPECT_LEASE(&a, 3, "m f g");
    assert_string_equal(test_state("q", "n"), "parked");
    test_put_together("o p q r");
    TEST_EXPECT_LEASE(&b, 100, "h i j k l o p q r");
    test_no_segments();
}

static void with_large_ones(void **state)
{
    (void)state;
    static char payload[70000];
    memset(payload, 'x', sizeof(payload));
    test_put_together("a b c d");
    test_put_spec((reeve_task_spec){.id = "large", .payload = {payload, sizeof(payload)}});
    test_put_together("e f g h");
    TEST_EXPECT_LEASE(&a, 3, "a b c");
    TEST_EXPECT_LEASE(&a, 4, "d large e f");
    TEST_EXPECT_LEASE(&a, 4, "g h");
    test_no_segments();
}

/* ---- what nobody would write ------------------------------------------------------------------------------------- */

/* Where a part is missing the rest goes on, and nothing fails for ever. */
static void a_wrong_state(void **state)
{
    static const char *const wrongs[] = {"DEL " Q "segment:0", "ZREM " Q "ready +0", "DEL " Q "segments",
                                         "SREM " Q "segments 0", "HDEL " Q "tasks b"};
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
        for (int way = 0; way < 2; way++) {
            reeve_task_info **list;
            size_t count = 0;
            uint64_t total = 0;
            char found[64] = "";
            (void)set_up(state);
            test_put_together("a b c d");
            assert_int_equal(test_number("%s", wrongs[i]), 1);
            (void)test_count("q", "ready");
            test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_READY, 0, 10, &list, &count, &total));
            reeve_task_list_free(list, count);
            reeve_task_info *info = NULL; /* (which may stand nowhere, and is told so) */
            reeve_status status = reeve_show(test_client, "q", "c", &info);
            reeve_task_info_free(info);
            if (status != REEVE_OK && !strstr(reeve_client_error(test_client), "is in no state"))
                fail_msg("%s: %s", wrongs[i], reeve_client_error(test_client));
            status = reeve_cancel(test_client, "q", "c");
            if (status != REEVE_OK && status != REEVE_ESTATE && status != REEVE_ENOTFOUND)
                fail_msg("%s: %s", wrongs[i], reeve_client_error(test_client));
            test_put_together("x");
            if (way) test_limit_queue(100, NULL);
            for (int turns = 0; turns < 9; turns++) {
                (void)test_lease(&a, 3);
                (void)snprintf(found + strlen(found), sizeof(found) - strlen(found), " %s", test_leased_ids(&a));
            }
            if (!strchr(found, 'x')) fail_msg("%s: %s", wrongs[i], found);
            test_maintain_all("q");
            (void)test_count("q", "ready");
        }
    }
}

/* Another program overwrites the envelope, which does not name the segment any more. */
static void one_whose_envelope_is_overwritten(void **state)
{
    (void)state;
    static const char *const ids[] = {"a", "c", "e", "g"};
    test_put_together("a b c d e f g h");
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(test_cmd(test_conn, "HSET " Q "tasks %s {\"at\":1,\"type\":\"t\"}\n", ids[i]), "0");
        assert_string_equal(test_state("q", ids[i]), "ready");
    }
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
    test_ok(test_client, reeve_delete(test_client, "q", "e"));
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "g", 5000));
    assert_string_equal(test_state("q", "a"), "cancelled");
    assert_string_equal(test_state("q", "e"), "");
    assert_string_equal(test_state("q", "g"), "scheduled");
    test_expect_ready("b c d f h", test_segments("q"));
    TEST_EXPECT_LEASE(&a, 9, "b c d f h");
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(pages, set_up),
        cmocka_unit_test_setup(each_one, set_up),
        cmocka_unit_test_setup(that_leave, set_up),
        cmocka_unit_test_setup(retried, set_up),
        cmocka_unit_test_setup(swept, set_up),
        cmocka_unit_test_setup(looked_at, set_up),
        cmocka_unit_test_setup(under_limits, set_up),
        cmocka_unit_test_setup(with_large_ones, set_up),
        cmocka_unit_test_setup(a_wrong_state, set_up),
        cmocka_unit_test_setup(one_whose_envelope_is_overwritten, set_up),
    };
    return cmocka_run_group_tests_name("ct_segments_control", tests, test_place_start, test_place_stop);
}
