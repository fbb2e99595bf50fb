/* Tasks that a handler hands on: with its completion or not at all; in its queue or another; and parents' results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scripts.h"
#include "protocol/settlement.h"
#include "support/depend.h"
#include "support/script.h"
#include "support/worker.h"

/* ---- by hand --------------------------------------------------------------------------------------------------- */

static rv_buf hands;

static rv_settlement done_with(const char *id, const reeve_task_spec *specs, size_t count)
{
    rv_buf_clear(&hands);
    for (size_t i = 0; i < count; i++) rv_settlement_chain(&hands, &specs[i], specs[i].id);
    return (rv_settlement){
        .id = id, .outcome = REEVE_OUTCOME_DONE, .chained = {hands.data, hands.length}, .chained_count = count};
}

static void with_the_completion(void **state)
{
    (void)state;
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    test_put("q", "a b");
    const reeve_task_spec specs[] = {
        {.queue = "q", .type = "t", .id = "next", .priority = -1, .payload = {"x\ny\0z", 5}},
        {.queue = "q", .type = "t", .id = "later", .in_ms = 3600000},
        {.queue = "q", .type = "t", .id = "once", .unique = "key"},
        {.queue = "q", .type = "t", .id = "child", .after = &(reeve_parent){.handle = "q/next"}, .after_count = 1},
        {.queue = "p", .type = "t", .id = "far", .payload = {"far\n", 4}}};
    assert_int_equal(test_lease(&hand, 2), 2);
    const test_outcome outcomes[] = {{0, done_with("a", specs, 5)}, TEST_DONE("b")};
    (void)test_turn(&hand, 0, outcomes, 2);
    assert_string_equal(hand.refused, "");
    assert_string_equal(test_state("q", "a"), "completed");
    assert_string_equal(test_state("q", "b"), "completed");
    assert_string_equal(test_state("q", "next"), "ready");
    assert_string_equal(test_state("q", "later"), "scheduled");
    assert_string_equal(test_state("p", "far"), "");
    test_settle_queues("p q");
    assert_string_equal(test_state("q", "once"), "ready");
    assert_string_equal(test_state("q", "child"), "blocked");
    assert_string_equal(test_state("p", "far"), "ready");
    assert_int_equal(test_number("SISMEMBER reeve:queues p"), 1);
    reeve_task_info *info = test_show("q", "next");
    assert_int_equal(info->payload.length, 5);
    assert_memory_equal(info->payload.data, "x\ny\0z", 5);
    assert_int_equal(info->priority, -1);
    reeve_task_info_free(info);
    info = test_show("p", "far");
    assert_string_equal(info->payload.data, "far\n");
    reeve_task_info_free(info);
}

static void not_without_it(void **state)
{
    (void)state;
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    test_put("q", "a");
    const reeve_task_spec specs[] = {{.queue = "q", .type = "t", .id = "next"},
                                     {.queue = "p", .type = "t", .id = "far"}};
    assert_int_equal(test_lease(&hand, 1), 1);
    test_expire(&hand);
    test_maintain_all("q");
    const test_outcome late = {0, done_with("a", specs, 2)};
    (void)test_turn(&hand, 0, &late, 1);
    assert_string_equal(hand.refused, "a");
    assert_string_equal(test_state("q", "next"), "");
    assert_int_equal(test_number("EXISTS reeve:{q}:outbox"), 0);
}

static void sent_twice(void **state)
{
    (void)state;
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    test_put("q", "a");
    const reeve_task_spec specs[] = {{.queue = "q", .type = "t", .id = "next"},
                                     {.queue = "p", .type = "t", .id = "far"}};
    assert_int_equal(test_lease(&hand, 1), 1);
    const test_outcome outcome = {0, done_with("a", specs, 2)};
    (void)test_turn(&hand, 0, &outcome, 1);
    (void)test_turn(&hand, 0, &outcome, 1);
    assert_int_equal(test_number("LLEN reeve:{q}:outbox"), 1);
    /* The message, too. */
    char message[512];
    rv_copy_text(message, sizeof(message), test_cmd(test_conn, "LINDEX reeve:{q}:outbox 0"));
    test_settle_queues("p q");
    const rv_reply *reply;
    rv_cmd(test_conn, 3);
    rv_args(test_conn, "RPUSH");
    rv_args(test_conn, "reeve:{q}:outbox");
    rv_args(test_conn, message);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    test_settle_queues("p q");
    assert_int_equal(test_count("p", "ready"), 1);
    assert_int_equal(test_count("q", "ready"), 1);
}

/* Another program has written a key that the chained task needs: the turn is refused, and the same call, once that is
 * mended, enqueues it. */
static void a_chained_task_that_is_refused_comes_with_the_next_call(void **state)
{
    static const struct {
        const char *key, *options, *becomes;
    } cases[] = {{"scheduled", "{\"in\":3600000}", "scheduled"},
                 {"deadlines", "{\"expires\":3600000}", "ready"},
                 {"tag:red", "{\"tags\":[\"red\"]}", "ready"},
                 {"tags", "{\"tags\":[\"red\"]}", "ready"},
                 {"wake", "", "ready"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_hand hand;
        (void)test_place_empty(state);
        test_hand_init(&hand, "1", "q");
        test_put("q", "a");
        assert_int_equal(test_lease(&hand, 1), 1);
        for (int try = 0; try < 2; try++) {
            (void)test_cmd(test_conn, try == 0 ? "SET reeve:{q}:%s x" : "DEL reeve:{q}:%s", cases[i].key);
            (void)TEST_SCRIPT(turn, "reeve:{q}:", "1", "0", "1", "", hand.sessions[0], "1", hand.sessions[0], "", "0",
                              "2", "chain", "a", "q/next", cases[i].options, "\"type\":\"t\"}\n", "done", "a", "", "",
                              "");
        }
        assert_string_equal(test_state("q", "a"), "completed");
        assert_string_equal(test_state("q", "next"), cases[i].becomes);
    }
}

/* ---- handlers -------------------------------------------------------------------------------------------------- */

/* The payload's number counts down, from queue to queue. */
static reeve_outcome pass_on(reeve_task *task, void *user)
{
    const reeve_bytes payload = reeve_task_payload(task);
    char number[24], id[REEVE_ID_MAX];
    int left = atoi(payload.data);
    (void)user;
    if (left > 0) {
        (void)snprintf(number, sizeof(number), "%d", left - 1);
        const reeve_task_spec spec = {
            .queue = left % 2 ? "p" : "q", .type = "pass", .payload = {number, strlen(number)}};
        TEST_MUST(reeve_task_chain(task, &spec, id) == REEVE_OK);
        TEST_MUST(strlen(id) == 36);
    }
    atomic_fetch_add(&test_ran, 1);
    /* What a failed attempt hands on is not enqueued. */
    if (left == 3 && reeve_task_attempt(task) == 1) return reeve_task_retry(task, 0, "again", "again");
    return reeve_task_done(task, NULL, 0);
}

static atomic_int last_parents;
static char last_results[200];

static reeve_outcome gather(reeve_task *task, void *user)
{
    const reeve_task_parent *parents;
    size_t count, at = 0;
    (void)user;
    TEST_MUST(reeve_task_parents(task, &parents, &count) == REEVE_OK);
    for (size_t i = 0; i < count; i++) {
        reeve_bytes result;
        TEST_MUST(reeve_task_parent_result(task, parents[i].handle, &result) == REEVE_OK);
        at += (size_t)snprintf(last_results + at, sizeof(last_results) - at, "%s=%s:%s ", parents[i].handle,
                               parents[i].ended, result.data != NULL ? (const char *)result.data : "(none)");
    }
    reeve_bytes none;
    TEST_MUST(reeve_task_parent_result(task, "no handle", &none) == REEVE_EINVAL);
    atomic_store(&last_parents, (int)count);
    return reeve_task_done(task, NULL, 0);
}

static atomic_int refused;

static reeve_outcome too_late(reeve_task *task, void *user)
{
    const reeve_task_spec spec = {.queue = "q", .type = "t"};
    (void)user;
    atomic_store(&refused, reeve_task_chain(task, &spec, NULL));
    return reeve_task_done(task, NULL, 0);
}

static reeve_worker *start_worker(void)
{
    static const reeve_handler pass = {REEVE_HANDLER, .type = "pass", .run = pass_on};
    static const reeve_handler gatherer = {REEVE_HANDLER, .type = "gather", .run = gather};
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_register(worker, &pass), REEVE_OK);
    assert_int_equal(reeve_worker_register(worker, &gatherer), REEVE_OK);
    static const reeve_handler late = {REEVE_HANDLER, .type = "late", .run = too_late};
    assert_int_equal(reeve_worker_register(worker, &late), REEVE_OK);
    test_worker_pool(worker, "p q", 2, 16);
    test_worker_start(worker);
    return worker;
}

static void from_handler_to_handler(void **state)
{
    (void)state;
    reeve_worker *worker = start_worker();
    test_put_spec((reeve_task_spec){.id = "first", .type = "pass", .payload = {"20", 2}});
    TEST_AWAIT(atomic_load(&test_ran) >= 22);
    TEST_AWAIT(test_count("p", "completed") + test_count("q", "completed") == 21);
    for (int i = 0; i < 20; i++) test_pause();
    assert_int_equal(atomic_load(&test_ran), 22);
    reeve_worker_destroy(worker);
}

static void parents_results(void **state)
{
    (void)state;
    reeve_worker *worker = start_worker();
    const reeve_parent after[] = {
        {.handle = "q/b"}, {.handle = "p/a", .on_death = REEVE_PARENT_GO}, {.handle = "q/c"}, {.handle = "q/hold"}};
    test_put_spec((reeve_task_spec){.id = "hold", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    test_put_spec((reeve_task_spec){.queue = "p", .id = "a", .type = "act", .payload = {"fail", 4}});
    test_put_spec((reeve_task_spec){.id = "b", .type = "act", .payload = {"result bee", 10}});
    test_put_spec((reeve_task_spec){.id = "c", .type = "act", .payload = {"done", 4}});
    test_put_spec((reeve_task_spec){.id = "last", .type = "gather", .after = after, .after_count = 4});
    test_open_gate();
    TEST_AWAIT(strcmp(test_state("q", "last"), "completed") == 0);
    assert_int_equal(last_parents, 4);
    assert_string_equal(last_results,
                        "q/b=completed:bee p/a=dead:(none) q/c=completed:(none) q/hold=completed:(none) ");
    reeve_worker_destroy(worker);
}

static void not_by_one_that_runs_at_most_once(void **state)
{
    (void)state;
    reeve_worker *worker = start_worker();
    test_put_spec((reeve_task_spec){.id = "late", .type = "late", .at_most_once = true});
    TEST_AWAIT(atomic_load(&refused) == REEVE_EREFUSED);
    reeve_worker_destroy(worker);
    assert_int_equal(test_count("q", "ready") + test_count("q", "completed"), 1);
}

static int closed(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(with_the_completion, test_place_empty),
        cmocka_unit_test_setup(not_without_it, test_place_empty),
        cmocka_unit_test_setup(sent_twice, test_place_empty),
        cmocka_unit_test(a_chained_task_that_is_refused_comes_with_the_next_call),
        cmocka_unit_test_setup(from_handler_to_handler, closed),
        cmocka_unit_test_setup(parents_results, closed),
        cmocka_unit_test_setup(not_by_one_that_runs_at_most_once, closed),
    };
    rv_buf_init(&hands, 1 << 20);
    int failed = cmocka_run_group_tests_name("ct_chain", tests, test_place_start, test_place_stop);
    rv_buf_fini(&hands);
    return failed;
}
