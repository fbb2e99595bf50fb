/* A client's calls when connections are lost, replies are lost, Redis is restarted, deaf, or not there. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/proxied.h"
#include "support/queue.h"

static test_proxy *proxy;
static reeve_client *behind; /* the proxy */
static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

static int start(void **state)
{
    int failed = test_place_start(state);
    if (failed == 0) test_proxied_open(&proxy, &behind, 10000);
    return failed;
}

static int stop(void **state)
{
    test_proxied_close(proxy, behind);
    return test_place_stop(state);
}

/* ---- lost replies ---------------------------------------------------------------------------------------------- */

/* Makes the call twice: once in peace (the script is then known), once with its reply lost. */
#define LOSE(call, status)                                                                                       \
    do {                                                                                                         \
        unsigned lost = test_proxy_lost(proxy);                                                                  \
        test_proxy_lose(proxy, "EVALSHA", 0);                                                                    \
        reeve_status lose_status = (call);                                                                       \
        if (lose_status != (status)) fail_msg("%s: %d %s", #call, (int)lose_status, reeve_client_error(behind)); \
        assert_int_equal(test_proxy_lost(proxy), lost + 1);                                                      \
    } while (0)

static void steering_whose_reply_is_lost(void **state)
{
    (void)state;
    test_put("q", "w x y z");
    test_ok(behind, reeve_cancel(behind, "q", "w"));
    LOSE(reeve_cancel(behind, "q", "x"), REEVE_OK);
    assert_string_equal(test_state("q", "x"), "cancelled");
    test_ok(behind, reeve_retry(behind, "q", "w"));
    LOSE(reeve_retry(behind, "q", "x"), REEVE_OK);
    assert_string_equal(test_state("q", "x"), "ready");
    test_ok(behind, reeve_delete(behind, "q", "w"));
    LOSE(reeve_delete(behind, "q", "x"), REEVE_OK);
    assert_string_equal(test_state("q", "x"), "");
    test_ok(behind, reeve_pause(behind, "q"));
    LOSE(reeve_pause(behind, "q"), REEVE_OK);
    LOSE(reeve_resume(behind, "q"), REEVE_OK);
    /* What was refused before is refused again. */
    (void)test_lease(&hand, 1);
    LOSE(reeve_delete(behind, "q", "y"), REEVE_ESTATE);
    LOSE(reeve_cancel(behind, "q", "y"), REEVE_OK); /* told */
    LOSE(reeve_cancel(behind, "q", "none"), REEVE_ENOTFOUND);
    LOSE(reeve_retry(behind, "q", "y"), REEVE_ESTATE);
}

static void looking_whose_reply_is_lost(void **state)
{
    (void)state;
    reeve_task_info *info;
    reeve_queue_info queue, *queues;
    size_t count;
    test_put("q", "x");
    for (int i = 0; i < 2; i++) {
        if (i == 1) test_proxy_lose(proxy, "EVALSHA", 0);
        test_ok(behind, reeve_show(behind, "q", "x", &info));
        reeve_task_info_free(info);
    }
    LOSE(reeve_queue(behind, "q", &queue), REEVE_OK);
    assert_int_equal(queue.count[REEVE_STATE_READY], 1);
    const reeve_task_spec spec = {.queue = "q2", .type = "t"};
    test_ok(behind, reeve_enqueue(behind, &spec, NULL));
    LOSE(reeve_queues(behind, &queues, &count), REEVE_OK);
    assert_in_range(count, 1, 2);
    reeve_queues_free(queues);
}

/* What hangs up on a command is asked again, but not as fast as can be. */
static void a_command_that_is_hung_up_on(void **state)
{
    (void)state;
    char words[512];
    reeve_client *client;
    const reeve_client_options options = {.redis = test_proxy_url(proxy), .timeout_ms = 1000};
    if (reeve_client_open_with_error(&client, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    unsigned lost = test_proxy_lost(proxy);
    test_proxy_slam(proxy, "EVALSHA");
    assert_int_equal(reeve_cancel(client, "q", "x"), REEVE_ELOST);
    test_proxy_slam(proxy, "");
    assert_in_range(test_proxy_lost(proxy) - lost, 2, 8);
    reeve_client_close(client);
}

/* ---- outages --------------------------------------------------------------------------------------------------- */

static void *enqueue_in_a_thread(void *client)
{
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "x"};
    return (void *)(intptr_t)reeve_enqueue(client, &spec, NULL);
}

static void redis_is_restarted_between_calls(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "x%d", i);
        test_put("q", id);
        test_redis_restart(test_redis);
        assert_string_equal(test_state("q", id), "ready");
    }
    test_conn_again();
}

static void redis_comes_back_during_a_call(void **state)
{
    (void)state;
    pthread_t thread;
    void *status;
    test_redis_kill(test_redis);
    assert_int_equal(pthread_create(&thread, NULL, enqueue_in_a_thread, test_client), 0);
    usleep(300000); /* (lets it find out) */
    test_redis_launch(test_redis);
    (void)pthread_join(thread, &status);
    if ((intptr_t)status != REEVE_OK) fail_msg("%s", reeve_client_error(test_client));
    test_conn_again();
    assert_string_equal(test_state("q", "x"), "ready");
}

static void every_connection_is_killed_before_every_call(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "x%d", i);
        (void)test_cmd(test_conn, "CLIENT KILL TYPE normal SKIPME yes");
        test_put("q", id);
    }
    assert_int_equal(test_number("ZCARD reeve:{q}:ready"), 50);
}

static void no_redis_within_the_timeout(void **state)
{
    (void)state;
    reeve_queue_info info;
    reeve_client *client = test_client_open(1500);
    test_redis_kill(test_redis);
    reeve_client_interrupt(client); /* which is for waits: a call goes on, and does not spin */
    int64_t begin = rv_now_ms();
    clock_t cpu = clock();
    /* It was sent over a connection that had been closed, so what became of it is not known. */
    test_refused(client, reeve_queue(client, "q", &info), REEVE_ELOST, "cannot connect to Redis at unix://");
    assert_in_range(rv_now_ms() - begin, 100, 30000);
    assert_in_range((clock() - cpu) * 1000 / CLOCKS_PER_SEC, 0, 300);
    reeve_task_spec spec = {.queue = "q", .type = "t"};
    test_refused(client, reeve_enqueue(client, &spec, NULL), REEVE_ECONNECT, "cannot connect");
    reeve_client *second;
    char words[512] = "";
    const reeve_client_options options = {.redis = test_redis_url(test_redis), .timeout_ms = 300};
    assert_int_equal(reeve_client_open_with_error(&second, &options, words, sizeof(words)), REEVE_ECONNECT);
    assert_null(second);
    assert_non_null(strstr(words, "cannot connect"));
    test_redis_launch(test_redis);
    test_conn_again();
    test_ok(client, reeve_enqueue(client, &spec, NULL)); /* the same client, later */
    reeve_client_close(client);
}

static void redis_is_deaf(void **state)
{
    (void)state;
    reeve_queue_info info;
    reeve_client *client = test_client_open(400);
    test_redis_freeze(test_redis);
    int64_t begin = rv_now_ms();
    test_refused(client, reeve_queue(client, "q", &info), REEVE_ETIMEOUT, "in time");
    assert_in_range(rv_now_ms() - begin, 350, 30000);
    begin = rv_now_ms();
    assert_int_not_equal(reeve_queue(client, "q", &info), REEVE_OK);
    assert_in_range(rv_now_ms() - begin, 350, 30000);
    test_redis_thaw(test_redis);
    TEST_AWAIT(reeve_queue(client, "q", &info) == REEVE_OK);
    reeve_client_close(client);
}

static void redis_refuses(void **state)
{
    (void)state;
    reeve_task_info *info;
    reeve_queue_info queue;
    (void)test_cmd(test_conn, "SET reeve:{q}:tasks 1");
    test_refused(test_client, reeve_show(test_client, "q", "x", &info), REEVE_EREDIS, "WRONGTYPE");
    (void)test_cmd(test_conn, "SET reeve:{q}:ready 1");
    test_refused(test_client, reeve_queue(test_client, "q", &queue), REEVE_EREDIS, "WRONGTYPE");
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static reeve_status look_at_everything(void)
{
    reeve_task_info *info = NULL, **list = NULL;
    reeve_queue_info *queues = NULL;
    reeve_worker_info *workers = NULL;
    size_t count = 0, worker_count = 0;
    reeve_client *client;
    const reeve_client_options options = {.redis = test_redis_url(test_redis), .name = "memory", .ns = "reeve"};
    reeve_status status = reeve_client_open(&client, &options);
    if (status == REEVE_OK) status = reeve_show(client, "q", "x", &info);
    if (status == REEVE_OK) reeve_task_info_free(info);
    if (status == REEVE_OK) status = reeve_list(client, "q", REEVE_STATE_RUNNING, 0, 10, &list, &count, NULL);
    if (status == REEVE_OK) reeve_task_list_free(list, count);
    if (status == REEVE_OK) status = reeve_queues(client, &queues, &count);
    if (status == REEVE_OK) reeve_queues_free(queues);
    if (status == REEVE_OK) status = reeve_workers(client, &workers, &worker_count);
    if (status == REEVE_OK) reeve_workers_free(workers, worker_count);
    if (status == REEVE_OK) status = reeve_wait(client, "q", "ended", 1000, &info);
    if (status == REEVE_OK) reeve_task_info_free(info);
    if (status != REEVE_OK && client) assert_true(strlen(reeve_client_error(client)) > 0);
    reeve_client_close(client);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    const char *const tags[] = {"t"};
    const reeve_meta meta = {"k", "v"};
    test_put("q", "ended");
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_DONE("ended"));
    test_put_spec(
        (reeve_task_spec){.id = "x", .group = "g", .tags = tags, .tag_count = 1, .meta = &meta, .meta_count = 1});
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_RETRY("x", 0));
    test_maintain_all("q");
    (void)test_lease(&hand, 1);
    (void)test_cmd(test_conn, "SADD reeve:workers w");
    (void)test_cmd(test_conn, "SET reeve:worker:w {\"name\":\"n\"}");
    unsigned long nth = 0, made = 0;
    reeve_status status = REEVE_ENOMEM;
    while (made >= nth) {
        nth++;
        (void)rv_mem_fail_at(nth);
        status = look_at_everything();
        made = rv_mem_fail_at(0);
        if (status != REEVE_OK && status != REEVE_ENOMEM) fail_msg("allocation %lu: status %d", nth, (int)status);
    }
    assert_int_equal(status, REEVE_OK);
    assert_true(nth > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(steering_whose_reply_is_lost, set_up),
        cmocka_unit_test_setup(looking_whose_reply_is_lost, set_up),
        cmocka_unit_test_setup(a_command_that_is_hung_up_on, set_up),
        cmocka_unit_test_setup(redis_is_restarted_between_calls, set_up),
        cmocka_unit_test_setup(redis_comes_back_during_a_call, set_up),
        cmocka_unit_test_setup(every_connection_is_killed_before_every_call, set_up),
        cmocka_unit_test_setup(no_redis_within_the_timeout, set_up),
        cmocka_unit_test_setup(redis_is_deaf, set_up),
        cmocka_unit_test_setup(redis_refuses, set_up),
        cmocka_unit_test_setup(each_allocation_may_fail, set_up),
    };
    test_options.persist = true;
    return cmocka_run_group_tests_name("ct_client_loss", tests, start, stop);
}
