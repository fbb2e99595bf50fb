/* ut_bulk_line.c - lines of `reeve enqueue --bulk`: what they become, and why they are refused. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/bulk_line.h"

static const cli_bulk_defaults none;

static cli_bulk_line take(const char *text)
{
    cli_bulk_line line;
    cli_bulk_fault fault;

    if (!cli_bulk_line_parse(&line, text, strlen(text), &none, &fault)) fail_msg("%s: refused: %s", text, fault.words);
    return line;
}

/* The words begin as told. */
static void refuse_bytes(const char *text, size_t length, const char *words)
{
    cli_bulk_line line;
    cli_bulk_fault fault = {0};

    if (cli_bulk_line_parse(&line, text, length, &none, &fault)) fail_msg("%s: was taken", text);
    if (strncmp(fault.words, words, strlen(words)) != 0)
        fail_msg("%s: \"%s\", expected \"%s\"", text, fault.words, words);
    assert_non_null(fault.reason);
}

static void refuse(const char *text, const char *words)
{
    refuse_bytes(text, strlen(text), words);
}

static void expect_payload(const char *json, const char *payload)
{
    char text[512];
    cli_bulk_line line;

    (void)snprintf(text, sizeof(text), "{\"queue\":\"q\",\"type\":\"t\",\"payload\":%s}", json);
    line = take(text);
    assert_int_equal(line.spec.payload.length, strlen(payload));
    assert_memory_equal(line.spec.payload.data, payload, strlen(payload));
    cli_bulk_line_fini(&line);
}

/* ---- what is taken --------------------------------------------------------------------------------------------- */

static void the_least(void **state)
{
    (void)state;
    cli_bulk_line line = take(" {\"queue\":\"files\",\"type\":\"checksum\"}\r");

    assert_string_equal(line.spec.queue, "files");
    assert_string_equal(line.spec.type, "checksum");
    assert_int_equal(line.spec.payload.length, 0);
    assert_null(line.spec.id);
    cli_bulk_line_fini(&line);
    cli_bulk_line_fini(&line);
}

static void everything(void **state)
{
    (void)state;
    cli_bulk_line line =
        take("{\"queue\":\"q\",\"type\":\"a/b:c\",\"payload\":{\"x\":1},\"id\":\"i-1\",\"in\":\"5m\",\"priority\":-128,"
             "\"group\":\"J\\u00fcrgen\",\"weight\":256,\"attempts\":7,\"max_crashes\":2,\"timeout\":1.5,"
             "\"tags\":[\"a\",\"b\\n\"],\"meta\":{\"k\":\"v\",\"l\":\"\"}}");
    const reeve_task_spec *spec = &line.spec;

    assert_string_equal(spec->type, "a/b:c");
    assert_string_equal(spec->id, "i-1");
    assert_int_equal(spec->in_ms, 300000);
    assert_int_equal(spec->priority, -128);
    assert_string_equal(spec->group, "J\xc3\xbcrgen");
    assert_int_equal(spec->weight, 256);
    assert_int_equal(spec->attempts, 7);
    assert_int_equal(spec->max_crashes, 2);
    assert_int_equal(spec->timeout_ms, 1500);
    assert_int_equal(spec->tag_count, 2);
    assert_string_equal(spec->tags[0], "a");
    assert_string_equal(spec->tags[1], "b\n");
    assert_int_equal(spec->meta_count, 2);
    assert_string_equal(spec->meta[0].key, "k");
    assert_string_equal(spec->meta[0].value, "v");
    assert_string_equal(spec->meta[1].key, "l");
    assert_string_equal(spec->meta[1].value, "");
    cli_bulk_line_fini(&line);
}

static void what_a_long_task_says(void **state)
{
    (void)state;
    cli_bulk_line line =
        take("{\"queue\":\"q\",\"type\":\"t\",\"heartbeat\":\"5m\",\"at_most_once\":true,\"expires_in\":1.5}");

    assert_int_equal(line.spec.heartbeat_ms, 300000);
    assert_int_equal(line.spec.expires_in_ms, 1500);
    assert_true(line.spec.at_most_once);
    cli_bulk_line_fini(&line);
    line = take("{\"queue\":\"q\",\"type\":\"t\",\"at_most_once\":false,\"deadline\":\"2099-12-31T00:00:00Z\"}");
    assert_int_equal(line.spec.deadline_ms, 4102358400000);
    assert_false(line.spec.at_most_once);
    cli_bulk_line_fini(&line);
}

static void unique_keys(void **state)
{
    (void)state;
    cli_bulk_line line = take("{\"queue\":\"q\",\"type\":\"t\",\"unique\":\"k \\u00fc\","
                              "\"unique_until\":\"started\",\"on_conflict\":\"debounce\",\"on_dead\":\"told\"}");

    assert_string_equal(line.spec.unique, "k \xc3\xbc");
    assert_true(line.spec.unique_until_started);
    assert_int_equal(line.spec.on_conflict, REEVE_CONFLICT_DEBOUNCE);
    assert_string_equal(line.spec.on_dead, "told");
    cli_bulk_line_fini(&line);
    line = take("{\"queue\":\"q\",\"type\":\"t\",\"unique\":\"k\",\"unique_for\":\"2h\",\"on_conflict\":\"replace\","
                "\"on_dead\":\"\"}");
    assert_int_equal(line.spec.unique_for_ms, 7200000);
    assert_false(line.spec.unique_until_started);
    assert_int_equal(line.spec.on_conflict, REEVE_CONFLICT_REPLACE);
    assert_string_equal(line.spec.on_dead, "");
    cli_bulk_line_fini(&line);
    line = take("{\"queue\":\"q\",\"type\":\"t\",\"unique\":\"k\",\"unique_until\":\"ended\","
                "\"on_conflict\":\"reject\"}");
    assert_false(line.spec.unique_until_started);
    assert_int_equal(line.spec.on_conflict, REEVE_CONFLICT_REJECT);
    assert_null(line.spec.on_dead);
    cli_bulk_line_fini(&line);
}

static void wrong_unique_keys(void **state)
{
    (void)state;
#define LINE "{\"queue\":\"q\",\"type\":\"t\","
    refuse(LINE "\"weight\":2}", "weight 2: needs a group");
    refuse(LINE "\"unique\":7}", "\"unique\": expected a string");
    refuse(LINE "\"unique\":\"\"}", "");
    refuse(LINE "\"unique\":\"k\",\"unique_until\":\"settled\"}",
           "\"unique_until\": expected started or ended, not \"settled\"");
    refuse(LINE "\"unique\":\"k\",\"unique_for\":0}", "\"unique_for\": expected seconds above zero");
    refuse(LINE "\"unique\":\"k\",\"on_conflict\":\"merge\"}",
           "\"on_conflict\": expected reject, replace or debounce, not \"merge\"");
    refuse(LINE "\"unique\":\"k\",\"unique_until\":\"ended\",\"unique_for\":5}",
           "\"unique_until\" and \"unique_for\": give one of them");
    refuse(LINE "\"unique_for\":5}", "\"unique\" is missing; \"unique_for\" goes with it");
    refuse(LINE "\"on_conflict\":\"replace\"}", "\"unique\" is missing; \"on_conflict\" goes with it");
    refuse(LINE "\"on_dead\":\"t t\"}", "");
    refuse(LINE "\"expires_in\":5,\"deadline\":5}", "a task expires either");
    refuse(LINE "\"expires_in\":0}", "\"expires_in\": expected seconds above zero");
    refuse(LINE "\"at_most_once\":1}", "\"at_most_once\": expected true or false");
#undef LINE
}

static void backoffs(void **state)
{
    (void)state;
    cli_bulk_line line = take("{\"queue\":\"q\",\"type\":\"t\",\"backoff\":\"list:1s,\\u0031m~0.1\"}");

    assert_non_null(line.spec.backoff);
    assert_int_equal(line.spec.backoff->shape, REEVE_BACKOFF_LIST);
    assert_int_equal(line.spec.backoff->list_ms[1], 60000);
    assert_true(line.spec.backoff->jitter == 0.1);
    cli_bulk_line_fini(&line);
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"backoff\":5}", "\"backoff\": expected a string");
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"backoff\":\"slow\"}",
           "\"backoff\": backoff \"slow\": expected exponential");
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"backoff\":\"fixed:0\",\"in\":1}",
           "\"backoff\": backoff: \"0\": expected a duration");
}

static void times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t in_ms, at_ms;
    } lines[] = {
        {"{\"queue\":\"q\",\"type\":\"t\",\"in\":90}", 90000, 0},
        {"{\"queue\":\"q\",\"type\":\"t\",\"in\":0}", 0, 0},
        {"{\"queue\":\"q\",\"type\":\"t\",\"in\":\"250ms\"}", 250, 0},
        {"{\"queue\":\"q\",\"type\":\"t\",\"at\":1700000000.5}", 0, 1700000000500},
        {"{\"queue\":\"q\",\"type\":\"t\",\"at\":\"2023-11-14T22:13:20Z\"}", 0, 1700000000000},
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        cli_bulk_line line = take(lines[i].text);
        assert_int_equal(line.spec.in_ms, lines[i].in_ms);
        assert_int_equal(line.spec.at_ms, lines[i].at_ms);
        cli_bulk_line_fini(&line);
    }
}

static void payloads_are_kept_as_written(void **state)
{
    (void)state;
    expect_payload("{ \"b\" : [ 1 , 2.50 ] ,\t\"a\" : null }", "{\"b\":[1,2.50],\"a\":null}");
    expect_payload("12345678901234567890123456789.000", "12345678901234567890123456789.000");
    expect_payload("\"a b\\u00e9\\/ \\\" c\\\\\"", "\"a b\\u00e9\\/ \\\" c\\\\\"");
    expect_payload("\"\\ud800\\u0000\"", "\"\\ud800\\u0000\"");
    expect_payload("\"gr\xc3\xbc\xc3\x9f\"", "\"gr\xc3\xbc\xc3\x9f\"");
    expect_payload("true", "true");
    expect_payload("null", "null");
    expect_payload("[]", "[]");
    expect_payload("-0.0e-10", "-0.0e-10");
}

static void base64_payloads(void **state)
{
    (void)state;
    cli_bulk_line line = take("{\"payload_base64\":\"AP8KDSI=\",\"queue\":\"q\",\"type\":\"t\"}");

    assert_int_equal(line.spec.payload.length, 5);
    assert_memory_equal(line.spec.payload.data, "\x00\xff\n\r\"", 5);
    cli_bulk_line_fini(&line);
    line = take("{\"payload_base64\":\"\",\"queue\":\"q\",\"type\":\"t\"}");
    assert_int_equal(line.spec.payload.length, 0);
    cli_bulk_line_fini(&line);
}

static void the_command_line_stands_in(void **state)
{
    (void)state;
    static const char text[] = "{\"payload\":1}", own[] = "{\"queue\":\"own\",\"type\":\"mine\"}";
    const cli_bulk_defaults both = {"files", "checksum"}, queue = {"files", NULL};
    cli_bulk_line line;
    cli_bulk_fault fault;

    assert_true(cli_bulk_line_parse(&line, text, strlen(text), &both, &fault));
    assert_string_equal(line.spec.queue, "files");
    assert_string_equal(line.spec.type, "checksum");
    cli_bulk_line_fini(&line);
    assert_true(cli_bulk_line_parse(&line, own, strlen(own), &both, &fault));
    assert_string_equal(line.spec.queue, "own");
    assert_string_equal(line.spec.type, "mine");
    cli_bulk_line_fini(&line);
    assert_false(cli_bulk_line_parse(&line, text, strlen(text), &queue, &fault));
    assert_string_equal(fault.words, "\"type\" is missing");
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

static void what_is_no_json(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "{",
        "}",
        "{]",
        "{\"queue\"}",
        "{\"queue\":}",
        "{\"queue\":\"q\",}",
        "{queue:\"q\"}",
        "{'queue':'q'}",
        "{\"queue\":\"q\"} x",
        "{\"queue\":\"q\"}{}",
        "{\"payload\":01}",
        "{\"payload\":+1}",
        "{\"payload\":1.}",
        "{\"payload\":.5}",
        "{\"payload\":1e}",
        "{\"payload\":nul}",
        "{\"payload\":NaN}",
        "{\"payload\":[1,]}",
        "{\"payload\":[1 2]}",
        "{\"payload\":\"\\x\"}",
        "{\"payload\":\"\\u12g4\"}",
        "{\"payload\":\"tab\there\"}",
        "{\"payload\":\"open}",
        "{\"payload\":\"\xff\"}",
        "{\"payload\":\"\xc0\xaf\"}",
        "{\"payload\":\"\xed\xa0\x80\"}",
        "{\"payload\":1 /* no */}",
        "\xef\xbb\xbf{}",
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) refuse(lines[i], "invalid JSON at byte ");
    refuse("{\"queue\":\"q\",\"type\" \"t\"}", "invalid JSON at byte 21: expected ':'");
    refuse_bytes("{\"queue\":\"q\"}\0", 14, "invalid JSON: a zero byte");
    refuse("[1]", "expected an object");
    refuse("\"queue\"", "expected an object");
    refuse("null", "expected an object");
}

static void deep_nesting(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH + 64);
    int at = sprintf(text, "{\"payload\":");

    memset(text + at, '[', DEPTH);
    text[at + DEPTH] = '\0';
    refuse(text, "invalid JSON at byte 511: expected less nesting");
    free(text);
}

static void members(void **state)
{
    (void)state;
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"prio\":1}", "unknown member \"prio\"; did you mean \"priority\"?");
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"zebra\":1}", "unknown member \"zebra\"");
    refuse("{\"queue\":\"q\",\"queue\":\"q\",\"type\":\"t\"}", "\"queue\" stands twice");
    refuse("{\"qu\\u0065ue\":\"q\",\"queue\":\"q\",\"type\":\"t\"}", "\"queue\" stands twice");
    refuse("{\"\":1}", "unknown member \"\"");
    refuse("{\"0123456789012345678901234567890123456789012345678901234567890123456789\":1}",
           "unknown member \"012345678901234567890123456789012345678901234567890123456789...\"");
    refuse("{\"type\":\"t\"}", "\"queue\" is missing");
    refuse("{\"queue\":\"q\"}", "\"type\" is missing");
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"after\":[1]}", "\"after\": expected a handle, or an array of handles");
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"after\":{}}", "\"after\": expected a handle, or an array of handles");
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"after\":\"x\"}", "\"after\": expected QUEUE/ID");
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"payload\":1,\"payload_base64\":\"\"}",
           "\"payload\" and \"payload_base64\"");
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"in\":1,\"at\":1}", "\"in\" and \"at\"");
}

static void wrong_types(void **state)
{
    (void)state;
    static const char *const members[] = {
        "\"id\":7",           "\"id\":null",    "\"group\":[]", "\"priority\":\"1\"", "\"weight\":true",
        "\"attempts\":null",  "\"tags\":\"a\"", "\"tags\":[1]", "\"tags\":{}",        "\"meta\":[]",
        "\"meta\":{\"a\":1}", "\"in\":null",    "\"at\":{}",    "\"timeout\":[]",     "\"payload_base64\":1",
    };
    char text[128], words[64];

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        (void)snprintf(text, sizeof(text), "{\"queue\":\"q\",\"type\":\"t\",%s}", members[i]);
        (void)snprintf(words, sizeof(words), "%.*s: expected ", (int)(strchr(members[i], ':') - members[i]),
                       members[i]);
        refuse(text, words);
    }
}

static void wrong_values(void **state)
{
    (void)state;
    static const char *const members[] = {
        "\"priority\":128",
        "\"priority\":-129",
        "\"priority\":1.5",
        "\"priority\":1e2",
        "\"priority\":99999999999999999999999999999999999",
        "\"weight\":0",
        "\"weight\":257",
        "\"attempts\":0",
        "\"attempts\":-1",
        "\"max_crashes\":0",
        "\"in\":-1",
        "\"in\":\"soon\"",
        "\"in\":1e3",
        "\"timeout\":0",
        "\"timeout\":\"0\"",
        "\"at\":\"tomorrow\"",
    };
    char text[128], words[64];

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        (void)snprintf(text, sizeof(text), "{\"queue\":\"q\",\"type\":\"t\",%s}", members[i]);
        (void)snprintf(words, sizeof(words), "%.*s: expected ", (int)(strchr(members[i], ':') - members[i]),
                       members[i]);
        refuse(text, words);
    }
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"id\":\"a\\u0000b\"}", "\"id\": a zero byte");
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"group\":\"\\udc00\"}", "\"group\": half of a surrogate pair");
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"group\":\"\\ud83dx\"}", "\"group\": half of a surrogate pair");
}

static void wrong_base64(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "A", "AA", "AAA", "AAAA=", "AA=A", "A===", "====", "AA==AAAA", "AAA!", "AB==", "AAB=", " AAA"};
    char text[128];

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        (void)snprintf(text, sizeof(text), "{\"queue\":\"q\",\"type\":\"t\",\"payload_base64\":\"%s\"}", texts[i]);
        refuse(text, "\"payload_base64\": is no base64");
    }
}

/* What the library itself refuses is refused line by line as well. */
static void wrong_names(void **state)
{
    (void)state;
    refuse("{\"queue\":\"a b\",\"type\":\"t\"}", "queue \"a b\"");
    refuse("{\"queue\":\"\",\"type\":\"t\"}", "");
    refuse("{\"queue\":\"q\",\"type\":\"t t\"}", "type \"t t\"");
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"id\":\"a/b\"}", "id \"a/b\"");
    refuse("{\"queue\":\"q\",\"type\":\"t\",\"group\":\"\"}", "group \"\"");
}

/* One allocation after the other fails: refused each time, and nothing is lost. */
static void no_memory(void **state)
{
    (void)state;
    static const char text[] = "{\"queue\":\"q\",\"type\":\"t\",\"tags\":[\"a\"],\"meta\":{\"k\":\"v\"}}";
    cli_bulk_line line;
    cli_bulk_fault fault;
    unsigned long nth = 0;
    bool well = false;

    while (!well) {
        (void)rv_mem_fail_at(++nth);
        well = cli_bulk_line_parse(&line, text, strlen(text), &none, &fault);
        if (!well) assert_string_equal(fault.words, "out of memory");
    }
    (void)rv_mem_fail_at(0);
    assert_int_equal(nth, 4);
    cli_bulk_line_fini(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least),       cmocka_unit_test(everything),
        cmocka_unit_test(backoffs),        cmocka_unit_test(what_a_long_task_says),
        cmocka_unit_test(unique_keys),     cmocka_unit_test(wrong_unique_keys),
        cmocka_unit_test(times),           cmocka_unit_test(payloads_are_kept_as_written),
        cmocka_unit_test(base64_payloads), cmocka_unit_test(the_command_line_stands_in),
        cmocka_unit_test(what_is_no_json), cmocka_unit_test(deep_nesting),
        cmocka_unit_test(members),         cmocka_unit_test(wrong_types),
        cmocka_unit_test(wrong_values),    cmocka_unit_test(wrong_base64),
        cmocka_unit_test(wrong_names),     cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
