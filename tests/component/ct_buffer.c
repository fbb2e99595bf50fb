/* A client's buffer (reeve/buffer.h): tasks that are enqueued while Redis is away, and their delivery. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "reeve/depend.h"
#include "reeve/partition.h"
#include "support/buffered.h"
#include "support/proxy.h"
#include "support/worker.h"

/* ---- while Redis is away ----------------------------------------------------------------------------------------- */

static void tasks_wait_for_redis_in_order(void **state)
{
    char id[REEVE_ID_MAX] = "";
    (void)state;
    test_buffer_open(test_buffer_path, 0);
    assert_int_equal(test_buffer_put("q", "a"), REEVE_OK);
    test_redis_kill(test_redis);
    assert_int_equal(test_buffer_put("q", "b"), REEVE_BUFFERED);
    assert_non_null(strstr(reeve_client_error(test_buffered), "b is in the buffer"));
    assert_int_equal(reeve_enqueue(test_buffered, &(reeve_task_spec){.queue = "r", .type = "t"}, id), REEVE_BUFFERED);
    assert_int_equal(strlen(id), 36);
    assert_int_equal(test_buffer_put("q", "c"), REEVE_BUFFERED);
    test_buffer_expect(3, 0, 0);
    assert_int_equal(reeve_client_flush(test_buffered, 100), REEVE_ECONNECT);
    test_redis_launch(test_redis);
    test_conn_again();
    assert_int_equal(test_buffer_put("q", "d"),
                     REEVE_BUFFERED); /* behind the others: Redis is tried again in a second */
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    test_buffer_expect(0, 4, 0);
    assert_int_equal(test_buffer_put("q", "e"), REEVE_OK);
    assert_string_equal(test_state("r", id), "ready");
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{q}:ready 0 -1"), "[b c d e]");
    reeve_task_info *info = test_show("q", "c");
    assert_int_equal(info->payload.length, 3);
    reeve_task_info_free(info);
}

static reeve_status put_unique(const char *key, char id[REEVE_ID_MAX])
{
    const reeve_task_spec spec = {.queue = "mail", .type = "t", .unique = key};
    return reeve_enqueue(test_buffered, &spec, id);
}

/* A task goes to the partition of its key, whether it was kept or not; nobody sees another name than that of the queue. */
static void tasks_of_a_divided_queue_are_spread(void **state)
{
    char id[REEVE_ID_MAX], key[16];
    (void)state;
    test_buffer_open(test_buffer_path, 0);
    assert_int_equal(reeve_partition_set(test_buffered, "mail", 4), REEVE_OK);
    assert_int_equal(put_unique("k0", id), REEVE_OK);
    assert_string_equal(test_cmd(test_conn, "SAVE"), "OK");
    test_redis_kill(test_redis);
    for (int i = 0; i < 30; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(put_unique(key, id), REEVE_BUFFERED);
    }
    test_redis_launch(test_redis);
    test_conn_again();
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    test_buffer_expect(0, 29, 1);
    assert_non_null(strstr(test_buffer_told, "!mail/"));
    for (int i = 0; i < 30; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(put_unique(key, id), REEVE_EUNIQUE);
    }
    const char *const names[] = {"mail", "mail~1", "mail~2", "mail~3"};
    for (size_t i = 0; i < 4; i++) assert_true(test_count(names[i], "ready") > 1);
    char dump[300];
    (void)snprintf(dump, sizeof(dump), "%s/dump.rdb", test_redis_dir(test_redis));
    (void)unlink(dump);
}

static void an_enqueue_delivers_what_waits(void **state)
{
    (void)state;
    test_buffer_open(NULL, 100000);
    test_redis_kill(test_redis);
    assert_int_equal(test_buffer_put("q", "a"), REEVE_BUFFERED);
    test_redis_launch(test_redis);
    test_conn_again();
    TEST_AWAIT(reeve_enqueue(test_buffered, &(reeve_task_spec){.queue = "q", .type = "t"}, NULL) == REEVE_OK);
    test_buffer_expect(0, (uint64_t)test_count("q", "ready") - 1, 0);
    assert_string_equal(test_state("q", "a"), "ready");
}

static void a_client_opens_without_redis(void **state)
{
    char words[512] = "";
    (void)state;
    test_redis_kill(test_redis);
    assert_int_equal(test_buffer_open_with(&test_buffered, test_redis_url(test_redis), NULL, 0, words), REEVE_ECONNECT);
    test_buffer_open(test_buffer_path, 0);
    assert_int_equal(test_buffer_put("q", "a"), REEVE_BUFFERED);
    assert_int_equal(
        reeve_batch_open(test_buffered, &(reeve_batch){{0}, {0}, {0}},
                         &(reeve_batch_callbacks){.complete = &(reeve_task_spec){.queue = "q", .type = "t"}}),
        REEVE_ECONNECT);
    test_redis_launch(test_redis);
    test_conn_again();
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    assert_string_equal(test_state("q", "a"), "ready");
}

static void times_count_from_the_call(void **state)
{
    (void)state;
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "a", .in_ms = 3600000, .expires_in_ms = 7200000};
    test_buffer_open(test_buffer_path, 0);
    test_redis_kill(test_redis);
    int64_t now = rv_wall_ms();
    assert_int_equal(reeve_enqueue(test_buffered, &spec, NULL), REEVE_BUFFERED);
    test_redis_launch(test_redis);
    test_conn_again();
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    reeve_task_info *info = test_show("q", "a");
    assert_in_range(info->due_ms, now + 3600000, rv_wall_ms() + 3600000);
    assert_in_range(info->deadline_ms, now + 7200000, rv_wall_ms() + 7200000);
    reeve_task_info_free(info);
}

static void a_full_buffer_says_so(void **state)
{
    (void)state;
    reeve_task_spec specs[2] = {{.queue = "q", .type = "t"},
                                {.queue = "q", .type = "t", .payload = {test_buffer_path, 255}}};
    reeve_enqueued results[2];
    test_buffer_open(NULL, 300);
    test_redis_kill(test_redis);
    assert_int_equal(test_buffer_put("q", "z"), REEVE_BUFFERED);
    assert_int_equal(reeve_enqueue_many(test_buffered, specs, 2, results), REEVE_EFULL);
    assert_non_null(strstr(reeve_client_error(test_buffered), "the buffer is full"));
    assert_int_equal(results[0].status, REEVE_BUFFERED);
    assert_int_equal(results[1].status, REEVE_EFULL);
    specs[1].queue = "";
    assert_int_equal(reeve_enqueue_many(test_buffered, specs, 2, results), REEVE_EINVAL);
    assert_int_equal(results[0].status, REEVE_BUFFERED);
    assert_int_equal(results[1].status, REEVE_EINVAL);
    test_redis_launch(test_redis);
    test_conn_again();
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    test_buffer_expect(0, 3, 0);
}

static void what_redis_refuses_later_is_reported(void **state)
{
    (void)state;
    const reeve_parent none = {.handle = "q/none"};
    const reeve_task_spec specs[] = {{.queue = "q", .type = "u", .id = "a"},
                                     {.queue = "q", .type = "t", .id = "b", .unique = "u"},
                                     {.queue = "q", .type = "t", .id = "c", .unique = "u"},
                                     {.queue = "q", .type = "t", .id = "d", .after = &none, .after_count = 1},
                                     {.queue = "q", .type = "t", .id = "e"}};
    reeve_enqueued results[5];
    test_buffer_open(test_buffer_path, 0);
    test_redis_kill(test_redis);
    assert_int_equal(reeve_enqueue_many(test_buffered, specs, 5, results), REEVE_BUFFERED);
    test_redis_launch(test_redis);
    test_conn_again();
    test_put("q", "a");
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    assert_string_equal(test_buffer_told, "!q/a=9 !q/c=21 !q/d=10 ");
    test_buffer_expect(0, 2, 3);
    assert_string_equal(test_state("q", "e"), "ready");
}

/* ---- each once --------------------------------------------------------------------------------------------------- */

/* Redis carries the calls out, and their replies do not come. */
static void lost_replies_enqueue_nothing_twice(void **state)
{
    char words[512] = "";
    (void)state;
    test_proxy *proxy = test_proxy_start(test_redis);
    assert_int_equal(test_buffer_open_with(&test_buffered, test_proxy_url(proxy), test_buffer_path, 0, words),
                     REEVE_OK);
    assert_int_equal(test_buffer_put("q", "a"), REEVE_OK);
    test_proxy_mute(proxy, "EVALSHA", false);
    assert_int_equal(test_buffer_put("q", "b"), REEVE_BUFFERED);
    TEST_AWAIT_STATE("b", "ready"); /* it came */
    assert_int_equal(reeve_enqueue(test_buffered, &(reeve_task_spec){.queue = "q", .type = "t"}, NULL), REEVE_BUFFERED);
    test_proxy_mute(proxy, "EVALSHA", false);
    assert_int_equal(reeve_client_flush(test_buffered, 300), REEVE_ETIMEOUT);
    test_buffer_expect(2, 0, 0);
    test_proxy_mute(proxy, "\"type\":\"t\"}", false);
    assert_int_equal(reeve_client_flush(test_buffered, 300), REEVE_ETIMEOUT);
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    test_buffer_expect(0, 2, 0);
    assert_int_equal(test_count("q", "ready"), 3);
    test_buffer_tear_down(NULL);
    test_proxy_stop(proxy);
}

static void each_allocation_may_fail(void **state)
{
    unsigned long nth = 0;
    reeve_status status = REEVE_ENOMEM;
    (void)state;
    test_redis_kill(test_redis);
    while (status != REEVE_BUFFERED) {
        char words[512];
        (void)rv_mem_fail_at(++nth);
        status = test_buffer_open_with(&test_buffered, test_redis_url(test_redis), test_buffer_path, 0, words);
        if (status == REEVE_OK) status = test_buffer_put("q", NULL);
        (void)rv_mem_fail_at(0);
        if (status != REEVE_BUFFERED && status != REEVE_ECONNECT) assert_int_equal(status, REEVE_ENOMEM);
        test_buffer_tear_down(NULL);
        assert_true(nth < 1000);
    }
    assert_true(nth > 5);
    test_redis_launch(test_redis);
    test_conn_again();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tasks_wait_for_redis_in_order, test_buffer_set_up, test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(tasks_of_a_divided_queue_are_spread, test_buffer_set_up, test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(an_enqueue_delivers_what_waits, test_buffer_set_up, test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(a_client_opens_without_redis, test_buffer_set_up, test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(times_count_from_the_call, test_buffer_set_up, test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(a_full_buffer_says_so, test_buffer_set_up, test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(what_redis_refuses_later_is_reported, test_buffer_set_up,
                                        test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(lost_replies_enqueue_nothing_twice, test_buffer_set_up, test_buffer_tear_down),
        cmocka_unit_test_setup_teardown(each_allocation_may_fail, test_buffer_set_up, test_buffer_tear_down),
    };
    return cmocka_run_group_tests_name("ct_buffer", tests, test_place_start, test_place_stop);
}
