/* Results: how large, how long they are kept, and whoever waits for them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/worker.h"

#define Q "reeve:{q}:"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static char *much; /* one byte more than a result may have */

/* Its payload is how many bytes its result has. */
static reeve_outcome large(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, much, (size_t)atoll(reeve_task_payload(task).data));
}

static void put(const char *id, const char *type, const char *payload)
{
    test_put_spec((reeve_task_spec){.id = id, .type = type, .payload = {payload, strlen(payload)}});
}

static reeve_worker *start(void)
{
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_handle(worker, "large", large, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    return worker;
}

/* ---- size ------------------------------------------------------------------------------------------------------ */

static void as_large_as_there_may_be(void **state)
{
    (void)state;
    char most[32], more[32];
    (void)snprintf(most, sizeof(most), "%u", REEVE_RESULT_MAX);
    (void)snprintf(more, sizeof(more), "%u", REEVE_RESULT_MAX + 1);
    much = calloc(1, REEVE_RESULT_MAX + 1);
    assert_non_null(much);
    reeve_worker *worker = start();
    put("most", "large", most);
    put("more", "large", more);
    TEST_AWAIT_STATE("most", "completed");
    TEST_AWAIT_STATE("more", "dead");
    reeve_task_info *info = test_show("q", "most");
    assert_int_equal(info->result.length, REEVE_RESULT_MAX);
    reeve_task_info_free(info);
    info = test_show("q", "more");
    assert_string_equal(info->error_kind, "result");
    assert_null(info->result.data);
    reeve_task_info_free(info);
    test_worker_end(worker);
    free(much);
}

/* ---- retention ------------------------------------------------------------------------------------------------- */

static void the_newest_are_kept(void **state)
{
    (void)state;
    const reeve_keep two = {.age_ms = -1, .count = 2};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &two}));
    reeve_worker *worker = start();
    for (int i = 0; i < 5; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%d", i);
        put(id, "act", "result r");
        TEST_AWAIT(test_runs[i] == 1 && strcmp(test_state("q", id), "completed") == 0);
    }
    test_worker_end(worker);
    assert_string_equal(test_state("q", "n2"), "");
    assert_int_equal(test_number("EXISTS " Q "info:n0 " Q "info:n1 " Q "info:n2"), 0);
    reeve_task_info *info = test_show("q", "n4");
    assert_memory_equal(info->result.data, "r", 1);
    reeve_task_info_free(info);
}

/* ---- waiting --------------------------------------------------------------------------------------------------- */

/* Waits for q/x on a client of its own. */
typedef struct waiting {
    pthread_t thread;
    int64_t timeout_ms;
    reeve_status status;
    int64_t ended_us;
    char result[16];
} waiting;

static void *wait_for_x(void *argument)
{
    waiting *w = argument;
    reeve_client *client = test_client_open(20000);
    reeve_task_info *info = NULL;
    w->status = reeve_wait(client, "q", "x", w->timeout_ms, &info);
    w->ended_us = rv_now_us();
    if (info != NULL && info->result.data != NULL) rv_copy_text(w->result, sizeof(w->result), info->result.data);
    reeve_task_info_free(info);
    reeve_client_close(client);
    return NULL;
}

static void begin_waiting(waiting *w)
{
    *w = (waiting){.timeout_ms = 20000};
    assert_int_equal(pthread_create(&w->thread, NULL, wait_for_x, w), 0);
    TEST_AWAIT(test_number("ZCARD " Q "waiters") == 1);
}

/* It hears of each end in less time than any poll would take. */
static void whoever_waits_hears_of_it_at_once(void **state)
{
    (void)state;
    static const struct {
        test_outcome outcome;
        reeve_status status;
        const char *result;
    } ends[] = {
        {TEST_RESULT("x", "r"), REEVE_OK, "r"}, {TEST_DONE("x"), REEVE_OK, ""}, {TEST_FAIL("x"), REEVE_EDEAD, ""}};
    int64_t best_us = INT64_MAX;
    for (int round = 0; round < 9; round++) {
        test_hand hand;
        waiting w;
        test_hand_init(&hand, "1", "q");
        test_put("q", "x");
        (void)test_lease(&hand, 1);
        begin_waiting(&w);
        int64_t began_us = rv_now_us();
        (void)test_turn(&hand, 0, &ends[round % 3].outcome, 1);
        assert_int_equal(pthread_join(w.thread, NULL), 0);
        assert_int_equal(w.status, ends[round % 3].status);
        assert_string_equal(w.result, ends[round % 3].result);
        if (w.ended_us - began_us < best_us) best_us = w.ended_us - began_us;
        test_ok(test_client, reeve_delete(test_client, "q", "x"));
    }
    assert_in_range(best_us, 0, 50000); /* (a fraction of a millisecond where the machine has time) */
}

static void what_is_gone_or_dead_fails_fast(void **state)
{
    (void)state;
    test_hand hand;
    waiting w;
    test_hand_init(&hand, "1", "q");
    int64_t began = rv_now_ms();
    test_refused(test_client, reeve_wait(test_client, "q", "none", 60000, NULL), REEVE_ENOTFOUND, "no task q/none");
    test_put("q", "x");
    begin_waiting(&w);
    test_ok(test_client, reeve_delete(test_client, "q", "x"));
    assert_int_equal(pthread_join(w.thread, NULL), 0);
    assert_int_equal(w.status, REEVE_ENOTFOUND);
    test_put("q", "x");
    begin_waiting(&w);
    test_ok(test_client, reeve_cancel(test_client, "q", "x"));
    assert_int_equal(pthread_join(w.thread, NULL), 0);
    assert_int_equal(w.status, REEVE_ECANCELLED);
    test_ok(test_client, reeve_retry(test_client, "q", "x"));
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_FAIL("x"));
    test_refused(test_client, reeve_wait(test_client, "q", "x", 60000, NULL), REEVE_EDEAD, "k: m");
    test_put_spec((reeve_task_spec){.id = "late", .deadline_ms = 1});
    test_tend_all("q");
    test_refused(test_client, reeve_wait(test_client, "q", "late", 60000, NULL), REEVE_EDEAD, "expired");
    assert_true(rv_now_ms() - began < 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(as_large_as_there_may_be, set_up),
        cmocka_unit_test_setup(the_newest_are_kept, set_up),
        cmocka_unit_test_setup(whoever_waits_hears_of_it_at_once, set_up),
        cmocka_unit_test_setup(what_is_gone_or_dead_fails_fast, set_up),
    };
    return cmocka_run_group_tests_name("ct_results", tests, test_place_start, test_place_stop);
}
