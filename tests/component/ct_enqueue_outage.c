/* Producing while connections end and Redis is away: each task is enqueued once, in order, and what is said of it is so. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/specs.h"

static atomic_bool stop_killing;

static void *kill_on(void *argument)
{
    (void)argument;
    rv_conn *conn = test_conn_open(test_redis);
    while (!atomic_load(&stop_killing)) {
        (void)test_cmd(conn, "CLIENT KILL TYPE normal SKIPME yes");
        usleep(2000);
    }
    rv_conn_destroy(conn);
    return NULL;
}

static void connections_are_killed_again_and_again(void **state)
{
    (void)state;
    pthread_t thread;
    test_specs_make(TEST_SPECS);
    atomic_store(&stop_killing, false);
    assert_int_equal(pthread_create(&thread, NULL, kill_on, NULL), 0);
    for (size_t at = 0; at < TEST_SPECS;) {
        size_t count = 1 + at / 7 % 100;
        if (count > TEST_SPECS - at) count = TEST_SPECS - at;
        reeve_status status = reeve_enqueue_many(test_client, test_specs + at, count, test_results);
        if (status != REEVE_OK) break;
        at += count;
    }
    atomic_store(&stop_killing, true);
    (void)pthread_join(thread, NULL);
    assert_string_equal(reeve_client_error(test_client), "");
    test_conn_again();
    test_specs_expect_in_order(TEST_SPECS);
}

/* Of 64 and more that get their test_ids here (client/bulk_insert.h). */
static void connections_are_killed_while_tasks_are_laid(void **state)
{
    (void)state;
    enum { CALLS = 40 };
    pthread_t thread;
    size_t at = 0;
    for (size_t i = 0; i < TEST_SPECS; i++) test_specs[i] = (reeve_task_spec){.queue = "q", .type = "t"};
    atomic_store(&stop_killing, false);
    assert_int_equal(pthread_create(&thread, NULL, kill_on, NULL), 0);
    reeve_status status = REEVE_OK;
    for (size_t i = 0; status == REEVE_OK && i < CALLS; i++) {
        size_t count = TEST_SPECS / CALLS - 5 + i % 10;
        if (count > TEST_SPECS - at) count = TEST_SPECS - at;
        status = reeve_enqueue_many(test_client, test_specs + at, count, test_results);
        for (size_t j = 0; j < count; j++) rv_copy_text(test_ids[at + j], REEVE_ID_MAX, test_results[j].id);
        at += count;
    }
    atomic_store(&stop_killing, true);
    (void)pthread_join(thread, NULL);
    test_ok(test_client, status);
    test_conn_again();
    test_specs_expect_in_order(at);
}

static void redis_goes_away_for_good(void **state)
{
    (void)state;
    enum { MORE = 20000 /* more than a pipeline carries */, TIMEOUT_MS = 3000 };
    static reeve_task_spec more[MORE];
    static reeve_enqueued said[MORE];
    reeve_client *client = test_client_open(TIMEOUT_MS);
    for (size_t i = 0; i < MORE; i++) more[i] = (reeve_task_spec){.queue = "q", .type = i == 7 ? "" : "t"};
    test_redis_kill(test_redis);
    int64_t begin = rv_now_ms();
    /* A client that was unused for a second sees that its connection has ended, and sends nothing. */
    reeve_status first = reeve_enqueue_many(client, more, MORE, said);
    assert_true(first == REEVE_ELOST || first == REEVE_ECONNECT);
    assert_non_null(strstr(reeve_client_error(client), "cannot connect"));
    assert_in_range(rv_now_ms() - begin, 0, 10 * TIMEOUT_MS); /* one timeout, not one of each of 20 pipelines */
    for (size_t i = 0; i < MORE; i++) {
        reeve_status expected = i == 7 ? REEVE_EINVAL : said[i].status == REEVE_ELOST ? REEVE_ELOST : REEVE_ECONNECT;
        if (said[i].status != expected) fail_msg("%zu: %d", i, (int)said[i].status);
    }
    assert_int_equal(said[0].status, first);                 /* may have been */
    assert_int_equal(said[MORE - 1].status, REEVE_ECONNECT); /* was never sent */
    char words[512];
    reeve_enqueued_error(client, &more[MORE - 1], &said[MORE - 1], words, sizeof(words));
    assert_non_null(strstr(words, "not sent: "));
    reeve_enqueued_error(client, &more[0], &said[0], words, sizeof(words));
    assert_non_null(strstr(words, "cannot connect"));
    assert_null(strstr(words, "not sent: "));
    more[0].type = "";
    test_refused(client, reeve_enqueue_many(client, more, MORE, said), REEVE_EINVAL, "type");
    assert_int_equal(said[1].status, REEVE_ECONNECT);
    assert_int_equal(said[MORE - 1].status, REEVE_ECONNECT);
    test_redis_launch(test_redis);
    test_conn_again();
    test_ok(client, reeve_enqueue(client, &more[1], NULL));
    reeve_client_close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(connections_are_killed_again_and_again, test_place_empty),
        cmocka_unit_test_setup(connections_are_killed_while_tasks_are_laid, test_place_empty),
        cmocka_unit_test_setup(redis_goes_away_for_good, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_enqueue_outage", tests, test_place_start, test_place_stop);
}
