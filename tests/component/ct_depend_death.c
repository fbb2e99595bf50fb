/* A task that has met the death for which it waited is registered with none of its other parents any more: these may
 * never come. */
#include <stdio.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/depend.h"
#include "support/script.h"

#define Q "reeve:{q}:"
#define PARENTS 80

/* The child waits for the death of a parent that is there and of some that are expected. */
static void put_child(const char *id, const char *parent, int expected)
{
    char options[64 + 24 * PARENTS];
    int length = snprintf(options, sizeof(options), "{\"after\":[[\"%s\",\"x\"]", parent);
    for (int i = 0; i < expected; i++)
        length += snprintf(options + length, sizeof(options) - (size_t)length, ",[\"q/never%d\",\"xe\"]", i);
    (void)snprintf(options + length, sizeof(options) - (size_t)length, "]}");
    assert_string_equal(TEST_SCRIPT(enqueue, Q, "0", id, options, "\"type\":\"t\"}\n"), "[1]");
}

/* It is ready, and nothing else is left of its edges. */
static void is_let_go(const char *id)
{
    test_settle_queues("q");
    test_state_is("q", id, "ready");
    test_no_edges_left("q");
}

static void one_that_is_met_while_it_waits(void **state)
{
    (void)state;
    test_put("q", "a");
    put_child("x", "q/a", 2);
    test_kill("q", "a");
    is_let_go("x");
    test_complete("q", "x");
    test_no_edges_left("q");
}

static void one_that_was_there_before(void **state)
{
    (void)state;
    test_put("q", "a");
    test_kill("q", "a");
    put_child("x", "q/a", 2);
    is_let_go("x");
}

static void one_that_is_named_by_hand(void **state)
{
    (void)state;
    test_put("q", "a b");
    put_child("x", "q/b", 2);
    test_kill("q", "a");
    test_add_edges("q", "x", "x:q/a");
    is_let_go("x");
}

static void one_that_is_found_by_a_retry(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_after("q", "x", "x:q/b x:q/a");
    test_ok(test_client, reeve_cancel(test_client, "q", "x"));
    test_kill("q", "a");
    test_ok(test_client, reeve_retry(test_client, "q", "x"));
    test_state_is("q", "x", "ready");
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "children:*"), "[]");
}

/* The client that puts it in has it told to the other queue, and so what it leaves. */
static void one_in_another_queue(void **state)
{
    (void)state;
    test_put("p", "a b");
    test_put_after("q", "x", "x:p/a x:p/b");
    test_settle_queues("p q");
    test_kill("p", "a");
    test_settle_all();
    test_state_is("q", "x", "ready");
    assert_int_equal(test_number("EXISTS reeve:{p}:children:b"), 0);
}

/* ---- of many parents -------------------------------------------------------------------------------------------- */

static void of_many_it_leaves_in_steps(void **state)
{
    (void)state;
    test_put("q", "a");
    put_child("x", "q/a", PARENTS);
    assert_int_equal(test_number("EXISTS " Q "children:never0 " Q "children:never79"), 2);
    test_kill("q", "a");
    is_let_go("x");
}

static void of_many_one_was_there_before(void **state)
{
    (void)state;
    test_put("q", "a");
    test_kill("q", "a");
    put_child("x", "q/a", PARENTS);
    test_state_is("q", "x", "ready");
    is_let_go("x");
}

static void keep_none(void)
{
    const reeve_keep none = {0, 0};
    const reeve_queue_settings settings = {.completed = &none, .dead = &none};
    test_ok(test_client, reeve_queue_set(test_client, "q", &settings));
}

/* Its record goes with its end, and with it what tells of its edges. */
static void of_many_it_ends_before_it_has_left_them(void **state)
{
    (void)state;
    keep_none();
    test_put("q", "a");
    put_child("x", "q/a", PARENTS);
    test_kill("q", "a");
    while (strcmp(test_state("q", "x"), "ready") != 0) (void)test_maintain("q", 1);
    assert_int_equal(test_number("LLEN " Q "fanout"), 1);
    test_complete("q", "x");
    test_state_is("q", "x", "");
    test_settle_queues("q");
    test_no_edges_left("q");
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "parents:*"), "[]");
}

/* The same of one that dies with its parent. */
static void of_many_it_dies_and_is_gone(void **state)
{
    char id[16];
    (void)state;
    keep_none();
    test_put("q", "a");
    test_put_after("q", "x", "f:q/a");
    test_put_many("q", PARENTS, "n%03zu");
    for (int i = 0; i < PARENTS; i++) {
        char edge[16];
        (void)snprintf(edge, sizeof(edge), "f:q/n%03d", i);
        test_add_edges("q", "x", edge);
    }
    test_kill("q", "a");
    test_settle_queues("q");
    test_state_is("q", "x", "");
    test_no_edges_left("q");
    for (int i = 0; i < PARENTS; i++) {
        (void)snprintf(id, sizeof(id), "n%03d", i);
        test_complete("q", id);
    }
}

static void of_many_one_is_found_by_a_retry(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_many("q", PARENTS, "n%03zu");
    test_put_after("q", "x", "x:q/a");
    for (int i = 0; i < PARENTS; i++) {
        char edge[16];
        (void)snprintf(edge, sizeof(edge), "x:q/n%03d", i);
        test_add_edges("q", "x", edge);
    }
    test_ok(test_client, reeve_cancel(test_client, "q", "x"));
    test_settle_queues("q");
    test_kill("q", "a");
    assert_string_equal(TEST_SCRIPT(retry, Q, "x"), "ok"); /* a client would take the steps, too */
    test_state_is("q", "x", "blocked");
    test_settle_queues("q");
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "children:*"), "[]");
    assert_int_equal(test_number("EXISTS " Q "blocked"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_that_is_met_while_it_waits, test_place_empty),
        cmocka_unit_test_setup(one_that_was_there_before, test_place_empty),
        cmocka_unit_test_setup(one_that_is_named_by_hand, test_place_empty),
        cmocka_unit_test_setup(one_that_is_found_by_a_retry, test_place_empty),
        cmocka_unit_test_setup(one_in_another_queue, test_place_empty),
        cmocka_unit_test_setup(of_many_it_leaves_in_steps, test_place_empty),
        cmocka_unit_test_setup(of_many_one_was_there_before, test_place_empty),
        cmocka_unit_test_setup(of_many_it_ends_before_it_has_left_them, test_place_empty),
        cmocka_unit_test_setup(of_many_it_dies_and_is_gone, test_place_empty),
        cmocka_unit_test_setup(of_many_one_is_found_by_a_retry, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_depend_death", tests, test_place_start, test_place_stop);
}
