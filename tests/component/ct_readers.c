/* The record of a completed task is kept for those that waited for it, whatever the retention says, until they have
 * ended; then it goes, and nothing of that is left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/keys.h"
#include "protocol/scripts.h"
#include "support/depend.h"
#include "support/script.h"
#include "support/worker.h"

#define OTHERS 10300

static void keep_none(const char *queue)
{
    const reeve_keep none = {0, 0};
    test_ok(test_client, reeve_queue_set(test_client, queue, &(reeve_queue_settings){.completed = &none}));
}

/* Leases what is first in the queue, which must be this one, and completes it with a result. */
static void complete_with(const char *queue, const char *id, const char *result)
{
    test_hand hand;
    test_hand_init(&hand, "9", queue);
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(hand.leased[0].id, id);
    const test_outcome outcome = {0,
                                  {.id = id,
                                   .outcome = REEVE_OUTCOME_DONE,
                                   .has_info = hand.leased[0].has_info,
                                   .has_result = true,
                                   .result = {result, strlen(result)}}};
    (void)test_turn(&hand, 0, &outcome, 1);
    assert_string_equal(hand.refused, "");
}

static const char *result_of(const char *queue, const char *id)
{
    char key[64];
    const rv_reply *reply;
    (void)snprintf(key, sizeof(key), "reeve:{%s}:", queue);
    rv_cmd_script(test_conn, &rv_script_result, 1, 1);
    rv_args(test_conn, key);
    rv_args(test_conn, id);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    return rv_reply_is(reply, RV_TEXT) ? reply->text : "";
}

/* A completed parent, that is kept for whoever reads it. */
static void is_kept(const char *queue, const char *id, const char *result)
{
    assert_string_equal(test_state(queue, id), "completed");
    assert_string_equal(result_of(queue, id), result);
}

static void is_gone(const char *queue, const char *id)
{
    assert_string_equal(test_state(queue, id), "");
    assert_string_equal(result_of(queue, id), "");
    assert_int_equal(test_number("HEXISTS reeve:{%s}:tasks %s", queue, id), 0);
    assert_int_equal(test_number("EXISTS reeve:{%s}:info:%s reeve:{%s}:parents:%s", queue, id, queue, id), 0);
}

static void nothing_is_left(const char *queues)
{
    test_settle_queues(queues);
    for (const char *queue = queues; *queue; queue += queue[1] ? 2 : 1) {
        char name[] = {*queue, '\0'};
        assert_string_equal(test_cmd(test_conn, "KEYS reeve:{%s}:read*:*", name), "[]");
        assert_int_equal(test_number("EXISTS reeve:{%s}:read reeve:{%s}:retained", name, name), 0);
        assert_int_equal(test_number("HEXISTS reeve:{%s}:settings reads", name), 0);
        test_no_edges_left(name);
    }
}

/* ---- what is kept ---------------------------------------------------------------------------------------------- */

static void beyond_thousands_of_others(void **state)
{
    (void)state;
    test_put("q", "parent hold");
    test_put_after("q", "child", "f:q/parent f:q/hold");
    complete_with("q", "parent", "bee");
    test_hand hand;
    test_hand_init(&hand, "9", "q");
    assert_int_equal(test_lease(&hand, 1), 1); /* (hold) */
    for (int sent = 0; sent < OTHERS; sent += 500) {
        char format[32];
        (void)snprintf(format, sizeof(format), "o%d-%%03zu", sent);
        test_put_many("q", 500, format);
        test_hand other;
        test_hand_init(&other, "8", "q");
        assert_int_equal(test_lease(&other, 500), 500);
        test_outcome done[500];
        for (int i = 0; i < 500; i++) done[i] = (test_outcome)TEST_DONE(other.leased[i].id);
        (void)test_turn(&other, 0, done, 500);
    }
    test_maintain_all("q");
    assert_string_equal(test_cmd(test_conn, "ZSCORE reeve:{q}:completed parent"), "(nil)");
    is_kept("q", "parent", "bee");
    const test_outcome held = TEST_DONE("hold");
    (void)test_turn(&hand, 0, &held, 1);
    is_kept("q", "parent", "bee");
    test_complete("q", "child");
    is_gone("q", "parent");
    nothing_is_left("q");
}

static void where_none_are_kept(void **state)
{
    (void)state;
    keep_none("q");
    test_put("q", "a b");
    test_put_after("q", "c", "f:q/a f:q/b");
    test_put_after("q", "d", "w:q/a");
    complete_with("q", "a", "bee");
    is_kept("q", "a", "bee");
    complete_with("q", "b", "cee");
    test_complete("q", "d");
    is_kept("q", "a", "bee");
    is_kept("q", "b", "cee");
    test_complete("q", "c");
    is_gone("q", "a");
    is_gone("q", "b");
    nothing_is_left("q");
}

static void by_age_and_bytes(void **state)
{
    (void)state;
    const int64_t few = 10;
    const reeve_keep brief = {1, -1};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed_bytes = &few}));
    test_put("q", "a b");
    test_put_after("q", "c", "f:q/a");
    complete_with("q", "a", "more than ten bytes");
    is_kept("q", "a", "more than ten bytes");
    /* They do not count for others. */
    complete_with("q", "b", "ten bytes.");
    test_maintain_all("q");
    is_kept("q", "b", "ten bytes.");
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &brief}));
    test_put_after("q", "d", "f:q/b");
    test_pause();
    test_maintain_all("q");
    assert_int_equal(test_number("ZCARD reeve:{q}:completed"), 0);
    is_kept("q", "a", "more than ten bytes");
    is_kept("q", "b", "ten bytes.");
    test_complete("q", "c");
    is_gone("q", "a");
    test_complete("q", "d");
    is_gone("q", "b");
    nothing_is_left("q");
}

/* Its result stands among others of a turn, and it had completed before anybody waited for it. */
static void one_that_had_completed(void **state)
{
    (void)state;
    const reeve_keep one = {-1, 1};
    test_hand hand;
    test_hand_init(&hand, "9", "q");
    test_put("q", "a b");
    assert_int_equal(test_lease(&hand, 2), 2);
    const test_outcome done[] = {
        {0, {.id = "a", .outcome = REEVE_OUTCOME_DONE, .has_result = true, .result = {"bee", 3}}},
        {0, {.id = "b", .outcome = REEVE_OUTCOME_DONE, .has_result = true, .result = {"cee", 3}}}};
    (void)test_turn(&hand, 0, done, 2);
    test_put_after("q", "c", "f:q/a");
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &one}));
    test_put_after("q", "e", "f:q/a");
    test_put_after("q", "f", "f:q/c");
    test_put("q", "d");
    test_complete("q", "c");
    is_kept("q", "a", "bee");
    test_hand_init(&hand, "8", "q");
    assert_int_equal(test_lease(&hand, 3), 3);
    test_put("q", "g");
    test_complete("q", "g");
    test_maintain_all("q");
    assert_int_equal(test_number("ZCARD reeve:{q}:completed"), 1);
    is_kept("q", "a", "bee");
    is_kept("q", "c", "");
    const test_outcome ends[] = {{0, {.id = "e", .outcome = REEVE_OUTCOME_DONE, .has_info = true}},
                                 {0, {.id = "f", .outcome = REEVE_OUTCOME_DONE, .has_info = true}},
                                 TEST_DONE("d")};
    (void)test_turn(&hand, 0, ends, 3);
    is_gone("q", "a");
    is_gone("q", "c");
    nothing_is_left("q");
}

static void many_children(void **state)
{
    (void)state;
    enum { CHILDREN = 60 };
    keep_none("q");
    test_put("q", "a");
    char id[16];
    for (int i = 0; i < CHILDREN; i++) {
        (void)snprintf(id, sizeof(id), "c%02d", i);
        test_put_after("q", id, "f:q/a");
    }
    test_put_after("p", "far", "f:q/a");
    complete_with("q", "a", "bee");
    is_kept("q", "a", "bee");
    test_settle_queues("p q");
    for (int i = 0; i < CHILDREN; i++) {
        (void)snprintf(id, sizeof(id), "c%02d", i);
        is_kept("q", "a", "bee");
        test_complete("q", id);
    }
    is_kept("q", "a", "bee");
    test_complete("p", "far");
    test_settle_queues("p q");
    is_gone("q", "a");
    nothing_is_left("p q");
}

static void many_parents(void **state)
{
    (void)state;
    enum { PARENTS = 150 };
    static char handles[PARENTS][16];
    static reeve_parent parents[PARENTS];
    keep_none("q");
    test_put_many("q", PARENTS, "n%03zu");
    for (int i = 0; i < PARENTS; i++) {
        (void)snprintf(handles[i], sizeof(handles[i]), "q/n%03d", i);
        parents[i] = (reeve_parent){.handle = handles[i]};
    }
    test_put_spec((reeve_task_spec){.id = "c", .after = parents, .after_count = PARENTS});
    for (int i = 0; i < PARENTS; i++) complete_with("q", handles[i] + 2, "bee");
    for (int i = 0; i < PARENTS; i++) is_kept("q", handles[i] + 2, "bee");
    test_complete("q", "c");
    test_settle_queues("q");
    for (int i = 0; i < PARENTS; i++) is_gone("q", handles[i] + 2);
    nothing_is_left("q");
}

/* What the one that was deleted read is given back in steps; meanwhile another one of that id comes, and reads some of
 * it. */
static void a_child_of_many_parents_that_comes_again(void **state)
{
    (void)state;
    enum { PARENTS = 80 };
    static char handles[PARENTS][16];
    static reeve_parent parents[PARENTS];
    keep_none("q");
    test_put("q", "last");
    test_put_many("q", PARENTS - 1, "n%03zu");
    for (int i = 0; i < PARENTS; i++) {
        (void)snprintf(handles[i], sizeof(handles[i]), "q/n%03d", i);
        parents[i] = (reeve_parent){.handle = i < PARENTS - 1 ? handles[i] : "q/last"};
    }
    test_put_spec((reeve_task_spec){.id = "c", .after = parents, .after_count = PARENTS});
    test_hand hand;
    test_hand_init(&hand, "9", "q");
    assert_int_equal(test_lease(&hand, 1), 1); /* last */
    for (int i = 0; i < PARENTS - 1; i++) complete_with("q", handles[i] + 2, "bee");
    assert_string_equal(test_script_text(&rv_script_delete, (const char *const[]){"reeve:{q}:", "c", "", NULL}),
                        "ok more");
    test_put_after("q", "c", "f:q/n000 f:q/last");
    test_settle_queues("q");
    is_kept("q", "n000", "bee");
    is_gone("q", "n001");
    const test_outcome done = TEST_DONE("last");
    (void)test_turn(&hand, 0, &done, 1);
    is_kept("q", "n000", "bee");
    test_complete("q", "c");
    is_gone("q", "n000");
    nothing_is_left("q");
}

/* ---- other queues ---------------------------------------------------------------------------------------------- */

static void across_queues(void **state)
{
    (void)state;
    keep_none("p");
    keep_none("q");
    test_put("p", "a");
    test_put("q", "hold");
    test_put_after("q", "c", "f:p/a f:q/hold");
    complete_with("p", "a", "bee");
    is_kept("p", "a", "bee");
    test_settle_queues("p q");
    is_kept("p", "a", "bee");
    /* It has completed when this one comes. */
    test_put_after("q", "d", "f:p/a");
    test_complete("q", "hold");
    test_complete("q", "d");
    test_settle_queues("p q");
    is_kept("p", "a", "bee");
    test_complete("q", "c");
    test_settle_queues("p q");
    is_gone("p", "a");
    is_gone("q", "hold");
    nothing_is_left("p q");
}

static void children_elsewhere_that_left_meanwhile(void **state)
{
    (void)state;
    keep_none("p");
    test_put("p", "a");
    test_put("q", "hold");
    test_put_after("q", "c", "f:p/a f:q/hold");
    test_put_after("q", "d", "f:p/a f:q/hold");
    complete_with("p", "a", "bee");
    /* The parent's end is on its way. */
    test_ok(test_client, reeve_cancel(test_client, "q", "c"));
    test_ok(test_client, reeve_delete(test_client, "q", "d"));
    test_settle_queues("p q");
    is_gone("p", "a");
    nothing_is_left("p q");
}

/* ---- how they end ---------------------------------------------------------------------------------------------- */

static void begin(void)
{
    (void)test_place_empty(NULL);
    keep_none("q");
    test_put("q", "a hold");
    test_put_after("q", "c", "f:q/a f:q/hold");
    complete_with("q", "a", "bee");
    is_kept("q", "a", "bee");
}

static void however_the_child_ends(void **state)
{
    (void)state;
    begin();
    test_kill("q", "hold");
    test_settle_queues("q");
    assert_string_equal(test_state("q", "c"), "dead");
    is_gone("q", "a");
    nothing_is_left("q");
    begin();
    test_complete("q", "hold");
    test_kill("q", "c");
    is_gone("q", "a");
    nothing_is_left("q");
    begin();
    test_ok(test_client, reeve_cancel(test_client, "q", "c"));
    is_gone("q", "a");
    begin();
    test_ok(test_client, reeve_delete(test_client, "q", "c"));
    is_gone("q", "a");
    begin();
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "c", (const char *[]){"q/a"}, 1));
    is_gone("q", "a");
    test_complete("q", "hold");
    test_complete("q", "c");
    nothing_is_left("q");
}

static void the_record_deleted_by_hand(void **state)
{
    (void)state;
    begin();
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    is_gone("q", "a");
    test_complete("q", "hold");
    test_complete("q", "c");
    nothing_is_left("q");
}

/* ---- a worker -------------------------------------------------------------------------------------------------- */

static char read_by_handler[2][64];

static reeve_outcome gather(reeve_task *task, void *user)
{
    reeve_bytes result;
    unsigned attempt = (unsigned)reeve_task_attempt(task);
    (void)user;
    TEST_MUST(reeve_task_parent_result(task, "p/a", &result) == REEVE_OK);
    TEST_MUST(attempt <= 2);
    rv_copy_text(read_by_handler[attempt - 1], sizeof(read_by_handler[0]), result.data ? result.data : "(none)");
    return attempt == 1 ? reeve_task_retry(task, 0, "k", "m") : reeve_task_done(task, NULL, 0);
}

static void a_handler_finds_it_in_each_attempt(void **state)
{
    (void)state;
    static const reeve_handler gatherer = {REEVE_HANDLER, .type = "gather", .run = gather};
    keep_none("p");
    keep_none("q");
    const reeve_parent after = {.handle = "p/a"};
    test_put_spec((reeve_task_spec){.queue = "p", .id = "a", .type = "act", .payload = {"result bee", 10}});
    test_put_spec((reeve_task_spec){.id = "c", .type = "gather", .after = &after, .after_count = 1});
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_register(worker, &gatherer), REEVE_OK);
    test_worker_pool(worker, "p q", 2, 16);
    test_worker_start(worker);
    TEST_AWAIT(strcmp(test_state("q", "c"), "") == 0);
    TEST_AWAIT(strcmp(test_state("p", "a"), "") == 0);
    assert_string_equal(read_by_handler[0], "bee");
    assert_string_equal(read_by_handler[1], "bee");
    reeve_worker_destroy(worker);
    nothing_is_left("p q");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(beyond_thousands_of_others, test_place_empty),
        cmocka_unit_test_setup(where_none_are_kept, test_place_empty),
        cmocka_unit_test_setup(by_age_and_bytes, test_place_empty),
        cmocka_unit_test_setup(one_that_had_completed, test_place_empty),
        cmocka_unit_test_setup(many_children, test_place_empty),
        cmocka_unit_test_setup(many_parents, test_place_empty),
        cmocka_unit_test_setup(a_child_of_many_parents_that_comes_again, test_place_empty),
        cmocka_unit_test_setup(across_queues, test_place_empty),
        cmocka_unit_test_setup(children_elsewhere_that_left_meanwhile, test_place_empty),
        cmocka_unit_test_setup(however_the_child_ends, test_place_empty),
        cmocka_unit_test_setup(the_record_deleted_by_hand, test_place_empty),
        cmocka_unit_test_setup(a_handler_finds_it_in_each_attempt, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_readers", tests, test_place_start, test_place_stop);
}
