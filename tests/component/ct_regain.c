/* Many tasks that a turn left nowhere are taken back in calls that are short however many sessions there are. */
#include <stdio.h>
#include <string.h>

#include "protocol/regain_call.h"
#include "support/queue.h"

#define Q "reeve:{q}:"

enum { SESSIONS = 2000, TASKS = RV_REGAIN_MAX };

static rv_prefix prefix;

static void id_of(char id[16], int number)
{
    (void)snprintf(id, 16, "n%d", number);
}

/* Returns how many were looked at, of those from first on; *ret_regained: how many stood nowhere. */
static int regain(const char *session, int first, int *ret_regained)
{
    const rv_reply *reply;
    rv_regain_call_build(test_conn, &prefix, session, (size_t)(TASKS - first));
    for (int i = first; i < TASKS; i++) {
        char id[16];
        id_of(id, i);
        rv_regain_call_add(test_conn, &(rv_lease){.id = id, .since_ms = 1}, "1");
    }
    assert_int_equal(rv_conn_call(test_conn, test_patience(), &reply), REEVE_OK);
    *ret_regained += (int)rv_reply_int(rv_reply_at(reply, 1), -1);
    return (int)rv_reply_int(rv_reply_at(reply, 0), -1);
}

static void tasks_are_regained_in_parts(void **state)
{
    (void)state;
    char last[16];
    id_of(last, TASKS - 1);
    for (int i = 0; i < SESSIONS; i++) {
        (void)test_cmd(test_conn, "ZADD " Q "sessions 9000000000000 s-%08d", i);
        (void)test_cmd(test_conn, "HSET " Q "running:s-%08d # x", i);
    }
    for (int i = 0; i < TASKS; i++) (void)test_cmd(test_conn, "HSET " Q "tasks n%d {\"at\":1,\"type\":\"t\"}", i);
    /* One runs elsewhere by now, one has ended, and of one the record is gone. */
    (void)test_cmd(test_conn, "HSET " Q "running:s-%08d %s lease", SESSIONS - 1, last);
    (void)test_cmd(test_conn, "ZADD " Q "completed 1 n5");
    (void)test_cmd(test_conn, "HDEL " Q "tasks n6");
    int calls = 0, regained = 0;
    for (int first = 0; first < TASKS; calls++) {
        int looked = regain("s-00000000", first, &regained);
        assert_in_range(looked, 1, TASKS - first);
        first += looked;
    }
    assert_in_range(calls, 4, TASKS);
    assert_int_equal(regained, TASKS - 3);
    assert_string_equal(test_cmd(test_conn, "HLEN " Q "running:s-00000000"), "62");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "running:s-00000000 n0"), "1 1");
    assert_string_equal(test_cmd(test_conn, "HEXISTS " Q "running:s-00000000 %s", last), "0");
}

static void tasks_of_a_session_that_is_gone_are_due(void **state)
{
    (void)state;
    int regained = 0;
    for (int i = 0; i < TASKS; i++) (void)test_cmd(test_conn, "HSET " Q "tasks n%d {\"at\":1,\"type\":\"t\"}", i);
    assert_int_equal(regain("s-00000000", 0, &regained), TASKS);
    assert_int_equal(regained, TASKS);
    assert_int_equal(test_count("q", "scheduled"), TASKS);
    regained = 0;
    assert_int_equal(regain("s-00000000", 0, &regained), TASKS);
    assert_int_equal(regained, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(tasks_are_regained_in_parts, test_place_empty),
        cmocka_unit_test_setup(tasks_of_a_session_that_is_gone_are_due, test_place_empty),
    };
    rv_keys_set_prefix(&prefix, "reeve", "q");
    return cmocka_run_group_tests_name("ct_regain", tests, test_place_start, test_place_stop);
}
