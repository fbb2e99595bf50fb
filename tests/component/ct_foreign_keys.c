/*
 * Every script called by a user who lacks the right to one of its commands, and where one of the queue's keys has
 * another type: it fails before it has written anything, or does its work. Nothing is half done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/definition.h"
#include "support/calls.h"
#include "support/limited_user.h"

#define Q "reeve:{q}:"

/* A worker's calls are those of a session, which does not begin where they may fail; so of them only that is asked. */
static bool is_asked(const test_script_call *call)
{
    return !call->in_session || call->script == &rv_script_end_session;
}

/* Whether anything was written since the queue was prepared. */
static bool changed;

/* One call: when it fails, all is as it was. */
static bool fails_whole(const test_script_call *call, const char *why)
{
    static char before[65536];
    if (changed) test_calls_prepare();
    (void)snprintf(before, sizeof(before), "%s", test_calls_digest());
    const rv_reply *reply = test_call_send(test_user_conn, call, 1, test_call_args(call), NULL);
    changed = true;
    if (!rv_reply_is(reply, RV_ERROR)) return true;
    char words[256];
    (void)snprintf(words, sizeof(words), "%.255s", reply->text);
    changed = strcmp(test_calls_digest(), before) != 0;
    if (changed) {
        print_message("%s %s, %s: %s, and has written: %s\n", call->script->name, call->args[0], why, words,
                      test_calls_difference(before, test_calls_digest()));
    }
    return !changed;
}

static size_t without_rights(const test_script_call *call)
{
    char name[32], seen[4096] = " ", word[40], why[64];
    size_t bad = 0;
    for (const char *at = call->script->text; (at = test_calls_next_command(at, name)) != NULL;) {
        (void)snprintf(word, sizeof(word), " %s ", name);
        size_t length = strlen(seen);
        if (name[0] == '\0' || strstr(seen, word) || length + sizeof(word) >= sizeof(seen)) continue;
        (void)snprintf(seen + length, sizeof(seen) - length, "%s ", name);
        (void)snprintf(why, sizeof(why), "without %s", name);
        if (changed) test_calls_prepare();
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER w -%s", name), "OK");
        bad += !fails_whole(call, why);
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER w +%s", name), "OK");
    }
    return bad;
}

static void no_missing_right_leaves_anything_half_done(void **state)
{
    (void)state;
    size_t bad = 0;
    changed = true;
    for (size_t i = 0; i < test_calls_count; i++) {
        if (is_asked(&test_calls[i])) bad += without_rights(&test_calls[i]);
    }
    assert_int_equal(bad, 0);
}

/* Such a user is not asked for each command where many tasks are enqueued and settled, as that would cost. */
static bool is_undone(const test_script_call *call)
{
    return call->script == &rv_script_enqueue || call->script == &rv_script_turn;
}

/* Whoever may give itself rights may lack one all the same. */
static void no_right_that_an_administrator_lacks_leaves_anything_half_done(void **state)
{
    (void)state;
    size_t bad = 0;
    changed = true;
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w +acl"), "OK");
    for (size_t i = 0; i < test_calls_count; i++) {
        if (is_asked(&test_calls[i]) && !is_undone(&test_calls[i])) bad += without_rights(&test_calls[i]);
    }
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w -acl"), "OK");
    assert_int_equal(bad, 0);
}

/* The queue with a key that is a text, or, where that is its type, a hash. */
static void prepare_odd(const char *key, bool is_text)
{
    test_calls_prepare();
    (void)test_cmd(test_conn, "DEL " Q "%s", key);
    if (is_text) assert_string_equal(test_cmd(test_conn, "HSET " Q "%s a 1", key), "1");
    if (!is_text) assert_string_equal(test_cmd(test_conn, "SET " Q "%s 1", key), "OK");
    changed = false;
}

static void no_key_of_another_type_leaves_anything_half_done(void **state)
{
    (void)state;
#define X(name, type) name,
    static const char *const keys[] = {MODEL_FIXED_KEYS(X)};
#undef X
    size_t bad = 0;
    for (size_t n = 0; n < sizeof(keys) / sizeof(keys[0]); n++) {
        changed = true;
        for (size_t i = 0; i < test_calls_count; i++) {
            char why[64];
            if (!is_asked(&test_calls[i])) continue;
            (void)snprintf(why, sizeof(why), "%s is a text", keys[n]);
            if (changed) prepare_odd(keys[n], false);
            bad += !fails_whole(&test_calls[i], why);
        }
    }
    assert_int_equal(bad, 0);
}

/* Keys of one task, group, tag or session in the queue that is prepared. */
static void no_key_of_one_thing_of_another_type_leaves_anything_half_done(void **state)
{
    (void)state;
    char keys[] =
        "info:x info:r info:b info:d info:c info:f info:p info:n parents:b parents:f parents:r parents:n children:p "
        "children:x children:c awaiting_retry:p awaiting_retry:x readers:c reads:b unique:k tag:a "
        "failures:k failures:malformed "
        "parked:g holders:g called:g running:by_hand-00000001 lost:by_hand-00000001 once:by_hand-00000001 "
        "woken:by_hand-00000001 received:far replaced_by:p fanout:1";
    size_t bad = 0;
    char *rest = NULL;
    for (const char *key = strtok_r(keys, " ", &rest); key != NULL; key = strtok_r(NULL, " ", &rest)) {
        bool is_text = strncmp(key, "unique:", 7) == 0 || strncmp(key, "replaced_by:", 5) == 0;
        changed = true;
        for (size_t i = 0; i < test_calls_count; i++) {
            char why[64];
            if (!is_asked(&test_calls[i])) continue;
            (void)snprintf(why, sizeof(why), "%s has another type", key);
            if (changed) prepare_odd(key, is_text);
            bad += !fails_whole(&test_calls[i], why);
        }
    }
    assert_int_equal(bad, 0);
}

/* ---- tasks that come the common way into an empty queue ---------------------------------------------------------- */

#define IDLE_SESSION "by_hand-00000001"
#define REST "\"type\":\"t\"}\n"

static const test_script_call common_calls[] = {
    {&rv_script_enqueue, {"plain", "a", REST}, false},
    {&rv_script_enqueue, {"idle", "a", REST}, false},
    {&rv_script_enqueue, {"plain", "a", "b", REST, REST}, false},
    {&rv_script_enqueue, {"plain", "a", "b", "c", "d", "e", REST, REST, REST, REST, REST}, false},
    {&rv_script_enqueue, {"bulk", "1", "7", "4"}, false},
    {&rv_script_enqueue, {"bulk", "", "7", "4"}, false},
};

/* Who may wait in the queue. */
enum { NOBODY, AN_IDLE_THREAD, A_LISTENING_THREAD, WAITERS };

static void prepare_common(const test_script_call *call, int waiter, const char **ret_now)
{
    static char now[32];
    const rv_reply *reply = NULL;
    (void)test_place_empty(NULL);
    if (waiter != NOBODY) {
        assert_int_equal(test_number("HSET " Q "running:" IDLE_SESSION " # {}"), 1);
        assert_int_equal(test_number("LPUSH " Q "idle " IDLE_SESSION ":1"), 1);
    }
    (void)snprintf(now, sizeof(now), "%s", call->args[1]);
    *ret_now = now;
    if (strcmp(call->args[0], "bulk") != 0) return;
    rv_cmd(test_conn, 1);
    rv_args(test_conn, "TIME");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    (void)snprintf(now, sizeof(now), "%.10s%03ld", rv_reply_at(reply, 0)->text,
                   atol(rv_reply_at(reply, 1)->text) / 1000);
    if (call->args[1][0] == '\0') (void)snprintf(now, sizeof(now), "1700000000000"); /* not of the last second */
    assert_int_equal(test_number("RPUSH " Q "segment:7 a b c d"), 4);
    for (const char *id = "abcd"; *id != '\0'; id++) {
        char envelope[96];
        (void)snprintf(envelope, sizeof(envelope), "{\"at\":%s,\"p\":7," REST, now);
        rv_cmd(test_conn, 4);
        rv_args(test_conn, "HSET");
        rv_args(test_conn, Q "tasks");
        rv_arg(test_conn, id, 1);
        rv_args(test_conn, envelope);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    }
}

/* What was bulk-inserted is there before the call: who may not call these cannot take it back. It has no place at
 * least. */
static bool stays_inserted(const test_script_call *call, const char *why)
{
    static const char *const needed[] = {"TIME", "LLEN", "LRANGE", "LTRIM", "HMGET", "HDEL"};
    if (strcmp(call->args[0], "bulk") != 0) return false;
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (strcmp(strrchr(why, ' ') + 1, needed[i]) == 0) return test_number("EXISTS " Q "ready " Q "segments") == 0;
    }
    return false;
}

/* A call that is refused has left no task behind, nor a place of one. */
static bool leaves_nothing(const test_script_call *given, int waiter, const char *why, const char *prepared)
{
    test_script_call call = *given;
    if (strcmp(call.args[0], "bulk") == 0) call.args[1] = prepared;
    const rv_reply *reply = test_call_send(test_user_conn, &call, 1, test_call_args(&call), NULL);
    if (!rv_reply_is(reply, RV_ERROR)) return true;
    char words[256];
    (void)snprintf(words, sizeof(words), "%.255s", reply->text);
    int64_t left = test_number("HLEN " Q "tasks") + test_number("EXISTS " Q "ready " Q "segments " Q "segment:7") +
                   (waiter != NOBODY ? test_number("HLEN " Q "running:" IDLE_SESSION) - 1 : 0);
    if (left == 0 || stays_inserted(given, why)) return true;
    print_message("%s of %zu, waiter %d, %s: %s, and has left something\n", call.args[0], test_call_args(&call), waiter,
                  why, words);
    return false;
}

static size_t common_without_rights(const test_script_call *call, int waiter)
{
    char name[32], seen[4096] = " ", word[40], why[64];
    const char *prepared;
    size_t bad = 0;
    for (const char *at = call->script->text; (at = test_calls_next_command(at, name)) != NULL;) {
        (void)snprintf(word, sizeof(word), " %s ", name);
        size_t length = strlen(seen);
        if (name[0] == '\0' || strstr(seen, word) || length + sizeof(word) >= sizeof(seen)) continue;
        (void)snprintf(seen + length, sizeof(seen) - length, "%s ", name);
        (void)snprintf(why, sizeof(why), "without %s", name);
        prepare_common(call, waiter, &prepared);
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER w -%s", name), "OK");
        bad += !leaves_nothing(call, waiter, why, prepared);
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER w +%s", name), "OK");
    }
    return bad;
}

static size_t common_with_odd_keys(const test_script_call *call, int waiter)
{
    static const char *const keys[] = {"sequence", "wake", "idle", "woken:" IDLE_SESSION, "hand:" IDLE_SESSION ":1"};
    const char *prepared;
    size_t bad = 0;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        char why[64];
        (void)snprintf(why, sizeof(why), "%s is a text", keys[i]);
        prepare_common(call, waiter, &prepared);
        assert_string_equal(test_cmd(test_conn, "SET " Q "%s 1", keys[i]), "OK");
        bad += !leaves_nothing(call, waiter, why, prepared);
    }
    return bad;
}

static void a_refused_call_of_the_common_way_leaves_no_task(void **state)
{
    (void)state;
    size_t bad = 0;
    for (size_t i = 0; i < sizeof(common_calls) / sizeof(common_calls[0]); i++) {
        for (int waiter = NOBODY; waiter < WAITERS; waiter++) {
            if (waiter == A_LISTENING_THREAD) test_heed();
            bad += common_without_rights(&common_calls[i], waiter);
            bad += common_with_odd_keys(&common_calls[i], waiter);
            if (waiter == A_LISTENING_THREAD) test_heed_no_more();
        }
    }
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_missing_right_leaves_anything_half_done),
        cmocka_unit_test(no_right_that_an_administrator_lacks_leaves_anything_half_done),
        cmocka_unit_test(no_key_of_another_type_leaves_anything_half_done),
        cmocka_unit_test(no_key_of_one_thing_of_another_type_leaves_anything_half_done),
        cmocka_unit_test(a_refused_call_of_the_common_way_leaves_no_task),
    };
    return cmocka_run_group_tests_name("ct_foreign_keys", tests, test_user_start, test_user_stop);
}
