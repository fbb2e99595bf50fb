/* Tasks that are handed to idle threads: to whom, when not, and that none is lost however such a thread ends. */
#include <stdio.h>
#include <string.h>

#include "protocol/recover_call.h"
#include "support/limits.h"
#include "support/queue.h"
#include "support/script.h"

#define Q "reeve:{q}:"

static test_hand first, second;

/* Two threads of two workers, in sessions that have begun, with nothing to do. */
static int set_up(void **state)
{
    if (test_place_empty(state) != 0) return -1;
    test_hand *hands[] = {&first, &second};
    for (int i = 0; i < 2; i++) {
        test_hand_begin(hands[i], "1", "q");
        hands[i]->hand = RV_HAND_IDLE;
    }
    return 0;
}

static void go_idle(test_hand *hand)
{
    assert_int_equal(test_lease(hand, 4), 0);
    assert_true(hand->idle);
    hand->hand = RV_HAND_AGAIN;
}

static const char *list_of(const test_hand *hand)
{
    static char key[100];
    (void)snprintf(key, sizeof(key), Q "hand:%s:%s", hand->sessions[0], hand->thread);
    return key;
}

/* What a hand was handed: the task's id, "(look)", or "" when there is nothing. */
static const char *handed(const test_hand *hand)
{
    static char id[REEVE_ID_MAX];
    const rv_reply *reply;
    rv_lease lease;
    rv_cmd(test_conn, 2);
    rv_args(test_conn, "LPOP");
    rv_args(test_conn, list_of(hand));
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    if (!rv_reply_is(reply, RV_TEXT)) return "";
    if (reply->length == 0) return "(look)";
    assert_true(rv_lease_read_handed(&lease, id, reply));
    assert_int_equal(lease.envelope.type_length, 1);
    return id;
}

static bool is_idle(const test_hand *hand)
{
    const char *found = test_cmd(test_conn, "LPOS " Q "idle %s:%s", hand->sessions[0], hand->thread);
    return strcmp(found, "(nil)") != 0;
}

/* ---- who is handed what ------------------------------------------------------------------------------------------ */

static void the_last_that_came_is_first(void **state)
{
    (void)state;
    go_idle(&first);
    go_idle(&second);
    test_put("q", "a");
    test_put("q", "b");
    test_put("q", "c");
    assert_string_equal(test_state("q", "a"), "running");
    assert_string_equal(test_state("q", "b"), "running");
    assert_string_equal(test_state("q", "c"), "ready");
    assert_string_equal(handed(&second), "a");
    assert_string_equal(handed(&first), "b");
    assert_int_equal(test_number("LLEN " Q "wake"), 1); /* for c */
    test_settle(&second, TEST_DONE("a"));
    test_settle(&first, TEST_DONE("a")); /* (not its own) */
    assert_string_equal(first.refused, "a");
    test_settle(&first, TEST_DONE("b"));
    assert_string_equal(first.refused, "");
    assert_int_equal(test_count("q", "completed"), 2);
}

static void not_before_what_is_ready(void **state)
{
    (void)state;
    go_idle(&first);
    go_idle(&second);
    test_put_many("q", 3, "m%zu"); /* one call: somebody is told to look */
    assert_string_equal(handed(&second), "(look)");
    test_put("q", "later");
    assert_string_equal(test_state("q", "later"), "ready");
    assert_string_equal(handed(&first), "(look)");
    assert_int_equal(test_lease(&first, 4), 4);
    assert_string_equal(test_leased_ids(&first), "m0 m1 m2 later");
}

/* Two threads that wait for tokens: one has found nothing and is about to block while the other takes what comes. What
 * comes then is told again. */
static void a_wake_up_between_another_s_turn_and_its_wait(void **state)
{
    (void)state;
    first.hand = RV_HAND_WOKEN;
    second.hand = RV_HAND_NO;
    assert_int_equal(test_lease(&second, 4), 0);
    test_put("q", "a");
    test_put("q", "b");
    assert_string_equal(test_cmd(test_conn, "LPOP " Q "wake"), "1");
    assert_int_equal(test_lease(&first, 4), 2);
    test_put("q", "c"); /* (the second thread blocks by now) */
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
}

/* A task that two crashes left behind, and so marked as to be looked at. */
static void put_suspect(const char *id)
{
    test_put_spec((reeve_task_spec){.id = id, .unique = id, .unique_until_started = true});
    (void)test_cmd(test_conn, "HSET " Q "info:%s crashes 2", id);
}

/* A turn that only puts a suspect off leaves others behind it: then nobody is idle, and somebody is woken. */
static void not_while_something_is_ready(void **state)
{
    (void)state;
    put_suspect("x");
    put_suspect("y");
    assert_int_equal(test_lease(&first, 4), 1);
    assert_string_equal(test_leased_ids(&first), "x");
    test_put("q", "later");
    test_hand other = first;
    other.thread = "2";
    assert_int_equal(test_lease(&other, 4), 0);
    assert_string_equal(test_state("q", "y"), "scheduled");
    assert_string_equal(test_state("q", "later"), "ready");
    assert_false(other.idle);
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
}

static void tasks_with_options_are_not(void **state)
{
    (void)state;
    go_idle(&first);
    test_put_spec((reeve_task_spec){.id = "a", .group = "g"});
    assert_string_equal(handed(&first), "(look)");
    assert_string_equal(test_state("q", "a"), "ready");
}

static void an_id_that_is_taken(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .in_ms = 3600000});
    go_idle(&first);
    char id[REEVE_ID_MAX];
    reeve_task_spec again = {.queue = "q", .type = "t", .id = "a"};
    assert_int_equal(reeve_enqueue(test_client, &again, id), REEVE_EEXISTS);
    assert_true(is_idle(&first));
    test_put("q", "b");
    assert_string_equal(handed(&first), "b");
}

static void a_session_that_is_gone_is_passed_over(void **state)
{
    (void)state;
    go_idle(&second);
    go_idle(&first);
    test_expire(&first);
    test_maintain_all("q");
    assert_false(is_idle(&first));
    test_put("q", "a");
    assert_string_equal(handed(&second), "a");
    /* Also before anybody has reaped it, its hash being gone. */
    second.hand = RV_HAND_IDLE;
    test_settle(&second, TEST_DONE("a"));
    go_idle(&second);
    (void)test_cmd(test_conn, "DEL " Q "running:%s", second.sessions[0]);
    test_put("q", "b");
    assert_string_equal(test_state("q", "b"), "ready");
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
}

/* A worker was killed: its session stands for a while, and nothing waits for that. */
static void a_worker_that_is_gone_is_passed_over(void **state)
{
    (void)state;
    go_idle(&first);
    test_heed_no_more();
    test_put("q", "a");
    assert_string_equal(test_state("q", "a"), "ready");
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
    assert_false(is_idle(&first));
    assert_string_equal(handed(&first), "(look)"); /* (in case it is there after all) */
    (void)test_cmd(test_conn, "DEL " Q "wake");
    assert_int_equal(test_lease(&first, 1), 1);
    test_settle(&first, TEST_DONE("a"));
    first.hand = RV_HAND_IDLE;
    go_idle(&first);
    test_put_many("q", 2, "m%zu");
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
    assert_string_equal(handed(&first), "(look)");
    test_heed();
}

/* ---- a queue in which nothing is handed over ------------------------------------------------------------------- */

static void pause_and_limits_tell_them_to_look(void **state)
{
    (void)state;
    go_idle(&first);
    go_idle(&second);
    test_ok(test_client, reeve_pause(test_client, "q"));
    assert_string_equal(handed(&first), "(look)");
    assert_string_equal(handed(&second), "(look)");
    assert_int_equal(test_lease(&first, 1), 0);
    assert_false(first.idle);
    test_put("q", "a");
    assert_string_equal(test_state("q", "a"), "ready");
    test_ok(test_client, reeve_resume(test_client, "q"));
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
    assert_int_equal(test_lease(&first, 1), 1);
    test_settle(&first, TEST_DONE("a"));
    go_idle(&first);
    test_limit_queue(1, NULL);
    assert_string_equal(handed(&first), "(look)");
    assert_int_equal(test_lease(&first, 1), 0);
    assert_false(first.idle);
    test_limit_queue(-1, NULL);
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

static void a_turn_between(void **state)
{
    (void)state;
    go_idle(&first);
    go_idle(&first); /* (its wait had ended by itself) */
    assert_int_equal(test_number("LLEN " Q "idle"), 1);
    test_put("q", "a");
    test_put("q", "b");
    /* It was handed one meanwhile: it gets no other. */
    assert_int_equal(test_lease(&first, 4), 0);
    assert_true(first.idle);
    assert_int_equal(test_number("LLEN " Q "idle"), 0);
    assert_string_equal(handed(&first), "a");
    assert_int_equal(test_lease(&second, 4), 1);
    assert_string_equal(test_leased_ids(&second), "b");
}

/* A connection is lost: whoever has it asks what stands there. */
static void recover_takes_it_out(void **state)
{
    (void)state;
    const rv_reply *reply;
    rv_recover_reply recalled;
    rv_lease lease;
    go_idle(&first);
    test_put("q", "a");
    rv_recover_call_build(test_conn, &first.prefixes[0], first.sessions[0], first.thread, "0");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    assert_true(rv_recover_call_read(&recalled, reply) && recalled.alive);
    assert_int_equal(rv_recover_call_leases(&recalled, 0, &lease, 1), 1);
    assert_string_equal(lease.id, "a");
    assert_string_equal(handed(&first), "");
    /* A wake-up that it had goes to somebody else. */
    first.hand = RV_HAND_IDLE;
    test_settle(&first, TEST_DONE("a"));
    go_idle(&second);
    go_idle(&first);
    test_put_many("q", 2, "m%zu");
    rv_recover_call_build(test_conn, &first.prefixes[0], first.sessions[0], first.thread, "0");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    assert_string_equal(handed(&first), "");
    assert_string_equal(handed(&second), "(look)");
}

static int crashes_of(const char *id)
{
    reeve_task_info *info = test_show("q", id);
    int crashes = (int)info->crashes;
    reeve_task_info_free(info);
    return crashes;
}

static void a_reaped_session_leaves_nothing(void **state)
{
    (void)state;
    go_idle(&second);
    go_idle(&first);
    test_put("q", "a");
    test_put_many("q", 2, "m%zu"); /* wakes the other */
    test_expire(&first);
    test_expire(&second);
    test_maintain_all("q");
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "hand:*"), "[]");
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "woken:*"), "[]");
    assert_int_equal(test_number("EXISTS " Q "idle"), 0);
    reeve_task_info *info = test_show("q", "a");
    assert_int_equal(info->state, REEVE_STATE_READY);
    assert_int_equal(info->crashes, 0); /* (nobody has begun it) */
    reeve_task_info_free(info);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "counters crashed"), "(nil)");
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
}

/* What stands in a list was not begun, what was taken from one is a crash: of one session, and through several
 * steps. */
static void only_what_was_taken_has_crashed(void **state)
{
    (void)state;
    test_hand third;
    go_idle(&second);
    test_hand_init(&third, "2", "q");
    memcpy(third.sessions[0], first.sessions[0], sizeof(third.sessions[0]));
    third.begun[0] = true;
    third.hand = RV_HAND_IDLE;
    go_idle(&third);
    go_idle(&first);
    test_put("q", "taken");
    test_put("q", "waits");
    assert_string_equal(handed(&first), "taken");
    test_expire(&first);
    while (test_maintain("q", 1).more) continue;
    assert_int_equal(crashes_of("taken"), 1);
    assert_int_equal(crashes_of("waits"), 0);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "counters crashed"), "1");
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "hand:%s:*", first.sessions[0]), "[]");
}

/* ---- producers --------------------------------------------------------------------------------------------------- */

/* Those of 36 bytes are not looked at when they come: a blank makes the task malformed, a line end is refused. */
static void ids_that_are_none(void **state)
{
    (void)state;
    static const char blank[] = "aaaaaaaa aaaaaaaaaaaaaaaaaaaaaaaaaaa",
                      line[] = "aaaaaaaa\naaaaaaaaaaaaaaaaaaaaaaaaaaa", rest[] = "\"type\":\"t\"}\n{}";
    const rv_reply *reply;
    char id[REEVE_ID_MAX];
    rv_lease lease;
    go_idle(&first);
    const char *said = TEST_SCRIPT(enqueue, Q, "plain", line, rest);
    if (strncmp(said, "(error) ERR enqueue: ", 21) != 0) fail_msg("%s", said);
    assert_true(is_idle(&first));
    assert_string_equal(TEST_SCRIPT(enqueue, Q, "plain", blank, rest), "2");
    rv_cmd(test_conn, 2);
    rv_args(test_conn, "LPOP");
    rv_args(test_conn, list_of(&first));
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    assert_true(rv_lease_read_handed(&lease, id, reply));
    assert_string_equal(id, blank);
    assert_non_null(lease.envelope.malformed);
    assert_int_equal(lease.id_length, 36);
}

/* A producer that may not write to its list: the task does not come, and the thread is idle as before. */
static void a_refusal_leaves_the_thread_idle(void **state)
{
    (void)state;
    static const char rest[] = "\"type\":\"t\"}\n{}";
    go_idle(&first);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default resetkeys ~" Q " ~" Q "tasks ~" Q "idle ~" Q
                                            "ready ~" Q "sequence ~" Q "wake ~" Q "running:*"),
                        "OK");
    const char *said = TEST_SCRIPT(enqueue, Q, "plain", "a", rest);
    if (strncmp(said, "(error) ", 8) != 0) fail_msg("%s", said);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default allkeys"), "OK");
    assert_true(is_idle(&first));
    assert_string_equal(test_state("q", "a"), "");
    assert_string_equal(TEST_SCRIPT(enqueue, Q, "plain", "b", rest), "2");
    assert_string_equal(handed(&first), "b");
}

/* A producer whom Redis refuses a command half way: the thread is idle as before, or it is to look. */
static void a_refused_command_loses_no_thread(void **state)
{
    static const char *const commands[] = {"exists", "lpush", "sadd", "hset", "hsetnx", "llen", "lpop"};
    static const char rest[] = "\"type\":\"t\"}\n{}";
    for (size_t i = 0; i < 3 * sizeof(commands) / sizeof(commands[0]); i++) {
        const char *command = commands[i / 3];
        (void)set_up(state);
        go_idle(&first);
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER default -%s", command), "OK");
        if (i % 3 == 0) (void)TEST_SCRIPT(enqueue, Q, "plain", "a", rest);
        if (i % 3 == 1) (void)TEST_SCRIPT(enqueue, Q, "plain", "a", "b", rest, rest);
        if (i % 3 == 2) (void)TEST_SCRIPT(enqueue, Q, "0", "a", "{\"priority\":1}", rest);
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER default +%s", command), "OK");
        if (!is_idle(&first) && strcmp(handed(&first), "") == 0) fail_msg("%zu without %s: lost", i % 3, command);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_last_that_came_is_first, set_up),
        cmocka_unit_test_setup(ids_that_are_none, set_up),
        cmocka_unit_test_setup(a_refusal_leaves_the_thread_idle, set_up),
        cmocka_unit_test_setup(a_refused_command_loses_no_thread, set_up),
        cmocka_unit_test_setup(not_before_what_is_ready, set_up),
        cmocka_unit_test_setup(not_while_something_is_ready, set_up),
        cmocka_unit_test_setup(a_wake_up_between_another_s_turn_and_its_wait, set_up),
        cmocka_unit_test_setup(tasks_with_options_are_not, set_up),
        cmocka_unit_test_setup(an_id_that_is_taken, set_up),
        cmocka_unit_test_setup(a_session_that_is_gone_is_passed_over, set_up),
        cmocka_unit_test_setup(a_worker_that_is_gone_is_passed_over, set_up),
        cmocka_unit_test_setup(pause_and_limits_tell_them_to_look, set_up),
        cmocka_unit_test_setup(a_turn_between, set_up),
        cmocka_unit_test_setup(recover_takes_it_out, set_up),
        cmocka_unit_test_setup(a_reaped_session_leaves_nothing, set_up),
        cmocka_unit_test_setup(only_what_was_taken_has_crashed, set_up),
    };
    return cmocka_run_group_tests_name("ct_hand_over", tests, test_place_start, test_place_stop);
}
