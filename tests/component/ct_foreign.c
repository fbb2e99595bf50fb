/* Calls of the scripts by other programs, with values that make no sense: refused before anything is written; and with
 * numbers that are too large, which are cut. */
#include <stdio.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/queue.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

#define ARGS 24

/* One call of a script with these arguments, ended by NULL; its reply as text. */
static const char *call(const rv_script *script, const char *const args[ARGS])
{
    const rv_reply *reply = NULL;
    size_t count = 0;
    while (args[count] != NULL) count++;
    rv_cmd_script(test_conn, script, 1, count);
    rv_args(test_conn, Q);
    for (size_t i = 0; i < count; i++) rv_args(test_conn, args[i]);
    reeve_status status = rv_conn_call(test_conn, 0, &reply);
    assert_true(status == REEVE_OK || status == REEVE_EREDIS);
    return test_reply_text(reply);
}
#define CALL(script, ...) call(&rv_script_##script, (const char *const[ARGS]){__VA_ARGS__})

/* It is refused with words of ours, and everything is as it was. */
static void refused(const rv_script *script, const char *const args[ARGS])
{
    char before[65536], begins[64];
    (void)snprintf(before, sizeof(before), "%s", test_digest());
    const char *answer = call(script, args);
    (void)snprintf(begins, sizeof(begins), "(error) ERR %s: ", script->name);
    if (strncmp(answer, begins, strlen(begins)) != 0) fail_msg("%s %s %s: %s", script->name, args[0], args[1], answer);
    assert_string_equal(test_digest(), before);
}
#define REFUSED(script, ...) refused(&rv_script_##script, (const char *const[ARGS]){__VA_ARGS__})

#define REST "\"type\":\"t\"}\n"
#define UNIQUE "\"type\":\"t\",\"unique\":\"k\"}\n"

static void ids_that_are_none(void **state)
{
    (void)state;
    static const char *const ids[] = {"#",
                                      "#totals",
                                      "+5",
                                      "a b",
                                      "a\nb",
                                      "",
                                      "a/b",
                                      "\"",
                                      "\xc3\xa4",
                                      "0123456789012345678901234567890123456789012345678901234567890123456789"
                                      "0123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        REFUSED(enqueue, "plain", ids[i], REST);
        REFUSED(enqueue, "idle", ids[i], REST);
        REFUSED(enqueue, "0", ids[i], "", REST);
        REFUSED(enqueue, "plain", "a", ids[i], REST, REST);
        REFUSED(enqueue, "plain", "a", "b", "c", ids[i], REST, REST, REST, REST);
        REFUSED(enqueue, "0", "a", "", REST, ids[i], "{\"priority\":1}", REST);
    }
}

static void envelopes_that_are_none(void **state)
{
    (void)state;
    static const char *const rests[] = {"",
                                        "x",
                                        "\n",
                                        "\"type\":\"t\"}",
                                        "\"type\":\"\"}\n",
                                        "\"typ\":\"t\"}\n",
                                        "\"at\":7,\"type\":\"t\"}\n",
                                        "{\"type\":\"t\"}\n"};
    for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
        REFUSED(enqueue, "0", "a", "", rests[i]);
        REFUSED(enqueue, "0", "a", "", REST, "b", "", rests[i]);
        REFUSED(enqueue, "0", "a", "{\"unique\":\"k\"}", UNIQUE, "b", "", rests[i]);
    }
    REFUSED(enqueue, "plain", "a", "x");
    REFUSED(enqueue, "idle", "a", "\"type\":\"t\"}");
}

/* The first task of the call would take a key, a tag, a deadline. */
static void options_that_are_none(void **state)
{
    (void)state;
    static const char *const options[] = {"x",
                                          "12",
                                          "null",
                                          "{\"priority\":128}",
                                          "{\"priority\":null}",
                                          "{\"priority\":1.5}",
                                          "{\"group\":\"\"}",
                                          "{\"group\":7}",
                                          "{\"group\":\"g\",\"weight\":0}",
                                          "{\"group\":\"g\",\"weight\":-1}",
                                          "{\"group\":\"g\",\"weight\":NaN}",
                                          "{\"in\":\"x\"}",
                                          "{\"at\":null}",
                                          "{\"in\":1e300}",
                                          "{\"deadline\":{}}",
                                          "{\"expires\":[]}",
                                          "{\"tags\":\"a\"}",
                                          "{\"tags\":[1]}",
                                          "{\"tags\":{\"a\":1}}",
                                          "{\"unique\":7}",
                                          "{\"unique\":\"other\"}",
                                          "{\"unique\":\"k\",\"unique_for\":0}",
                                          "{\"unique\":\"k\",\"until\":\"x\"}",
                                          "{\"until\":\"started\"}",
                                          "{\"unique\":\"k\",\"conflict\":\"eat\"}",
                                          "{\"after\":\"q/a\"}",
                                          "{\"after\":[\"q/a\"]}",
                                          "{\"after\":[[\"q\",\"f\"]]}",
                                          "{\"after\":[[\"q/a\",\"fail\"]]}"};
    static const char first[] = "{\"unique\":\"k\",\"tags\":[\"x\"],\"deadline\":9000000000000,\"group\":\"g\"}";
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        REFUSED(enqueue, "0", "b", options[i], UNIQUE);
        REFUSED(enqueue, "0", "a", first, UNIQUE, "b", options[i], UNIQUE);
        REFUSED(enqueue, "1", "a", first, UNIQUE, "b", options[i], UNIQUE);
    }
    /* The key is free: the next one has it. */
    assert_string_equal(CALL(enqueue, "0", "a", first, UNIQUE), "[1]");
}

static void so_many_tasks_that_they_do_not_fit(void **state)
{
    (void)state;
    enum { COUNT = 4500 };
    const rv_reply *reply = NULL;
    char id[32];
    rv_cmd_script(test_conn, &rv_script_enqueue, 1, 1 + 2 * COUNT);
    rv_args(test_conn, Q);
    rv_args(test_conn, "plain");
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(id, sizeof(id), "a%d", i);
        rv_args(test_conn, id);
    }
    for (int i = 0; i < COUNT; i++) rv_args(test_conn, REST);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_EREDIS);
    assert_string_equal(test_reply_text(reply), "(error) ERR enqueue: more than 2000 tasks in one call");
    assert_int_equal(test_number("EXISTS " Q "tasks"), 0);
}

/* ---- turns ----------------------------------------------------------------------------------------------------- */

static void a_turn_that_wants_too_many_loses_none(void **state)
{
    (void)state;
    test_put_many("q", 4500, "a%04zu");
    (void)CALL(begin_session, "w-1", "60000", "{\"worker\":\"w\"}");
    (void)CALL(turn, "1", "4500", "1", "", "w-1");
    assert_int_equal(test_count("q", "ready") + test_count("q", "running"), 4500);
    assert_int_equal(test_count("q", "running"), 1000);
    (void)CALL(turn, "1", "1e300", "1", "", "w-1");
    assert_int_equal(test_count("q", "running"), 2000);
}

static void turns_that_are_none(void **state)
{
    (void)state;
    test_put("q", "x y z");
    (void)CALL(begin_session, "w-1", "60000", "{\"worker\":\"w\"}");
    (void)CALL(turn, "1", "3", "1", "", "w-1");
    assert_int_equal(test_count("q", "running"), 3);
    static const char *const wants[] = {"", "x", "-1", "nan", "1.5"};
    for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) REFUSED(turn, "1", wants[i], "1", "", "w-1");
    REFUSED(turn, "1", "1", "2", "", "w-1", "w-1");
    REFUSED(turn, "1", "1", "1", "");
    /* A completion that is good stands before what is wrong. */
    REFUSED(turn, "1", "0", "0", "", "1", "w-1", "", "1", "x", "1");
    REFUSED(turn, "1", "0", "0", "", "1", "w-1", "", "1", "x", "1", "eat", "y", "", "", "");
    REFUSED(turn, "1", "0", "0", "", "1", "w-1", "", "1", "x", "1", "retry", "y", "soon", "k", "m");
    REFUSED(turn, "1", "0", "0", "", "1", "w-1", "", "1", "x", "1", "snooze", "y", "nan", "", "");
    REFUSED(turn, "1", "0", "0", "", "1", "w-1", "", "1", "x", "1", "chain", "y", "q", "", REST);
    REFUSED(turn, "1", "0", "0", "", "1", "w-1", "", "1", "x", "1", "chain", "y", "q/n", "{", REST);
    REFUSED(turn, "1", "0", "0", "", "1", "w-1", "", "1", "x", "1", "chain", "y", "q/+n", "", REST);
    REFUSED(turn, "1", "0", "0", "", "1", "w-1", "", "1", "x", "2", "results", "2", "r");
    REFUSED(turn, "1", "0", "0", "", "1", "w-1", "", "1", "x", "-1");
    REFUSED(turn, "1", "0", "0", "", "1", "w-1", "", "1001", "x", "0");
    REFUSED(turn, "1", "0", "0", "", "1", "w-1", "", "1", "x", "0", "2", "w-1", "", "0", "0");
    assert_int_equal(test_count("q", "running"), 3);
}

static void upkeep_that_wants_too_many_loses_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4500; i += 500) {
        static reeve_task_spec specs[500];
        static reeve_enqueued results[500];
        for (size_t j = 0; j < 500; j++) specs[j] = (reeve_task_spec){.queue = "q", .type = "t", .in_ms = 1};
        test_ok(test_client, reeve_enqueue_many(test_client, specs, 500, results));
    }
    TEST_AWAIT(strncmp(CALL(maintain, "4500"), "[", 1) == 0 && test_count("q", "ready") == 4500);
    (void)test_lease(&hand, RV_BATCH_MAX);
    (void)CALL(end_session, hand.sessions[0], "1e300");
    assert_int_equal(test_count("q", "ready") + test_count("q", "running"), 4500);
}

static void other_values_that_make_no_sense(void **state)
{
    (void)state;
    test_put("q", "x");
    REFUSED(reschedule, "x", "priority", "128");
    REFUSED(reschedule, "x", "priority", "nan");
    REFUSED(reschedule, "x", "at", "");
    REFUSED(reschedule, "x", "in", "1e300");
    REFUSED(reschedule, "x", "up", "1");
    REFUSED(depend, "add", "x", "nowhere", "f");
    REFUSED(depend, "add", "x", "q/y", "");
    REFUSED(cron, "set", "nightly", "x");
    REFUSED(cron, "set", "nightly", "x\n" REST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(ids_that_are_none, set_up),
        cmocka_unit_test_setup(envelopes_that_are_none, set_up),
        cmocka_unit_test_setup(options_that_are_none, set_up),
        cmocka_unit_test_setup(so_many_tasks_that_they_do_not_fit, set_up),
        cmocka_unit_test_setup(a_turn_that_wants_too_many_loses_none, set_up),
        cmocka_unit_test_setup(turns_that_are_none, set_up),
        cmocka_unit_test_setup(upkeep_that_wants_too_many_loses_none, set_up),
        cmocka_unit_test_setup(other_values_that_make_no_sense, set_up),
    };
    return cmocka_run_group_tests_name("ct_foreign", tests, test_place_start, test_place_stop);
}
