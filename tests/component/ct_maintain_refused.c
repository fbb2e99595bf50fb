/*
 * maintain in a quiet queue, where nothing is due: without a right, with keys of another type, and with settings that
 * another program wrote. Such a call answers as usual or is refused with the name of what is wrong, and then has
 * written nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/definition.h"
#include "support/calls.h"
#include "support/limited_user.h"

#define Q "reeve:{q}:"

static const test_script_call with_life = {&rv_script_maintain, {"100", "60000"}, false};
static const test_script_call without_life = {&rv_script_maintain, {"100"}, false};

/* Redis's time, in ms. */
static long long redis_now(void)
{
    long long seconds = 0, us = 0;
    assert_int_equal(sscanf(test_cmd(test_conn, "TIME"), "[%lld %lld]", &seconds, &us), 2);
    return seconds * 1000 + us / 1000;
}

/* A session lives, one task has completed, the scores are to begin again, and `upkeep` is to be written. */
static void prepare(void)
{
    long long now = redis_now();
    (void)test_place_empty(NULL);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w on >p ~reeve:* &* +@all -@dangerous +info"), "OK");
    (void)test_cmd(test_conn, "ZADD " Q "sessions %lld s", now + 600000);
    (void)test_cmd(test_conn, "ZADD " Q "completed %lld c", now);
    (void)test_cmd(test_conn, "HSET " Q "sequence 0 5");
    (void)test_cmd(test_conn, "DEL " Q "settings");
    const rv_reply *reply = NULL;
    char upkeep[96];
    (void)snprintf(upkeep, sizeof(upkeep), "%lld 60000 1 1", now - 20000);
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "HSET");
    rv_args(test_conn, Q "settings");
    rv_args(test_conn, "upkeep");
    rv_args(test_conn, upkeep);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
}

/* All that is in Redis, with the order. */
static const char *all_keys(void)
{
    static char text[65536];
    (void)snprintf(text, sizeof(text), "%s", test_calls_digest());
    size_t length = strlen(text);
    (void)snprintf(text + length, sizeof(text) - length, "sequence %s\n", test_cmd(test_conn, "DUMP " Q "sequence"));
    return text;
}

/* One call in the queue as it is: it is done, or refused as `words` begins and without a change. */
static bool is_done_or_refused(const test_script_call *call, const char *words, const char *why)
{
    char before[65536];
    (void)snprintf(before, sizeof(before), "%s", all_keys());
    const rv_reply *reply = test_call_send(test_user_conn, call, 1, test_call_args(call), NULL);
    if (!rv_reply_is(reply, RV_ERROR)) return true;
    char said[256];
    (void)snprintf(said, sizeof(said), "%.255s", reply->text);
    bool changed = strcmp(before, all_keys()) != 0;
    if (strncmp(said, words, strlen(words)) == 0 && !changed) return true;
    print_message("%s: %s%s\n", why, said, changed ? ", and has written" : "");
    return false;
}

static void a_call_without_a_right_names_it_and_writes_nothing(void **state)
{
    (void)state;
    char name[TEST_COMMAND_NAME], seen[4096] = " ", word[40], why[64];
    size_t bad = 0;
    for (const char *at = rv_script_maintain.text; (at = test_calls_next_command(at, name)) != NULL;) {
        (void)snprintf(word, sizeof(word), " %s ", name);
        size_t length = strlen(seen);
        if (strstr(seen, word) || length + sizeof(word) >= sizeof(seen)) continue;
        (void)snprintf(seen + length, sizeof(seen) - length, "%s ", name);
        (void)snprintf(why, sizeof(why), "without %s", name);
        prepare();
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER w -%s", name), "OK");
        bad += !is_done_or_refused(&with_life, "NOPERM reeve needs rights to ", why);
    }
    assert_int_equal(bad, 0);
}

static void a_call_with_a_key_of_another_type_names_it_and_writes_nothing(void **state)
{
    (void)state;
#define X(name, type) name,
    static const char *const keys[] = {MODEL_FIXED_KEYS(X)};
#undef X
    size_t bad = 0;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        prepare();
        assert_string_equal(test_cmd(test_conn, "SET " Q "%s 1", keys[i]), "OK");
        bad += !is_done_or_refused(&with_life, "WRONGTYPE reeve expects a ", keys[i]);
        assert_string_equal(test_cmd(test_conn, "TYPE " Q "%s", keys[i]), "string");
    }
    assert_int_equal(bad, 0);
}

/* What another program wrote there says nothing, and the next call that knows the life of sessions renews it. */
static void an_upkeep_that_is_none_is_renewed(void **state)
{
    (void)state;
    for (int due = 0; due < 2; due++) {
        prepare();
        if (due) (void)test_cmd(test_conn, "ZADD " Q "scheduled 1 none");
        (void)test_cmd(test_conn, "HSET " Q "settings upkeep x");
        const rv_reply *reply = test_call_send(test_user_conn, &without_life, 1, 1, NULL);
        if (rv_reply_is(reply, RV_ERROR)) fail_msg("due %d: %s", due, reply->text);
        assert_string_equal(test_cmd(test_conn, "HGET " Q "settings upkeep"), "x");
        reply = test_call_send(test_user_conn, &with_life, 1, 2, NULL);
        if (rv_reply_is(reply, RV_ERROR)) fail_msg("due %d: %s", due, reply->text);
        assert_non_null(strstr(test_cmd(test_conn, "HGET " Q "settings upkeep"), " 60000 "));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_without_a_right_names_it_and_writes_nothing),
        cmocka_unit_test(a_call_with_a_key_of_another_type_names_it_and_writes_nothing),
        cmocka_unit_test(an_upkeep_that_is_none_is_renewed),
    };
    return cmocka_run_group_tests_name("ct_maintain_refused", tests, test_user_start, test_user_stop);
}
