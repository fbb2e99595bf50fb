/*
 * Segments: plain tasks that came together stand in one place, and nobody who takes, looks at or steers them sees a
 * difference.
 */
#include <stdio.h>
#include <string.h>

#include "protocol/definition.h"
#include "protocol/scripts.h"
#include "reeve/depend.h"
#include "reeve/watch.h"
#include "support/limits.h"
#include "support/segments.h"

#define Q "reeve:{q}:"

static test_hand a, b;

static int set_up(void **state)
{
    return test_limits_begin(state, 1700000000000, &a, &b);
}

/* ---- which are made ---------------------------------------------------------------------------------------------- */

static void of_four(void **state)
{
    (void)state;
    test_put_together("x y z");
    test_expect_ready("x y z", 0);
    test_put_together("a b c d");
    test_expect_ready("x y z a b c d", 1);
    assert_int_equal(test_number("ZCARD " Q "ready"), 4);
    (void)set_up(state);
    test_ok(test_client, test_put_call("a b c d", (reeve_task_spec){.priority = 1}));
    test_ok(test_client, test_put_call("e f g h", (reeve_task_spec){.group = "g"}));
    test_put_together("i j k l"); /* (there are groups) */
    assert_int_equal(test_segments("q"), 0);
    (void)set_up(state);
    test_ok(test_client, reeve_events_keep(test_client, "q", 100));
    test_put_together("a b c d");
    test_expect_ready("a b c d", 0);
}

static void joined_by_the_next_call(void **state)
{
    (void)state;
    test_put_together("b a d c");
    test_put_together("h g f e");
    test_expect_ready("b a d c h g f e", 1);
    test_put_together("i j k");
    test_put_together("l m n o");
    test_expect_ready("b a d c h g f e i j k l m n o", 2);
    test_put_together("p");
    test_put_together("q r s t");
    test_expect_ready("b a d c h g f e i j k l m n o p q r s t", 3);
    test_put_in("first", NULL, -1); /* (which does not stand in between) */
    test_put_together("u v w x");
    test_expect_ready("first b a d c h g f e i j k l m n o p q r s t u v w x", 3);
    test_put_in("g1", "g", 0);
    test_put_together("0 1 2 3");
    assert_int_equal(test_segments("q"), 3);
    assert_int_equal(test_run_all(&a), 30);
    test_no_segments();
}

static void joined_after_some_have_gone(void **state)
{
    static const char *const gone[] = {"a", "b", "d", "a d", "a b c"};
    static const char *const left[] = {"b c d", "a c d", "a b c", "b c", "d"};
    for (size_t i = 0; i < 5; i++) {
        char copy[32], all[32], *rest = NULL;
        (void)set_up(state);
        test_put_together("a b c d");
        rv_copy_text(copy, sizeof(copy), gone[i]);
        for (char *id = strtok_r(copy, " ", &rest); id; id = strtok_r(NULL, " ", &rest))
            test_ok(test_client, reeve_cancel(test_client, "q", id));
        test_put_together("e f g h");
        (void)snprintf(all, sizeof(all), "%s e f g h", left[i]);
        test_expect_ready(all, test_segments("q"));
        (void)test_lease(&a, 100);
        assert_string_equal(test_leased_ids(&a), all);
        test_no_segments();
    }
}

static void never_too_long(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        static const char *const formats[] = {"0-%03zu", "1-%03zu", "2-%03zu", "3-%03zu"};
        test_put_many("q", 250, formats[i]);
    }
    test_put_many("q", 20, "4-%03zu");
    test_put_many("q", 4, "5-%03zu");
    assert_int_equal(test_segments("q"), 1);
    test_put_many("q", 4, "6-%03zu");
    assert_int_equal(test_segments("q"), 2);
    assert_int_equal(test_ready_count("q"), 1028);
    assert_int_equal(test_count("q", "ready"), 1028);
    for (char i = '0'; i < '4'; i++) {
        const char last[] = {i, '-', '2', '4', '9', '\0'};
        assert_int_equal(test_lease(&a, 250), 250);
        assert_string_equal(a.leased[249].id, last);
    }
    assert_int_equal(test_lease(&a, 250), 28);
    assert_string_equal(a.leased[27].id, "6-003");
    test_no_segments();
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static const char *send(const char *way, const char *ids)
{
    char copy[200], *rest = NULL, *list[20];
    const rv_reply *reply;
    size_t count = 0, each = strcmp(way, "plain") == 0 ? 2 : 3;
    rv_copy_text(copy, sizeof(copy), ids);
    for (char *id = strtok_r(copy, " ", &rest); id; id = strtok_r(NULL, " ", &rest)) list[count++] = id;
    rv_cmd_script(test_conn, &rv_script_enqueue, 1, 1 + each * count);
    rv_args(test_conn, Q);
    rv_args(test_conn, way);
    for (size_t i = 0; i < count; i++) {
        rv_args(test_conn, list[i]);
        if (each == 3) rv_args(test_conn, "");
        if (each == 3) rv_args(test_conn, "\"type\":\"t\"}\n");
    }
    for (size_t i = 0; each == 2 && i < count; i++) rv_args(test_conn, "\"type\":\"t\"}\n");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    return test_reply_text(reply);
}

static void an_id_that_stands_in_a_segment(void **state)
{
    (void)state;
    assert_string_equal(send("plain", "a b c d"), "1700000000000");
    assert_string_equal(send("plain", "b"), "[0]");
    assert_string_equal(send("plain", "e f c g h"), "[1 1 0 1 1]");
    test_expect_ready("a b c d e f g h", 1);
    assert_string_equal(send("plain", "i j i k l"), "[1 1 0 1 1]");
    test_expect_ready("a b c d e f g h i j k l", 1);
    assert_string_equal(send("1", "a b c d"), "[1 1 1 1]"); /* (whose reply was lost) */
    assert_string_equal(send("0", "a b c d"), "[0 0 0 0]");
    test_expect_ready("a b c d e f g h i j k l", 1);
    assert_string_equal(send("plain", "m n o p"), "1700000000000");
    test_expect_ready("a b c d e f g h i j k l m n o p", 2);
    const reeve_task_spec same = {.queue = "q", .type = "t", .id = "b"};
    test_refused(test_client, reeve_enqueue(test_client, &same, NULL), REEVE_EEXISTS, "a task q/b exists already");
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

static void so_many_as_are_wanted(void **state)
{
    (void)state;
    test_put_together("s");
    test_put_together("a b c d e f");
    test_put_together("t");
    test_put_together("g h i j");
    test_put_together("u");
    TEST_EXPECT_LEASE(&a, 1, "s");
    TEST_EXPECT_LEASE(&a, 1, "a");
    TEST_EXPECT_LEASE(&b, 2, "b c");
    test_expect_ready("d e f t g h i j u", 2);
    assert_int_equal(test_ready_score("q", "d"), RV_SCORE_START + 5 * RV_SCORE_STEP);
    assert_int_equal(test_ready_score("q", "f"), RV_SCORE_START + 7 * RV_SCORE_STEP);
    assert_int_equal(test_ready_score("q", "t"), RV_SCORE_START + 8 * RV_SCORE_STEP);
    TEST_EXPECT_LEASE(&a, 3, "d e f");
    test_expect_ready("t g h i j u", 1);
    TEST_EXPECT_LEASE(&a, 3, "t g h");
    TEST_EXPECT_LEASE(&a, 9, "i j u");
    test_no_segments();
    assert_int_equal(test_count("q", "running"), 13);
}

/* Whatever their ids: where they are taken out of it they keep their order. */
static void taken_out(void **state)
{
    (void)state;
    test_put_together("f d e b c a");
    test_limit_queue(100, NULL);
    TEST_EXPECT_LEASE(&a, 3, "f d e");
    assert_int_equal(test_ready_score("q", "b"), RV_SCORE_START + 4 * RV_SCORE_STEP);
    assert_int_equal(test_ready_score("q", "a"), RV_SCORE_START + 6 * RV_SCORE_STEP);
    TEST_EXPECT_LEASE(&a, 3, "b c a");
    test_no_segments();
}

/* Whether somebody else is to look is known: there is more, or not. */
static void who_is_told_to_look(void **state)
{
    (void)state;
    static const unsigned wants[] = {1, 3, 4, 9};
    for (size_t i = 0; i < 4; i++) {
        for (int more = 0; more < 2; more++) {
            (void)set_up(state);
            test_hand_begin(&a, "1", "q");
            test_put_together("a b c d");
            if (more) test_put_together("e");
            test_sleep_again();
            (void)test_lease(&a, wants[i]);
            assert_int_equal(a.count, wants[i] < 4u + (unsigned)more ? wants[i] : 4u + (unsigned)more);
            if (test_is_awake() != (a.count < 4u + (unsigned)more)) fail_msg("%u of %d", wants[i], 4 + more);
        }
    }
}

static void across_segments(void **state)
{
    static const unsigned wants[] = {3, 4, 5, 7, 8, 9};
    for (size_t i = 0; i < 6; i++) {
        (void)set_up(state);
        test_put_together("a b c d");
        test_put_together("x");
        test_put_together("e f g h");
        test_ok(test_client, reeve_delete(test_client, "q", "x"));
        test_expect_ready("a b c d e f g h", 2);
        static const char all[] = "a b c d e f g h";
        const size_t some = wants[i] < 8 ? wants[i] : 8;
        (void)test_lease(&a, wants[i]);
        assert_int_equal(a.count, some);
        assert_memory_equal(test_leased_ids(&a), all, 2 * some - 1);
        test_limits_agree();
        assert_int_equal(test_ready_count("q"), 8 - some);
        (void)test_lease(&b, 9);
        assert_string_equal(test_leased_ids(&b), some < 8 ? all + 2 * some : "");
        test_no_segments();
    }
}

static void behind_what_was_put_to_the_front(void **state)
{
    (void)state;
    test_put_together("a b c d e");
    TEST_EXPECT_LEASE(&a, 2, "a b");
    TEST_SETTLE(&a, TEST_SNOOZE("b", 0));
    test_expect_ready("b c d e", 1);
    TEST_EXPECT_LEASE(&b, 2, "b c");
    TEST_SETTLE(&b, TEST_SNOOZE("c", 0), TEST_SNOOZE("b", 0));
    test_put_together("f g h i");
    test_expect_ready("b c d e f g h i", 1);
    test_expire(&b);
    TEST_EXPECT_LEASE(&a, 9, "b c d e f g h i");
    TEST_SETTLE(&a, TEST_RETRY("g", 1000), TEST_DONE("h"));
    assert_string_equal(test_state("q", "g"), "scheduled");
}

/* An old segment's number may be that of a new one: each task is known by where it stands. */
static void given_back_and_reaped(void **state)
{
    (void)state;
    test_put_together("a b c d");
    TEST_EXPECT_LEASE(&a, 4, "a b c d");
    test_maintain_all("q"); /* (its order begins anew) */
    test_put_together("e f g h");
    test_expect_ready("e f g h", 1);
    assert_int_equal(test_number("SISMEMBER " Q "segments 0"), 1);
    test_expire(&a);
    test_maintain_all("q");
    test_expect_ready("a b c d e f g h", 1);
    test_ok(test_client, reeve_cancel(test_client, "q", "b"));
    test_ok(test_client, reeve_delete(test_client, "q", "f"));
    test_expect_ready("a c d e g h", 1);
    static const char *const each[] = {"a", "c", "d", "e g h"}; /* (each of the crashed alone) */
    for (size_t i = 0; i < 4; i++) {
        TEST_EXPECT_LEASE(&b, 4, each[i]);
        test_done(&b);
    }
    test_no_segments();
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "ready " Q "sequence"), 0);
}

/* One has something to tell: whoever leases it must look. */
static void with_one_that_is_marked(void **state)
{
    static const unsigned wants[] = {2, 3, 5, 9};
    const reeve_parent ended = {.handle = "q/0"};
    for (size_t i = 0; i < 4; i++) {
        (void)set_up(state);
        test_put_together("0");
        assert_int_equal(test_run_all(&a), 1);
        test_put_together("a b c d e");
        test_ok(test_client, reeve_add_dependency(test_client, "q", "b", &ended, 1)); /* (which stays, and is marked) */
        test_expect_ready("a b c d e", 1);
        assert_non_null(strstr(test_cmd(test_conn, "HGET " Q "tasks b"), "{\"info\":1,"));
        (void)test_cmd(test_conn, "HSET " Q "info:b failures 3");
        (void)test_lease(&a, wants[i]);
        assert_memory_equal(test_leased_ids(&a), "a b c d e", 2 * a.count - 1);
        assert_int_equal(a.count, wants[i] < 5 ? wants[i] : 5);
        assert_int_equal(a.leased[1].failures, 3);
        assert_true(a.leased[1].has_info);
        test_done(&a);
        assert_int_equal(test_run_all(&a), 5 - a.count);
        test_no_segments();
    }
}

static void a_marked_one_that_leaves(void **state)
{
    const reeve_parent ended = {.handle = "q/0"};
    (void)state;
    test_put_together("0");
    assert_int_equal(test_run_all(&a), 1);
    test_put_together("a b c d");
    test_ok(test_client, reeve_add_dependency(test_client, "q", "b", &ended, 1));
    assert_string_equal(test_state("q", "b"), "ready");
    test_ok(test_client, reeve_cancel(test_client, "q", "b"));
    test_expect_ready("a c d", 1);
}

/* A child waits for one. */
static void with_one_that_has_a_child(void **state)
{
    (void)state;
    const reeve_parent after = {.handle = "q/c"};
    test_put_together("a b c d e");
    test_put_spec((reeve_task_spec){.id = "child", .after = &after, .after_count = 1});
    test_expect_ready("a b c d e", 1);
    TEST_EXPECT_LEASE(&a, 4, "a b c d");
    test_done(&a);
    test_maintain_all("q");
    test_expect_ready("e child", 1);
    assert_int_equal(test_run_all(&b), 2);
    test_no_segments();
}

/* More segments than a call passes: the page comes in several. */
static void a_page_behind_many_segments(void **state)
{
    (void)state;
    char ids[64];
    for (int i = 0; i < 600; i++) {
        (void)snprintf(ids, sizeof(ids), "p%03d-%%zu", i);
        test_put_many("q", 4, ids);
        (void)snprintf(ids, sizeof(ids), "s%03d", i);
        test_put("q", ids);
    }
    assert_int_equal(test_number("SCARD reeve:{q}:segments"), 600);
    reeve_task_info **list;
    size_t count;
    uint64_t total;
    test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_READY, 2994, 100, &list, &count, &total));
    assert_int_equal(total, 3000);
    assert_int_equal(count, 6);
    assert_string_equal(list[0]->id, "s598");
    assert_string_equal(list[1]->id, "p599-0");
    assert_string_equal(list[5]->id, "s599");
    reeve_task_list_free(list, count);
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(of_four, set_up),
        cmocka_unit_test_setup(joined_by_the_next_call, set_up),
        cmocka_unit_test_setup(joined_after_some_have_gone, set_up),
        cmocka_unit_test_setup(never_too_long, set_up),
        cmocka_unit_test_setup(an_id_that_stands_in_a_segment, set_up),
        cmocka_unit_test_setup(so_many_as_are_wanted, set_up),
        cmocka_unit_test_setup(who_is_told_to_look, set_up),
        cmocka_unit_test_setup(across_segments, set_up),
        cmocka_unit_test_setup(behind_what_was_put_to_the_front, set_up),
        cmocka_unit_test_setup(given_back_and_reaped, set_up),
        cmocka_unit_test_setup(with_one_that_is_marked, set_up),
        cmocka_unit_test_setup(with_one_that_has_a_child, set_up),
        cmocka_unit_test_setup(a_marked_one_that_leaves, set_up),
        cmocka_unit_test_setup(taken_out, set_up),
        cmocka_unit_test_setup(a_page_behind_many_segments, set_up),
    };
    return cmocka_run_group_tests_name("ct_segments", tests, test_place_start, test_place_stop);
}
