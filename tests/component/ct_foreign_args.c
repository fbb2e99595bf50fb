/*
 * Every script with every one of its arguments missing, or a value that makes no sense: it is refused in words before
 * anything is written, or makes a sense that harms nobody. Never does Lua fail.
 */
#include <stdio.h>
#include <string.h>

#include "support/calls.h"

#define Q "reeve:{q}:"

#define VALUE(text)                 \
    {                               \
        0, (text), sizeof(text) - 1 \
    }

static const test_odd values[] = {
    VALUE(""),         VALUE("abc"),     VALUE("-1"),    VALUE("0"),         VALUE("1.5"),
    VALUE("1e999"),    VALUE("-1e999"),  VALUE("nan"),   VALUE("1e300"),     VALUE("9223372036854775808"),
    VALUE("#totals"),  VALUE("#"),       VALUE("+5"),    VALUE("a\0b"),      VALUE("\0"),
    VALUE("a b\nc"),   VALUE("q/x"),     VALUE("{}"),    VALUE("[\"a\"]"),   VALUE("- 99999999999999999999"),
    VALUE("\xff\xfe"), VALUE("1 1 1 1"), VALUE("0 0 0"), VALUE("{q}: x\r\n")};

/* What stands there harms nobody: the queue is served. */
static void served(const char *what)
{
    static const test_script_call calls[] = {
        {&rv_script_maintain, {"100", "60000"}, false},
        {&rv_script_reap, {"100", "60000"}, false},
        {&rv_script_fan, {"25"}, false},
        {&rv_script_begin_session, {"third-00000001", "60000", "{\"worker\":\"third\"}"}, false},
        {&rv_script_turn, {"2", "5", "1", "", "third-00000001"}, false},
        {&rv_script_enqueue, {"plain", "served", "\"type\":\"t\"}\n"}, false},
        {&rv_script_enqueue, {"0", "grouped", "{\"group\":\"g\"}", "\"type\":\"t\",\"group\":\"g\"}\n"}, false},
        {&rv_script_turn, {"2", "0", "0", "", "1", "third-00000001", "", "1", "p", "0"}, false},
        {&rv_script_why, {"x", ""}, false},
        {&rv_script_limits, {"0", "10"}, false},
        {&rv_script_stat, {NULL}, false}};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const rv_reply *reply = test_call_send(test_conn, &calls[i], 1, test_call_args(&calls[i]), NULL);
        if (rv_reply_is(reply, RV_ERROR)) fail_msg("after %s, %s: %s", what, calls[i].script->name, reply->text);
    }
}

/* Whether anything was written since the queue was prepared. */
static bool changed;

/* One call, with an odd value or cut short: it says so in words and writes nothing, or is done. */
static bool stands(const test_script_call *call, size_t keys, size_t args, const test_odd *odd)
{
    static char before[65536];
    char begins[64], what[512], got[512];
    bool good = true;
    if (changed) {
        test_calls_prepare();
        (void)snprintf(before, sizeof(before), "%s", test_calls_digest());
    }
    (void)snprintf(got, sizeof(got), "%.400s", test_reply_text(test_call_send(test_conn, call, keys, args, odd)));
    (void)snprintf(what, sizeof(what), "%s %s, %zu keys, %zu arguments, the %zu.: \"%s\"", call->script->name,
                   call->args[0] != NULL ? call->args[0] : "", keys, args, odd != NULL ? odd->at + 1 : 0,
                   odd != NULL ? odd->bytes : "");
    (void)snprintf(begins, sizeof(begins), "(error) ERR %s: ", call->script->name);
    bool failed = strncmp(got, "(error)", 7) == 0;
    if (failed) {
        bool written = strcmp(test_calls_digest(), before) != 0;
        good = strncmp(got, begins, strlen(begins)) == 0 && !written;
        if (!good) print_message("%s: %s%s\n", what, got, written ? ", and has written" : "");
    }
    changed = !good || !failed;
    if (changed) served(what);
    return good;
}

static size_t odd_arguments(const test_script_call *call)
{
    size_t args = test_call_args(call), bad = !stands(call, 0, args, NULL);
    for (size_t cut = 0; cut < args; cut++) bad += !stands(call, 1, cut, NULL);
    for (size_t at = 0; at < args; at++) {
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
            bad += !stands(call, 1, args, &(test_odd){at, values[i].bytes, values[i].length});
    }
    return bad;
}

static void no_argument_makes_a_script_fail(void **state)
{
    (void)state;
    size_t bad = 0;
    changed = true;
    for (size_t i = 0; i < test_calls_count; i++) bad += odd_arguments(&test_calls[i]);
    assert_int_equal(bad, 0);
}

static void every_call_of_the_table_makes_sense(void **state)
{
    (void)state;
    for (size_t i = 0; i < test_calls_count; i++) {
        test_calls_prepare();
        const test_script_call *call = &test_calls[i];
        const rv_reply *reply = test_call_send(test_conn, call, 1, test_call_args(call), NULL);
        bool bulk = call->script == &rv_script_enqueue && strcmp(call->args[0], "bulk") == 0;
        if (rv_reply_is(reply, RV_ERROR) != bulk)
            fail_msg("%zu., %s: %s", i, call->script->name, test_reply_text(reply));
    }
}

/* Settings are written by HSET, by whoever may. */
static void no_setting_makes_a_script_fail(void **state)
{
    (void)state;
    static const char *const names[] = {
        "paused",       "completed_age", "completed_count", "completed_bytes", "result_max", "dead_age",
        "dead_count",   "on_dead",       "policy",          "stats_days",      "waiters",    "serial",
        "large",        "unsent",        "upkeep",          "concurrency",     "rate",       "group_rate",
        "group_strict", "paused_until",  "events",          "events_until",    "in_force",   "group_concurrency",
        "reads",        "payload_max",
    };
    for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
            const rv_reply *reply = NULL;
            char what[256];
            test_calls_prepare();
            rv_cmd(test_conn, 4);
            rv_args(test_conn, "HSET");
            rv_args(test_conn, Q "settings");
            rv_args(test_conn, names[n]);
            rv_arg(test_conn, values[i].bytes, values[i].length);
            assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
            (void)snprintf(what, sizeof(what), "settings %s \"%s\"", names[n], values[i].bytes);
            served(what);
            served(what);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_of_the_table_makes_sense),
        cmocka_unit_test(no_argument_makes_a_script_fail),
        cmocka_unit_test(no_setting_makes_a_script_fail),
    };
    return cmocka_run_group_tests_name("ct_foreign_args", tests, test_place_start, test_place_stop);
}
