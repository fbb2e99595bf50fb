/* What a producer may ask for: every refusal, with its words. */
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "protocol/envelope.h"
#include "protocol/keys.h"
#include "protocol/spec.h"
#include "support/cmocka.h"

static char text_101[102], text_100[101], text_65[66], text_64[65];

static int fill(void **state)
{
    (void)state;
    memset(text_101, 'x', sizeof(text_101) - 1);
    memset(text_100, 'x', sizeof(text_100) - 1);
    memset(text_65, 'x', sizeof(text_65) - 1);
    memset(text_64, 'x', sizeof(text_64) - 1);
    return 0;
}

static void accepted(reeve_task_spec spec)
{
    rv_error error = {0};
    if (!spec.queue) spec.queue = "q";
    if (!spec.type) spec.type = "t";
    if (rv_spec_check(&spec, &error) != REEVE_OK) fail_msg("%s", error.text);
    assert_int_equal(reeve_task_spec_check(&spec, NULL, 0), REEVE_OK);
}

static void refused(reeve_task_spec spec, reeve_status status, const char *words)
{
    rv_error error = {0};
    char text[512] = "";
    if (!spec.queue) spec.queue = "q";
    if (!spec.type) spec.type = "t";
    assert_int_equal(rv_spec_check(&spec, &error), status);
    assert_int_equal(error.status, status);
    if (!strstr(error.text, words)) fail_msg("%s", error.text);
    assert_int_equal(reeve_task_spec_check(&spec, text, sizeof(text)), status);
    assert_string_equal(text, error.text);
    assert_int_equal(reeve_task_spec_check(&spec, NULL, 0), status);
}

#define ACCEPTED(...) accepted((reeve_task_spec){__VA_ARGS__})
#define REFUSED(status, words, ...) refused((reeve_task_spec){__VA_ARGS__}, status, words)

static void names(void **state)
{
    (void)state;
    ACCEPTED(.queue = text_64, .type = text_100, .id = text_100);
    ACCEPTED(.queue = "A-z_0.9", .type = "a/b:c-d_e.f", .id = "a:b-c_d.e");
    REFUSED(REEVE_EINVAL, "a task needs a queue", .queue = "");
    REFUSED(REEVE_EINVAL, "\": a name has 1 to 64 of the characters", .queue = text_65);
    REFUSED(REEVE_EINVAL, "queue \"a b\":", .queue = "a b");
    REFUSED(REEVE_EINVAL, "queue \"a/b\":", .queue = "a/b");
    REFUSED(REEVE_EINVAL, "queue \"{x}\":", .queue = "{x}");
    REFUSED(REEVE_EINVAL, "queue \"\xc3\xa9\":", .queue = "\xc3\xa9");
    REFUSED(REEVE_EINVAL, "a task needs a type", .type = "");
    REFUSED(REEVE_EINVAL, "type \"a\"b\": a type has 1 to 100", .type = "a\"b");
    REFUSED(REEVE_EINVAL, "type \"xxx", .type = text_101);
    REFUSED(REEVE_EINVAL, "id is empty", .id = "");
    REFUSED(REEVE_EINVAL, "id \"a/b\": an id has 1 to 100", .id = "a/b");
    REFUSED(REEVE_EINVAL, "id \"#\"", .id = "#");
    REFUSED(REEVE_EINVAL, "id \"xxx", .id = text_101);
    rv_error error;
    assert_int_equal(rv_spec_check(&(reeve_task_spec){.type = "t"}, &error), REEVE_EINVAL);
    assert_string_equal(error.text, "a task needs a queue");
    assert_int_equal(rv_spec_check(&(reeve_task_spec){.queue = "q"}, &error), REEVE_EINVAL);
    assert_string_equal(error.text, "a task needs a type");
    assert_int_equal(rv_spec_check(NULL, &error), REEVE_EINVAL);
    assert_string_equal(error.text, "no task was given");
    assert_int_equal(rv_spec_check(NULL, NULL), REEVE_EINVAL);
}

static void long_names_are_not_repeated_whole(void **state)
{
    (void)state;
    static char name[5000];
    char words[512];
    memset(name, 'n', sizeof(name) - 1);
    assert_int_equal(reeve_task_spec_check(&(reeve_task_spec){.queue = name, .type = "t"}, words, sizeof(words)),
                     REEVE_EINVAL);
    assert_in_range(strlen(words), 100, 250);
    assert_non_null(strstr(words, "characters A-Z")); /* the help is not cut off */
}

static void numbers(void **state)
{
    (void)state;
    ACCEPTED(.priority = -128);
    ACCEPTED(.priority = 127);
    REFUSED(REEVE_EINVAL, "priority 128: must be from -128 to 127", .priority = 128);
    REFUSED(REEVE_EINVAL, "priority -129", .priority = -129);
    ACCEPTED(.in_ms = INT64_MAX);
    ACCEPTED(.at_ms = -5); /* long ago: now */
    REFUSED(REEVE_EINVAL, "delay -1 ms: must not be negative", .in_ms = -1);
    REFUSED(REEVE_EINVAL, "either after a delay or at a time, not both", .in_ms = 1, .at_ms = 1);
    ACCEPTED(.weight = 256, .group = "g");
    REFUSED(REEVE_EINVAL, "weight 257: must be from 1 to 256", .weight = 257);
    REFUSED(REEVE_EINVAL, "weight 3: needs a group, whose share it is", .weight = 3);
    REFUSED(REEVE_EINVAL, "weight 1: needs a group", .weight = 1);
    REFUSED(REEVE_EINVAL, "attempts -1: must be from 1 to 1000000", .attempts = -1);
    REFUSED(REEVE_EINVAL, "attempts 2000000000: must be from 1 to 1000000", .attempts = 2000000000);
    REFUSED(REEVE_EINVAL, "max crashes -1: must be from 1 to 1000000", .max_crashes = -1);
    REFUSED(REEVE_EINVAL, "timeout -1 ms: must not be negative", .timeout_ms = -1);
    REFUSED(REEVE_EINVAL, "retry for -1 ms: must not be negative", .retry_for_ms = -1);
    REFUSED(REEVE_EINVAL, "would never be retried", .retry_for_ms = 5, .in_ms = 5);
    ACCEPTED(.retry_for_ms = 6, .in_ms = 5);
    ACCEPTED(.size = sizeof(reeve_task_spec));
}

static void waits_between_attempts(void **state)
{
    (void)state;
    const reeve_backoff good[] = {
        {0}, {.shape = REEVE_BACKOFF_FIXED, .base_ms = 5, .jitter = -1}, {.shape = REEVE_BACKOFF_LIST, .list_ms = {5}}};
    for (size_t i = 0; i < 3; i++) ACCEPTED(.backoff = &good[i]);
    const reeve_backoff empty = {.shape = REEVE_BACKOFF_LIST},
                        negative = {.shape = REEVE_BACKOFF_LIST, .list_ms = {5, -1}};
    const reeve_backoff none = {.shape = (reeve_backoff_shape)3}, wild = {.jitter = 1.01};
    REFUSED(REEVE_EINVAL, "backoff: a list needs at least one delay above zero", .backoff = &empty);
    REFUSED(REEVE_EINVAL, "backoff: delay 2 of the list is negative", .backoff = &negative);
    REFUSED(REEVE_EINVAL, "backoff: there is no shape 3", .backoff = &none);
    REFUSED(REEVE_EINVAL, "backoff: jitter is a share, at most 1", .backoff = &wild);
}

static void payloads_and_groups(void **state)
{
    (void)state;
    ACCEPTED(.payload = {"x", REEVE_PAYLOAD_MAX});
    REFUSED(REEVE_ETOOBIG, "the payload has 67108865 bytes: at most 67108864", .payload = {"x", REEVE_PAYLOAD_MAX + 1});
    REFUSED(REEVE_EINVAL, "the payload has a length and no data", .payload = {NULL, 1});
    ACCEPTED(.payload = {NULL, 0});
    ACCEPTED(.group = text_100);
    ACCEPTED(.group = "any text: \xc3\xa9\n");
    REFUSED(REEVE_EINVAL, "group \"\": a group's name has 1 to 100 bytes", .group = "");
    REFUSED(REEVE_EINVAL, "a group's name has 1 to 100 bytes", .group = text_101);
    REFUSED(REEVE_EINVAL, "a group's name: must be UTF-8", .group = "\xff");
}

static void tags_and_metadata(void **state)
{
    (void)state;
    static char big[REEVE_META_MAX];
    const char *tags[] = {"a", "", NULL, "\xc3"};
    reeve_meta meta = {"k", "v"};
    ACCEPTED(.tags = tags, .tag_count = 1);
    REFUSED(REEVE_EINVAL, "tag 2 is empty", .tags = tags, .tag_count = 2);
    REFUSED(REEVE_EINVAL, "tag 1 is empty", .tags = tags + 2, .tag_count = 1);
    REFUSED(REEVE_EINVAL, "a tag: must be UTF-8", .tags = tags + 3, .tag_count = 1);
    ACCEPTED(.meta = &meta, .meta_count = 1);
    meta.value = "";
    ACCEPTED(.meta = &meta, .meta_count = 1);
    meta.value = NULL;
    REFUSED(REEVE_EINVAL, "metadata \"k\" has no value", .meta = &meta, .meta_count = 1);
    meta = (reeve_meta){"", "v"};
    REFUSED(REEVE_EINVAL, "metadata key 1 is empty", .meta = &meta, .meta_count = 1);
    meta.key = NULL;
    REFUSED(REEVE_EINVAL, "metadata key 1 is empty", .meta = &meta, .meta_count = 1);
    meta = (reeve_meta){"\xff", "v"};
    REFUSED(REEVE_EINVAL, "a metadata key: must be UTF-8", .meta = &meta, .meta_count = 1);
    meta = (reeve_meta){"k", "\xff"};
    REFUSED(REEVE_EINVAL, "a metadata value: must be UTF-8", .meta = &meta, .meta_count = 1);
    memset(big, 'v', sizeof(big) - 1);
    big[REEVE_META_MAX - 7] = '\0';
    meta = (reeve_meta){"k", big};
    ACCEPTED(.meta = &meta, .meta_count = 1);
    big[REEVE_META_MAX - 7] = 'v';
    big[REEVE_META_MAX - 6] = '\0';
    REFUSED(REEVE_ETOOBIG, "tags and metadata have 16385 bytes: at most 16384", .meta = &meta, .meta_count = 1);
    big[REEVE_META_MAX - 7] = '\0';
    REFUSED(REEVE_ETOOBIG, "tags and metadata", .tags = tags, .tag_count = 1, .meta = &meta, .meta_count = 1);
    const char *many[REEVE_TAGS_MAX + 1];
    for (size_t i = 0; i < REEVE_TAGS_MAX + 1; i++) many[i] = "a";
    ACCEPTED(.tags = many, .tag_count = REEVE_TAGS_MAX);
    REFUSED(REEVE_ETOOBIG, "65 tags: at most 64", .tags = many, .tag_count = REEVE_TAGS_MAX + 1);
    big[REEVE_TAG_MAX] = '\0';
    many[0] = big;
    ACCEPTED(.tags = many, .tag_count = 1);
    big[REEVE_TAG_MAX] = 'v';
    big[REEVE_TAG_MAX + 1] = '\0';
    REFUSED(REEVE_ETOOBIG, "has 201 bytes: at most 200", .tags = many, .tag_count = 1);
}

/* ---- keys ------------------------------------------------------------------------------------------------------ */

static void prefixes(void **state)
{
    (void)state;
    rv_prefix prefix;
    rv_error error = {0};
    rv_keys_set_prefix(&prefix, "reeve", "q.1");
    assert_string_equal(prefix.text, "reeve:{q.1}:");
    assert_int_equal(prefix.length, strlen(prefix.text));
    rv_keys_set_prefix(&prefix, text_64, text_64);
    assert_int_equal(prefix.length, 64 + 64 + 4);
    assert_int_equal(strlen(prefix.text), prefix.length);
    assert_string_equal(rv_keys_choose_ns(NULL, &error), "reeve");
    assert_string_equal(rv_keys_choose_ns("", &error), "reeve");
    assert_string_equal(rv_keys_choose_ns("a:b", &error), "a:b");
    assert_string_equal(rv_keys_choose_ns(text_64, &error), text_64);
    assert_null(rv_keys_choose_ns(text_65, &error));
    assert_int_equal(error.status, REEVE_EINVAL);
    assert_null(rv_keys_choose_ns("a{b", &error));
    assert_non_null(strstr(error.text, "namespace \"a{b\""));
}

static void states_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"blocked", "scheduled", "ready", "parked",
                                        "running", "completed", "dead",  "cancelled"};
    reeve_state which = REEVE_STATE_DEAD;
    for (int i = 0; i < REEVE_STATE_COUNT; i++) {
        assert_string_equal(reeve_state_name((reeve_state)i), names[i]);
        assert_int_equal(reeve_state_parse(names[i], &which), REEVE_OK);
        assert_int_equal(which, i);
    }
    assert_string_equal(reeve_state_name((reeve_state)8), "unknown");
    assert_string_equal(reeve_state_name((reeve_state)-1), "unknown");
    assert_int_equal(reeve_state_parse("Ready", &which), REEVE_EINVAL);
    assert_int_equal(reeve_state_parse("", &which), REEVE_EINVAL);
    assert_int_equal(reeve_state_parse(NULL, &which), REEVE_EINVAL);
    assert_int_equal(which, REEVE_STATE_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(long_names_are_not_repeated_whole),
        cmocka_unit_test(numbers),
        cmocka_unit_test(waits_between_attempts),
        cmocka_unit_test(payloads_and_groups),
        cmocka_unit_test(tags_and_metadata),
        cmocka_unit_test(prefixes),
        cmocka_unit_test(states_by_name),
    };
    return cmocka_run_group_tests_name("ut_spec", tests, fill, NULL);
}
