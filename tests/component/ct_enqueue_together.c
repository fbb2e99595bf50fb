/* Tasks of one call that wait for one another, have the same unique key, or are refused beside others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/depend.h"
#include "support/script.h"
#include "support/unique.h"

#define Q "reeve:{q}:"
#define REST "\"type\":\"t\"}\n"
#define KEYED "\"type\":\"t\",\"unique\":\"k\"}\n"
#define KEY "{\"unique\":\"k\"}"
#define REPLACE "{\"unique\":\"k\",\"conflict\":\"replace\"}"
#define AFTER(id) "{\"after\":[[\"q/" id "\",\"f\"]]}"
#define SEND(...) TEST_SCRIPT(enqueue, Q, __VA_ARGS__)

/* ---- parents of the same call ---------------------------------------------------------------------------------- */

static void a_replacement_between_a_child_and_its_parent(void **state)
{
    (void)state;
    test_put_key("h");
    assert_string_equal(SEND("0", "c", AFTER("p"), REST, "x", REPLACE, KEYED, "p", "", REST), "[1 1 1]");
    test_state_is("q", "c", "blocked");
    test_complete("q", "x");
    test_complete("q", "p");
    test_complete("q", "c");
    test_no_edges_left("q");
}

static void a_child_of_the_task_that_is_replaced(void **state)
{
    (void)state;
    test_put_key("h");
    assert_string_equal(SEND("0", "c", AFTER("h"), REST, "x", REPLACE, KEYED), "[1 1]");
    test_complete("q", "x");
    test_complete("q", "c");
    (void)test_cmd(test_conn, "DEL " Q "unique:k");
    assert_string_equal(SEND("0", "d", AFTER("i"), REST, "i", KEY, KEYED, "y", REPLACE, KEYED), "[1 1 1]");
    test_complete("q", "y");
    test_complete("q", "d");
    test_no_edges_left("q");
}

static void a_parent_that_is_refused(void **state)
{
    (void)state;
    test_put_key("h");
    assert_string_equal(SEND("0", "c", AFTER("p"), REST, "p", KEY, KEYED), "[unknown p h]");
    assert_string_equal(SEND("0", "p", KEY, KEYED, "c", AFTER("p"), REST), "[h unknown p]");
    assert_string_equal(SEND("0", "d", AFTER("c"), REST, "c", AFTER("p"), REST, "p", KEY, KEYED, "e", "", REST),
                        "[unknown c unknown p h 1]");
    assert_int_equal(test_number("HLEN " Q "tasks"), 2);
    test_no_edges_left("q");
}

static void tasks_that_wait_for_each_other(void **state)
{
    (void)state;
    assert_string_equal(SEND("0", "a", AFTER("b"), REST, "b", AFTER("c"), REST, "c", AFTER("a"), REST, "d", AFTER("c"),
                             REST, "e", "", REST),
                        "[unknown b unknown c unknown a unknown c 1]");
    assert_string_equal(SEND("0", "a", AFTER("a"), REST), "[unknown a]");
    assert_int_equal(test_number("HLEN " Q "tasks"), 1);
}

/* The last one is first, and each waits for the one behind it. */
static void a_long_chain(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    static char ids[COUNT][8], options[COUNT][40];
    static const char *args[2 + 3 * COUNT + 1] = {Q, "0"};
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "n%d", i);
        if (i < COUNT - 1) (void)snprintf(options[i], sizeof(options[i]), "{\"after\":[[\"q/n%d\",\"f\"]]}", i + 1);
        args[2 + 3 * i] = ids[i];
        args[3 + 3 * i] = options[i];
        args[4 + 3 * i] = REST;
    }
    (void)test_script_text(&rv_script_enqueue, args);
    assert_int_equal(test_count("q", "blocked"), COUNT - 1);
    test_complete("q", "n999");
    test_complete("q", "n998");
    test_state_is("q", "n997", "ready");
}

/* ---- unique keys ------------------------------------------------------------------------------------------------ */

static void a_key_of_another_type_is_locked(void **state)
{
    (void)state;
    (void)test_cmd(test_conn, "LPUSH " Q "unique:k x");
    assert_string_equal(SEND("0", "a", KEY, KEYED), "[1]");
    assert_string_equal(SEND("0", "b", KEY, KEYED), "[a]");
    (void)test_cmd(test_conn, "DEL " Q "unique:k");
    (void)test_cmd(test_conn, "LPUSH " Q "unique:k x");
    assert_string_equal(SEND("0", "c", REPLACE, KEYED), "[1]");
    assert_string_equal(test_holder("k"), "c");
}

/* The task has run, its record is gone, and its key keeps it from running again. */
static void a_call_that_fails_frees_no_key_of_before(void **state)
{
    (void)state;
    const char *hold = "{\"unique\":\"k\",\"unique_for\":60000}";
    const reeve_keep none = {0};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    test_put_for("a", 60000);
    test_complete("q", "a");
    assert_string_equal(test_state("q", "a"), "");
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default -hset"), "OK");
    const char *said = SEND("1", "a", hold, KEYED, "b", "{\"priority\":1}", REST);
    assert_non_null(strstr(said, "can't run this command"));
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default +hset"), "OK");
    assert_string_equal(test_holder("k"), "a");
    assert_string_equal(SEND("1", "a", hold, KEYED, "b", "{\"priority\":1}", REST), "[1 1]");
    assert_string_equal(test_state("q", "a"), "");
}

/* ---- the same call again ---------------------------------------------------------------------------------------- */

static void an_id_that_a_call_has_twice(void **state)
{
    (void)state;
    assert_string_equal(SEND("plain", "a", "a", REST, REST), "[1 0]");
    assert_string_equal(SEND("1", "a", "", REST, "a", "", REST), "[1 0]");
}

static void a_message_brings_one_task(void **state)
{
    (void)state;
    const char *said = SEND("carried p 1 0", "a", "", REST, "b", "", REST);
    if (strncmp(said, "(error) ERR enqueue: ", 21) != 0) fail_msg("%s", said);
    assert_string_equal(SEND("carried p 1 0", "a", "", REST), "[1]");
}

/* ---- how much goes into a call --------------------------------------------------------------------------------- */

enum { CHILDREN = 60, PARENTS = 64, ALL = CHILDREN + PARENTS };

static char ids[ALL][16], handles[PARENTS][16];
static reeve_parent after[PARENTS];

/* Children, each of which has all parents; then these parents. */
static void describe(reeve_task_spec specs[ALL])
{
    for (size_t i = 0; i < ALL; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%s%zu", i < CHILDREN ? "c" : "p", i < CHILDREN ? i : i - CHILDREN);
        specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .id = ids[i]};
        if (i < CHILDREN) specs[i].after = after, specs[i].after_count = PARENTS;
    }
    for (size_t i = 0; i < PARENTS; i++) {
        (void)snprintf(handles[i], sizeof(handles[i]), "q/p%zu", i);
        after[i] = (reeve_parent){.handle = handles[i]};
    }
}

/* How many calls the tasks took. */
static int enqueue_all(const reeve_task_spec *specs, size_t count)
{
    reeve_enqueued results[ALL];
    assert_string_equal(test_cmd(test_conn, "CONFIG RESETSTAT"), "OK");
    test_ok(test_client, reeve_enqueue_many(test_client, specs, count, results));
    const char *line = strstr(test_cmd(test_conn, "INFO commandstats"), "cmdstat_evalsha:calls=");
    return line ? atoi(line + strlen("cmdstat_evalsha:calls=")) : 0;
}

/* An edge costs Redis about as much as a task: tasks of many parents are sent a few at a time. */
static void tasks_of_many_parents_go_in_several_calls(void **state)
{
    (void)state;
    reeve_task_spec specs[ALL];
    describe(specs);
    (void)enqueue_all(specs + CHILDREN, PARENTS);
    assert_in_range(enqueue_all(specs, CHILDREN), CHILDREN * PARENTS / 500, CHILDREN);
    assert_int_equal(test_number("ZCARD " Q "blocked"), CHILDREN);
}

/* Those that name parents behind them stay with these. */
static void tasks_go_with_the_parents_behind_them(void **state)
{
    (void)state;
    reeve_task_spec specs[ALL];
    describe(specs);
    assert_in_range(enqueue_all(specs, ALL), 1, 2); /* the script may have to be loaded first */
    assert_int_equal(test_number("ZCARD " Q "blocked"), CHILDREN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_replacement_between_a_child_and_its_parent, test_place_empty),
        cmocka_unit_test_setup(a_child_of_the_task_that_is_replaced, test_place_empty),
        cmocka_unit_test_setup(a_parent_that_is_refused, test_place_empty),
        cmocka_unit_test_setup(tasks_that_wait_for_each_other, test_place_empty),
        cmocka_unit_test_setup(a_long_chain, test_place_empty),
        cmocka_unit_test_setup(a_key_of_another_type_is_locked, test_place_empty),
        cmocka_unit_test_setup(a_call_that_fails_frees_no_key_of_before, test_place_empty),
        cmocka_unit_test_setup(an_id_that_a_call_has_twice, test_place_empty),
        cmocka_unit_test_setup(a_message_brings_one_task, test_place_empty),
        cmocka_unit_test_setup(tasks_of_many_parents_go_in_several_calls, test_place_empty),
        cmocka_unit_test_setup(tasks_go_with_the_parents_behind_them, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_enqueue_together", tests, test_place_start, test_place_stop);
}
