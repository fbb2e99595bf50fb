/* Options, payload, tags and metadata of a task change, and nothing else of it. */
#include <stdio.h>
#include <string.h>

#include "reeve/change.h"
#include "reeve/tags.h"
#include "support/queue.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

static void edit(const char *id, reeve_task_edit change)
{
    test_ok(test_client, reeve_edit(test_client, "q", id, &change));
}

static const char *envelope(const char *id)
{
    return test_cmd(test_conn, "HGET " Q "tasks %s", id);
}

static void order_is(const char *ids)
{
    (void)test_lease(&hand, 20);
    assert_string_equal(test_leased_ids(&hand), ids);
}

static void each_option_changes_and_the_others_stay(void **state)
{
    (void)state;
    const reeve_backoff fixed = {.shape = REEVE_BACKOFF_FIXED, .base_ms = 70};
    const reeve_meta meta[] = {{"a \"b\"", "{x}"}, {"k", "v"}}, more[] = {{"k", "w"}, {"l", "m"}};
    const char *const keys[] = {"a \"b\""};
    test_put_spec(
        (reeve_task_spec){.id = "a", .attempts = 5, .timeout_ms = 9007199254740993, .meta = meta, .meta_count = 2});
    edit("a", (reeve_task_edit){.fields = REEVE_EDIT_PAYLOAD | REEVE_EDIT_TYPE | REEVE_EDIT_ATTEMPTS |
                                          REEVE_EDIT_BACKOFF | REEVE_EDIT_RETRY_FOR,
                                .payload = {"new\n\"p\"", 7},
                                .type = "other",
                                .attempts = 3,
                                .retry_for_ms = 9000,
                                .backoff = &fixed,
                                .meta = more,
                                .meta_count = 2,
                                .removed_meta = keys,
                                .removed_meta_count = 1});
    reeve_task_info *info = test_show("q", "a");
    assert_string_equal(info->type, "other");
    assert_int_equal(info->payload.length, 7);
    assert_memory_equal(info->payload.data, "new\n\"p\"", 7);
    assert_int_equal(info->attempts, 3);
    assert_int_equal(info->retry_for_ms, 9000);
    assert_non_null(strstr(envelope("a"), ",\"timeout\":9007199254740993,\"backoff\":{"));
    assert_non_null(strstr(envelope("a"), "\"meta\":{\"k\":\"w\",\"l\":\"m\"}}"));
    assert_non_null(strstr(info->history, "\"what\":\"edited\""));
    reeve_task_info_free(info);
    edit("a", (reeve_task_edit){.fields = REEVE_EDIT_ATTEMPTS | REEVE_EDIT_BACKOFF | REEVE_EDIT_TIMEOUT |
                                          REEVE_EDIT_RETRY_FOR});
    assert_null(strstr(envelope("a"), "attempts"));
    assert_null(strstr(envelope("a"), "retry_for"));
    assert_null(strstr(envelope("a"), "backoff"));
    assert_null(strstr(envelope("a"), "timeout"));
}

static void a_new_priority_or_group_is_a_new_place(void **state)
{
    (void)state;
    test_put("q", "a b c d");
    edit("c", (reeve_task_edit){.fields = REEVE_EDIT_PRIORITY, .priority = -1});
    edit("a", (reeve_task_edit){.fields = REEVE_EDIT_GROUP, .group = "g", .weight = 2});
    edit("d", (reeve_task_edit){.fields = REEVE_EDIT_PAYLOAD, .payload = {"x", 1}});
    assert_non_null(strstr(envelope("a"), "\"group\":\"g\",\"weight\":2"));
    order_is("c a b d"); /* groups take turns */
}

static void tags_of_any_task_change(void **state)
{
    (void)state;
    const char *const tags[] = {"x", "y"};
    reeve_task_info **list;
    size_t count;
    int64_t next;
    test_put("q", "a b");
    assert_int_equal(test_lease(&hand, 1), 1);
    edit("a", (reeve_task_edit){.tags = tags, .tag_count = 2});
    edit("b", (reeve_task_edit){.tags = tags, .tag_count = 1});
    test_ok(test_client, reeve_list_tag(test_client, "q", "x", NULL, 0, 10, &list, &count, &next));
    assert_int_equal(count, 2);
    reeve_task_list_free(list, count);
    test_settle(&hand, TEST_DONE("a"));
    edit("a", (reeve_task_edit){.removed_tags = tags, .removed_tag_count = 2});
    assert_int_equal(test_number("EXISTS " Q "tag:y"), 0);
    assert_int_equal(test_number("ZCARD " Q "tag:x"), 1);
    assert_null(strstr(envelope("a"), "tags"));
    test_ok(test_client, reeve_delete(test_client, "q", "b"));
    assert_int_equal(test_number("EXISTS " Q "tags " Q "tag:x"), 0);
}

static void what_runs_or_has_completed_keeps_its_payload(void **state)
{
    (void)state;
    const reeve_task_edit change = {.fields = REEVE_EDIT_PAYLOAD, .payload = {"x", 1}};
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_refused(test_client, reeve_edit(test_client, "q", "a", &change), REEVE_ESTATE, "it is running");
    test_settle(&hand, TEST_DONE("a"));
    test_refused(test_client, reeve_edit(test_client, "q", "a", &change), REEVE_ESTATE, "it is completed");
    test_refused(test_client, reeve_edit(test_client, "q", "b", &change), REEVE_ENOTFOUND, "q/b");
}

static void a_dead_task_is_edited_and_retried(void **state)
{
    (void)state;
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_FAIL("a"));
    edit("a", (reeve_task_edit){.fields = REEVE_EDIT_TYPE, .type = "mended"});
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    reeve_task_info *info = test_show("q", "a");
    assert_int_equal(info->state, REEVE_STATE_READY);
    assert_string_equal(info->type, "mended");
    reeve_task_info_free(info);
}

static void what_is_wrong_changes_nothing(void **state)
{
    (void)state;
    char before[64];
    const char *const tags[] = {"x"}, *const none[] = {""};
    char names[REEVE_TAGS_MAX][16];
    const char *full[REEVE_TAGS_MAX];
    for (int i = 0; i < REEVE_TAGS_MAX; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "t%d", i);
        full[i] = names[i];
    }
    test_put_spec((reeve_task_spec){.id = "a", .tags = full, .tag_count = REEVE_TAGS_MAX});
    rv_copy_text(before, sizeof(before), test_digest());
    const struct {
        reeve_task_edit edit;
        reeve_status status;
        const char *words;
    } cases[] = {
        {{.fields = REEVE_EDIT_TYPE}, REEVE_EINVAL, "type"},
        {{.fields = REEVE_EDIT_TYPE, .type = "no good"}, REEVE_EINVAL, "type"},
        {{.fields = REEVE_EDIT_PRIORITY, .priority = 128}, REEVE_EINVAL, "128"},
        {{.fields = REEVE_EDIT_TIMEOUT, .timeout_ms = -1}, REEVE_EINVAL, "-1"},
        {{.fields = REEVE_EDIT_GROUP, .weight = 2}, REEVE_EINVAL, "group"},
        {{.fields = 1U << 30}, REEVE_EINVAL, "1073741824"},
        {{.removed_tags = none, .removed_tag_count = 1}, REEVE_EINVAL, "empty"},
        {{.tags = tags, .tag_count = 1}, REEVE_ETOOBIG, "65 tags"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        test_refused(test_client, reeve_edit(test_client, "q", "a", &cases[i].edit), cases[i].status, cases[i].words);
    test_ok(test_client, reeve_edit(test_client, "q", "nope", &(reeve_task_edit){0})); /* nothing is to change */
    assert_string_equal(test_digest(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_option_changes_and_the_others_stay, set_up),
        cmocka_unit_test_setup(a_new_priority_or_group_is_a_new_place, set_up),
        cmocka_unit_test_setup(tags_of_any_task_change, set_up),
        cmocka_unit_test_setup(what_runs_or_has_completed_keeps_its_payload, set_up),
        cmocka_unit_test_setup(a_dead_task_is_edited_and_retried, set_up),
        cmocka_unit_test_setup(what_is_wrong_changes_nothing, set_up),
    };
    return cmocka_run_group_tests(tests, test_place_start, test_place_stop);
}
