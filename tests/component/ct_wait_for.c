/* A handler that waits for other tasks: those that it has just chained, or older ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/consumer.h"
#include "support/depend.h"
#include "support/script.h"
#include "support/worker.h"

/* ---- the script, by hand --------------------------------------------------------------------------------------- */

static test_hand hand;

static void lease_one(const char *id)
{
    test_hand_init(&hand, "1", "q");
    test_put("q", id);
    assert_int_equal(test_lease(&hand, 1), 1);
}

/* The lease of the task, as it stands in Redis. */
static const char *lease_of(const char *id)
{
    static char lease[64];
    (void)snprintf(lease, sizeof(lease), "%s",
                   test_cmd(test_conn, "HGET reeve:{q}:running:%s %s", hand.sessions[0], id));
    return lease;
}

#define BLOCK(...) atoi(TEST_SCRIPT(block, "reeve:{q}:", hand.sessions[0], __VA_ARGS__))

static void waits_until_they_have_ended(void **state)
{
    (void)state;
    lease_one("a");
    char lease[64];
    (void)snprintf(lease, sizeof(lease), "%s", lease_of("a"));
    test_put("p", "far");
    assert_int_equal(BLOCK(lease, "a", "q/b f p/far g", "q/b", "", "\"type\":\"t\"}\n"), 1);
    test_state_is("q", "a", "blocked");
    test_state_is("q", "b", "ready");
    /* A second copy of the call, and a call with another lease, do nothing. */
    assert_int_equal(BLOCK(lease, "a", "q/b f", "q/c", "", "\"type\":\"t\"}\n"), 0);
    test_state_is("q", "c", "");
    test_settle_queues("p q");
    test_complete("q", "b");
    test_state_is("q", "a", "blocked");
    test_kill("p", "far");
    test_settle_queues("p q");
    test_state_is("q", "a", "ready");
    reeve_task_info *info = test_show("q", "a");
    assert_int_equal(info->failures, 0);
    assert_int_equal(info->parent_count, 2);
    reeve_task_info_free(info);
    test_complete("q", "a");
    test_no_edges_left("q");
}

static void a_death_is_met(void **state)
{
    (void)state;
    lease_one("a");
    assert_int_equal(BLOCK(lease_of("a"), "a", "q/b f", "q/b", "", "\"type\":\"t\"}\n"), 1);
    test_kill("q", "b");
    test_settle_queues("q");
    test_state_is("q", "a", "dead");
    test_died_of("a", "q/b");
}

static void what_is_not_known_and_what_has_ended(void **state)
{
    (void)state;
    test_put("q", "b");
    test_complete("q", "b");
    lease_one("a");
    assert_int_equal(BLOCK(lease_of("a"), "a", "q/b f"), 1);
    test_state_is("q", "a", "ready");
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_int_equal(BLOCK(lease_of("a"), "a", "q/never f"), 1);
    test_state_is("q", "a", "dead");
    reeve_task_info *info = test_show("q", "a");
    assert_string_equal(info->error_kind, "unknown_parent");
    reeve_task_info_free(info);
}

/* A chained task that comes into this queue by a message is waited for all the same. */
static void one_that_comes_by_a_message(void **state)
{
    (void)state;
    test_put("q", "z");
    lease_one("a");
    assert_int_equal(test_lease(&hand, 1), 1);
    const char *id = *lease_of("a") ? "a" : "z";
    assert_int_equal(BLOCK(lease_of(id), id, "q/b f", "q/b", "{\"after\":[[\"p/x\",\"fg\"]]}", "\"type\":\"t\"}\n"), 1);
    test_state_is("q", id, "blocked");
    test_settle_queues("p q");
    test_state_is("q", "b", "ready");
    test_complete("q", "b");
    test_settle_queues("p q");
    test_state_is("q", id, "ready");
}

static void cancelled_meanwhile(void **state)
{
    (void)state;
    bool running;
    lease_one("a");
    test_ok(test_client, reeve_cancel_with_running(test_client, "q", "a", &running));
    assert_int_equal(BLOCK(lease_of("a"), "a", "q/b f", "q/b", "", "\"type\":\"t\"}\n"), 1);
    test_state_is("q", "a", "cancelled");
    test_state_is("q", "b", "");
}

static void wrong_arguments(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "q/b", "q/b x", "q/b f ", " q/b f", "q/b f q/c", "nohandle f", "q/b  f"};
    lease_one("a");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_non_null(
            strstr(TEST_SCRIPT(block, "reeve:{q}:", hand.sessions[0], lease_of("a"), "a", wrong[i]), "ERR"));
    assert_non_null(strstr(TEST_SCRIPT(block, "reeve:{q}:", hand.sessions[0], lease_of("a"), "a", "q/b f", "q/b", "{",
                                       "\"type\":\"t\"}\n"),
                           "ERR"));
    test_state_is("q", "a", "running");
}

/* ---- handlers -------------------------------------------------------------------------------------------------- */

static atomic_int splits, parts_run;

static reeve_outcome part(reeve_task *task, void *user)
{
    (void)user;
    atomic_fetch_add(&parts_run, 1);
    reeve_bytes payload = reeve_task_payload(task);
    if (strcmp(payload.data, "fail") == 0) return reeve_task_fail(task, "k", "m");
    return reeve_task_done(task, payload.data, payload.length);
}

/* The sum of the results; a part that died counts 100. */
static reeve_outcome join(reeve_task *task, const reeve_task_parent *parents, size_t count)
{
    char text[80];
    int sum = 0;
    for (size_t i = 0; i < count; i++) {
        reeve_bytes result;
        TEST_MUST(reeve_task_parent_result(task, parents[i].handle, &result) == REEVE_OK);
        sum += strcmp(parents[i].ended, "completed") == 0 ? atoi(result.data) : 100;
    }
    (void)snprintf(text, sizeof(text), "%d of %zu, attempt %u", sum, count, reeve_task_attempt(task));
    return reeve_task_done(task, text, strlen(text));
}

static reeve_outcome split(reeve_task *task, void *user)
{
    const reeve_task_parent *parents;
    size_t count;
    (void)user;
    TEST_MUST(reeve_task_parents(task, &parents, &count) == REEVE_OK);
    if (count > 0) return join(task, parents, count);
    atomic_fetch_add(&splits, 1);
    for (int i = 1; i <= 10; i++) {
        char number[24];
        (void)snprintf(number, sizeof(number), "%d", i);
        if (i == 7 && strcmp(reeve_task_payload(task).data, "fail") == 0)
            (void)snprintf(number, sizeof(number), "fail");
        const reeve_task_spec spec = {.queue = i % 2 ? "p" : "q", .type = "part", .payload = {number, strlen(number)}};
        TEST_MUST(reeve_task_chain(task, &spec, NULL) == REEVE_OK);
    }
    return reeve_task_wait_chained(task, REEVE_PARENT_GO);
}

static atomic_int refused;

static reeve_outcome refuses(reeve_task *task, void *user)
{
    const reeve_parent self = {.handle = reeve_task_handle(task)}, none = {.handle = "no handle"};
    const reeve_parent death = {.handle = "q/x", .on_death = REEVE_PARENT_DEATH};
    (void)user;
    TEST_MUST(reeve_task_wait_for(task, &self, 1) == REEVE_OUTCOME_FAIL);
    TEST_MUST(reeve_task_wait_for(task, &none, 1) == REEVE_OUTCOME_FAIL);
    TEST_MUST(strstr(reeve_task_call_error(task), "no handle") != NULL);
    TEST_MUST(reeve_task_wait_for(task, &death, 1) == REEVE_OUTCOME_FAIL);
    TEST_MUST(reeve_task_wait_for(task, NULL, 0) == REEVE_OUTCOME_FAIL);
    TEST_MUST(reeve_task_wait_chained(task, REEVE_PARENT_FAIL) == REEVE_OUTCOME_FAIL);
    const reeve_task_spec unique = {.queue = "q", .type = "part", .unique = "key"};
    TEST_MUST(reeve_task_chain(task, &unique, NULL) == REEVE_OK);
    reeve_outcome last = reeve_task_wait_chained(task, REEVE_PARENT_FAIL);
    TEST_MUST(last == REEVE_OUTCOME_FAIL && strstr(reeve_task_call_error(task), "unique") != NULL);
    atomic_store(&refused, 1);
    return last;
}

static reeve_worker *start_worker(void)
{
    static const reeve_handler handlers[] = {{REEVE_HANDLER, .type = "split", .run = split},
                                             {REEVE_HANDLER, .type = "part", .run = part},
                                             {REEVE_HANDLER, .type = "refuses", .run = refuses}};
    reeve_worker *worker = test_worker_new(NULL);
    for (size_t i = 0; i < 3; i++) assert_int_equal(reeve_worker_register(worker, &handlers[i]), REEVE_OK);
    test_worker_pool(worker, "p q", 2, 16);
    test_worker_start(worker);
    return worker;
}

static void from_a_handler(void **state)
{
    (void)state;
    splits = parts_run = 0;
    reeve_worker *worker = start_worker();
    test_put_spec((reeve_task_spec){.id = "all", .type = "split"});
    test_put_spec((reeve_task_spec){.id = "some", .type = "split", .payload = {"fail", 4}});
    TEST_AWAIT(strcmp(test_state("q", "all"), "completed") == 0 && strcmp(test_state("q", "some"), "completed") == 0);
    assert_int_equal(splits, 2);
    assert_int_equal(parts_run, 20);
    reeve_task_info *info = test_show("q", "all");
    assert_string_equal(info->result.data, "55 of 10, attempt 1");
    reeve_task_info_free(info);
    info = test_show("q", "some");
    assert_string_equal(info->result.data, "148 of 10, attempt 1");
    reeve_task_info_free(info);
    reeve_worker_destroy(worker);
    test_settle_all();
}

static void wrong_calls(void **state)
{
    (void)state;
    reeve_worker *worker = start_worker();
    test_put_spec((reeve_task_spec){.id = "wrong", .type = "refuses"});
    TEST_AWAIT(strcmp(test_state("q", "wrong"), "dead") == 0);
    assert_int_equal(refused, 1);
    reeve_task_info *info = test_show("q", "wrong");
    assert_string_equal(info->error_kind, "wait");
    reeve_task_info_free(info);
    reeve_worker_destroy(worker);
}

/* ---- a program that leases tasks --------------------------------------------------------------------------------- */

static reeve_task *lease_next(reeve_consumer *consumer)
{
    reeve_task *task = NULL;
    unsigned count = 0;
    assert_int_equal(reeve_consumer_lease(consumer, &task, 1, 10000, &count), REEVE_OK);
    assert_int_equal(count, 1);
    return task;
}

static void from_a_consumer(void **state)
{
    (void)state;
    reeve_consumer *consumer = test_consumer_open("q", NULL);
    test_put("q", "a");
    reeve_task *task = lease_next(consumer);
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "b"};
    assert_int_equal(reeve_task_chain(task, &spec, NULL), REEVE_OK);
    assert_int_equal(reeve_consumer_settle(consumer, task, reeve_task_wait_chained(task, REEVE_PARENT_FAIL)), REEVE_OK);
    test_state_is("q", "a", "blocked");
    task = lease_next(consumer);
    assert_string_equal(reeve_task_id(task), "b");
    assert_int_equal(reeve_consumer_settle(consumer, task, reeve_task_done(task, "x", 1)), REEVE_OK);
    task = lease_next(consumer);
    assert_string_equal(reeve_task_id(task), "a");
    assert_int_equal(reeve_consumer_settle(consumer, task, reeve_task_done(task, NULL, 0)), REEVE_OK);
    test_state_is("q", "a", "completed");
    reeve_consumer_close(consumer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(waits_until_they_have_ended, test_place_empty),
        cmocka_unit_test_setup(a_death_is_met, test_place_empty),
        cmocka_unit_test_setup(what_is_not_known_and_what_has_ended, test_place_empty),
        cmocka_unit_test_setup(one_that_comes_by_a_message, test_place_empty),
        cmocka_unit_test_setup(cancelled_meanwhile, test_place_empty),
        cmocka_unit_test_setup(wrong_arguments, test_place_empty),
        cmocka_unit_test_setup(from_a_handler, test_place_empty),
        cmocka_unit_test_setup(wrong_calls, test_place_empty),
        cmocka_unit_test_setup(from_a_consumer, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_wait_for", tests, test_place_start, test_place_stop);
}
