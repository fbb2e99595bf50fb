/* Small results that stand together in one field: who reads them, and how they go. The clock is the test's. */
#include <stdio.h>
#include <string.h>

#include "handlers/task.h"
#include "reeve/dead.h"
#include "reeve/depend.h"
#include "reeve/tags.h"
#include "reeve/watch.h"
#include "support/clock.h"
#include "support/limits.h"

#define Q "reeve:{q}:"
#define BEGUN 1700000000000

static test_hand hand;

static int set_up(void **state)
{
    int failed = test_place_empty(state);
    test_clock_set(BEGUN);
    test_hand_init(&hand, "1", "q");
    hand.session_ms = 1000000000;
    return failed;
}

/* How many result_blocks there are, and how many results by themselves: nothing else is in these keys. */
static void check_kept(int result_blocks, int fields)
{
    assert_int_equal(test_number("ZCARD " Q "result_blocks"), result_blocks);
    assert_int_equal(test_number("HLEN " Q "results"), result_blocks + fields);
}

/* ---- who reads them -------------------------------------------------------------------------------------------- */

static char long_one[256];

/* Results that look like what stands between them, in a result_block. */
static const struct {
    const char *id;
    reeve_bytes result;
} odd[] = {
    {"a", {"plain", 5}},     {"b", {"\n", 1}},       {"c", {"a 5\nwrong", 9}}, {"d", {"", 0}},
    {"e", {"\0e 3\n\0", 7}}, {"f", {long_one, 256}}, {"g", {" 4\nd 0\n", 7}},  {"h", {"i 2\nno\ni 2\nno", 13}},
    {"i", {"yes", 3}},
};
#define ODD (sizeof(odd) / sizeof(odd[0]))

static const char *const tags[] = {"w"};

static void settle_odd(void)
{
    test_outcome outcomes[ODD];
    memset(long_one, '\n', sizeof(long_one));
    for (size_t i = 0; i < ODD; i++) {
        test_put_spec((reeve_task_spec){.id = odd[i].id, .tags = tags, .tag_count = 1});
        outcomes[i] = (test_outcome){
            0, {.id = odd[i].id, .outcome = REEVE_OUTCOME_DONE, .has_result = true, .result = odd[i].result}};
    }
    assert_int_equal(test_lease(&hand, ODD), ODD);
    (void)test_turn(&hand, 0, outcomes, ODD);
    assert_string_equal(hand.refused, "");
}

static void is_as_it_was(const reeve_task_info *info)
{
    size_t i = 0;
    while (i < ODD && strcmp(odd[i].id, info->id) != 0) i++;
    assert_true(i < ODD);
    assert_int_equal(info->state, REEVE_STATE_COMPLETED);
    assert_non_null(info->result.data);
    assert_int_equal(info->result.length, odd[i].result.length);
    assert_memory_equal(info->result.data, odd[i].result.data, odd[i].result.length);
}

static void check_list(reeve_task_info **list, size_t count)
{
    assert_int_equal(count, ODD);
    for (size_t i = 0; i < count; i++) is_as_it_was(list[i]);
    reeve_task_list_free(list, count);
}

static void by_show_wait_list_and_tag(void **state)
{
    (void)state;
    reeve_task_info **list, *info;
    size_t count;
    uint64_t total;
    int64_t next;
    settle_odd();
    check_kept(1, 0);
    for (size_t i = 0; i < ODD; i++) {
        info = test_show("q", odd[i].id);
        is_as_it_was(info);
        reeve_task_info_free(info);
        test_ok(test_client, reeve_wait(test_client, "q", odd[i].id, 1000, &info));
        is_as_it_was(info);
        reeve_task_info_free(info);
    }
    test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_COMPLETED, 0, 100, &list, &count, &total));
    check_list(list, count);
    test_ok(test_client, reeve_list_tag(test_client, "q", "w", NULL, 0, 100, &list, &count, &next));
    check_list(list, count);
    check_kept(1, 0);
}

static reeve_status ask(void (*build)(rv_conn *conn, const void *what), const void *what, const rv_reply **ret,
                        void *context)
{
    (void)context;
    build(test_conn, what);
    return rv_conn_call(test_conn, 0, ret);
}

static reeve_bytes result_of_parent(reeve_task *task, const char *handle)
{
    reeve_bytes result;
    assert_int_equal(reeve_task_parent_result(task, handle, &result), REEVE_OK);
    return result;
}

static void by_a_task_that_waited(void **state)
{
    (void)state;
    const rv_task_host host = {.ask = ask, .ns = "reeve"};
    reeve_task task;
    settle_odd();
    rv_task_init(&task);
    rv_task_begin(&task);
    task.queue = "q";
    task.id = "x";
    task.host = &host;
    for (size_t i = 0; i < ODD; i++) {
        char handle[REEVE_HANDLE_MAX];
        (void)snprintf(handle, sizeof(handle), "q/%s", odd[i].id);
        reeve_bytes result = result_of_parent(&task, handle);
        assert_non_null(result.data);
        assert_int_equal(result.length, odd[i].result.length);
        assert_memory_equal(result.data, odd[i].result.data, result.length);
    }
    assert_null(result_of_parent(&task, "q/none").data);
    assert_null(result_of_parent(&task, "other/a").data);
    test_put("q", "without");
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_null(result_of_parent(&task, "q/without").data);
    test_settle(&hand, TEST_DONE("without"));
    assert_null(result_of_parent(&task, "q/without").data);
    rv_task_fini(&task);
}

/* ---- when there are any ---------------------------------------------------------------------------------------- */

/* Completes tasks <name><first> and on, each with the result "r-<id>". */
static void complete(const char *name, int first, int count)
{
    static test_outcome outcomes[RV_BATCH_MAX];
    static char ids[RV_BATCH_MAX][32], results[RV_BATCH_MAX][40];
    for (int i = 0; i < count; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%s%03d", name, first + i);
        (void)snprintf(results[i], sizeof(results[i]), "r-%s%03d", name, first + i);
        outcomes[i] = (test_outcome){0,
                                     {.id = ids[i],
                                      .outcome = REEVE_OUTCOME_DONE,
                                      .has_result = true,
                                      .result = {results[i], strlen(results[i])}}};
        test_put("q", ids[i]);
    }
    assert_int_equal(test_lease(&hand, (unsigned)count), count);
    (void)test_turn(&hand, 0, outcomes, (size_t)count);
    assert_string_equal(hand.refused, "");
}

/* Of a page of those that have completed: each has its own. Returns how many there are in all. */
static uint64_t check_some(uint64_t offset, size_t limit)
{
    reeve_task_info **list;
    size_t count;
    uint64_t total;
    test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_COMPLETED, offset, limit, &list, &count, &total));
    assert_int_equal(count, limit < total - offset ? limit : total - offset);
    for (size_t i = 0; i < count; i++) {
        char expected[64];
        (void)snprintf(expected, sizeof(expected), "r-%s", list[i]->id);
        assert_non_null(list[i]->result.data);
        assert_string_equal(list[i]->result.data, expected);
    }
    reeve_task_list_free(list, count);
    return total;
}

static uint64_t check_all(void)
{
    uint64_t total = check_some(0, 1000);
    assert_in_range(total, 0, 1000);
    return total;
}

static void keep(int64_t age_ms, int64_t count)
{
    const reeve_keep kept = {.age_ms = age_ms, .count = count};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &kept}));
}

static void four_and_small(void **state)
{
    (void)state;
    static const char larger[257] = {0};
    complete("a", 0, 3);
    check_kept(0, 3);
    complete("b", 0, 4);
    check_kept(1, 3);
    assert_int_equal(check_all(), 7);
    test_put("q", "c d e f g");
    assert_int_equal(test_lease(&hand, 5), 5);
    test_settle(&hand, TEST_RESULT("c", "1"), TEST_RESULT("d", "2"), TEST_RESULT("e", "3"),
                {0, {.id = "f", .outcome = REEVE_OUTCOME_DONE, .has_result = true, .result = {larger, 257}}},
                TEST_RESULT("g", "5"));
    check_kept(1, 8);
}

static void beside_others(void **state)
{
    (void)state;
    test_put("q", "a b c d e f g");
    assert_int_equal(test_lease(&hand, 7), 7);
    test_settle(&hand, TEST_RESULT("a", "1"), TEST_DONE("b"), TEST_RESULT("c", "3"), TEST_RETRY("d", 0), TEST_FAIL("e"),
                TEST_RESULT("f", "6"), TEST_RESULT("g", "7"));
    check_kept(1, 0);
    assert_string_equal(test_state("q", "e"), "dead");
    static const char *const results[] = {"1", NULL, "3", NULL, NULL, "6", "7"};
    for (int i = 0; i < 7; i++) {
        char id[2] = {(char)('a' + i), '\0'};
        reeve_task_info *info = test_show("q", id);
        if (results[i] == NULL) assert_null(info->result.data);
        if (results[i] != NULL) assert_string_equal(info->result.data, results[i]);
        reeve_task_info_free(info);
    }
}

static void turns_of_one_ms(void **state)
{
    (void)state;
    complete("a", 0, 4);
    complete("b", 0, 50);
    complete("c", 0, 5);
    check_kept(1, 0);
    assert_int_equal(check_all(), 59);
    test_clock_advance(1);
    complete("d", 0, 4);
    check_kept(2, 0);
    assert_int_equal(check_all(), 63);
}

static void as_many_as_there_may_be(void **state)
{
    (void)state;
    enum { TURNS = 36 }; /* (they tell of more than a call in Lua can have arguments) */
    keep(-1, -1);
    for (int i = 0; i < TURNS; i++) complete("a", i * RV_BATCH_MAX, RV_BATCH_MAX);
    check_kept(1, 0);
    check_some(0, 1000);
    test_ok(test_client, reeve_delete(test_client, "q", "a000")); /* (it is taken apart) */
    check_kept(0, TURNS * RV_BATCH_MAX - 1);
    check_some(0, 1000);
    check_some(TURNS * RV_BATCH_MAX - 1001, 1000);
}

static void turns_that_take_the_longer_way(void **state)
{
    enum { WAITED, LIMITED, COUNTED, HEARD, WAYS };
    for (int way = 0; way < WAYS; way++) {
        (void)set_up(state);
        if (way == WAITED) (void)test_cmd(test_conn, "HSET " Q "settings waiters 1");
        if (way == LIMITED) test_limit_queue(1000, NULL);
        if (way == COUNTED) (void)test_cmd(test_conn, "HSET " Q "settings completed_bytes 1000");
        if (way == HEARD) test_ok(test_client, reeve_events_keep(test_client, "q", 10));
        complete("a", 0, 20);
        check_kept(0, 20);
        assert_int_equal(check_all(), 20);
        if (way == COUNTED) assert_int_equal(test_number("HGET " Q "result_sizes #"), 20 * 6);
    }
}

static void not_of_those_that_are_refused(void **state)
{
    (void)state;
    test_put("q", "a b c d e f");
    assert_int_equal(test_lease(&hand, 6), 6);
    test_settle(&hand, TEST_DONE("b"), TEST_DONE("e"));
    test_settle(&hand, TEST_RESULT("a", "r-a"), TEST_RESULT("b", "x"), TEST_RESULT("c", "r-c"), TEST_RESULT("d", "r-d"),
                TEST_RESULT("e", "x"), TEST_RESULT("f", "r-f"));
    assert_string_equal(hand.refused, "b e");
    check_kept(0, 4);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "results d"), "r-d");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "results b"), "(nil)");
}

static void none_where_none_are_kept(void **state)
{
    (void)state;
    keep(-1, 0);
    complete("a", 0, 20);
    keep(0, -1);
    complete("b", 0, 20);
    assert_int_equal(test_number("EXISTS " Q "results " Q "result_blocks " Q "tasks"), 0);
}

/* ---- how they go ----------------------------------------------------------------------------------------------- */

static void with_their_tasks_by_count(void **state)
{
    (void)state;
    keep(-1, 12);
    for (int i = 0; i < 20; i++) {
        complete("a", 5 * i, 5);
        assert_int_equal(check_all(), i < 2 ? 5 * (i + 1) : 12);
        check_kept(i < 2 ? i + 1 : 3, 0);
        test_clock_advance(1);
    }
    keep(-1, 5);
    test_maintain_all("q");
    check_kept(1, 0);
    keep(-1, 1);
    test_maintain_all("q");
    check_kept(1, 0);
    assert_int_equal(check_all(), 1);
    test_ok(test_client, reeve_delete(test_client, "q", "a099"));
    assert_int_equal(test_number("EXISTS " Q "results " Q "result_blocks " Q "tasks"), 0);
}

static void with_their_tasks_by_age(void **state)
{
    (void)state;
    keep(1000, -1);
    for (int i = 0; i < 10; i++) {
        complete("a", 5 * i, 5);
        test_clock_advance(100);
    }
    for (int i = 9; i >= 0; i--) {
        (void)test_maintain("q", 3); /* (some at a time) */
        assert_int_equal(check_all(), 5 * i + 2);
        check_kept(i + 1, 0);
        test_maintain_all("q");
        check_kept(i, 0);
        assert_int_equal(check_all(), 5 * i);
        test_clock_advance(100);
    }
    assert_int_equal(test_number("EXISTS " Q "results " Q "result_blocks " Q "tasks"), 0);
}

/* The clock goes back: what seems to end in the future goes first, for it came before the rest; then the oldest. */
static void with_their_tasks_when_the_time_went_back(void **state)
{
    (void)state;
    complete("a", 0, 5);
    test_clock_advance(-1000);
    complete("b", 0, 5);
    test_clock_advance(500);
    complete("c", 0, 5);
    check_kept(3, 0);
    test_clock_advance(1);
    keep(-1, 10);
    test_maintain_all("q");
    check_kept(2, 0);
    assert_string_equal(test_state("q", "a000"), "");
    assert_int_equal(check_all(), 10);
    keep(-1, 5);
    test_maintain_all("q");
    assert_string_equal(test_state("q", "c000"), "completed");
    assert_int_equal(check_all(), 5);
    test_clock_advance(1000);
    keep(100, -1);
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "results " Q "result_blocks " Q "tasks"), 0);
}

static void one_by_one(void **state)
{
    (void)state;
    complete("a", 0, 5);
    test_clock_advance(1);
    complete("b", 0, 5);
    test_ok(test_client, reeve_delete(test_client, "q", "a002"));
    check_kept(1, 4);
    assert_int_equal(check_all(), 9);
    for (int i = 0; i < 5; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "a%03d", i);
        if (i != 2) test_ok(test_client, reeve_delete(test_client, "q", id));
        check_kept(1, i < 2 ? 3 - i : 4 - i);
    }
    assert_int_equal(check_all(), 5);
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_DELETE,
                                           &(reeve_filter){.state = REEVE_STATE_COMPLETED}, NULL, NULL, NULL));
    assert_int_equal(test_number("EXISTS " Q "results " Q "result_blocks " Q "tasks"), 0);
}

/* What was trimmed does not come back. */
static void trimmed_and_then_deleted(void **state)
{
    (void)state;
    complete("a", 0, 6);
    test_clock_advance(1);
    keep(-1, 4);
    test_maintain_all("q");
    check_kept(1, 0);
    test_ok(test_client, reeve_delete(test_client, "q", "a003"));
    check_kept(0, 3);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "results a000"), "(nil)");
    assert_int_equal(check_all(), 3);
}

/* All in one ms: ended, trimmed, and ended again, with another result or none. */
static void again_under_their_ids(void **state)
{
    (void)state;
    complete("a", 0, 6);
    keep(-1, 3);
    test_maintain_all("q");
    check_kept(0, 3);
    keep(-1, -1);
    test_put("q", "a000");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_DONE("a000"));
    reeve_task_info *info = test_show("q", "a000");
    assert_null(info->result.data);
    reeve_task_info_free(info);
    complete("a", 1, 1);
    test_put("q", "a002 b c d");
    assert_int_equal(test_lease(&hand, 4), 4);
    test_settle(&hand, TEST_RESULT("a002", "again"), TEST_RESULT("b", "1"), TEST_RESULT("c", "2"),
                TEST_RESULT("d", "3"));
    check_kept(1, 4);
    info = test_show("q", "a002");
    assert_string_equal(info->result.data, "again");
    reeve_task_info_free(info);
}

static void keep_bytes(int64_t max)
{
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed_bytes = &max}));
}

/* Each result has six bytes. Result blocks are taken apart before their results are counted; and are made again
 * after. */
static void to_be_counted(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        complete("a", 5 * i, 5);
        test_clock_advance(1);
    }
    keep_bytes(1000);
    assert_int_equal(test_maintain("q", 6).more, 1);
    check_kept(2, 10);
    assert_int_equal(test_number("HEXISTS " Q "result_sizes @"), 0);
    complete("b", 0, 5);
    check_kept(2, 15);
    assert_int_equal(test_number("HGET " Q "result_sizes #"), 30);
    test_maintain_all("q");
    check_kept(0, 25);
    assert_int_equal(test_number("HGET " Q "result_sizes #"), 150);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "result_sizes @"), "end");
    assert_int_equal(check_all(), 25);
    keep_bytes(60);
    test_maintain_all("q");
    assert_int_equal(check_all(), 10);
    check_kept(0, 10);
    keep_bytes(0);
    complete("c", 0, 5);
    check_kept(1, 10);
    test_clock_advance(1);
    keep(-1, 5);
    test_maintain_all("q");
    check_kept(1, 0);
    assert_int_equal(check_all(), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(by_show_wait_list_and_tag, set_up),
        cmocka_unit_test_setup(by_a_task_that_waited, set_up),
        cmocka_unit_test_setup(four_and_small, set_up),
        cmocka_unit_test_setup(beside_others, set_up),
        cmocka_unit_test_setup(turns_of_one_ms, set_up),
        cmocka_unit_test_setup(as_many_as_there_may_be, set_up),
        cmocka_unit_test_setup(turns_that_take_the_longer_way, set_up),
        cmocka_unit_test_setup(not_of_those_that_are_refused, set_up),
        cmocka_unit_test_setup(none_where_none_are_kept, set_up),
        cmocka_unit_test_setup(with_their_tasks_by_count, set_up),
        cmocka_unit_test_setup(with_their_tasks_by_age, set_up),
        cmocka_unit_test_setup(with_their_tasks_when_the_time_went_back, set_up),
        cmocka_unit_test_setup(one_by_one, set_up),
        cmocka_unit_test_setup(trimmed_and_then_deleted, set_up),
        cmocka_unit_test_setup(again_under_their_ids, set_up),
        cmocka_unit_test_setup(to_be_counted, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_result_blocks", tests, test_place_start, test_place_stop);
}
