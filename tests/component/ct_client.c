/* Looking at tasks through the public client. */
#include <stdio.h>
#include <string.h>

#include "support/queue.h"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

static void show_tells_everything(void **state)
{
    (void)state;
    const char *const tags[] = {"t1", "t\"2\""};
    const reeve_meta meta = {"k", "v"};
    const reeve_backoff backoff = {.shape = REEVE_BACKOFF_FIXED, .base_ms = 5};
    test_put_spec((reeve_task_spec){.id = "x",
                                    .type = "a/b:c",
                                    .payload = {"p\0\n", 3},
                                    .priority = -7,
                                    .group = "g",
                                    .weight = 9,
                                    .attempts = 4,
                                    .max_crashes = 2,
                                    .timeout_ms = 1234,
                                    .backoff = &backoff,
                                    .tags = tags,
                                    .tag_count = 2,
                                    .meta = &meta,
                                    .meta_count = 1});
    reeve_task_info *info = test_show("q", "x");
    assert_string_equal(info->queue, "q");
    assert_string_equal(info->id, "x");
    assert_string_equal(info->type, "a/b:c");
    assert_int_equal(info->state, REEVE_STATE_READY);
    assert_int_equal(info->payload.length, 3);
    assert_memory_equal(info->payload.data, "p\0\n", 4);
    assert_null(info->result.data);
    assert_int_equal(info->priority, -7);
    assert_string_equal(info->group, "g");
    assert_in_range(info->enqueued_ms, rv_wall_ms() - 60000, rv_wall_ms() + 60000);
    assert_int_equal(info->due_ms, -1);
    assert_int_equal(info->started_ms, -1);
    assert_int_equal(info->ended_ms, -1);
    assert_int_equal(info->failed_ms, -1);
    assert_int_equal(info->failures + info->crashes, 0);
    assert_int_equal(info->attempts, 4);
    assert_int_equal(info->max_crashes, 2);
    assert_int_equal(info->timeout_ms, 1234);
    assert_int_equal(info->progress, -1);
    assert_null(info->error_kind);
    assert_null(info->error_message);
    assert_null(info->progress_words);
    assert_null(info->worker);
    assert_null(info->session);
    assert_string_equal(info->tags, "[\"t1\",\"t\\\"2\\\"\"]");
    assert_string_equal(info->meta, "{\"k\":\"v\"}");
    reeve_task_info_free(info);
    reeve_task_info_free(NULL);
}

static void show_what_is_not_there(void **state)
{
    (void)state;
    reeve_task_info *info;
    test_refused(test_client, reeve_show(test_client, "q", "none", &info), REEVE_ENOTFOUND, "no task q/none");
    test_refused(test_client, reeve_show(test_client, "q", "", &info), REEVE_EINVAL, "id");
    test_refused(test_client, reeve_show(test_client, "q", "a b", &info), REEVE_EINVAL, "\"a b\"");
    test_refused(test_client, reeve_show(test_client, "no good", "x", &info), REEVE_EINVAL, "\"no good\"");
    test_refused(test_client, reeve_show(test_client, NULL, "x", &info), REEVE_EINVAL, "queue");
    assert_int_equal(reeve_show(NULL, "q", "x", &info), REEVE_EINVAL);
    assert_int_equal(reeve_show(test_client, "q", "x", NULL), REEVE_EINVAL);
}

/* In more than one page, of two queues, with some that are missing. */
static void show_many(void **state)
{
    (void)state;
    enum { COUNT = 70 };
    static char handles[COUNT][REEVE_HANDLE_MAX];
    const char *list[COUNT];
    reeve_task_info *infos[COUNT];
    test_put_many("q", COUNT, "a%03zu");
    test_put("p", "other");
    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(handles[i], sizeof(handles[i]), i % 10 == 3 ? "q/none%zu" : "q/a%03zu", i);
        list[i] = handles[i];
    }
    list[40] = "p/other";
    test_ok(test_client, reeve_show_many(test_client, list, COUNT, infos));
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(infos[i] == NULL, i % 10 == 3);
        if (infos[i] != NULL) assert_string_equal(infos[i]->id, strchr(list[i], '/') + 1);
        reeve_task_info_free(infos[i]);
    }
}

static void show_many_is_refused(void **state)
{
    (void)state;
    const char *const wrong[] = {"q/a", "no handle"}, *const none[] = {NULL};
    reeve_task_info *infos[2] = {NULL};
    test_put("q", "a");
    test_refused(test_client, reeve_show_many(test_client, wrong, 2, infos), REEVE_EINVAL, "\"no handle\"");
    test_refused(test_client, reeve_show_many(test_client, none, 1, infos), REEVE_EINVAL, "expected QUEUE/ID");
    assert_int_equal(reeve_show_many(test_client, NULL, 1, infos), REEVE_EINVAL);
    assert_int_equal(reeve_show_many(NULL, wrong, 1, infos), REEVE_EINVAL);
    test_ok(test_client, reeve_show_many(test_client, NULL, 0, NULL));
    /* One that Redis refuses to tell of: none is returned. */
    assert_string_equal(test_cmd(test_conn, "SET reeve:{p}:tasks foreign"), "OK");
    const char *const foreign[] = {"q/a", "p/a"};
    assert_int_equal(reeve_show_many(test_client, foreign, 2, infos), REEVE_EREDIS);
    assert_null(infos[0]);
}

/* What another program broke is shown all the same. */
static void show_what_is_broken(void **state)
{
    (void)state;
    test_put("q", "x");
    assert_int_equal(test_number("HSET " Q "tasks x nonsense"), 0);
    reeve_task_info *info = test_show("q", "x");
    assert_string_equal(info->type, "?");
    assert_string_equal(info->payload.data, "nonsense");
    reeve_task_info_free(info);
}

/* A task that stands nowhere is named, and can be deleted. */
static void show_what_is_in_no_state(void **state)
{
    (void)state;
    reeve_task_info *info = NULL;
    test_put("q", "x");
    assert_int_equal(test_number("DEL " Q "ready"), 1);
    test_refused(test_client, reeve_show(test_client, "q", "x", &info), REEVE_EPROTO, "q/x is in no state");
    assert_null(info);
    test_ok(test_client, reeve_delete(test_client, "q", "x"));
}

static const char *page(const char *state, uint64_t offset, size_t limit, uint64_t total)
{
    static char ids[4096];
    reeve_state which;
    reeve_task_info **list;
    size_t count;
    uint64_t there;
    ids[0] = '\0';
    assert_int_equal(reeve_state_parse(state, &which), REEVE_OK);
    test_ok(test_client, reeve_list(test_client, "q", which, offset, limit, &list, &count, &there));
    assert_int_equal(there, total);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(list[i]->state, which);
        assert_string_equal(list[i]->queue, "q");
        strncat(ids, list[i]->id, sizeof(ids) - strlen(ids) - 2);
        if (i + 1 < count) strcat(ids, " ");
    }
    reeve_task_list_free(list, count);
    return ids;
}

static void lists_of_each_state(void **state)
{
    (void)state;
    for (int i = 0; i < TEST_STATES; i++) assert_string_equal(page(test_states[i], 0, 10, 0), "");
    test_one_of_each(&hand);
    for (int i = 0; i < TEST_STATES; i++) assert_string_equal(page(test_states[i], 0, 10, 1), test_states[i]);
    assert_string_equal(page("blocked", 0, 10, 0), "");
    assert_string_equal(page("parked", 0, 10, 0), "");
}

static void pages_in_order(void **state)
{
    (void)state;
    test_put("q", "c b a e d");
    assert_string_equal(page("ready", 0, 2, 5), "c b");
    assert_string_equal(page("ready", 2, 2, 5), "a e");
    assert_string_equal(page("ready", 4, 2, 5), "d");
    assert_string_equal(page("ready", 5, 2, 5), "");
    assert_string_equal(page("ready", 1000000000000, 2, 5), "");
    assert_string_equal(page("ready", 0, 0, 5), "");
    assert_string_equal(page("ready", 3, 0, 5), "");
    assert_string_equal(page("ready", 0, 1000, 5), "c b a e d");
    for (int i = 0; i < 5; i++) { /* ended ones: newest first */
        assert_int_equal(test_lease(&hand, 1), 1);
        test_settle(&hand, TEST_DONE(hand.leased[0].id));
        int64_t now = rv_wall_ms(); /* after the end: the next one is in a later millisecond */
        TEST_AWAIT(rv_wall_ms() > now + 1);
    }
    assert_string_equal(page("completed", 0, 3, 5), "d e a");
    assert_string_equal(page("completed", 3, 3, 5), "b c");
    test_put_spec((reeve_task_spec){.id = "late", .in_ms = 900000});
    test_put_spec((reeve_task_spec){.id = "soon", .in_ms = 800000});
    assert_string_equal(page("scheduled", 0, 5, 2), "soon late");
}

static void pages_of_running_tasks(void **state)
{
    (void)state;
    test_hand other;
    test_hand_init(&other, "2", "q");
    test_put_many("q", 150, "a%03zu");
    (void)test_lease(&hand, 100);
    (void)test_lease(&other, 50);
    size_t seen = 0;
    for (uint64_t offset = 0; offset < 160; offset += 40) {
        const char *ids = page("running", offset, 40, 150);
        seen += strlen(ids) == 0 ? 0 : (strlen(ids) + 1) / 5;
    }
    assert_int_equal(seen, 150);
    assert_string_equal(page("running", 0, 0, 150), "");
}

static void lists_that_cannot_be(void **state)
{
    (void)state;
    reeve_task_info **list;
    size_t count;
    test_refused(test_client, reeve_list(test_client, "q", (reeve_state)99, 0, 1, &list, &count, NULL), REEVE_EINVAL,
                 "state");
    test_refused(test_client, reeve_list(test_client, "q", REEVE_STATE_READY, 0, 1001, &list, &count, NULL),
                 REEVE_EINVAL, "1000");
    test_refused(test_client, reeve_list(test_client, "q", REEVE_STATE_READY, UINT64_MAX, 1, &list, &count, NULL),
                 REEVE_EINVAL, "offset");
    test_refused(test_client,
                 reeve_list(test_client, "q", REEVE_STATE_READY, 1000000000000000000, 1, &list, &count, NULL),
                 REEVE_EINVAL, "offset");
    test_refused(test_client, reeve_list(test_client, "", REEVE_STATE_READY, 0, 1, &list, &count, NULL), REEVE_EINVAL,
                 "queue");
    assert_int_equal(reeve_list(test_client, "q", REEVE_STATE_READY, 0, 1, NULL, &count, NULL), REEVE_EINVAL);
    test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_READY, 0, 1, &list, &count, NULL));
    reeve_task_list_free(list, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(show_tells_everything, set_up),
        cmocka_unit_test_setup(show_what_is_not_there, set_up),
        cmocka_unit_test_setup(show_many, set_up),
        cmocka_unit_test_setup(show_many_is_refused, set_up),
        cmocka_unit_test_setup(show_what_is_in_no_state, set_up),
        cmocka_unit_test_setup(show_what_is_broken, set_up),
        cmocka_unit_test_setup(lists_of_each_state, set_up),
        cmocka_unit_test_setup(pages_in_order, set_up),
        cmocka_unit_test_setup(pages_of_running_tasks, set_up),
        cmocka_unit_test_setup(lists_that_cannot_be, set_up),
    };
    return cmocka_run_group_tests_name("ct_client", tests, test_place_start, test_place_stop);
}
