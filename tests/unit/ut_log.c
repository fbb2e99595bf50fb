/* ut_log.c - the log: levels, callbacks that come and go under load, the two formats. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

/* ---- levels and records ---------------------------------------------------------------------------------------- */

struct seen {
    int count;
    reeve_log_level level;
    int64_t time_ms;
    size_t field_count;
    char words[256];
};

static void remember(const reeve_log_record *record, void *user)
{
    struct seen *seen = user;
    seen->count++;
    seen->level = record->level;
    seen->time_ms = record->time_ms;
    seen->field_count = record->field_count;
    int length = snprintf(seen->words, sizeof(seen->words), "%s|%s", record->event, record->message);
    for (size_t i = 0; i < record->field_count; i++) {
        length += snprintf(seen->words + length, sizeof(seen->words) - (size_t)length, "|%s=%s", record->fields[i].key,
                           record->fields[i].value);
    }
}

static int silence(void **state)
{
    (void)state;
    reeve_log_set(NULL, NULL, REEVE_LOG_DEBUG);
    return 0;
}

static void it_is_silent_by_default(void **state)
{
    (void)state;
    for (int level = REEVE_LOG_DEBUG; level <= REEVE_LOG_OFF; level++) assert_false(rv_log_on((reeve_log_level)level));
    rv_log(REEVE_LOG_ERROR, "test.nobody", "nobody listens", NULL);
}

static void only_the_least_level_and_above_arrive(void **state)
{
    (void)state;
    for (int min = REEVE_LOG_DEBUG; min <= REEVE_LOG_OFF; min++) {
        struct seen seen = {0};
        reeve_log_set(remember, &seen, (reeve_log_level)min);
        for (int level = REEVE_LOG_DEBUG; level <= REEVE_LOG_OFF; level++) {
            bool wanted = level >= min && level != REEVE_LOG_OFF;
            assert_int_equal(rv_log_on((reeve_log_level)level), wanted);
            seen.count = 0;
            rv_log((reeve_log_level)level, "test.level", "hello", NULL);
            assert_int_equal(seen.count, wanted);
        }
    }
}

static void a_record_brings_everything(void **state)
{
    (void)state;
    struct seen seen = {0};
    int64_t before = rv_wall_ms();

    reeve_log_set(remember, &seen, REEVE_LOG_INFO);
    rv_log(REEVE_LOG_WARN, "redis.lost", "connection lost", "url", "redis://h", "error", NULL, "n", "3", NULL);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.level, REEVE_LOG_WARN);
    assert_int_equal(seen.field_count, 3);
    assert_in_range(seen.time_ms, before, rv_wall_ms());
    assert_string_equal(seen.words, "redis.lost|connection lost|url=redis://h|error=|n=3");

    reeve_log_set(NULL, NULL, REEVE_LOG_DEBUG);
    assert_false(rv_log_on(REEVE_LOG_ERROR));
    rv_log(REEVE_LOG_ERROR, "test.gone", "gone", NULL);
    assert_int_equal(seen.count, 1);
}

static void anybody_may_write(void **state)
{
    (void)state;
    struct seen seen = {0};
    reeve_log_field fields[30] = {{"a", "1"}, {NULL, "no key"}, {"b", NULL}};

    reeve_log_set(remember, &seen, REEVE_LOG_WARN);
    reeve_log_write(REEVE_LOG_INFO, "plugin.quiet", "not wanted", fields, 3);
    reeve_log_write(REEVE_LOG_ERROR, NULL, "no event", fields, 3);
    reeve_log_write(REEVE_LOG_OFF, "plugin.off", "no level", NULL, 0);
    assert_int_equal(seen.count, 0);
    reeve_log_write(REEVE_LOG_WARN, "plugin.slow", "slow", fields, 3);
    assert_string_equal(seen.words, "plugin.slow|slow|a=1|b=");
    reeve_log_write(REEVE_LOG_ERROR, "plugin.bare", NULL, NULL, 0);
    assert_string_equal(seen.words, "plugin.bare|");
    for (size_t i = 0; i < 30; i++) fields[i] = (reeve_log_field){"k", "v"};
    reeve_log_write(REEVE_LOG_ERROR, "plugin.many", "many", fields, 30);
    assert_int_equal(seen.field_count, 24);
}

static unsigned nested_calls;

static void log_again(const reeve_log_record *record, void *user)
{
    (void)record;
    (void)user;
    nested_calls++;
    rv_log(REEVE_LOG_ERROR, "in.it", "from the callback", NULL);
    reeve_log_write(REEVE_LOG_ERROR, "in.it", "from the callback", NULL, 0);
    reeve_log_set(NULL, NULL, REEVE_LOG_OFF);
}

static void a_callback_that_logs_is_not_waited_for(void **state)
{
    (void)state;
    nested_calls = 0;
    reeve_log_set(log_again, NULL, REEVE_LOG_DEBUG);
    rv_log(REEVE_LOG_INFO, "an.event", "words", NULL);
    assert_int_equal(nested_calls, 1);
    assert_false(rv_log_on(REEVE_LOG_ERROR));
}

static void level_names(void **state)
{
    (void)state;
    static const char *const names[] = {"debug", "info", "warn", "error", "off"};
    reeve_log_level level = REEVE_LOG_OFF;

    for (int i = 0; i < 5; i++) {
        assert_true(rv_log_level_parse(names[i], &level));
        assert_int_equal(level, i);
    }
    level = REEVE_LOG_WARN;
    assert_false(rv_log_level_parse("INFO", &level));
    assert_false(rv_log_level_parse("", &level));
    assert_false(rv_log_level_parse("infos", &level));
    assert_false(rv_log_level_parse(NULL, &level));
    assert_int_equal(level, REEVE_LOG_WARN);
}

/* ---- callbacks that come and go while threads log -------------------------------------------------------------- */

#define THREADS 3
#define SWAPS 300

struct listener {
    int calls; /* not atomic on purpose: one call at a time */
    bool inside;
    bool closed;
};

static atomic_bool stopping;
static atomic_int misuse;

static void listen(const reeve_log_record *record, void *user)
{
    struct listener *listener = user;
    (void)record;
    if (listener->inside || listener->closed) atomic_fetch_add(&misuse, 1);
    listener->inside = true;
    listener->calls++;
    listener->inside = false;
}

static void *chatter(void *user)
{
    (void)user;
    while (!atomic_load(&stopping)) rv_log(REEVE_LOG_INFO, "test.chatter", "words", "key", "value", NULL);
    return NULL;
}

static void an_old_callback_is_left_in_peace(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    struct listener *listeners = calloc(SWAPS, sizeof(*listeners));
    int calls = 0;

    assert_non_null(listeners);
    atomic_store(&stopping, false);
    reeve_log_set(listen, &listeners[0], REEVE_LOG_DEBUG);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, chatter, NULL), 0);
    for (int i = 1; i < SWAPS; i++) {
        reeve_log_set(listen, &listeners[i], REEVE_LOG_DEBUG);
        calls += listeners[i - 1].calls; /* unguarded: nobody may touch it any more */
        listeners[i - 1].closed = true;
    }
    while (calls == 0) { /* whoever is slow to start */
        reeve_log_set(listen, &listeners[SWAPS - 1], REEVE_LOG_DEBUG);
        reeve_log_set(NULL, NULL, REEVE_LOG_DEBUG);
        calls += listeners[SWAPS - 1].calls;
    }
    reeve_log_set(NULL, NULL, REEVE_LOG_DEBUG);
    listeners[SWAPS - 1].closed = true;
    atomic_store(&stopping, true);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&misuse), 0);
    free(listeners);
}

/* ---- formats --------------------------------------------------------------------------------------------------- */

static char *format(reeve_log_fn fn, const reeve_log_record *record)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    fn(record, file);
    assert_int_equal(size, strlen(text)); /* flushed already */
    fclose(file);
    return text;
}

static const reeve_log_field awkward[] = {
    {"plain", "redis://h:1/0"}, {"empty", ""},          {"blank", "two words"},  {"quote", "a\"b"},
    {"equals", "a=b"},          {"lines", "a\nb\r\tc"}, {"control", "\x01\x7f"}, {"slash", "c:\\x"},
    {"utf8", "na\xc3\xafve"},   {"broken", "\xff\xfe"}, {"bad key=\"\n", "v"},   {"null", NULL},
};

static const reeve_log_record record = {
    .level = REEVE_LOG_WARN,
    .time_ms = 1795251600007,
    .event = "redis.lost",
    .message = "connection lost, trying again",
    .fields = awkward,
    .field_count = sizeof(awkward) / sizeof(awkward[0]),
};

static void logfmt_quotes_what_needs_it(void **state)
{
    (void)state;
    char *text = format(reeve_log_to_logfmt, &record);
    assert_string_equal(text, "time=2026-11-21T09:00:00.007Z level=warn event=redis.lost "
                              "message=\"connection lost, trying again\" plain=redis://h:1/0 empty=\"\" "
                              "blank=\"two words\" quote=\"a\\\"b\" equals=\"a=b\" lines=\"a\\nb\\r\\tc\" "
                              "control=\"\\u0001\\u007f\" slash=\"c:\\\\x\" utf8=na\xc3\xafve broken=?? "
                              "bad_key___=v null=\"\"\n");
    free(text);
}

static void json_is_an_object_a_line(void **state)
{
    (void)state;
    char *text = format(reeve_log_to_json, &record);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);

    cJSON *object = cJSON_Parse(text);
    assert_non_null(object);
    assert_string_equal(cJSON_GetObjectItem(object, "time")->valuestring, "2026-11-21T09:00:00.007Z");
    assert_string_equal(cJSON_GetObjectItem(object, "level")->valuestring, "warn");
    assert_string_equal(cJSON_GetObjectItem(object, "event")->valuestring, "redis.lost");
    assert_string_equal(cJSON_GetObjectItem(object, "message")->valuestring, record.message);
    for (size_t i = 0; i < record.field_count; i++) {
        const char *expected = awkward[i].value == NULL ? "" : awkward[i].value;
        if (strcmp(awkward[i].key, "broken") == 0) expected = "??";
        assert_string_equal(cJSON_GetObjectItem(object, awkward[i].key)->valuestring, expected);
    }
    assert_int_equal(cJSON_GetArraySize(object), 4 + (int)record.field_count);
    cJSON_Delete(object);
    free(text);
}

static void json_numbers_are_numbers(void **state)
{
    (void)state;
    static const reeve_log_field fields[] = {{"tasks", "12"},    {"delay_ms", "-1.5"}, {"task", "12"},
                                             {"attempt", "007"}, {"seconds", "1e3"},   {"threads", ""}};
    reeve_log_record numbers = record;
    numbers.fields = fields;
    numbers.field_count = sizeof(fields) / sizeof(fields[0]);
    char *text = format(reeve_log_to_json, &numbers);
    assert_non_null(strstr(text,
                           "\"tasks\":12,\"delay_ms\":-1.5,\"task\":\"12\",\"attempt\":\"007\",\"seconds\":\"1e3\","
                           "\"threads\":\"\"}"));
    free(text);
}

static void a_record_that_is_lost_leaves_a_line(void **state)
{
    (void)state;
    char *huge = malloc(100000);
    assert_non_null(huge);
    memset(huge, 'x', 99999);
    huge[99999] = '\0';
    reeve_log_record long_record = record;
    long_record.message = huge;

    char *text = format(reeve_log_to_logfmt, &long_record);
    assert_non_null(strstr(text, "event=log.lost"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    free(text);

    rv_mem_fail_at(1);
    text = format(reeve_log_to_json, &record);
    rv_mem_fail_at(0);
    cJSON *object = cJSON_Parse(text);
    assert_non_null(object);
    assert_string_equal(cJSON_GetObjectItem(object, "event")->valuestring, "log.lost");
    cJSON_Delete(object);
    free(text);
    free(huge);
}

static void strange_records_are_written_all_the_same(void **state)
{
    (void)state;
    const reeve_log_record bare = {.level = (reeve_log_level)77};
    char *text = format(reeve_log_to_logfmt, &bare);
    assert_string_equal(text, "time=1970-01-01T00:00:00.000Z level=error event=\"\" message=\"\"\n");
    free(text);
    reeve_log_to_logfmt(&record, NULL);
    reeve_log_to_json(&record, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_silent_by_default), /* first: before any reeve_log_set */
        cmocka_unit_test_teardown(only_the_least_level_and_above_arrive, silence),
        cmocka_unit_test_teardown(a_record_brings_everything, silence),
        cmocka_unit_test_teardown(anybody_may_write, silence),
        cmocka_unit_test_teardown(a_callback_that_logs_is_not_waited_for, silence),
        cmocka_unit_test(level_names),
        cmocka_unit_test_teardown(an_old_callback_is_left_in_peace, silence),
        cmocka_unit_test(logfmt_quotes_what_needs_it),
        cmocka_unit_test(json_is_an_object_a_line),
        cmocka_unit_test(json_numbers_are_numbers),
        cmocka_unit_test(a_record_that_is_lost_leaves_a_line),
        cmocka_unit_test(strange_records_are_written_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
