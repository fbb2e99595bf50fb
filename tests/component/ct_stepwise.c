/* A task with more parents than one call takes, and callbacks of batches: what fails half way leaves none blocked for
 * ever. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "reeve/depend.h"
#include "reeve/partition.h"
#include "support/proxy.h"
#include "support/queue.h"

enum { PARENTS = 2500, PARENTS_LIMIT = 5000 };

static test_proxy *proxy;
static reeve_client *behind; /* the proxy */
static reeve_parent parents[PARENTS];
static char handles[PARENTS][32];

static int set_up(void **state)
{
    test_proxy_lose_all(proxy, "", 0);
    return test_place_empty(state);
}

static int start(void **state)
{
    char words[512];
    test_place_start(state);
    proxy = test_proxy_start(test_redis);
    const reeve_client_options options = {
        .redis = test_proxy_url(proxy), .timeout_ms = 1000, .size_limits = {.parents = PARENTS_LIMIT}};
    if (reeve_client_open_with_error(&behind, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    for (size_t i = 0; i < PARENTS; i++) {
        (void)snprintf(handles[i], sizeof(handles[i]), "q/p%zu", i);
        parents[i] = (reeve_parent){.handle = handles[i], .unknown = REEVE_UNKNOWN_EXPECTED};
    }
    return 0;
}

static int stop(void **state)
{
    reeve_client_close(behind);
    test_proxy_stop(proxy);
    return test_place_stop(state);
}

static reeve_task_spec child(void)
{
    return (reeve_task_spec){
        .queue = "q", .type = "t", .id = "c", .payload = {"p", 1}, .after = parents, .after_count = PARENTS};
}

static void expect_unknown(reeve_status status)
{
    if (status != REEVE_ELOST && status != REEVE_ETIMEOUT) fail_msg("%d %s", (int)status, reeve_client_error(behind));
}

static void expect_no_task(void)
{
    assert_string_equal(test_state("q", "c"), "");
    assert_int_equal(test_number("ZCARD reeve:{q}:blocked"), 0);
}

static void expect_whole_task(void)
{
    assert_string_equal(test_state("q", "c"), "blocked");
    assert_int_equal(test_number("HEXISTS reeve:{q}:parents:c !"), 0);
    assert_int_equal(test_number("HLEN reeve:{q}:parents:c"), PARENTS);
}

static void a_first_step_without_confirmation_is_followed_by_the_others(void **state)
{
    (void)state;
    const reeve_confirmation one = {.replicas = 1, .timeout_ms = 1};
    const reeve_task_spec spec = child();
    test_ok(behind, reeve_client_confirm(behind, "q", &one));
    assert_int_equal(reeve_enqueue(behind, &spec, NULL), REEVE_UNCONFIRMED);
    assert_non_null(strstr(reeve_client_error(behind), "0 of 1 replicas"));
    test_ok(behind, reeve_client_confirm(behind, "q", NULL));
    expect_whole_task();
}

static void put_first_step(void)
{
    const reeve_parent open = {.handle = REEVE_PARENT_OPEN};
    reeve_task_spec spec = child();
    spec.after = &open;
    spec.after_count = 1;
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
}

static void no_step_after_the_first_is_answered(void **state)
{
    (void)state;
    const reeve_task_spec spec = child();
    test_proxy_lose_all(proxy, "add 5000", 1000);
    expect_unknown(reeve_enqueue(behind, &spec, NULL));
    expect_no_task();
    test_proxy_lose_all(proxy, "", 0);
    test_ok(behind, reeve_enqueue(behind, &spec, NULL));
    expect_whole_task();
}

static void *enqueue_in_a_thread(void *argument)
{
    const reeve_task_spec spec = child();
    (void)argument;
    return (void *)(intptr_t)reeve_enqueue(behind, &spec, NULL);
}

static void a_step_after_the_first_is_refused(void **state)
{
    (void)state;
    pthread_t thread;
    void *status;
    test_ok(behind, reeve_resume(behind, "q"));
    test_proxy_hold(proxy, "add 5000");
    assert_int_equal(pthread_create(&thread, NULL, enqueue_in_a_thread, NULL), 0);
    TEST_AWAIT(test_proxy_holds(proxy));
    assert_string_equal(test_state("q", "c"), "blocked");
    assert_string_equal(test_cmd(test_conn, "CONFIG SET maxmemory-policy noeviction maxmemory 1"), "OK");
    test_proxy_release(proxy);
    (void)pthread_join(thread, &status);
    assert_string_equal(test_cmd(test_conn, "CONFIG SET maxmemory 0"), "OK");
    assert_true((intptr_t)status != REEVE_OK);
    expect_no_task();
}

/* That it could not be taken back is told, with its name; and the call can be repeated. */
static void redis_goes_away_after_the_first_step(void **state)
{
    (void)state;
    pthread_t thread;
    void *status;
    const reeve_task_spec spec = child();
    test_ok(behind, reeve_resume(behind, "q"));
    test_proxy_hold(proxy, "add 5000");
    assert_int_equal(pthread_create(&thread, NULL, enqueue_in_a_thread, NULL), 0);
    TEST_AWAIT(test_proxy_holds(proxy));
    test_redis_freeze(test_redis);
    (void)pthread_join(thread, &status);
    test_redis_thaw(test_redis);
    test_proxy_release(proxy);
    assert_int_equal((intptr_t)status, REEVE_ELOST);
    if (strstr(reeve_client_error(behind), "q/c") == NULL) fail_msg("%s", reeve_client_error(behind));
    TEST_AWAIT(reeve_enqueue(behind, &spec, NULL) == REEVE_OK);
    expect_whole_task();
}

static void a_repetition_goes_on_where_the_first_call_stopped(void **state)
{
    (void)state;
    const reeve_task_spec spec = child();
    put_first_step();
    test_ok(behind, reeve_enqueue(behind, &spec, NULL));
    expect_whole_task();
    assert_int_equal(reeve_enqueue(behind, &spec, NULL), REEVE_EEXISTS);
    expect_whole_task();
}

static void another_task_of_this_id_stays_as_it_is(void **state)
{
    (void)state;
    reeve_task_spec spec = child();
    put_first_step();
    spec.payload = (reeve_bytes){"other", 5};
    assert_int_equal(reeve_enqueue(behind, &spec, NULL), REEVE_EEXISTS);
    assert_int_equal(test_number("HLEN reeve:{q}:parents:c"), 1);
    assert_string_equal(test_state("q", "c"), "blocked");
}

/* ---- batches --------------------------------------------------------------------------------------------------- */

static void a_callback_that_is_not_answered(void **state)
{
    (void)state;
    reeve_batch batch;
    const reeve_task_spec complete = {.queue = "q", .type = "callback", .id = "c"};
    test_proxy_lose_all(proxy, "\"type\":\"callback\"", 1000);
    expect_unknown(reeve_batch_open(behind, &batch, &(reeve_batch_callbacks){.complete = &complete}));
    assert_string_equal(batch.complete, "");
    expect_no_task();
    test_proxy_lose_all(proxy, "", 0);
    test_ok(behind, reeve_batch_open(behind, &batch, &(reeve_batch_callbacks){.complete = &complete}));
    assert_string_equal(test_state("q", "c"), "blocked");
}

/* In a partition that the name of the queue does not tell. */
static void a_callback_in_a_divided_queue(void **state)
{
    (void)state;
    reeve_batch batch;
    const reeve_task_spec complete = {.queue = "mail", .type = "callback", .id = "c", .group = "ann"};
    test_ok(behind, reeve_partition_set(behind, "mail", 4));
    test_proxy_lose_all(proxy, "\"type\":\"callback\"", 1000);
    expect_unknown(reeve_batch_open(behind, &batch, &(reeve_batch_callbacks){.complete = &complete}));
    assert_string_equal(batch.complete, "");
    assert_string_equal(test_state("mail~3", "c"), "");
    test_proxy_lose_all(proxy, "", 0);
    test_ok(behind, reeve_batch_open(behind, &batch, &(reeve_batch_callbacks){.complete = &complete}));
    assert_string_equal(test_state("mail~3", "c"), "blocked");
}

static void a_repetition_in_a_divided_queue(void **state)
{
    (void)state;
    reeve_task_spec spec = child();
    spec.queue = "mail";
    spec.group = "ann";
    test_ok(behind, reeve_partition_set(behind, "mail", 4));
    test_proxy_lose_all(proxy, "add 5000", 1000);
    expect_unknown(reeve_enqueue(behind, &spec, NULL));
    assert_string_equal(test_state("mail~3", "c"), "");
    const reeve_parent open = {.handle = REEVE_PARENT_OPEN};
    reeve_task_spec first = spec;
    first.after = &open;
    first.after_count = 1;
    test_proxy_lose_all(proxy, "", 0);
    test_ok(behind, reeve_enqueue(behind, &first, NULL));
    assert_string_equal(test_state("mail~3", "c"), "blocked");
    test_ok(behind, reeve_enqueue(behind, &spec, NULL));
    assert_int_equal(test_number("HLEN reeve:{mail~3}:parents:c"), PARENTS);
}

/* One of that id that was there before is not ours to delete. */
static void a_callback_that_was_there_before(void **state)
{
    (void)state;
    reeve_batch batch;
    const reeve_task_spec complete = {.queue = "q", .type = "callback", .id = "c"};
    test_put("q", "c");
    test_proxy_lose_all(proxy, "\"type\":\"callback\"", 1000);
    expect_unknown(reeve_batch_open(behind, &batch, &(reeve_batch_callbacks){.complete = &complete}));
    assert_string_equal(test_state("q", "c"), "ready");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_first_step_without_confirmation_is_followed_by_the_others, set_up),
        cmocka_unit_test_setup(no_step_after_the_first_is_answered, set_up),
        cmocka_unit_test_setup(a_step_after_the_first_is_refused, set_up),
        cmocka_unit_test_setup(redis_goes_away_after_the_first_step, set_up),
        cmocka_unit_test_setup(a_repetition_goes_on_where_the_first_call_stopped, set_up),
        cmocka_unit_test_setup(another_task_of_this_id_stays_as_it_is, set_up),
        cmocka_unit_test_setup(a_callback_that_is_not_answered, set_up),
        cmocka_unit_test_setup(a_callback_in_a_divided_queue, set_up),
        cmocka_unit_test_setup(a_repetition_in_a_divided_queue, set_up),
        cmocka_unit_test_setup(a_callback_that_was_there_before, set_up),
    };
    return cmocka_run_group_tests_name("ct_stepwise", tests, start, stop);
}
