/* What a worker tells of itself: memory, round trips, and what its threads run. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "support/worker.h"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

/* The only worker there is; its list of running tasks is the caller's. */
static reeve_worker_info look(cJSON **ret_running)
{
    static char running[65536];
    reeve_worker_info *list, info;
    size_t count;
    test_ok(test_client, reeve_workers(test_client, &list, &count));
    assert_int_equal(count, 1);
    info = list[0];
    (void)snprintf(running, sizeof(running), "%s", list[0].running);
    info.running = running;
    reeve_workers_free(list, count);
    *ret_running = cJSON_Parse(running);
    assert_true(cJSON_IsArray(*ret_running));
    return info;
}

static bool runs(int expected)
{
    cJSON *running;
    (void)look(&running);
    int count = cJSON_GetArraySize(running);
    cJSON_Delete(running);
    return count == expected;
}

static const char *text(const cJSON *item, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(item, name);
    return cJSON_IsString(found) ? found->valuestring : "";
}

static double number(const cJSON *item, const char *name)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(item, name));
}

static void stop(reeve_worker *worker)
{
    test_open_gate();
    if (reeve_worker_stop(worker, 10000) != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    reeve_worker_destroy(worker);
}

static reeve_worker *start(unsigned threads)
{
    const reeve_worker_options options = {.session_ms = 3000};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", threads, 0);
    test_worker_start(worker);
    return worker;
}

static void what_threads_run(void **state)
{
    (void)state;
    cJSON *running;
    reeve_worker *worker = start(4);
    TEST_AWAIT(test_number("SCARD reeve:workers") == 1 && runs(0));
    test_put_spec((reeve_task_spec){.id = "first", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    int64_t until = rv_deadline(50);
    while (rv_now_ms() < until) test_pause();
    test_put_spec((reeve_task_spec){.id = "second", .type = "stubborn"});
    TEST_AWAIT(runs(2));
    reeve_worker_info info = look(&running);
    assert_int_equal(info.busy, 2);
    assert_in_range(info.memory_bytes, 1 << 20, (int64_t)1 << 40);
    assert_in_range(info.round_trip_us, 1, 10000000);
    assert_true(info.utilisation > 0 && info.utilisation < 0.51); /* two of four threads run, since shortly */
    const cJSON *first = cJSON_GetArrayItem(running, 0), *second = cJSON_GetArrayItem(running, 1);
    assert_string_equal(text(first, "id"), "first"); /* the longest first */
    assert_string_equal(text(first, "queue"), "q");
    assert_string_equal(text(first, "type"), "hold");
    assert_string_equal(text(second, "id"), "second");
    assert_string_equal(text(second, "type"), "stubborn");
    assert_true(strcmp(text(first, "thread"), text(second, "thread")) != 0);
    assert_true(strstr(text(first, "thread"), "/") != NULL);
    assert_true(number(first, "for_ms") >= number(second, "for_ms") + 49);
    cJSON_Delete(running);
    test_open_gate();
    TEST_AWAIT(runs(0));
    stop(worker);
}

static void the_longest_of_many(void **state)
{
    (void)state;
    reeve_worker *worker = start(80);
    for (int i = 0; i < 80; i++) test_put_spec((reeve_task_spec){.type = "hold"});
    TEST_AWAIT(test_begun == 80 && runs(64));
    cJSON *running;
    (void)look(&running);
    double before = 1e300;
    const cJSON *item;
    cJSON_ArrayForEach(item, running)
    {
        assert_true(number(item, "for_ms") <= before);
        before = number(item, "for_ms");
    }
    cJSON_Delete(running);
    stop(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_threads_run, set_up),
        cmocka_unit_test_setup(the_longest_of_many, set_up),
    };
    return cmocka_run_group_tests_name("ct_worker_entry", tests, test_place_start, test_place_stop);
}
