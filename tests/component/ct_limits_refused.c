/* Turns under limits of groups that Redis refuses for want of a right: afterwards no task is lost, and no group waits
 * for ever. */
#include <stdio.h>
#include <string.h>

#include "support/calls.h"
#include "support/limited_user.h"
#include "support/limits.h"

#define Q "reeve:{q}:"
#define SESSION "by_hand-00000001"
#define TASKS "a b c d e f"

enum { COUNT = 6, RUNNING = 2, NAMES = 96 };

/* The commands of turn.lua. */
static char names[NAMES][TEST_COMMAND_NAME];
static size_t name_count;

static void read_names(void)
{
    char name[TEST_COMMAND_NAME];
    name_count = 0;
    for (const char *at = rv_script_turn.text; (at = test_calls_next_command(at, name)) != NULL;) {
        size_t i = 0;
        while (i < name_count && strcmp(names[i], name) != 0) i++;
        if (name[0] == '\0' || i < name_count) continue;
        assert_true(name_count < NAMES);
        (void)snprintf(names[name_count++], TEST_COMMAND_NAME, "%s", name);
    }
}

static const rv_reply *send(rv_conn *conn, const test_script_call *call)
{
    return test_call_send(conn, call, 1, test_call_args(call), NULL);
}

/* Leases all that may run now. Returns whether that is done, and not refused. */
static bool lease(rv_conn *conn)
{
    static const test_script_call call = {&rv_script_turn, {"1", "9", "1", "", SESSION}, true};
    return !rv_reply_is(send(conn, &call), RV_ERROR);
}

/* How many tasks the session holds: their ids. */
static size_t held(char ids[COUNT][2])
{
    size_t count = 0;
    for (const char *id = TASKS; *id != '\0'; id++) {
        if (*id == ' ' || test_number("HEXISTS " Q "running:" SESSION " %c", *id) == 0) continue;
        ids[count][0] = *id;
        ids[count++][1] = '\0';
    }
    return count;
}

/* Settles tasks. verb: "" for plain completions. Returns whether that is done, and not refused. */
static bool settle(rv_conn *conn, const char *verb, char ids[COUNT][2], size_t count)
{
    test_script_call call = {&rv_script_turn, {"1", "0", "0", "", "1", SESSION, ""}, true};
    char number[2][8];
    size_t at = 7;
    const bool plain = *verb == '\0';
    (void)snprintf(number[0], sizeof(number[0]), "%zu", plain ? count : 0);
    (void)snprintf(number[1], sizeof(number[1]), "%zu", plain ? 0 : count);
    call.args[at++] = number[0];
    for (size_t i = 0; plain && i < count; i++) call.args[at++] = ids[i];
    call.args[at++] = number[1];
    for (size_t i = 0; !plain && i < count; i++) {
        const bool fails = strcmp(verb, "fail") == 0;
        const char *const record[] = {verb, ids[i], fails ? "1" : "0", "k", "m"};
        for (size_t part = 0; part < 5; part++) call.args[at++] = record[part];
    }
    return !rv_reply_is(send(conn, &call), RV_ERROR);
}

/* What a worker does when a turn was refused. */
static void regain(char ids[COUNT][2], size_t count)
{
    test_script_call call = {&rv_script_regain, {SESSION}, true};
    for (size_t i = 0; i < count; i++) call.args[1 + 2 * i] = ids[i], call.args[2 + 2 * i] = "1 1";
    assert_false(rv_reply_is(send(test_conn, &call), RV_ERROR));
}

static size_t ended(void)
{
    return (size_t)(test_count("q", "completed") + test_count("q", "dead"));
}

/* All is right again: tasks are leased and completed, and the queue is maintained, until all have ended. */
static size_t go_on(void)
{
    char ids[COUNT][2];
    for (int i = 0; i < 4 * COUNT && ended() < COUNT; i++) {
        const size_t count = held(ids);
        if (count > 0 && !settle(test_conn, "", ids, count)) fail_msg("settling is refused");
        test_maintain_all("q");
        if (!lease(test_conn)) fail_msg("leasing is refused");
    }
    return ended();
}

/* Two tasks of a group run, which is its limit, and four are parked. */
static void fill(void)
{
    static const test_script_call begin = {
        &rv_script_begin_session, {SESSION, "60000", "{\"worker\":\"by_hand\"}"}, true};
    (void)test_place_empty(NULL);
    test_limit_groups(RUNNING, NULL);
    assert_false(rv_reply_is(send(test_conn, &begin), RV_ERROR));
    test_put_in(TASKS, "g", 0);
    assert_true(lease(test_conn) && lease(test_conn));
    assert_int_equal(test_count("q", "parked"), COUNT - RUNNING);
}

/* Whether a refused turn had taken a task from the session. */
static bool is_half_done;

/* A turn of a user without the right to a command; then the user has it again. rights: all that the user has else. */
static size_t without(const char *name, const char *rights, const char *verb)
{
    char ids[COUNT][2];
    fill();
    const size_t count = held(ids);
    assert_int_equal(count, RUNNING);
    if (strcmp(verb, "lease") == 0) assert_true(settle(test_conn, "", ids, count));
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w %s -%s", rights, name), "OK");
    const bool is_done = strcmp(verb, "lease") == 0 ? lease(test_user_conn) : settle(test_user_conn, verb, ids, count);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w +%s", name), "OK");
    if (!is_done && strcmp(verb, "lease") != 0) {
        char left[COUNT][2];
        is_half_done = is_half_done || held(left) != count;
        regain(ids, count);
    }
    const size_t at_last = go_on();
    if (at_last != COUNT)
        print_message("%s without %s: %zu of %d tasks have ended\n", *verb == '\0' ? "completed" : verb, name, at_last,
                      COUNT);
    if (at_last == COUNT) test_limits_agree();
    return at_last == COUNT ? 0 : 1;
}

static void turns_without_a_right(const char *rights)
{
    static const char *const verbs[] = {"", "retry", "fail", "snooze", "lease"};
    size_t bad = 0;
    read_names();
    for (size_t i = 0; i < name_count; i++) {
        for (size_t j = 0; j < sizeof(verbs) / sizeof(verbs[0]); j++) bad += without(names[i], rights, verbs[j]);
    }
    assert_int_equal(bad, 0);
}

static void a_refused_turn_holds_up_no_group(void **state)
{
    (void)state;
    is_half_done = false;
    turns_without_a_right("+@all -@dangerous +info");
    assert_false(is_half_done);
}

/* Whoever may give itself rights counts as a user who has all. */
static void a_turn_that_an_administrator_is_refused_holds_up_no_group(void **state)
{
    (void)state;
    turns_without_a_right("+@all");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_turn_holds_up_no_group),
        cmocka_unit_test(a_turn_that_an_administrator_is_refused_holds_up_no_group),
    };
    return cmocka_run_group_tests_name("ct_limits_refused", tests, test_user_start, test_user_stop);
}
