/* turn.lua called by hand with what the client does not send, and in a queue where another program overwrote a key. */
#include <stdio.h>
#include <string.h>

#include "support/limits.h"
#include "support/queue.h"
#include "support/script.h"
#include "support/segments.h"

#define Q "reeve:{q}:"

static test_hand a;

static int set_up(void **state)
{
    test_hand_init(&a, "1", "q");
    return test_place_empty(state);
}

/* The reply to a turn of a thread. Blanks part the arguments; "-" is an empty one, and "S" the session. */
static const char *turn(const char *arguments)
{
    static char copy[512];
    const char *args[32] = {Q};
    size_t count = 1;
    char *rest = NULL;
    (void)snprintf(copy, sizeof(copy), "%s", arguments);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL && count < 31; word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, "S") == 0) word = a.sessions[0];
        args[count++] = strcmp(word, "-") == 0 ? "" : word;
    }
    return test_script_text(&rv_script_turn, args);
}

/* A call either settles nothing and says what is wrong, or reads a number as it was checked. */
static void odd_numbers_do_not_fail_half_way(void **state)
{
    static const char *const calls[] = {
        "1 0 1 - S 1 S - 1 x 0 1 S - 0 00 results 0",
        "1 0 1 - S 1 S - 1 x 0 1 S - 0 0x0 result_block 0 b",
        "1 0 1 - S 1 S - 1 x 0 1 S - 0 -0 results 0",
        "1 0x1 1 - S 1 S - 1 x 0",
        "1 01 1 - S 1 S - 1 x 0",
        "1 1.0 1 - S 1 S - 1 x 0",
        "1 1e0 1 - S 1 S - 1 x 0",
        "1 0x3 1 - S 1 S - 1 x 0",
        "1 1 0x1 - S 01 S - 1.0 x 0",
        "1 1 1 - S 1 S - 1 x 0x1 results 1e0 r",
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        (void)set_up(state);
        test_put("q", "x y z");
        (void)test_lease(&a, 1);
        const char *reply = turn(calls[i]);
        const bool failed = strncmp(reply, "(error)", 7) == 0;
        const bool is_settled = strcmp(test_state("q", "x"), "completed") == 0;
        if (failed == is_settled || (failed && strncmp(reply, "(error) ERR turn: ", 18) != 0)) {
            fail_msg("%s: %s, and x is %s", calls[i], reply, test_state("q", "x"));
        }
    }
}

/* What settles nothing does not show that the session stands. */
static void an_empty_group_proves_no_session(void **state)
{
    static const char *const calls[] = {"1 1 1 - S 1 S - 0 0", "1 1 1 - S 1 S - 0 1 chain x q/n - \"type\":\"t\"}\n"};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        (void)set_up(state);
        test_put("q", "x y");
        (void)test_lease(&a, 1);
        assert_int_equal(test_number("DEL " Q "running:%s " Q "sessions", a.sessions[0]), 2);
        assert_non_null(strstr(turn(calls[i]), " [] [1] []]"));
        assert_int_equal(test_number("EXISTS " Q "running:%s", a.sessions[0]), 0);
        assert_string_equal(test_state("q", "y"), "ready");
    }
}

static void an_id_twice_counts_once(void **state)
{
    (void)state;
    test_put("q", "x y");
    (void)test_lease(&a, 2);
    assert_non_null(strstr(turn("1 0 1 - S 1 S - 3 x x y 0"), " [x] [] []]"));
    assert_int_equal(test_count("q", "completed"), 2);
    assert_int_equal(test_number("HGET " Q "counters completed"), 2);
}

/* A turn that Redis refuses half way takes no ids out of a segment. */
static void a_refused_lease_leaves_segments_whole(void **state)
{
    for (int i = 0; i < 2; i++) {
        char key[64] = "tasks", second[32];
        (void)set_up(state);
        test_put_together("a b c d");
        test_put_together("x");
        test_put_together("e f g h");
        test_ok(test_client, reeve_delete(test_client, "q", "x"));
        (void)test_lease(&a, 1);
        const char *ready = test_cmd(test_conn, "ZRANGE " Q "ready 0 -1");
        if (sscanf(ready, "[+%*[0-9] +%31[0-9]]", second) != 1) fail_msg("%s", ready);
        if (i == 0) (void)snprintf(key, sizeof(key), "segment:%s", second);
        assert_string_equal(test_cmd(test_conn, "RENAME " Q "%s saved", key), "OK");
        assert_string_equal(test_cmd(test_conn, "SET " Q "%s x", key), "OK");
        assert_non_null(strstr(turn("1 5 1 - S"), "WRONGTYPE"));
        assert_string_equal(test_cmd(test_conn, "RENAME saved " Q "%s", key), "OK");
        test_expect_ready("b c d e f g h", 2);
        (void)test_lease(&a, 9);
        assert_string_equal(test_leased_ids(&a), "b c d e f g h");
    }
}

/* Completed tasks are trimmed some at a time, at the latest when there are 1/64 more than are kept. */
static void no_more_than_a_part_in_64_stays_for_a_while(void **state)
{
    (void)state;
    enum { KEPT = 1280, BEFORE = 1282, ALL = 1310 };
    char arguments[512];
    test_put_many("q", ALL, "t%04zu");
    assert_int_equal(test_number("HSET " Q "settings completed_count %d", KEPT), 1);
    for (size_t i = 0; i < BEFORE; i += 2) {
        assert_int_equal(test_lease(&a, 2), 2);
        (void)snprintf(arguments, sizeof(arguments), "1 0 1 - S 1 S - 2 %s 0", test_leased_ids(&a));
        (void)turn(arguments);
        assert_int_equal(test_number("HSET " Q "counters completed 1"), 0);
    }
    assert_int_equal(test_count("q", "completed"), BEFORE);
    assert_int_equal(test_number("HSET " Q "counters completed 0"), 0);
    for (size_t i = BEFORE; i < ALL; i++) {
        assert_int_equal(test_lease(&a, 1), 1);
        (void)snprintf(arguments, sizeof(arguments), "1 0 1 - S 1 S - 1 %s 0", test_leased_ids(&a));
        (void)turn(arguments);
        assert_in_range(test_count("q", "completed"), KEPT, KEPT + KEPT / 64);
    }
}

/* A turn that may not take tasks out of `ready` leases none: they would run for this session, and for the next one. */
static void a_lease_that_cannot_leave_ready_is_taken_back(void **state)
{
    static const char *const settings[] = {"unused", "large"};
    static const char *const wants[] = {"1", "2", "9"};
    for (size_t i = 0; i < 6; i++) {
        char call[64];
        (void)set_up(state);
        test_put("q", "x y z");
        (void)test_lease(&a, 1);
        assert_int_equal(test_number("HSET " Q "settings %s 1", settings[i % 2]), 1);
        (void)snprintf(call, sizeof(call), "1 %s 1 - S", wants[i / 2]);
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER default -zremrangebyrank"), "OK");
        const bool is_refused = strncmp(turn(call), "(error)", 7) == 0;
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER default +zremrangebyrank"), "OK");
        assert_true(is_refused);
        assert_int_equal(test_number("HEXISTS " Q "running:%s y", a.sessions[0]), 0);
        assert_int_equal(test_number("HEXISTS " Q "running:%s x", a.sessions[0]), 1);
        test_expect_ready("y z", 0);
        (void)test_lease(&a, 9);
        assert_string_equal(test_leased_ids(&a), "y z");
    }
}

/* A turn that may not read the place of a segment takes no ids out of it. */
static void a_segment_whose_place_cannot_be_read_stays_whole(void **state)
{
    (void)state;
    test_put("q", "x");
    (void)test_lease(&a, 1);
    test_put_together("a b c d");
    assert_int_equal(test_number("HSET " Q "settings large 1"), 1);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default -zscore"), "OK");
    const bool is_refused = strncmp(turn("1 2 1 - S"), "(error)", 7) == 0;
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default +zscore"), "OK");
    assert_true(is_refused);
    test_expect_ready("a b c d", 1);
    (void)test_lease(&a, 9);
    assert_string_equal(test_leased_ids(&a), "a b c d");
}

/* A turn that may not take tasks out of their segments leaves each of them in one place: in its segment, or leased. */
static void a_refused_command_leaves_no_task_of_segments_nowhere(void **state)
{
    static const char *const rights[] = {"-ltrim", "-hset", "-hset -lpush", "-zincrby", "-zrem", "-srem"};
    for (size_t i = 0; i < 6; i++) {
        for (int wanted = 2; wanted <= 7; wanted++) {
            char call[64], found[16] = "";
            (void)set_up(state);
            test_put_together("a b c d");
            test_put("q", "x");
            test_put_together("e f g h");
            test_ok(test_client, reeve_delete(test_client, "q", "x"));
            (void)test_lease(&a, 1);
            (void)snprintf(call, sizeof(call), "1 %d 1 - S", wanted);
            assert_string_equal(test_cmd(test_conn, "ACL SETUSER default %s", rights[i]), "OK");
            const bool is_refused = strncmp(turn(call), "(error)", 7) == 0;
            assert_string_equal(test_cmd(test_conn, "ACL SETUSER default +@all"), "OK");
            if (i < 3) assert_true(is_refused);
            for (char id = 'b'; id <= 'h'; id++)
                if (test_number("HEXISTS " Q "running:%s %c", a.sessions[0], id) == 1) found[strlen(found)] = id;
            if (i < 3) assert_string_equal(found, "");
            for (int turns = 0; turns < 3; turns++) {
                (void)test_lease(&a, 9);
                for (const char *id = test_leased_ids(&a); *id != '\0'; id++)
                    if (*id != ' ') found[strlen(found)] = *id;
            }
            if (strcmp(found, "bcdefgh") != 0) fail_msg("%s, %d wanted: %s", rights[i], wanted, found);
        }
    }
}

/* Events are no limit: where nothing was kept waiting, nobody is woken. */
static void settling_in_a_queue_with_events_wakes_nobody(void **state)
{
    (void)state;
    assert_int_equal(test_number("HSET " Q "settings events 1000 gate e"), 2);
    test_put("q", "x y");
    (void)test_lease(&a, 1);
    (void)test_number("DEL " Q "wake");
    (void)turn("1 0 1 - S 1 S - 1 x 0");
    assert_string_equal(test_state("q", "x"), "completed");
    assert_int_equal(test_number("EXISTS " Q "wake"), 0);
}

/* A thread that took a token and wants no task wakes another one. */
static void a_token_of_a_thread_that_wants_nothing_is_passed_on(void **state)
{
    (void)state;
    test_put("q", "x");
    (void)test_number("DEL " Q "wake");
    (void)turn("1 0 1 woken S");
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
}

static void an_unknown_mode_is_refused(void **state)
{
    static const char *const modes[] = {"foo", "Idle", "woken ", "0"};
    (void)state;
    test_put("q", "x");
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        const char *args[] = {Q, "1", "1", "1", modes[i], a.sessions[0], NULL};
        assert_non_null(strstr(test_script_text(&rv_script_turn, args), "(error) ERR turn: "));
    }
    assert_string_equal(test_state("q", "x"), "ready");
}

/* Under limits of groups a lease goes through `ready` in pages. Where a later page cannot be read, no task of an
 * earlier one is lost. */
static void a_refused_page_loses_no_task_of_earlier_pages(void **state)
{
    static const char *const commands[] = {"zcard", "hget", "zscore"};
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        (void)set_up(state);
        test_limit_groups(1, &(reeve_rate){100, 1000, 0});
        test_put("q", "x");
        (void)test_lease(&a, 1);
        test_put_in("a b c d e f g h i j", NULL, 0);
        test_put_in("k", "g", 1);
        assert_true(test_number("HSET " Q "settings large 1") >= 0);
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER default -%s", commands[i]), "OK");
        const bool is_refused = strncmp(turn("1 20 1 - S"), "(error)", 7) == 0;
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER default +%s", commands[i]), "OK");
        assert_true(is_refused);
        const long long ready = test_number("ZCARD " Q "ready");
        const long long leased = test_number("HLEN " Q "running:%s", a.sessions[0]);
        for (const char *id = "a b c d e f g h i j k"; *id != '\0'; id++) {
            if (*id == ' ') continue;
            const bool is_ready = test_number("EXISTS " Q "ready") == 1 &&
                                  strcmp(test_cmd(test_conn, "ZSCORE " Q "ready %c", *id), "(nil)") != 0;
            const bool is_leased = test_number("HEXISTS " Q "running:%s %c", a.sessions[0], *id) == 1;
            if (is_ready == is_leased)
                fail_msg("%s: %c of %lld ready and %lld fields", commands[i], *id, ready, leased);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(odd_numbers_do_not_fail_half_way, set_up),
        cmocka_unit_test_setup(an_empty_group_proves_no_session, set_up),
        cmocka_unit_test_setup(an_id_twice_counts_once, set_up),
        cmocka_unit_test_setup(no_more_than_a_part_in_64_stays_for_a_while, set_up),
        cmocka_unit_test_setup(a_refused_lease_leaves_segments_whole, set_up),
        cmocka_unit_test_setup(a_lease_that_cannot_leave_ready_is_taken_back, set_up),
        cmocka_unit_test_setup(a_segment_whose_place_cannot_be_read_stays_whole, set_up),
        cmocka_unit_test_setup(a_refused_command_leaves_no_task_of_segments_nowhere, set_up),
        cmocka_unit_test_setup(settling_in_a_queue_with_events_wakes_nobody, set_up),
        cmocka_unit_test_setup(a_token_of_a_thread_that_wants_nothing_is_passed_on, set_up),
        cmocka_unit_test_setup(an_unknown_mode_is_refused, set_up),
        cmocka_unit_test_setup(a_refused_page_loses_no_task_of_earlier_pages, set_up),
    };
    return cmocka_run_group_tests_name("ct_turn_calls", tests, test_place_start, test_place_stop);
}
