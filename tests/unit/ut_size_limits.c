/* How large things may be: each size limit just below its limit, at it and above it; and what is said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "protocol/envelope.h"
#include "protocol/size_limits.h"
#include "protocol/spec.h"
#include "reeve/depend.h"
#include "reeve/testing.h"
#include "support/cmocka.h"

#define LIMITS(...) (&(reeve_size_limits){__VA_ARGS__})

/* Zero bytes, and a text of so many characters. */
static char much[8192];
static const char *text_of(size_t length)
{
    static char text[4][256];
    static size_t next;
    char *ret = text[next++ % 4];
    memset(ret, 'x', length);
    ret[length] = '\0';
    return ret;
}

/* ---- choosing -------------------------------------------------------------------------------------------------- */

static void standards(void **state)
{
    (void)state;
    reeve_size_limits size_limits;
    assert_int_equal(rv_size_limits_choose(&size_limits, LIMITS(0), NULL), REEVE_OK);
    assert_memory_equal(&size_limits, &rv_size_limits_default, sizeof(size_limits));
    assert_int_equal(size_limits.payload, REEVE_PAYLOAD_MAX);
    assert_int_equal(size_limits.result, REEVE_RESULT_MAX);
    assert_int_equal(size_limits.parents, REEVE_SIZE_LIMIT_PARENTS);
    assert_int_equal(rv_size_limits_choose(&size_limits, LIMITS(.tags = 3, .batch = REEVE_SIZE_LIMIT_COUNT_MAX), NULL),
                     REEVE_OK);
    assert_int_equal(size_limits.tags, 3);
    assert_int_equal(size_limits.batch, REEVE_SIZE_LIMIT_COUNT_MAX);
    assert_int_equal(size_limits.tag, REEVE_TAG_MAX);
}

static void not_chosen(const reeve_size_limits *said, const char *words)
{
    reeve_size_limits size_limits = {.payload = 7};
    rv_error error = {0};
    assert_int_equal(rv_size_limits_choose(&size_limits, said, &error), REEVE_EINVAL);
    assert_string_equal(error.text, words);
    assert_int_equal(size_limits.payload, 7);
}

static void that_cannot_be(void **state)
{
    (void)state;
    not_chosen(LIMITS(.payload = REEVE_PAYLOAD_MAX + 1),
               "size_limits.payload: a limit of 67108865: must be from 1 to 67108864");
    not_chosen(LIMITS(.tags = -1), "size_limits.tags: a limit of -1: must be from 1 to 64");
    not_chosen(LIMITS(.type = 1, .group = REEVE_GROUP_MAX + 1),
               "size_limits.group: a limit of 101: must be from 1 to 100");
    not_chosen(LIMITS(.parents = REEVE_SIZE_LIMIT_COUNT_MAX + 1),
               "size_limits.parents: a limit of 1000000001: must be from 1 to 1000000000");
}

static void as_text(void **state)
{
    (void)state;
    reeve_size_limits size_limits = rv_size_limits_default;
    rv_error error = {0};
    assert_int_equal(rv_size_limits_parse(&size_limits, "", &error), REEVE_OK);
    assert_memory_equal(&size_limits, &rv_size_limits_default, sizeof(size_limits));
    assert_int_equal(rv_size_limits_parse(&size_limits, "payload=64K,tags=8,unique=200", &error), REEVE_OK);
    assert_int_equal(size_limits.payload, 65536);
    assert_int_equal(size_limits.tags, 8);
    assert_int_equal(size_limits.unique, 200);
    static const char *const bad[][2] = {
        {"payloads=1", "there is no size limit \"payloads\": expected payload, "},
        {"payload=1,,tags=1", "there is no size limit \"\": expected"},
        {"payload", "size_limits.payload: expected a whole number such as payload=4096 or 64K, not \"\""},
        {"tags=", "size_limits.tags: expected a whole number"},
        {"tags=many", "size_limits.tags: expected a whole number such as tags=4096 or 64K, not \"many\""},
        {"tags=0", "size_limits.tags: a limit of 0: must be from 1 to 64"},
        {"payload=65M", "size_limits.payload: a limit of 68157440: must be from 1 to 67108864"},
        {"batch=123456789012345678901234567890123", "size_limits.batch: expected a whole number"}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(rv_size_limits_parse(&size_limits, bad[i][0], &error), REEVE_EINVAL);
        if (!strstr(error.text, bad[i][1])) fail_msg("%s: %s", bad[i][0], error.text);
    }
}

static void sizes(void **state)
{
    (void)state;
    int64_t size;
    static const struct {
        const char *text;
        int64_t is;
    } good[] = {{"0", 0},
                {"4096", 4096},
                {"64K", 65536},
                {"1M", 1048576},
                {"2G", INT64_C(2147483648)},
                {"9223372036854775807", INT64_MAX}};
    static const char *const bad[] = {"", "K", "-1", "1.5M", "1k", "1MB", "9223372036854775807K", " 1", "1 "};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(rv_parse_size(good[i].text, &size));
        assert_int_equal(size, good[i].is);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (rv_parse_size(bad[i], &size)) fail_msg("\"%s\" is taken for %lld", bad[i], (long long)size);
    assert_false(rv_parse_size(NULL, &size));
}

/* ---- what is enqueued ------------------------------------------------------------------------------------------ */

static void check(const reeve_size_limits *said, reeve_task_spec spec, const char *words)
{
    reeve_size_limits size_limits;
    rv_error error = {0};
    if (spec.queue == NULL) spec.queue = "q";
    if (spec.type == NULL) spec.type = "t";
    assert_int_equal(rv_size_limits_choose(&size_limits, said, &error), REEVE_OK);
    reeve_status status = rv_spec_check_under(&spec, &size_limits, &error);
    if (words == NULL && status != REEVE_OK) fail_msg("%s", error.text);
    if (words == NULL) return;
    assert_int_equal(status, REEVE_ETOOBIG);
    assert_string_equal(error.text, words);
    /* It is the size limit that refuses. */
    if (rv_spec_check(&spec, &error) != REEVE_OK) fail_msg("%s", error.text);
}

#define FITS(size_limits, ...) check(size_limits, (reeve_task_spec){__VA_ARGS__}, NULL)
#define REFUSED(size_limits, words, ...) check(size_limits, (reeve_task_spec){__VA_ARGS__}, words)

static void payloads(void **state)
{
    (void)state;
    FITS(LIMITS(.payload = 1000), .payload = {much, 999});
    FITS(LIMITS(.payload = 1000), .payload = {much, 1000});
    REFUSED(LIMITS(.payload = 1000),
            "the payload has 1001 bytes: at most 1000 (size_limits.payload raises it, up to 67108864)",
            .payload = {much, 1001});
    reeve_task_spec larger = {.queue = "q", .type = "t", .payload = {much, REEVE_PAYLOAD_MAX + 1}};
    char words[512];
    assert_int_equal(reeve_task_spec_check(&larger, words, sizeof(words)), REEVE_ETOOBIG);
    assert_string_equal(words, "the payload has 67108865 bytes: at most 67108864 (no setting raises it)");
}

static void names(void **state)
{
    (void)state;
    const reeve_size_limits *few = LIMITS(.type = 10, .id = 11, .group = 12, .unique = 13);
    FITS(few, .type = text_of(9), .id = text_of(10), .group = text_of(11), .unique = text_of(12));
    FITS(few, .type = text_of(10), .id = text_of(11), .group = text_of(12), .unique = text_of(13));
    REFUSED(few, "type \"xxxxxxxxxxx\" has 11 bytes: at most 10 (size_limits.type raises it, up to 100)",
            .type = text_of(11));
    REFUSED(few, "on_dead \"xxxxxxxxxxx\" has 11 bytes: at most 10 (size_limits.type raises it, up to 100)",
            .on_dead = text_of(11));
    REFUSED(few, "id \"xxxxxxxxxxxx\" has 12 bytes: at most 11 (size_limits.id raises it, up to 100)",
            .id = text_of(12));
    REFUSED(few, "group \"xxxxxxxxxxxxx\" has 13 bytes: at most 12 (size_limits.group raises it, up to 100)",
            .group = text_of(13));
    REFUSED(few, "unique key \"xxxxxxxxxxxxxx\" has 14 bytes: at most 13 (size_limits.unique raises it, up to 200)",
            .unique = text_of(14));
    /* Each alone. */
    FITS(LIMITS(.unique = 13), .type = text_of(100), .id = text_of(100), .group = text_of(100), .unique = text_of(13));
    FITS(LIMITS(.type = 1), .id = text_of(100), .unique = text_of(200));
    char words[512];
    (void)snprintf(words, sizeof(words),
                   "unique key \"%s...\" has 200 bytes: at most 1 (size_limits.unique raises it, up to 200)",
                   text_of(80));
    REFUSED(LIMITS(.unique = 1), words, .unique = text_of(200));
}

static void tags_and_metadata(void **state)
{
    (void)state;
    const char *tags[] = {"aaaa", "bbbbb", "cccccc"};
    FITS(LIMITS(.tags = 2), .tags = tags, .tag_count = 1);
    FITS(LIMITS(.tags = 2), .tags = tags, .tag_count = 2);
    REFUSED(LIMITS(.tags = 2), "3 tags: at most 2 (size_limits.tags raises it, up to 64)", .tags = tags,
            .tag_count = 3);
    FITS(LIMITS(.tag = 5), .tags = tags, .tag_count = 2);
    REFUSED(LIMITS(.tag = 5), "tag \"cccccc...\" has 6 bytes: at most 5 (size_limits.tag raises it, up to 200)",
            .tags = tags, .tag_count = 3);
    const reeve_meta meta = {"key", text_of(100)};
    FITS(LIMITS(.meta = 110), .meta = &meta, .meta_count = 1);
    FITS(LIMITS(.meta = 109), .meta = &meta, .meta_count = 1);
    REFUSED(LIMITS(.meta = 108),
            "tags and metadata have 109 bytes: at most 108 (size_limits.meta raises it, up to 16384)", .meta = &meta,
            .meta_count = 1);
}

static void parents(void **state)
{
    (void)state;
    const reeve_parent after[] = {
        {.handle = "q/a"}, {.handle = REEVE_PARENT_OPEN}, {.handle = "q/b"}, {.handle = "q/c"}};
    FITS(LIMITS(.parents = 2), .after = after, .after_count = 2);
    FITS(LIMITS(.parents = 2), .after = after, .after_count = 3);
    REFUSED(LIMITS(.parents = 2), "3 parents of a task: at most 2 (size_limits.parents raises it, up to 1000000000)",
            .after = after, .after_count = 4);
}

/* ---- what a handler gives back --------------------------------------------------------------------------------- */

/* As many bytes as its payload has. */
static reeve_outcome answer(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, much, reeve_task_payload(task).length);
}

/* Cuts what is refused. */
static reeve_outcome cut(reeve_task *task, void *user)
{
    (void)user;
    if (reeve_task_done(task, much, 101) == REEVE_OUTCOME_DONE) return REEVE_OUTCOME_NONE;
    return reeve_task_done(task, much, 100);
}

static reeve_test_report *run(reeve_handler_fn handler, const reeve_size_limits *size_limits, size_t length)
{
    reeve_test_report *report =
        reeve_test_run(&(reeve_handler){.run = handler, .type = "t"},
                       &(reeve_test_options){.size_limits = *size_limits, .payload = {much, length}});
    assert_non_null(report);
    return report;
}

static void results(void **state)
{
    (void)state;
    for (size_t length = 99; length <= 100; length++) {
        reeve_test_report *report = run(answer, LIMITS(.result = 100), length);
        assert_int_equal(report->outcome, REEVE_OUTCOME_DONE);
        assert_int_equal(report->result.length, length);
        reeve_test_report_free(report);
    }
    reeve_test_report *report = run(answer, LIMITS(.result = 100), 101);
    assert_int_equal(report->outcome, REEVE_OUTCOME_FAIL);
    assert_true(report->dead);
    assert_string_equal(report->kind, "result");
    assert_string_equal(report->message,
                        "the result has 101 bytes: at most 100 (size_limits.result raises it, up to 16777216)");
    assert_int_equal(report->result.length, 0);
    reeve_test_report_free(report);
    report = run(cut, LIMITS(.result = 100), 0);
    assert_int_equal(report->outcome, REEVE_OUTCOME_DONE);
    assert_int_equal(report->result.length, 100);
    reeve_test_report_free(report);
}

static reeve_outcome leave(reeve_task *task, void *user)
{
    (void)user;
    assert_string_equal(reeve_task_call_error(task), "");
    assert_int_equal(reeve_task_checkpoint(task, much, 49), REEVE_OK);
    assert_int_equal(reeve_task_checkpoint(task, much, 50), REEVE_OK);
    assert_int_equal(reeve_task_checkpoint(task, much, 51), REEVE_ETOOBIG);
    assert_string_equal(reeve_task_call_error(task),
                        "the checkpoint has 51 bytes: at most 50 (size_limits.checkpoint raises it, up to 1048576)");
    return reeve_task_done(task, NULL, 0);
}

static void checkpoints(void **state)
{
    (void)state;
    reeve_test_report *report = run(leave, LIMITS(.checkpoint = 50), 0);
    assert_int_equal(report->checkpoint.length, 50);
    reeve_test_report_free(report);
}

static reeve_outcome chain(reeve_task *task, void *user)
{
    reeve_task_spec spec = {.queue = "q", .type = "t", .payload = {much, 10}};
    (void)user;
    assert_int_equal(reeve_task_chain(task, &spec, NULL), REEVE_OK);
    spec.payload.length = 11;
    assert_int_equal(reeve_task_chain(task, &spec, NULL), REEVE_ETOOBIG);
    assert_string_equal(reeve_task_call_error(task),
                        "the payload has 11 bytes: at most 10 (size_limits.payload raises it, up to 67108864)");
    spec.payload.length = 0;
    assert_int_equal(reeve_task_chain(task, &spec, NULL), REEVE_OK);
    assert_int_equal(reeve_task_chain(task, &spec, NULL), REEVE_ETOOBIG);
    assert_string_equal(reeve_task_call_error(task),
                        "3 chained tasks: at most 2 (size_limits.batch raises it, up to 1000000000)");
    return reeve_task_done(task, NULL, 0);
}

static reeve_outcome chain_many(reeve_task *task, void *user)
{
    const reeve_task_spec spec = {.queue = "q", .type = "t"};
    (void)user;
    for (int i = 0; i < REEVE_CHAIN_MAX; i++) assert_int_equal(reeve_task_chain(task, &spec, NULL), REEVE_OK);
    assert_int_equal(reeve_task_chain(task, &spec, NULL), REEVE_ETOOBIG);
    assert_string_equal(reeve_task_call_error(task), "1001 chained tasks: at most 1000 (no setting raises it)");
    return reeve_task_done(task, NULL, 0);
}

static void tasks_handed_on(void **state)
{
    (void)state;
    reeve_test_report *report = run(chain, LIMITS(.payload = 10, .batch = 2), 0);
    assert_int_equal(report->outcome, REEVE_OUTCOME_DONE);
    reeve_test_report_free(report);
    reeve_test_report_free(run(chain_many, LIMITS(0), 0));
}

static void of_a_test(void **state)
{
    (void)state;
    reeve_test_report *report = run(answer, LIMITS(.payload = 10), 11);
    assert_int_equal(report->status, REEVE_ETOOBIG);
    reeve_test_report_free(report);
    report = run(answer, LIMITS(.tags = 65), 0);
    assert_int_equal(report->status, REEVE_EINVAL);
    assert_string_equal(report->message, "size_limits.tags: a limit of 65: must be from 1 to 64");
    reeve_test_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standards), cmocka_unit_test(that_cannot_be),    cmocka_unit_test(as_text),
        cmocka_unit_test(sizes),     cmocka_unit_test(payloads),          cmocka_unit_test(names),
        cmocka_unit_test(parents),   cmocka_unit_test(tags_and_metadata), cmocka_unit_test(results),
        cmocka_unit_test(of_a_test), cmocka_unit_test(checkpoints),       cmocka_unit_test(tasks_handed_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
