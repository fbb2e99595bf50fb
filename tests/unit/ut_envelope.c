/* Envelopes: read from good, cut and hostile bytes; written from a spec; and what is refused before. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "protocol/envelope.h"
#include "protocol/queue_settings.h"
#include "protocol/spec.h"
#include "support/cmocka.h"

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* Reads a copy without a byte to spare, so that a sanitizer sees a step too far. */
static bool reads(rv_envelope *ret, const char *text, size_t length)
{
    static char *copy;
    free(copy);
    copy = malloc(length > 0 ? length : 1);
    assert_non_null(copy);
    if (length > 0) memcpy(copy, text, length);
    return rv_envelope_read(ret, copy, length);
}

static void good_ones(void **state)
{
    (void)state;
    rv_envelope envelope;
    static const char plain[] = "{\"at\":1763712000123,\"type\":\"a/b:c\"}\npay\0load\n";
    assert_true(reads(&envelope, plain, sizeof(plain) - 1));
    assert_int_equal(envelope.at_ms, 1763712000123);
    assert_int_equal(envelope.type_length, 5);
    assert_memory_equal(envelope.type, "a/b:c", 5);
    assert_true(envelope.plain);
    assert_false(envelope.flagged);
    assert_int_equal(envelope.payload.length, 9);
    assert_memory_equal(envelope.payload.data, "pay\0load\n", 9);
    assert_int_equal(envelope.header_length, 35);
    static const char full[] = "{\"info\":1,\"at\":7,\"type\":\"t\",\"priority\":-3}\n";
    assert_true(reads(&envelope, full, sizeof(full) - 1));
    assert_int_equal(envelope.at_ms, 7);
    assert_false(envelope.plain);
    assert_true(envelope.flagged);
    assert_int_equal(envelope.payload.length, 0);
    assert_int_equal(envelope.header_length, sizeof(full) - 2);
}

static void marks_before_the_type(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool flagged, cancelled;
        int64_t deadline_ms;
    } headers[] = {
        {"{\"at\":50,\"type\":\"t\"}\n", false, false, 0},
        {"{\"at\":50,\"deadline\":70,\"type\":\"t\"}\n", false, false, 70},
        {"{\"info\":1,\"at\":50,\"deadline\":70,\"type\":\"t\"}\n", true, false, 70},
        {"{\"info\":1,\"cancel\":1,\"at\":50,\"type\":\"t\"}\n", true, true, 0},
        {"{\"info\":1,\"cancel\":1,\"at\":50,\"deadline\":70,\"type\":\"t\"}\n", true, true, 70},
        {"{\"at\":50,\"p\":0,\"type\":\"t\"}\n", false, false, 0},
        {"{\"at\":50,\"p\":274877906943,\"type\":\"t\"}\n", false, false, 0},
        {"{\"info\":1,\"at\":50,\"p\":7,\"type\":\"t\"}\n", true, false, 0},
        {"{\"info\":1,\"cancel\":1,\"at\":50,\"p\":7,\"type\":\"t\"}\n", true, true, 0},
    };
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        rv_envelope envelope;
        assert_true(reads(&envelope, headers[i].text, strlen(headers[i].text)));
        assert_int_equal(envelope.flagged, headers[i].flagged);
        assert_int_equal(envelope.cancelled, headers[i].cancelled);
        assert_int_equal(envelope.deadline_ms, headers[i].deadline_ms);
        assert_int_equal(envelope.at_ms, 50);
        assert_true(envelope.plain);
    }
    rv_envelope envelope;
    static const char *const bad[] = {"{\"cancel\":1,\"at\":50,\"type\":\"t\"}\n",
                                      "{\"at\":50,\"deadline\":x,\"type\":\"t\"}\n",
                                      "{\"at\":50,\"p\":x,\"type\":\"t\"}\n",
                                      "{\"at\":50,\"p\":\"7\",\"type\":\"t\"}\n",
                                      "{\"at\":50,\"p\":,\"type\":\"t\"}\n",
                                      "{\"at\":50,\"p\":7\"type\":\"t\"}\n",
                                      "{\"at\":50,\"p\":7}\n",
                                      "{\"at\":50,\"p\":7,\"p\":8,\"type\":\"t\"}\n",
                                      "{\"p\":7,\"at\":50,\"type\":\"t\"}\n",
                                      "{\"at\":50,\"p\":7,\n\"type\":\"t\"}\n",
                                      "{\"at\":50,\"p\":99999999999999999999999999,\"type\":\"t\"}\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) assert_false(reads(&envelope, bad[i], strlen(bad[i])));
}

/* From when on it was ready, by its header. */
static void when_it_was_ready(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ready_ms;
        bool plain;
    } headers[] = {
        {"{\"at\":50,\"type\":\"t\"}\n", 50, true},
        {"{\"at\":50,\"type\":\"t\",\"due\":70}\n", 70, true},
        {"{\"at\":50,\"type\":\"t\",\"due\":20}\n", 50, true},
        {"{\"at\":50,\"type\":\"t\",\"due\":0}\n", -1, true},
        {"{\"at\":50,\"type\":\"t\",\"delay\":5}\n", 55, true},
        {"{\"info\":1,\"at\":50,\"type\":\"t\",\"due\":0,\"group\":\"g\"}\n", -1, false},
        {"{\"at\":50,\"type\":\"t\",\"delay\":99999999999999999999999}\n", INT64_MAX, false},
        {"{\"at\":50,\"type\":\"t\",\"due\":x}\n", 50, false},
        {"{\"at\":50,\"type\":\"t\",\"group\":\"g\",\"due\":0}\n", 50, false},
    };
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        rv_envelope envelope;
        assert_true(reads(&envelope, headers[i].text, strlen(headers[i].text)));
        if (envelope.plain != headers[i].plain) fail_msg("plain: %s", headers[i].text);
        if (envelope.ready_ms != headers[i].ready_ms && i != 6)
            fail_msg("%lld: %s", (long long)envelope.ready_ms, headers[i].text);
    }
}

static void cut_anywhere(void **state)
{
    (void)state;
    rv_envelope envelope;
    static const char *const texts[] = {"{\"at\":1763712000123,\"type\":\"abc\"}\np",
                                        "{\"info\":1,\"at\":5,\"type\":\"abc\",\"group\":\"g\"}\np"};
    for (size_t i = 0; i < 2; i++) {
        size_t whole = strlen(texts[i]) - 1; /* without its payload it is one still */
        for (size_t length = 0; length < whole; length++)
            if (reads(&envelope, texts[i], length)) fail_msg("%.*s", (int)length, texts[i]);
        assert_true(reads(&envelope, texts[i], whole));
    }
}

static void hostile_ones(void **state)
{
    (void)state;
    rv_envelope envelope;
    static const char *const bad[] = {"\n",
                                      "x\n",
                                      "{}\n",
                                      "[]\n",
                                      "null\n",
                                      "{\"type\":\"t\",\"at\":1}\n",
                                      "{\"at\":,\"type\":\"t\"}\n",
                                      "{\"at\":-1,\"type\":\"t\"}\n",
                                      "{\"at\":1.5,\"type\":\"t\"}\n",
                                      "{\"at\":\"1\",\"type\":\"t\"}\n",
                                      "{\"at\":1,\"type\":t}\n",
                                      "{\"at\":1,\"type\":\"t\n\"}",
                                      "{\"at\":1,\"type\":\"t}\n",
                                      "{\"at\":1 ,\"type\":\"t\"}\n",
                                      "{\"info\":2,\"at\":1,\"type\":\"t\"}\n",
                                      "{\"info\":1}\n",
                                      "{\"info\":1,\n",
                                      " {\"at\":1,\"type\":\"t\"}\n",
                                      "\n{\"at\":1,\"type\":\"t\"}\n",
                                      "{\"at\":1,\"type\":\"\n\"}\n",
                                      "{\"at\":99999999999999999999999999,\"type\":\"t\"}\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (reads(&envelope, bad[i], strlen(bad[i]))) fail_msg("read: %s", bad[i]);
    /* What stands behind the type is for others to judge. */
    assert_true(reads(&envelope, "{\"at\":1,\"type\":\"t\"rubbish\n", 27));
    assert_false(envelope.plain);
    assert_true(reads(&envelope, "{\"at\":1,\"type\":\"\"}\n", 19));
    assert_int_equal(envelope.type_length, 0);
    assert_true(reads(&envelope, "{\"at\":1,\"type\":\"t\"}}\n", 21));
    assert_false(envelope.plain);
}

static void random_bytes(void **state)
{
    (void)state;
    static const char good[] = "{\"info\":1,\"at\":1763712000123,\"type\":\"abc\",\"tags\":[\"x\"]}\npayload";
    rv_envelope envelope;
    rv_task_policy policy;
    srand(1);
    for (int round = 0; round < 20000; round++) {
        char text[sizeof(good)];
        memcpy(text, good, sizeof(good));
        for (int changes = rand() % 4; changes >= 0; changes--) text[(size_t)rand() % sizeof(good)] = (char)rand();
        if (!reads(&envelope, text, (size_t)rand() % sizeof(good))) continue;
        assert_true(envelope.type >= envelope.header);
        assert_true(envelope.type + envelope.type_length <= envelope.header + envelope.header_length);
        (void)rv_task_policy_read(&policy, envelope.header, envelope.header_length);
    }
}

/* ---- what a worker acts on ------------------------------------------------------------------------------------- */

static rv_task_policy policy_of(const char *header)
{
    rv_task_policy policy;
    assert_int_equal(rv_task_policy_read(&policy, header, strlen(header)), REEVE_OK);
    return policy;
}

static void options_of_a_header(void **state)
{
    (void)state;
    rv_task_policy policy = policy_of("{\"at\":1,\"type\":\"t\"}");
    assert_int_equal(policy.attempts, 0);
    assert_int_equal(policy.max_crashes, 0);
    assert_int_equal(policy.timeout_ms, 0);
    assert_false(policy.has_backoff);
    policy = policy_of("{\"attempts\":5,\"crashes\":2,\"timeout\":90000,\"backoff\":{\"shape\":1,\"base\":7,\"cap\":8,"
                       "\"jitter\":250}}");
    assert_int_equal(policy.attempts, 5);
    assert_int_equal(policy.max_crashes, 2);
    assert_int_equal(policy.timeout_ms, 90000);
    assert_true(policy.has_backoff);
    assert_int_equal(policy.backoff.shape, REEVE_BACKOFF_FIXED);
    assert_int_equal(policy.backoff.base_ms, 7);
    assert_int_equal(policy.backoff.cap_ms, 8);
    assert_true(policy.backoff.jitter == 0.25);
    policy = policy_of("{\"backoff\":{}}");
    assert_true(policy.has_backoff);
    assert_int_equal(policy.backoff.shape, REEVE_BACKOFF_EXPONENTIAL);
}

static void odd_options_of_a_header(void **state)
{
    (void)state;
    rv_task_policy policy = policy_of("{\"attempts\":-4,\"crashes\":\"3\",\"timeout\":-1,\"backoff\":7}");
    assert_int_equal(policy.attempts, 0);
    assert_int_equal(policy.max_crashes, 0);
    assert_int_equal(policy.timeout_ms, 0);
    assert_false(policy.has_backoff);
    policy = policy_of(
        "{\"attempts\":1e300,\"crashes\":99999999999,\"timeout\":1e300,\"backoff\":{\"base\":1e300,\"cap\":-5}}");
    assert_int_equal(policy.attempts, 1000000000);
    assert_int_equal(policy.max_crashes, 1000000000);
    assert_int_equal(policy.timeout_ms, 9000000000000000);
    assert_int_equal(policy.backoff.base_ms, 9000000000000000);
    assert_int_equal(policy.backoff.cap_ms, 0);
    static const char *const bad[] = {"", "x", "[]", "7", "{", "{\"a\":}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(rv_task_policy_read(&policy, bad[i], strlen(bad[i])), REEVE_EINVAL);
}

static void lists_of_a_header(void **state)
{
    (void)state;
    rv_task_policy policy = policy_of("{\"backoff\":{\"shape\":2,\"jitter\":-1000,\"list\":[1,20,300]}}");
    assert_true(policy.has_backoff);
    assert_int_equal(policy.backoff.shape, REEVE_BACKOFF_LIST);
    assert_int_equal(rv_backoff_list_count(&policy.backoff), 3);
    assert_int_equal(policy.backoff.list_ms[2], 300);
    assert_true(policy.backoff.jitter == -1);
    /* It ends at what is no delay; without any it is none. */
    policy = policy_of("{\"backoff\":{\"shape\":2,\"list\":[1,\"x\",3]}}");
    assert_true(policy.has_backoff);
    assert_int_equal(rv_backoff_list_count(&policy.backoff), 1);
    policy = policy_of("{\"backoff\":{\"shape\":2,\"list\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18]}}");
    assert_int_equal(rv_backoff_list_count(&policy.backoff), 16);
    assert_int_equal(policy.backoff.list_ms[15], 16);
    static const char *const empty[] = {"[]", "[0]", "[-1,5]", "7", "{\"a\":1}", "null"};
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        char text[100] = "{\"attempts\":3,\"backoff\":{\"shape\":2,\"list\":";
        strcat(strcat(text, empty[i]), "}}");
        policy = policy_of(text);
        assert_false(policy.has_backoff);
        assert_int_equal(policy.attempts, 3);
    }
    assert_false(policy_of("{\"backoff\":{\"shape\":2}}").has_backoff);
    assert_false(policy_of("{\"backoff\":{\"shape\":1,\"list\":[5]}}").backoff.list_ms[0] == 5);
}

static void whether_it_holds_a_lock(void **state)
{
    (void)state;
    assert_false(policy_of("{\"at\":1,\"type\":\"t\",\"attempts\":1}").unique);
    assert_true(policy_of("{\"at\":1,\"type\":\"t\",\"unique\":{\"key\":\"k\"}}").unique);
    assert_true(policy_of("{\"at\":1,\"type\":\"t\",\"unique\":\"k\"}").unique);
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static const char *written(const reeve_task_spec *spec, rv_buf *out)
{
    rv_buf_clear(out);
    rv_spec_write_envelope(out, spec);
    assert_false(out->failed);
    return rv_buf_text(out);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    rv_buf out, whole;
    rv_envelope envelope;
    const char *const tags[] = {"one", "t\"w\\o\n", "\xe2\x82\xac"};
    const reeve_meta meta[] = {{"key", "value"}, {"\"", "\x01\x1f\t"}};
    const reeve_backoff backoff = {.base_ms = 5, .cap_ms = 6, .jitter = -1};
    const reeve_task_spec spec = {.queue = "q",
                                  .type = "x/y:z",
                                  .payload = {"p\0\n", 3},
                                  .priority = -128,
                                  .group = "g\"\\",
                                  .weight = 256,
                                  .attempts = 1,
                                  .max_crashes = 2,
                                  .timeout_ms = 3,
                                  .backoff = &backoff,
                                  .tags = tags,
                                  .tag_count = 3,
                                  .meta = meta,
                                  .meta_count = 2};
    rv_buf_init(&out, 1000000);
    rv_buf_init(&whole, 1000000);
    (void)written(&spec, &out);
    rv_buf_adds(&whole, "{\"at\":12345,");
    rv_buf_add(&whole, out.data, out.length);
    assert_true(rv_envelope_read(&envelope, whole.data, whole.length));
    assert_int_equal(envelope.at_ms, 12345);
    assert_memory_equal(envelope.type, "x/y:z", 5);
    assert_false(envelope.plain);
    assert_int_equal(envelope.payload.length, 3);
    assert_memory_equal(envelope.payload.data, "p\0\n", 3);
    rv_task_policy policy;
    assert_int_equal(rv_task_policy_read(&policy, envelope.header, envelope.header_length), REEVE_OK);
    assert_int_equal(policy.attempts, 1);
    assert_int_equal(policy.max_crashes, 2);
    assert_int_equal(policy.timeout_ms, 3);
    assert_int_equal(policy.backoff.base_ms, 5);
    assert_true(policy.backoff.jitter == -1);
    cJSON *json = cJSON_ParseWithLength(envelope.header, envelope.header_length);
    assert_int_equal(cJSON_GetObjectItem(json, "priority")->valueint, -128);
    assert_string_equal(cJSON_GetObjectItem(json, "group")->valuestring, "g\"\\");
    assert_int_equal(cJSON_GetObjectItem(json, "weight")->valueint, 256);
    const cJSON *list = cJSON_GetObjectItem(json, "tags");
    assert_int_equal(cJSON_GetArraySize(list), 3);
    for (int i = 0; i < 3; i++) assert_string_equal(cJSON_GetArrayItem(list, i)->valuestring, tags[i]);
    const cJSON *values = cJSON_GetObjectItem(json, "meta");
    for (int i = 0; i < 2; i++)
        assert_string_equal(cJSON_GetObjectItem(values, meta[i].key)->valuestring, meta[i].value);
    cJSON_Delete(json);
    rv_buf_fini(&out);
    rv_buf_fini(&whole);
}

static const char *backoff_text(const reeve_backoff *backoff, rv_buf *out)
{
    rv_buf_clear(out);
    rv_task_policy_write_backoff(out, backoff);
    assert_false(out->failed);
    return rv_buf_text(out);
}

/* The same delays are read. */
static const char *backoff_written(const reeve_backoff *backoff, rv_buf *out)
{
    rv_task_policy policy;
    char text[1000];
    (void)backoff_text(backoff, out);
    (void)snprintf(text, sizeof(text), "{\"backoff\":%s}", rv_buf_text(out));
    policy = policy_of(text);
    for (unsigned n = 1; n < 20; n++)
        assert_int_equal(rv_backoff_delay(&policy.backoff, n, 0.3), rv_backoff_delay(backoff, n, 0.3));
    return rv_buf_text(out);
}

static void backoffs(void **state)
{
    (void)state;
    rv_buf out;
    rv_buf_init(&out, 1000);
    assert_string_equal(backoff_written(&(reeve_backoff){0}, &out), "{\"shape\":0,\"base\":0,\"cap\":0,\"jitter\":0}");
    assert_string_equal(
        backoff_written(&(reeve_backoff){.shape = REEVE_BACKOFF_FIXED, .base_ms = 7, .jitter = 0.29}, &out),
        "{\"shape\":1,\"base\":7,\"cap\":0,\"jitter\":290}");
    /* What little was given does not become the default. */
    assert_string_equal(backoff_text(&(reeve_backoff){.base_ms = 1, .jitter = -0.0001}, &out),
                        "{\"shape\":0,\"base\":1,\"cap\":0,\"jitter\":-1000}");
    assert_string_equal(backoff_text(&(reeve_backoff){.base_ms = 1, .jitter = 0.0001}, &out),
                        "{\"shape\":0,\"base\":1,\"cap\":0,\"jitter\":1}");
    assert_string_equal(
        backoff_written(&(reeve_backoff){.shape = REEVE_BACKOFF_LIST, .list_ms = {5, 6}, .base_ms = 9}, &out),
        "{\"shape\":2,\"jitter\":0,\"list\":[5,6]}");
    reeve_backoff full = {.shape = REEVE_BACKOFF_LIST, .jitter = 1};
    for (int i = 0; i < REEVE_BACKOFF_LIST_MAX; i++) full.list_ms[i] = i + 1;
    assert_non_null(strstr(backoff_written(&full, &out), "15,16]}"));
    rv_buf_fini(&out);
}

static const char *policy_written(const reeve_queue_policy *policy, rv_buf *out)
{
    rv_queue_values values;
    rv_queue_settings_from(&values, &(reeve_queue_settings){.policy = policy});
    assert_int_equal(rv_queue_settings_check(&values, NULL), REEVE_OK);
    rv_buf_clear(out);
    rv_queue_settings_write(out, &values, rv_queue_settings[RV_QUEUE_ATTEMPTS].field);
    assert_false(out->failed);
    return rv_buf_text(out);
}

static reeve_status policy_checked(const reeve_queue_policy *policy, rv_error *error)
{
    rv_queue_values values;
    rv_queue_settings_from(&values, &(reeve_queue_settings){.policy = policy});
    return rv_queue_settings_check(&values, error);
}

static void policies_of_queues(void **state)
{
    (void)state;
    rv_buf out;
    rv_error error = {0};
    const reeve_backoff backoff = {.shape = REEVE_BACKOFF_LIST, .list_ms = {5}}, zero = {0},
                        wrong = {.shape = REEVE_BACKOFF_LIST};
    rv_buf_init(&out, 1000);
    assert_string_equal(policy_written(&(reeve_queue_policy){0}, &out), "");
    assert_string_equal(policy_written(&(reeve_queue_policy){.backoff = &zero}, &out), "");
    assert_string_equal(policy_written(&(reeve_queue_policy){.max_crashes = 2}, &out), "{\"crashes\":2}");
    assert_string_equal(
        policy_written(&(reeve_queue_policy){.attempts = 4, .max_crashes = 2, .timeout_ms = 9000, .backoff = &backoff},
                       &out),
        "{\"attempts\":4,\"backoff\":{\"shape\":2,\"jitter\":0,\"list\":[5]},\"crashes\":2,\"timeout\":9000}");
    rv_task_policy policy = policy_of(rv_buf_text(&out));
    assert_int_equal(policy.attempts, 4);
    assert_int_equal(policy.max_crashes, 2);
    assert_int_equal(policy.timeout_ms, 9000);
    assert_int_equal(policy.backoff.list_ms[0], 5);
    rv_buf_fini(&out);
    assert_int_equal(policy_checked(&(reeve_queue_policy){.backoff = &wrong}, &error), REEVE_EINVAL);
    assert_string_equal(error.text, "backoff: a list needs at least one delay above zero");
    const reeve_queue_policy beyond[] = {
        {.attempts = -1}, {.attempts = 1000001}, {.max_crashes = -1}, {.max_crashes = 2000000000}, {.timeout_ms = -1}};
    const char *const words[] = {
        "attempts -1: must be from 1 to 1000000", "attempts 1000001: must be from 1 to 1000000",
        "max_crashes -1: must be from 1 to 1000000", "max_crashes 2000000000: must be from 1 to 1000000",
        "timeout -1: must be from 1 to 2000000000000"};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(policy_checked(&beyond[i], &error), REEVE_EINVAL);
        assert_memory_equal(error.text, words[i], strlen(words[i]));
    }
}

static void only_what_was_given(void **state)
{
    (void)state;
    rv_buf out;
    rv_buf_init(&out, 10000);
    assert_string_equal(written(&(reeve_task_spec){.type = "t"}, &out), "\"type\":\"t\"}\n");
    /* A weight of one says nothing. */
    assert_string_equal(written(&(reeve_task_spec){.type = "t", .group = "g", .weight = 1}, &out),
                        "\"type\":\"t\",\"group\":\"g\"}\n");
    assert_string_equal(written(&(reeve_task_spec){.type = "t", .in_ms = 5}, &out), "\"type\":\"t\",\"delay\":5}\n");
    assert_string_equal(written(&(reeve_task_spec){.type = "t", .at_ms = 7, .priority = 1}, &out),
                        "\"type\":\"t\",\"due\":7,\"priority\":1}\n");
    assert_string_equal(written(&(reeve_task_spec){.type = "t", .at_ms = -7}, &out), "\"type\":\"t\"}\n");
    rv_buf_fini(&out);
}

static const char *options_of(const reeve_task_spec *spec)
{
    static rv_buf out = {.max = 10000};
    rv_buf_clear(&out);
    rv_spec_write_options(&out, spec);
    assert_false(out.failed);
    return out.length == 0 ? "" : rv_buf_text(&out);
}

static void options_for_the_script(void **state)
{
    (void)state;
    assert_string_equal(options_of(&(reeve_task_spec){.type = "t", .attempts = 3}), "");
    assert_string_equal(options_of(&(reeve_task_spec){.priority = 7}), "{\"priority\":7}");
    assert_string_equal(options_of(&(reeve_task_spec){.in_ms = 8}), "{\"in\":8}");
    assert_string_equal(options_of(&(reeve_task_spec){.at_ms = 1763712000123}), "{\"at\":1763712000123}");
    assert_string_equal(options_of(&(reeve_task_spec){.group = "\"g\"", .weight = 3, .priority = -1, .in_ms = 5}),
                        "{\"priority\":-1,\"group\":\"\\\"g\\\"\",\"weight\":3,\"in\":5}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_ones),
        cmocka_unit_test(marks_before_the_type),
        cmocka_unit_test(when_it_was_ready),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(hostile_ones),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(options_of_a_header),
        cmocka_unit_test(odd_options_of_a_header),
        cmocka_unit_test(lists_of_a_header),
        cmocka_unit_test(whether_it_holds_a_lock),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(backoffs),
        cmocka_unit_test(policies_of_queues),
        cmocka_unit_test(only_what_was_given),
        cmocka_unit_test(options_for_the_script),
    };
    return cmocka_run_group_tests_name("ut_envelope", tests, NULL, NULL);
}
