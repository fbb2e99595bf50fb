/* Fields of a session's hash that this version does not know: they neither keep the session nor count as tasks. */
#include <stdio.h>
#include <string.h>

#include "support/queue.h"
#include "support/script.h"

#define Q "reeve:{q}:"

static test_hand a, b;

static int set_up(void **state)
{
    test_hand_init(&a, "1", "q");
    test_hand_init(&b, "2", "q");
    return test_place_empty(state);
}

static void add_field(const test_hand *hand, const char *field, const char *value)
{
    char key[128];
    (void)snprintf(key, sizeof(key), Q "running:%s", hand->sessions[0]);
    (void)TEST_WORDS("HSET", key, field, value);
}

/* The session with unknown fields is reaped first; the other one must not wait for it. */
static void do_not_keep_an_expired_session(void **state)
{
    (void)state;
    test_put("q", "x y");
    (void)test_lease(&a, 1);
    (void)test_lease(&b, 1);
    add_field(&a, "#totals", "7");
    add_field(&a, "#leader", "1 2");
    test_expire(&a);
    test_expire(&b);
    (void)test_cmd(test_conn, "ZADD " Q "sessions 1 %s", a.sessions[0]);
    test_maintain_all("q");
    assert_string_equal(test_state("q", "x"), "ready");
    assert_string_equal(test_state("q", "y"), "ready");
    assert_int_equal(test_number("EXISTS " Q "sessions " Q "lost:%s", a.sessions[0]), 0);
}

/* The same where the suspect that the session held is known. */
static void do_not_keep_a_session_that_crashed(void **state)
{
    (void)state;
    test_put("q", "x");
    (void)test_lease(&a, 1);
    add_field(&a, "#totals", "7");
    add_field(&a, "#suspect", "x");
    test_expire(&a);
    test_maintain_all("q");
    assert_string_equal(test_state("q", "x"), "ready");
    assert_int_equal(test_number("EXISTS " Q "sessions " Q "lost:%s", a.sessions[0]), 0);
}

static void do_not_keep_a_session_that_leaves(void **state)
{
    (void)state;
    test_put("q", "x");
    (void)test_lease(&a, 1);
    add_field(&a, "#totals", "7");
    assert_string_equal(TEST_SCRIPT(end_session, Q, a.sessions[0], "100"), "[1 0]");
    assert_string_equal(test_state("q", "x"), "ready");
    assert_int_equal(test_number("EXISTS " Q "sessions " Q "running:%s", a.sessions[0]), 0);
}

static void do_not_count_as_running_tasks(void **state)
{
    (void)state;
    test_put("q", "x y z");
    (void)test_lease(&a, 1);
    add_field(&a, "#totals", "7");
    add_field(&a, "#other", "8");
    assert_int_equal(test_count("q", "running"), 1);
    assert_string_equal(TEST_SCRIPT(limit, Q, "", "concurrency", "2"), "");
    assert_int_equal(test_number("HGET " Q "limit_state running"), 1);
    assert_int_equal(test_lease(&b, 2), 1);
}

/* A task whose 36 bytes begin with '#' is not handed over under such a field; where an older version did, it dies of
 * its id with the session that held it. */
static void are_no_tasks(void **state)
{
    (void)state;
    static const char id[] = "#aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", rest[] = "\"type\":\"t\"}\n";
    test_hand_begin(&a, "1", "q");
    a.hand = RV_HAND_IDLE;
    assert_int_equal(test_lease(&a, 1), 0);
    assert_true(a.idle);
    const char *said = TEST_SCRIPT(enqueue, Q, "plain", id, rest);
    if (strncmp(said, "(error) ERR enqueue: ", 21) != 0) fail_msg("%s", said);
    assert_int_equal(test_number("LLEN " Q "idle"), 1);
    (void)TEST_WORDS("HSET", Q "tasks", id, "{\"at\":1,\"type\":\"t\"}\n");
    add_field(&a, id, "5 1");
    test_expire(&a);
    test_maintain_all("q");
    assert_int_equal(test_number("ZRANK " Q "dead %s", id), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(do_not_keep_an_expired_session, set_up),
        cmocka_unit_test_setup(do_not_keep_a_session_that_crashed, set_up),
        cmocka_unit_test_setup(do_not_keep_a_session_that_leaves, set_up),
        cmocka_unit_test_setup(do_not_count_as_running_tasks, set_up),
        cmocka_unit_test_setup(are_no_tasks, set_up),
    };
    return cmocka_run_group_tests_name("ct_session_fields", tests, test_place_start, test_place_stop);
}
