/* Tags: tasks are found by them in whatever state, and the index has what there is, whichever way a record goes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scripts.h"
#include "reeve/cron.h"
#include "reeve/dead.h"
#include "reeve/tags.h"
#include "support/queue.h"
#include "support/script.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

static const char *const red[] = {"red"};
static const char *const both[] = {"red", "blue \"sky\"", "red"};

static void put_red(const char *id)
{
    test_put_spec((reeve_task_spec){.id = id, .tags = red, .tag_count = 1});
}

static void keep(const reeve_keep *completed, const reeve_keep *dead)
{
    test_ok(test_client,
            reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = completed, .dead = dead}));
}

/* "red=2 blue=1", the one that was given last first. */
static const char *tags_text(void)
{
    static char text[512];
    reeve_tag *list = NULL;
    size_t count = 0, length = 0;
    uint64_t total = 0;
    test_ok(test_client, reeve_tags(test_client, "q", 0, 100, &list, &count, &total));
    assert_int_equal(total, count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s=%llu", i > 0 ? " " : "", list[i].name,
                                   (unsigned long long)list[i].count);
    }
    reeve_tags_free(list);
    return text;
}

/* The ids of a tag's tasks, in pages of a size, separated by blanks. */
static const char *tagged(const char *tag, const reeve_state *state, size_t page_size)
{
    static char text[4096];
    int64_t next = 0;
    size_t length = 0;
    text[0] = '\0';
    while (next >= 0) {
        reeve_task_info **list = NULL;
        size_t count = 0;
        int64_t from = next;
        test_ok(test_client,
                reeve_list_tag(test_client, "q", tag, state, (uint64_t)next, page_size, &list, &count, &next));
        assert_true(next < 0 || next > from);
        for (size_t i = 0; i < count; i++) {
            length +=
                (size_t)snprintf(text + length, sizeof(text) - length, "%s%s", length > 0 ? " " : "", list[i]->id);
        }
        reeve_task_list_free(list, count);
    }
    return text;
}

/* Nothing is left of any tag. */
static void assert_no_tags(void)
{
    assert_string_equal(tags_text(), "");
    assert_string_equal(test_cmd(test_conn, "KEYS reeve:{q}:tag*"), "[]");
}

/* ---- looking --------------------------------------------------------------------------------------------------- */

static void tasks_are_found_in_any_state(void **state)
{
    const reeve_state running = REEVE_STATE_RUNNING, scheduled = REEVE_STATE_SCHEDULED, dead = REEVE_STATE_DEAD;
    (void)state;
    put_red("a");
    put_red("b");
    assert_int_equal(test_lease(&hand, 2), 2);
    test_put_spec((reeve_task_spec){.id = "c", .tags = both, .tag_count = 3, .in_ms = 60000});
    test_put("q", "plain");
    assert_string_equal(tagged("blue \"sky\"", NULL, 10), "c");
    assert_string_equal(tagged("red", &running, 10), "b a");
    assert_string_equal(tagged("red", &scheduled, 10), "c");
    test_settle(&hand, TEST_FAIL("a"));
    assert_string_equal(tagged("red", &dead, 10), "a");
    assert_string_equal(tagged("green", NULL, 10), "");
    assert_non_null(strstr(tags_text(), "red=3"));
    assert_non_null(strstr(tags_text(), "blue \"sky\"=1"));
}

static void pages_meet_each_task_once(void **state)
{
    char id[32], expected[512] = "";
    const reeve_state cancelled = REEVE_STATE_CANCELLED;
    (void)state;
    for (int i = 0; i < 25; i++) {
        (void)snprintf(id, sizeof(id), "t%02d", i);
        put_red(id);
    }
    for (int i = 24; i >= 0; i--)
        (void)snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%st%02d", i < 24 ? " " : "",
                       i);
    assert_string_equal(tagged("red", NULL, 100), expected);
    assert_string_equal(tagged("red", NULL, 10), expected);
    assert_string_equal(tagged("red", NULL, 25), expected);
    test_ok(test_client, reeve_cancel(test_client, "q", "t03"));
    test_ok(test_client, reeve_cancel(test_client, "q", "t20"));
    assert_string_equal(tagged("red", &cancelled, 4), "t20 t03");
}

/* How many commands Redis has run. */
static long long commands_run(void)
{
    const char *calls = strstr(test_cmd(test_conn, "INFO stats"), "total_commands_processed:");
    assert_non_null(calls);
    return atoll(calls + strlen("total_commands_processed:"));
}

/* A page asks each session once, not once for each of its tasks; where there are many, it ends early. */
static void running_tasks_of_many_sessions(void **state)
{
    (void)state;
    enum { SESSIONS = 1500, TASKS = 100 };
    for (int i = 0; i < SESSIONS; i++) {
        (void)test_cmd(test_conn, "ZADD %ssessions 2000000000000 s%04d", Q, i);
        (void)test_cmd(test_conn, "HSET %srunning:s%04d # {} t%04d 1-0", Q, i, i);
    }
    for (int i = 0; i < TASKS; i++) {
        char id[8];
        (void)snprintf(id, sizeof(id), "t%04d", i);
        (void)TEST_WORDS("HSET", Q "tasks", id, "{\"at\":1,\"type\":\"t\"}\n{}");
        (void)test_cmd(test_conn, "ZADD %stag:red 1 t%04d", Q, i);
    }
    reeve_task_info **list = NULL;
    size_t count = 0, found = 0;
    for (int64_t next = 0; next >= 0; found += count) {
        long long before = commands_run();
        test_ok(test_client,
                reeve_list_tag(test_client, "q", "red", NULL, (uint64_t)next, TASKS, &list, &count, &next));
        assert_true(commands_run() - before < 2 * SESSIONS);
        assert_true(count > 0 && count < TASKS / 2);
        for (size_t i = 0; i < count; i++) assert_int_equal(list[i]->state, REEVE_STATE_RUNNING);
        reeve_task_list_free(list, count);
    }
    assert_int_equal(found, TASKS);
}

static void what_is_refused(void **state)
{
    reeve_task_info **list = NULL;
    size_t count = 0;
    int64_t next = 0;
    (void)state;
    test_refused(test_client, reeve_list_tag(test_client, "q", "", NULL, 0, 10, &list, &count, &next), REEVE_EINVAL,
                 "the tag is empty");
    test_refused(test_client, reeve_list_tag(test_client, "q", "x", NULL, 0, 1001, &list, &count, &next), REEVE_EINVAL,
                 "at most 1000");
    test_refused(test_client, reeve_list_tag(test_client, "q/", "x", NULL, 0, 10, &list, &count, &next), REEVE_EINVAL,
                 "queue");
}

/* ---- records that go -------------------------------------------------------------------------------------------- */

static void a_deleted_task_leaves_its_tags(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "c", .tags = both, .tag_count = 3});
    put_red("d");
    test_ok(test_client, reeve_delete(test_client, "q", "c"));
    assert_string_equal(tags_text(), "red=1");
    test_ok(test_client, reeve_delete(test_client, "q", "d"));
    assert_no_tags();
}

static void records_that_are_trimmed_do(void **state)
{
    static const reeve_keep two = {-1, 2}, one = {-1, 1};
    (void)state;
    keep(&two, &one);
    for (int i = 0; i < 10; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "t%d", i);
        put_red(id);
        assert_int_equal(test_lease(&hand, 1), 1);
        if (i % 2 == 0)
            test_settle(&hand, TEST_DONE(id));
        else
            test_settle(&hand, TEST_FAIL(id));
    }
    test_maintain_all("q");
    assert_string_equal(tagged("red", NULL, 10), "t9 t8 t6");
    assert_string_equal(tags_text(), "red=3");
}

static void records_that_are_not_kept_do(void **state)
{
    static const reeve_keep none = {0, 0};
    (void)state;
    keep(&none, &none);
    put_red("a");
    put_red("b");
    put_red("c");
    put_red("d");
    assert_int_equal(test_lease(&hand, 3), 3);
    assert_true(hand.leased[0].has_info);
    test_settle(&hand, {0, {.id = "a", .outcome = REEVE_OUTCOME_DONE, .has_info = true}});
    test_settle(&hand, TEST_RESULT("b", "r"));
    test_settle(&hand, TEST_FAIL("c"));
    assert_string_equal(tags_text(), "red=1");
    test_ok(test_client, reeve_cancel(test_client, "q", "d"));
    assert_no_tags();
}

/* What was enqueued while records were kept, and completes when they are not any more, is found by and by. */
static void what_is_left_behind_is_tidied(void **state)
{
    static const reeve_keep none = {0, 0};
    (void)state;
    put_red("a");
    put_red("b");
    keep(&none, NULL);
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_DONE("a"));
    assert_string_equal(tagged("red", NULL, 10), "b");
    test_maintain_all("q");
    assert_string_equal(tags_text(), "red=1");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_DONE("b"));
    test_maintain_all("q");
    assert_no_tags();
}

/* Else no call of maintain would find that nothing is due. */
static void a_tag_of_which_the_key_has_another_type_goes(void **state)
{
    (void)state;
    put_red("a");
    assert_string_equal(test_cmd(test_conn, "SET reeve:{q}:tag:red text"), "OK");
    test_maintain_all("q");
    assert_no_tags();
    assert_string_equal(test_state("q", "a"), "ready");
    put_red("b");
    assert_int_equal(test_number("ZCARD reeve:{q}:tag:red"), 1);
}

static void a_replaced_task_leaves_its_tags(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .unique = "k", .tags = both, .tag_count = 3});
    test_put_spec((reeve_task_spec){
        .id = "b", .unique = "k", .on_conflict = REEVE_CONFLICT_REPLACE, .tags = red, .tag_count = 1});
    assert_string_equal(tags_text(), "red=1");
    assert_string_equal(tagged("red", NULL, 10), "b");
}

/* ---- who has none, and who gets them otherwise ------------------------------------------------------------------- */

static void a_refused_task_has_none(void **state)
{
    (void)state;
    test_put("q", "a");
    test_refused(test_client,
                 reeve_enqueue(test_client,
                               &(reeve_task_spec){.queue = "q", .type = "t", .id = "a", .tags = red, .tag_count = 1},
                               NULL),
                 REEVE_EEXISTS, "exists");
    assert_no_tags();
}

static void tasks_of_a_recurring_entry_have_them(void **state)
{
    char id[REEVE_ID_MAX] = "";
    (void)state;
    const reeve_task_spec task = {.queue = "q", .type = "t", .tags = red, .tag_count = 1};
    const reeve_cron_entry entry = {.name = "e", .spec = "0 3 * * *", .task = &task};
    test_ok(test_client, reeve_cron_set(test_client, &entry, NULL));
    test_ok(test_client, reeve_cron_run(test_client, "q", "e", id));
    assert_string_equal(tagged("red", NULL, 10), id);
}

/* The tags that the envelope of a task has, as JSON; stays valid until the next call. */
static const char *kept_tags(const char *id)
{
    static char text[256];
    reeve_task_info *info = test_show("q", id);
    rv_copy_text(text, sizeof(text), info->tags);
    reeve_task_info_free(info);
    return text;
}

/* A task as a producer in another language enqueues it. */
static long long enqueue_raw(const char *how, const char *id, const char *tags, const char *rest)
{
    char options[256];
    const rv_reply *reply;
    (void)snprintf(options, sizeof(options), "{\"tags\":%s}", tags);
    rv_cmd_script(test_conn, &rv_script_enqueue, 1, 4);
    rv_args(test_conn, Q);
    rv_args(test_conn, how);
    rv_args(test_conn, id);
    rv_args(test_conn, options);
    rv_args(test_conn, rest);
    assert_int_equal(rv_conn_call(test_conn, rv_deadline(5000), &reply), REEVE_OK);
    return rv_reply_int(rv_reply_at(reply, 0), -9);
}

/* What the list is written like in the envelope is its producer's. */
static void a_tag_that_another_producer_gives_twice_is_kept_once(void **state)
{
    static const char twice[] = "[\"a]\",\"b\\\"\",\"a]\",\"b\\\"\",\"c\"]", once[] = "[\"a]\",\"b\\\"\",\"c\"]";
    (void)state;
    assert_int_equal(
        enqueue_raw(
            "0", "x", twice,
            "\"type\":\"t\",\"x\":\"\\\"tags\\\":[\",\"tags\" : [ \"a]\" ,\"b\\\"\",\"a\\u005d\",\"b\\\"\", \"c\" ],"
            "\"meta\":{\"tags\":\"[\"}}\npay\"tags\":[\"a\",\"a\"]"),
        1);
    assert_string_equal(kept_tags("x"), once);
    assert_string_equal(tags_text(), "c=1 b\"=1 a]=1");
    reeve_task_info *info = test_show("q", "x");
    assert_string_equal(info->payload.data, "pay\"tags\":[\"a\",\"a\"]");
    assert_string_equal(info->meta, "{\"tags\":\"[\"}");
    reeve_task_info_free(info);
    /* The same again is the same task. */
    assert_int_equal(enqueue_raw("1", "y", "[\"a\",\"a\"]", "\"type\":\"t\",\"tags\":[\"a\",\"a\"]}\n"), 1);
    assert_int_equal(enqueue_raw("1", "y", "[\"a\",\"a\"]", "\"type\":\"t\",\"tags\":[\"a\",\"a\"]}\n"), 1);
    assert_string_equal(kept_tags("y"), "[\"a\"]");
    /* An envelope that has other tags than the options is not changed. */
    assert_int_equal(enqueue_raw("0", "z", "[\"a\",\"a\"]", "\"type\":\"t\",\"tags\":[\"c\",\"d\"]}\n"), 1);
    assert_string_equal(kept_tags("z"), "[\"c\",\"d\"]");
}

static void an_entry_of_another_producer_keeps_a_tag_once(void **state)
{
    static const char definition[] =
        "{\"spec\":\"@daily\",\"zone\":\"utc\",\"catch_up\":\"once\",\"options\":{\"tags\":[\"a\",\"a\"]}}"
        "\n\"type\":\"t\",\"tags\":[\"a\",\"a\"]}\n";
    char id[REEVE_ID_MAX] = "";
    const rv_reply *reply;
    (void)state;
    rv_cmd_script(test_conn, &rv_script_cron, 1, 3);
    rv_args(test_conn, Q);
    rv_args(test_conn, "set");
    rv_args(test_conn, "e");
    rv_args(test_conn, definition);
    assert_int_equal(rv_conn_call(test_conn, rv_deadline(5000), &reply), REEVE_OK);
    test_ok(test_client, reeve_cron_run(test_client, "q", "e", id));
    assert_string_equal(kept_tags(id), "[\"a\"]");
}

/* What is gone and stands in the index still is found, however many others were tagged before it. */
static void what_is_gone_is_found_behind_many(void **state)
{
    (void)state;
    char id[16];
    for (int i = 0; i < 40; i++) {
        (void)snprintf(id, sizeof(id), "x%02d", i);
        put_red(id);
    }
    assert_int_equal(test_number("ZADD reeve:{q}:tag:red 9000000000000 gone"), 1);
    for (int i = 0; i < 300 && test_number("ZCARD reeve:{q}:tag:red") > 40; i++) (void)test_maintain("q", 10);
    assert_int_equal(test_number("ZCARD reeve:{q}:tag:red"), 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(tasks_are_found_in_any_state, set_up),
        cmocka_unit_test_setup(pages_meet_each_task_once, set_up),
        cmocka_unit_test_setup(running_tasks_of_many_sessions, set_up),
        cmocka_unit_test_setup(what_is_refused, set_up),
        cmocka_unit_test_setup(a_deleted_task_leaves_its_tags, set_up),
        cmocka_unit_test_setup(records_that_are_trimmed_do, set_up),
        cmocka_unit_test_setup(records_that_are_not_kept_do, set_up),
        cmocka_unit_test_setup(what_is_left_behind_is_tidied, set_up),
        cmocka_unit_test_setup(a_tag_of_which_the_key_has_another_type_goes, set_up),
        cmocka_unit_test_setup(a_replaced_task_leaves_its_tags, set_up),
        cmocka_unit_test_setup(a_refused_task_has_none, set_up),
        cmocka_unit_test_setup(tasks_of_a_recurring_entry_have_them, set_up),
        cmocka_unit_test_setup(a_tag_that_another_producer_gives_twice_is_kept_once, set_up),
        cmocka_unit_test_setup(an_entry_of_another_producer_keeps_a_tag_once, set_up),
        cmocka_unit_test_setup(what_is_gone_is_found_behind_many, set_up),
    };
    return cmocka_run_group_tests_name("ct_tags", tests, test_place_start, test_place_stop);
}
