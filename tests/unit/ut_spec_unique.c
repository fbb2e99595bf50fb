/* What a spec says of its unique key and of its death: every refusal, and how it is written. */
#include <cjson/cJSON.h>
#include <string.h>

#include "protocol/envelope.h"
#include "protocol/spec.h"
#include "support/cmocka.h"

static reeve_status check(reeve_task_spec spec, rv_error *error)
{
    spec.queue = "q";
    spec.type = "t";
    return rv_spec_check(&spec, error);
}

static void accepted(reeve_task_spec spec)
{
    rv_error error = {0};
    if (check(spec, &error) != REEVE_OK) fail_msg("%s", error.text);
}

static void refused(reeve_task_spec spec, const char *words)
{
    rv_error error = {0};
    assert_int_equal(check(spec, &error), REEVE_EINVAL);
    if (!strstr(error.text, words)) fail_msg("%s", error.text);
}

static void keys(void **state)
{
    (void)state;
    char text[REEVE_UNIQUE_MAX + 2];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    refused((reeve_task_spec){.unique = text}, "it has 1 to 200 bytes");
    text[REEVE_UNIQUE_MAX] = '\0';
    accepted((reeve_task_spec){.unique = text});
    accepted((reeve_task_spec){.unique = "x"});
    accepted((reeve_task_spec){.unique = " \"\n\xc3\xa9"});
    refused((reeve_task_spec){.unique = ""}, "unique key \"\": it has 1 to 200 bytes");
    refused((reeve_task_spec){.unique = "\xff"}, "a unique key: must be UTF-8");
    refused((reeve_task_spec){.unique = "\xc3"}, "must be UTF-8");
}

static void how_long(void **state)
{
    (void)state;
    accepted((reeve_task_spec){.unique = "k", .unique_until_started = true});
    accepted((reeve_task_spec){.unique = "k", .unique_for_ms = 1});
    accepted((reeve_task_spec){.unique = "k", .unique_for_ms = INT64_MAX});
    refused((reeve_task_spec){.unique = "k", .unique_for_ms = -1}, "held for -1 ms: must not be negative");
    refused((reeve_task_spec){.unique_for_ms = -1}, "held for -1 ms");
    refused((reeve_task_spec){.unique = "k", .unique_for_ms = 1, .unique_until_started = true}, "not both");
}

static void conflicts(void **state)
{
    (void)state;
    accepted((reeve_task_spec){.unique = "k", .on_conflict = REEVE_CONFLICT_REPLACE});
    accepted((reeve_task_spec){.unique = "k", .on_conflict = REEVE_CONFLICT_DEBOUNCE});
    accepted((reeve_task_spec){.on_conflict = REEVE_CONFLICT_REJECT});
    refused((reeve_task_spec){.unique = "k", .on_conflict = (reeve_conflict)3}, "no conflict rule 3");
    refused((reeve_task_spec){.unique = "k", .on_conflict = (reeve_conflict)-1}, "no conflict rule -1");
}

static void without_a_key(void **state)
{
    (void)state;
    refused((reeve_task_spec){.unique_until_started = true}, "needs a unique key");
    refused((reeve_task_spec){.unique_for_ms = 1}, "needs a unique key");
    refused((reeve_task_spec){.on_conflict = REEVE_CONFLICT_REPLACE}, "needs a unique key");
    refused((reeve_task_spec){.on_conflict = REEVE_CONFLICT_DEBOUNCE}, "needs a unique key");
}

static void on_dead(void **state)
{
    (void)state;
    char text[REEVE_TYPE_MAX + 2];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    accepted((reeve_task_spec){.on_dead = ""});
    accepted((reeve_task_spec){.on_dead = "a/b:c.d_e-f"});
    refused((reeve_task_spec){.on_dead = "a b"}, "on_dead \"a b\": a type has 1 to 100 of");
    refused((reeve_task_spec){.on_dead = "\""}, "on_dead");
    refused((reeve_task_spec){.on_dead = text}, "on_dead");
}

static void written(reeve_task_spec spec, const char *header, const char *options)
{
    rv_buf out;
    spec.type = "t";
    rv_buf_init(&out, 10000);
    rv_spec_write_envelope(&out, &spec);
    assert_string_equal(rv_buf_text(&out), header);
    rv_buf_clear(&out);
    rv_spec_write_options(&out, &spec);
    assert_string_equal(rv_buf_text(&out), options);
    cJSON *json = cJSON_Parse(rv_buf_text(&out));
    assert_true(json != NULL || options[0] == '\0');
    cJSON_Delete(json);
    rv_buf_fini(&out);
}

static void how_it_is_written(void **state)
{
    (void)state;
    const char *const tags[] = {"x"};
    written((reeve_task_spec){.unique = NULL}, "\"type\":\"t\"}\n", "");
    written((reeve_task_spec){.unique = "k"}, "\"type\":\"t\",\"unique\":\"k\"}\n", "{\"unique\":\"k\"}");
    written((reeve_task_spec){.unique = "a\"\\\n", .unique_until_started = true, .priority = 3, .at_ms = 5},
            "\"type\":\"t\",\"due\":5,\"priority\":3,\"unique\":\"a\\\"\\\\\\n\",\"until\":\"started\"}\n",
            "{\"priority\":3,\"at\":5,\"unique\":\"a\\\"\\\\\\n\",\"until\":\"started\"}");
    written((reeve_task_spec){.unique = "k", .unique_for_ms = 1500, .on_conflict = REEVE_CONFLICT_REPLACE},
            "\"type\":\"t\",\"unique\":\"k\",\"unique_for\":1500}\n",
            "{\"unique\":\"k\",\"unique_for\":1500,\"conflict\":\"replace\"}");
    written((reeve_task_spec){.unique = "k",
                              .on_conflict = REEVE_CONFLICT_DEBOUNCE,
                              .in_ms = 7,
                              .on_dead = "d",
                              .tags = tags,
                              .tag_count = 1,
                              .attempts = 2},
            "\"type\":\"t\",\"delay\":7,\"attempts\":2,\"unique\":\"k\",\"on_dead\":\"d\",\"tags\":[\"x\"]}\n",
            "{\"in\":7,\"unique\":\"k\",\"tags\":[\"x\"],\"conflict\":\"debounce\"}");
    written((reeve_task_spec){.on_dead = ""}, "\"type\":\"t\",\"on_dead\":\"\"}\n", "");
}

/* The worst that an option may be written as still fits where room was made for it. */
static void the_longest(void **state)
{
    (void)state;
    char key[REEVE_UNIQUE_MAX + 1], group[REEVE_GROUP_MAX + 1], type[REEVE_TYPE_MAX + 1];
    memset(key, 1, sizeof(key) - 1);
    memset(group, 1, sizeof(group) - 1);
    memset(type, 'x', sizeof(type) - 1);
    key[sizeof(key) - 1] = group[sizeof(group) - 1] = type[sizeof(type) - 1] = '\0';
    reeve_backoff backoff = {.shape = REEVE_BACKOFF_LIST, .jitter = 0.5};
    for (int i = 0; i < REEVE_BACKOFF_LIST_MAX; i++) backoff.list_ms[i] = 9007199254740991;
    const reeve_task_spec spec = {.queue = "q",
                                  .type = type,
                                  .unique = key,
                                  .unique_for_ms = INT64_MAX,
                                  .group = group,
                                  .weight = 256,
                                  .priority = -128,
                                  .attempts = REEVE_ATTEMPTS_MAX,
                                  .max_crashes = REEVE_ATTEMPTS_MAX,
                                  .timeout_ms = INT64_MAX,
                                  .backoff = &backoff,
                                  .on_dead = type,
                                  .at_ms = INT64_MAX,
                                  .on_conflict = REEVE_CONFLICT_DEBOUNCE};
    rv_buf out;
    rv_buf_init(&out, 10000);
    rv_spec_write_envelope(&out, &spec);
    assert_in_range(out.length, 2048, 4096);
    rv_buf_clear(&out);
    rv_spec_write_options(&out, &spec);
    assert_in_range(out.length, 1, 4096);
    rv_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys),          cmocka_unit_test(how_long), cmocka_unit_test(conflicts),
        cmocka_unit_test(without_a_key), cmocka_unit_test(on_dead),  cmocka_unit_test(how_it_is_written),
        cmocka_unit_test(the_longest),
    };
    return cmocka_run_group_tests_name("ut_spec_unique", tests, NULL, NULL);
}
