/* A task goes to another queue with all that belongs to it, and those that wait for it, or that it waits for, know it
 * there. */
#include <stdio.h>
#include <string.h>

#include "protocol/scripts.h"
#include "reeve/change.h"
#include "reeve/tags.h"
#include "support/depend.h"
#include "support/queue.h"

#define Q "reeve:{q}:"
#define B "reeve:{b}:"

static test_hand hand, there;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    test_hand_init(&there, "1", "b");
    return test_place_empty(state);
}

static void put(const char *queue, const char *id, const char *parent, reeve_on_parent_death rule)
{
    const reeve_parent after = {.handle = parent, .on_death = rule};
    const reeve_task_spec spec = {
        .queue = queue, .type = "t", .id = id, .after = parent ? &after : NULL, .after_count = parent != NULL};
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
}

static void move(const char *id)
{
    test_ok(test_client, reeve_move(test_client, "q", id, "b"));
    assert_string_equal(test_state("q", id), "");
}

static void complete(test_hand *by, const char *id)
{
    assert_int_equal(test_lease(by, 1), 1);
    assert_string_equal(by->leased[0].id, id);
    test_settle(by, {0, {.id = id, .outcome = REEVE_OUTCOME_DONE, .has_info = true}});
    assert_string_equal(by->refused, "");
    test_settle_queues("q b c");
}

/* ---- what belongs to it ---------------------------------------------------------------------------------------- */

static void a_task_goes_with_all_that_belongs_to_it(void **state)
{
    (void)state;
    const char *const tags[] = {"x"};
    const reeve_meta meta[] = {{"k", "v"}};
    test_put_spec((reeve_task_spec){.id = "a",
                                    .payload = {"p\0\n\xff", 4},
                                    .priority = -3,
                                    .group = "g",
                                    .attempts = 5,
                                    .tags = tags,
                                    .tag_count = 1,
                                    .meta = meta,
                                    .meta_count = 1,
                                    .unique = "u"});
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_RETRY("a", 60000));
    test_ok(test_client, reeve_move(test_client, "q", "a", "b"));
    assert_string_equal(test_state("q", "a"), "");
    reeve_task_info *info = test_show("b", "a");
    assert_int_equal(info->state, REEVE_STATE_SCHEDULED);
    assert_int_equal(info->payload.length, 4);
    assert_memory_equal(info->payload.data, "p\0\n\xff", 4);
    assert_int_equal(info->priority, -3);
    assert_string_equal(info->group, "g");
    assert_int_equal(info->attempts, 5);
    assert_int_equal(info->failures, 1);
    assert_string_equal(info->error_kind, "k");
    assert_string_equal(info->unique, "u");
    assert_non_null(strstr(info->history, "\"what\":\"retry\""));
    assert_non_null(strstr(info->history, "\"what\":\"moved\",\"from\":\"q\""));
    reeve_task_info_free(info);
    assert_string_equal(test_cmd(test_conn, "GET " B "unique:u"), "a");
    assert_int_equal(test_number("ZCARD " B "tag:x"), 1);
    assert_int_equal(test_number("EXISTS " Q "tag:x " Q "tags " Q "unique:u " Q "info:a " Q "tasks " Q "scheduled"), 0);
    assert_int_equal(test_number("LLEN " Q "outbox"), 0);
    assert_int_equal(test_number("SISMEMBER reeve:queues b"), 1);
}

static void ready_tasks_keep_their_order(void **state)
{
    (void)state;
    test_put("q", "a b c d e f"); /* a segment */
    move("d");
    move("b");
    (void)test_lease(&there, 10);
    assert_string_equal(test_leased_ids(&there), "d b");
    (void)test_lease(&hand, 10);
    assert_string_equal(test_leased_ids(&hand), "a c e f");
    test_refused(test_client, reeve_move(test_client, "q", "a", "b"), REEVE_ESTATE, "it is running");
}

static void what_has_ended_runs_again_there(void **state)
{
    (void)state;
    test_put("q", "c d k");
    assert_int_equal(test_lease(&hand, 3), 3);
    test_ok(test_client, reeve_cancel(test_client, "q", "k"));
    test_settle(&hand, TEST_RESULT("c", "r"), TEST_FAIL("d"),
                {0, {.id = "k", .outcome = REEVE_OUTCOME_SNOOZE, .delay_ms = 1}});
    assert_string_equal(test_state("q", "k"), "cancelled");
    move("c");
    move("d");
    move("k");
    assert_int_equal(test_lease(&there, 10), 3);
    for (int i = 0; i < 3; i++) assert_int_equal(there.leased[i].failures, 0);
    assert_int_equal(
        test_number("EXISTS " Q "failures " Q "results " Q "dead " Q "completed " Q "cancelled " Q "tasks"), 0);
}

static void what_has_no_place_there_stays(void **state)
{
    (void)state;
    char before[64];
    test_put("q", "a");
    test_put_spec((reeve_task_spec){.id = "u", .unique = "k"});
    test_put("b", "a");
    const reeve_task_spec holder = {.queue = "b", .type = "t", .id = "h", .unique = "k"};
    test_ok(test_client, reeve_enqueue(test_client, &holder, NULL));
    const reeve_parent open = {.handle = "!"};
    test_put_spec((reeve_task_spec){.id = "o", .after = &open, .after_count = 1});
    rv_copy_text(before, sizeof(before), test_digest());
    test_refused(test_client, reeve_move(test_client, "q", "a", "b"), REEVE_EEXISTS, "b/a exists");
    test_refused(test_client, reeve_move(test_client, "q", "u", "b"), REEVE_EUNIQUE, "held by b/h");
    test_refused(test_client, reeve_move(test_client, "q", "o", "b"), REEVE_ESTATE, "not all named");
    test_refused(test_client, reeve_move(test_client, "q", "n", "b"), REEVE_ENOTFOUND, "q/n");
    test_refused(test_client, reeve_move(test_client, "q", "a", "q"), REEVE_EINVAL, "q");
    assert_string_equal(test_digest(), before);
}

/* ---- the message ----------------------------------------------------------------------------------------------- */

static void a_task_that_was_moved_twice_is_there_once(void **state)
{
    (void)state;
    test_put("q", "a");
    move("a");
    test_ok(test_client, reeve_move(test_client, "q", "a", "b"));
    assert_string_equal(test_state("b", "a"), "ready");
    test_ok(test_client, reeve_move(test_client, "b", "a", "q"));
    assert_string_equal(test_state("q", "a"), "ready");
    move("a");
    complete(&there, "a");
}

static void a_message_that_comes_again_does_nothing(void **state)
{
    (void)state;
    const rv_reply *reply;
    char before[64];
    const char *const args[] = {B, "q 1000000 0", "a", "{\"info\":[],\"parents\":[],\"children\":[]}",
                                "{\"at\":5,\"type\":\"t\"}\np"};
    for (int i = 0; i < 2; i++) {
        rv_cmd_script(test_conn, &rv_script_arrive, 1, 4);
        for (int j = 0; j < 5; j++) rv_args(test_conn, args[j]);
        assert_int_equal(rv_conn_call(test_conn, test_patience(), &reply), REEVE_OK);
        assert_true(rv_reply_is_text(reply, "a"));
        if (i > 0) assert_string_equal(test_digest(), before);
        rv_copy_text(before, sizeof(before), test_digest());
    }
    /* Another task of that id has come meanwhile: it gets another one. */
    rv_cmd_script(test_conn, &rv_script_arrive, 1, 4);
    for (int j = 0; j < 5; j++) rv_args(test_conn, j == 1 ? "q 1000001 0" : args[j]);
    assert_int_equal(rv_conn_call(test_conn, test_patience(), &reply), REEVE_OK);
    assert_true(rv_reply_is_text(reply, "a:moved:1000001"));
    assert_int_equal(test_number("ZCARD " B "ready"), 2);
}

/* ---- dependencies ---------------------------------------------------------------------------------------------- */

static void tasks_of_all_queues_wait_for_it_there(void **state)
{
    (void)state;
    put("q", "a", NULL, 0);
    put("q", "near", "q/a", REEVE_PARENT_FAIL);
    put("b", "home", "q/a", REEVE_PARENT_WAIT);
    put("c", "far", "q/a", REEVE_PARENT_GO);
    move("a");
    test_settle_queues("q b c");
    assert_string_equal(test_state("q", "near"), "blocked");
    complete(&there, "a");
    assert_string_equal(test_state("q", "near"), "ready");
    assert_string_equal(test_state("b", "home"), "ready");
    assert_string_equal(test_state("c", "far"), "ready");
    assert_int_equal(test_number("EXISTS " Q "linked " B "linked " Q "outbox " B "outbox"), 0);
}

static void it_waits_for_its_parents_there(void **state)
{
    (void)state;
    put("q", "p", NULL, 0);
    put("b", "r", NULL, 0);
    put("c", "s", NULL, 0);
    const reeve_parent after[] = {{.handle = "q/p"}, {.handle = "b/r"}, {.handle = "c/s", .on_death = REEVE_PARENT_GO}};
    test_put_spec((reeve_task_spec){.id = "a", .after = after, .after_count = 3});
    move("a");
    test_settle_queues("q b c");
    assert_string_equal(test_state("b", "a"), "blocked");
    assert_int_equal(test_number("EXISTS " B "children:r"), 1);
    complete(&hand, "p");
    assert_string_equal(test_state("b", "a"), "blocked");
    complete(&there, "r");
    assert_string_equal(test_state("b", "a"), "blocked");
    test_ok(test_client, reeve_fail(test_client, "c", "s", "odd", ""));
    test_settle_queues("q b c");
    assert_string_equal(test_state("b", "a"), "ready");
    complete(&there, "a");
    assert_int_equal(test_number("EXISTS " Q "linked " B "linked " Q "read " B "read reeve:{c}:linked reeve:{c}:read"),
                     0);
}

static void it_dies_of_a_parent_there(void **state)
{
    (void)state;
    put("q", "p", NULL, 0);
    put("q", "a", "q/p", REEVE_PARENT_FAIL);
    put("q", "c", "q/a", REEVE_PARENT_FAIL);
    move("a");
    test_ok(test_client, reeve_fail(test_client, "q", "p", "odd", ""));
    test_settle_queues("q b c");
    assert_string_equal(test_state("b", "a"), "dead");
    assert_string_equal(test_state("q", "c"), "dead");
}

/* The record of its parent is kept until it has ended, whatever the retention says. */
static void it_reads_the_results_of_its_parents_there(void **state)
{
    (void)state;
    const reeve_keep none = {0, 0};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    put("q", "p", NULL, 0);
    put("q", "a", "q/p", REEVE_PARENT_FAIL);
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_RESULT("p", "result"));
    assert_string_equal(test_state("q", "a"), "ready");
    move("a");
    reeve_task_info *info = test_show("q", "p");
    assert_int_equal(info->result.length, 6);
    reeve_task_info_free(info);
    complete(&there, "a");
    assert_string_equal(test_state("q", "p"), "");
    assert_int_equal(test_number("EXISTS " Q "read " Q "retained"), 0);
}

/* A registration for the task was on its way when it was moved. */
static void a_task_that_comes_to_wait_for_it_finds_it_there(void **state)
{
    (void)state;
    const rv_reply *reply;
    put("q", "a", NULL, 0);
    put("c", "x", NULL, 0);
    put("c", "far", "c/x", REEVE_PARENT_FAIL);
    (void)test_cmd(test_conn, "HSET reeve:{c}:parents:far q/a f-1|7");
    move("a");
    rv_cmd_script(test_conn, &rv_script_link, 1, 6);
    const char *const args[] = {Q, "register", "a", "c/far", "f", "7", "0"};
    for (int i = 0; i < 7; i++) rv_args(test_conn, args[i]);
    assert_int_equal(rv_conn_call(test_conn, test_patience(), &reply), REEVE_OK);
    assert_true(rv_reply_is_text(reply, ""));
    assert_non_null(strstr(test_cmd(test_conn, "LINDEX " Q "outbox 0"), "c/far q/a 7 b/a"));
}

/* A retried task waits for a parent that has died, until that is retried, too. */
static void one_that_was_retried_waits_for_a_dead_parent_there(void **state)
{
    (void)state;
    static const char *const parents[] = {"q/p", "b/p", "c/p"};
    for (size_t i = 0; i < 3; i++) {
        char queue[2] = {parents[i][0], '\0'};
        test_hand by;
        test_hand_init(&by, "1", queue);
        assert_int_equal(test_place_empty(state), 0);
        put(queue, "p", NULL, REEVE_PARENT_FAIL);
        put("q", "c", parents[i], REEVE_PARENT_FAIL);
        test_settle_queues("q b c");
        assert_int_equal(test_lease(&by, 1), 1);
        test_settle(&by, TEST_FAIL("p"));
        test_settle_queues("q b c");
        assert_string_equal(test_state("q", "c"), "dead");
        test_ok(test_client, reeve_retry(test_client, "q", "c"));
        test_settle_queues("q b c");
        assert_string_equal(test_state("q", "c"), "blocked");
        move("c");
        test_settle_queues("q b c");
        assert_string_equal(test_state("b", "c"), "blocked");
        test_ok(test_client, reeve_retry(test_client, queue, "p"));
        complete(&by, "p");
        assert_string_equal(test_state("b", "c"), "ready");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_task_goes_with_all_that_belongs_to_it, set_up),
        cmocka_unit_test_setup(ready_tasks_keep_their_order, set_up),
        cmocka_unit_test_setup(what_has_ended_runs_again_there, set_up),
        cmocka_unit_test_setup(what_has_no_place_there_stays, set_up),
        cmocka_unit_test_setup(a_task_that_was_moved_twice_is_there_once, set_up),
        cmocka_unit_test_setup(a_message_that_comes_again_does_nothing, set_up),
        cmocka_unit_test_setup(tasks_of_all_queues_wait_for_it_there, set_up),
        cmocka_unit_test_setup(it_waits_for_its_parents_there, set_up),
        cmocka_unit_test_setup(it_dies_of_a_parent_there, set_up),
        cmocka_unit_test_setup(it_reads_the_results_of_its_parents_there, set_up),
        cmocka_unit_test_setup(a_task_that_comes_to_wait_for_it_finds_it_there, set_up),
        cmocka_unit_test_setup(one_that_was_retried_waits_for_a_dead_parent_there, set_up),
    };
    return cmocka_run_group_tests(tests, test_place_start, test_place_stop);
}
