/* Every script sent twice, as after a lost reply: the second time nothing changes. */
#include <stdio.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/queue.h"

static test_hand a, b;

static int set_up(void **state)
{
    test_hand_init(&a, "1", "q");
    test_hand_init(&b, "2", "q");
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

/* Sends a script on queue q; the reply as text. */
static const char *run(const rv_script *script, size_t count, const char *const args[])
{
    const rv_reply *reply;
    rv_cmd_script(test_conn, script, 1, count);
    rv_args(test_conn, Q);
    for (size_t i = 0; i < count; i++) rv_args(test_conn, args[i]);
    (void)rv_conn_call(test_conn, 0, &reply);
    assert_non_null(reply);
    return test_reply_text(reply);
}

/* Runs a script, and again: the first changes something (or not), the second nothing. */
static void twice(const rv_script *script, size_t count, const char *const args[], const char *first,
                  const char *second, bool changes)
{
    char before[64], between[64];
    rv_copy_text(before, sizeof(before), test_digest());
    assert_string_equal(run(script, count, args), first);
    rv_copy_text(between, sizeof(between), test_digest());
    if (changes == (strcmp(before, between) == 0)) fail_msg("%s: changes %d", script->name, changes);
    assert_string_equal(run(script, count, args), second);
    if (strcmp(between, test_digest()) != 0) fail_msg("%s: the second time it changed something", script->name);
}

#define ARGS(...)                                                                            \
    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), (const char *const[]) \
    {                                                                                        \
        __VA_ARGS__                                                                          \
    }

static void enqueue(void **state)
{
    (void)state;
    const char *const tasks[] = {"0",
                                 "x",
                                 "",
                                 "\"type\":\"t\"}\npay",
                                 "y",
                                 "{\"group\":\"g\",\"priority\":3}",
                                 "\"type\":\"t\"}\n",
                                 "z",
                                 "{\"in\":90000}",
                                 "\"type\":\"u\"}\n"};
    char before[64];
    assert_string_equal(run(&rv_script_enqueue, 10, tasks), "[1 1 1]");
    rv_copy_text(before, sizeof(before), test_digest());
    assert_string_equal(run(&rv_script_enqueue, 10, tasks), "[0 0 0]");
    assert_string_equal(test_digest(), before);
    const char *const again[] = {
        "1", "x", "", "\"type\":\"t\"}\npay", "y", "", "\"type\":\"t\"}\n", "z", "", "\"type\":\"other\"}\n"};
    assert_string_equal(run(&rv_script_enqueue, 10, again), "[1 1 0]"); /* z is not the one that we bring */
    assert_string_equal(test_digest(), before);
    (void)test_lease(&a, 1);
    test_settle(&a, TEST_RETRY("x", 60000)); /* marked, in another state: still ours */
    assert_string_equal(run(&rv_script_enqueue, 4, again), "[1]");
    assert_string_equal(run(&rv_script_enqueue, ARGS("1")), "[]");
}

static void heartbeat(void **state)
{
    (void)state;
    test_put("q", "x y");
    (void)test_lease(&a, 2);
    twice(&rv_script_heartbeat, ARGS(b.sessions[0], "5000"), "[0 0 0]", "[0 0 0]", false);
    const char *const flush[] = {a.sessions[0], "5000", "7", "40000", "2",    "1",   "completed", "10", "run:max",
                                 "900",         "io",   "1", "0",     "t",    "10",  "0",         "0",  "1",
                                 "5",           "5",    "5", "2",     "1500", "600", "900"};
    assert_string_equal(run(&rv_script_heartbeat, sizeof(flush) / sizeof(flush[0]), flush), "[1 2 1]");
    assert_string_equal(run(&rv_script_heartbeat, sizeof(flush) / sizeof(flush[0]), flush), "[1 2 1]");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "stats:40000 completed"), "10");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "stats:40000 type:t"), "10 0 0 1 5 5 5 2 1500 600 900");
}

static void leave(void **state)
{
    (void)state;
    test_put("q", "x y z");
    (void)test_lease(&a, 2);
    twice(&rv_script_end_session, ARGS(a.sessions[0], "200"), "[2 0]", "[0 0]", true);
    assert_int_equal(test_lease(&b, 9), 3);
    assert_string_equal(test_leased_ids(&b), "x y z");
}

static void maintain(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "later", .in_ms = 1});
    test_put("q", "x");
    (void)test_lease(&a, 1);
    test_expire(&a);
    TEST_AWAIT(test_maintain("q", 200).promoted == 1);
    test_maintain_all("q");
    char between[64];
    rv_copy_text(between, sizeof(between), test_digest());
    (void)test_maintain("q", 200);
    assert_string_equal(test_digest(), between);
}

static void steering(void **state)
{
    (void)state;
    test_put("q", "x y z");
    twice(&rv_script_cancel, ARGS("x"), "ok", "cancelled", true);
    twice(&rv_script_cancel, ARGS("none"), "", "", false);
    twice(&rv_script_retry, ARGS("x"), "ok", "ready", true);
    twice(&rv_script_retry, ARGS("none"), "", "", false);
    twice(&rv_script_delete, ARGS("x"), "ok", "", true);
    twice(&rv_script_pause, ARGS("1"), "1", "0", true);
    twice(&rv_script_pause, ARGS("0"), "1", "0", true);
    twice(&rv_script_settings, ARGS("completed_age", "5", "on_dead", "t"), "2", "0", true);
    twice(&rv_script_settings, ARGS("on_dead", ""), "1", "0", true);
    (void)test_lease(&a, 2);
    test_settle(&a, TEST_FAIL("y"));
    twice(&rv_script_retry, ARGS("y"), "ok", "ready", true);
    twice(&rv_script_retry, ARGS("z"), "running", "running", false);
    twice(&rv_script_delete, ARGS("z"), "running", "running", false);
    twice(&rv_script_cancel, ARGS("z"), "running", "running", true);
}

static void tasks_that_wait(void **state)
{
    (void)state;
    test_put("q", "x y z");
    twice(&rv_script_depend, ARGS("add", "y", "q/x", "f", "q/z", "w", "p/a", "g"), "ok", "ok", true);
    twice(&rv_script_cancel, ARGS("x"), "children 1", "children 1", false);
    /* Of the way to the other queue, this one plays both ends. */
    twice(&rv_script_link, ARGS("register", "x", "p/child", "f", "1"), "", "", true);
    twice(&rv_script_link, ARGS("unregister", "x", "p/child", "", "2"), "", "", true);
    twice(&rv_script_link, ARGS("register", "none", "p/child", "fg", "3"), "completed", "completed", true);
    twice(&rv_script_deliver, ARGS("y", "p/a", "dead"), "1", "1", true);
    twice(&rv_script_deliver, ARGS("none", "p/a", "dead"), "1", "1", false);
    char message[128]; /* its serial number begins with a time */
    rv_copy_text(message, sizeof(message), test_cmd(test_conn, "LINDEX %soutbox 0", Q));
    twice(&rv_script_outbox, ARGS("10", message), "[0]", "[0]", true);
    twice(&rv_script_depend, ARGS("remove", "y", "q/x"), "ok", "ok", true);
    twice(&rv_script_depend, ARGS("remove", "y", "q/z"), "ok", "ok", true);
    assert_string_equal(test_state("q", "y"), "ready");
    twice(&rv_script_depend, ARGS("add", "none", "q/x", "f"), "", "", false);
}

static void what_a_handler_says(void **state)
{
    (void)state;
    test_put("q", "x");
    char lease[64];
    twice(&rv_script_progress, ARGS(a.sessions[0], "x", "5", "w"), "0", "0", false);
    twice(&rv_script_checkpoint, ARGS(a.sessions[0], "x", "bytes"), "0", "0", false);
    twice(&rv_script_log, ARGS(a.sessions[0], "x", "1 1", "1", "line", "100"), "0", "0", false);
    (void)test_lease(&a, 1);
    (void)snprintf(lease, sizeof(lease), "%lld %s", (long long)a.now_ms, a.thread);
    twice(&rv_script_progress, ARGS(a.sessions[0], "x", "5", "w"), "1", "1", true);
    twice(&rv_script_checkpoint, ARGS(a.sessions[0], "x", "bytes"), "1", "1", true);
    twice(&rv_script_log, ARGS(a.sessions[0], "x", lease, "1", "line", "100"), "1", "1", true);
    twice(&rv_script_log, ARGS(a.sessions[0], "x", lease, "2", "line", "100"), "1", "1", true);
    twice(&rv_script_checkpoint, ARGS(a.sessions[0], "x", ""), "1", "1", true);
    twice(&rv_script_cancelled, ARGS("x"), "0", "0", false);
    twice(&rv_script_cancel, ARGS("x"), "running", "running", true);
    twice(&rv_script_cancelled, ARGS("x"), "1", "1", false);
}

/* The second time it says until when anew: only that differs. */
static void wait_for_it(void **state)
{
    (void)state;
    test_put("q", "x");
    assert_string_equal(run(&rv_script_wait, ARGS("x", "60000")), "ready");
    assert_string_equal(run(&rv_script_wait, ARGS("x", "60000")), "ready");
    assert_int_equal(test_number("ZCARD " Q "waiters"), 1);
    twice(&rv_script_wait, ARGS("none", "60000"), "", "", false);
    test_ok(test_client, reeve_cancel(test_client, "q", "x"));
    twice(&rv_script_wait, ARGS("x", "60000"), "cancelled", "cancelled", false);
}

static void those_that_only_read(void **state)
{
    (void)state;
    char before[64];
    test_put("q", "x y");
    (void)test_lease(&a, 1);
    rv_copy_text(before, sizeof(before), test_digest());
    (void)run(&rv_script_show, ARGS("x"));
    (void)run(&rv_script_stat, 0, NULL);
    (void)run(&rv_script_list, ARGS("ready", "0", "10"));
    (void)run(&rv_script_list, ARGS("running", "0", "10"));
    (void)run(&rv_script_recover, ARGS(a.sessions[0], "1", "0"));
    assert_string_equal(test_digest(), before);
}

/* Each outcome; then the turn as a whole, with what it leases. */
static void turn(void **state)
{
    (void)state;
    test_put("q", "plain result retry fail snooze later x y z");
    (void)test_lease(&a, 6);
    const test_outcome each[] = {TEST_DONE("plain"), TEST_RESULT("result", "r"),  TEST_RETRY("retry", 60000),
                                 TEST_FAIL("fail"),  TEST_SNOOZE("later", 60000), TEST_SNOOZE("snooze", 0)};
    for (size_t i = 0; i < 6; i++) {
        char between[64];
        (void)test_turn(&a, 0, &each[i], 1);
        assert_string_equal(a.refused, "");
        rv_copy_text(between, sizeof(between), test_digest());
        (void)test_turn(&a, 0, &each[i], 1);
        assert_string_equal(a.refused, each[i].is.id);
        assert_string_equal(test_digest(), between);
    }
    test_hand lost = a;
    assert_int_equal(test_turn(&lost, 2, &each[5], 1), 2); /* its reply is lost */
    assert_string_equal(test_leased_ids(&lost), "snooze x");
    assert_int_equal(test_turn(&a, 2, &each[0], 1),
                     2); /* sent again without asking: it leases more, and nothing else */
    assert_string_equal(test_leased_ids(&a), "y z");
    assert_int_equal(test_count("q", "running"), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(enqueue, set_up),
        cmocka_unit_test_setup(heartbeat, set_up),
        cmocka_unit_test_setup(leave, set_up),
        cmocka_unit_test_setup(maintain, set_up),
        cmocka_unit_test_setup(tasks_that_wait, set_up),
        cmocka_unit_test_setup(steering, set_up),
        cmocka_unit_test_setup(what_a_handler_says, set_up),
        cmocka_unit_test_setup(wait_for_it, set_up),
        cmocka_unit_test_setup(those_that_only_read, set_up),
        cmocka_unit_test_setup(turn, set_up),
    };
    return cmocka_run_group_tests_name("ct_twice", tests, test_place_start, test_place_stop);
}
