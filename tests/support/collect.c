#include "support/collect.h"

#include <string.h>

test_collect_calls test_collected;

int test_collect_begin(void **state)
{
    test_close_gate();
    atomic_store(&test_collected.calls, 0);
    atomic_store(&test_collected.in_call, 0);
    atomic_store(&test_collected.told, 0);
    atomic_store(&test_collected.go, false);
    return test_place_empty(state);
}

static void end_task(reeve_task *task, size_t count)
{
    const char *words = reeve_task_payload(task).data;
    char number[24];
    if (strcmp(words, "retry") == 0) {
        (void)reeve_task_retry(task, TEST_LONG_MS, "again", "later");
    } else if (strcmp(words, "fail") == 0) {
        (void)reeve_task_fail(task, "bad", "for good");
    } else if (strcmp(words, "snooze") == 0) {
        (void)reeve_task_snooze(task, TEST_LONG_MS);
    } else if (strcmp(words, "none") != 0) {
        (void)snprintf(number, sizeof(number), "%zu", count);
        (void)reeve_task_done(task, number, strlen(number));
    }
}

/* Of a hold: waits until the test says go; notes when one is told to stop, and asks for another attempt for it. */
static void wait_for_go(reeve_task *const *tasks, size_t count, bool *ret_told)
{
    bool hold = false;
    for (size_t i = 0; i < count; i++) hold = hold || strcmp(reeve_task_payload(tasks[i]).data, "hold") == 0;
    atomic_fetch_add(&test_collected.in_call, 1);
    while (hold && !atomic_load(&test_collected.go)) {
        size_t stopped = 0;
        for (size_t i = 0; i < count; i++) {
            if (!ret_told[i] && reeve_task_should_stop(tasks[i])) atomic_fetch_add(&test_collected.told, 1);
            ret_told[i] = ret_told[i] || reeve_task_should_stop(tasks[i]);
            stopped += ret_told[i];
        }
        if (stopped == count) break;
        test_pause();
    }
}

static void collect(reeve_task *const *tasks, size_t count, void *user)
{
    bool stopped[REEVE_BATCH_SIZE_MAX] = {false};
    unsigned call = atomic_fetch_add(&test_collected.calls, 1);
    (void)user;
    TEST_MUST(count >= 1 && count <= REEVE_BATCH_SIZE_MAX);
    if (call < TEST_CALLS) atomic_store(&test_collected.sizes[call], (unsigned)count);
    for (size_t i = 0; i < count; i++) {
        const char *id = reeve_task_id(tasks[i]);
        TEST_MUST(strcmp(reeve_task_queue(tasks[i]), reeve_task_queue(tasks[0])) == 0);
        TEST_MUST(strcmp(reeve_task_type(tasks[i]), "collect") == 0);
        if (id[0] == 'n') atomic_fetch_add(&test_runs[atoi(id + 1)], 1);
    }
    wait_for_go(tasks, count, stopped);
    for (size_t i = 0; i < count; i++) {
        if (stopped[i])
            (void)reeve_task_retry(tasks[i], TEST_LONG_MS, "told", "told to stop");
        else
            end_task(tasks[i], count);
    }
}

reeve_worker *test_collect_worker(const reeve_worker_options *options, unsigned many, int64_t wait_ms,
                                  int64_t timeout_ms)
{
    const reeve_handler handler = {REEVE_HANDLER,
                                   .type = "collect",
                                   .run_batch = collect,
                                   .batch_size = many,
                                   .batch_wait_ms = wait_ms,
                                   .timeout_ms = timeout_ms,
                                   .backoff = {.base_ms = TEST_LONG_MS, .jitter = -1}};
    reeve_worker *worker = test_worker_new(options);
    assert_int_equal(reeve_worker_register(worker, &handler), REEVE_OK);
    return worker;
}

reeve_worker *test_collect_run(unsigned many, int64_t wait_ms)
{
    reeve_worker *worker = test_collect_worker(NULL, many, wait_ms, 0);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    return worker;
}

void test_collect_put_to(const char *queue, const char *id, const char *payload)
{
    test_put_spec(
        (reeve_task_spec){.queue = queue, .id = id, .type = "collect", .payload = {payload, strlen(payload)}});
}

void test_collect_put(const char *id, const char *payload)
{
    test_collect_put_to("q", id, payload);
}

void test_collect_put_numbers(size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%zu", i);
        test_collect_put(id, "");
    }
}

void test_collect_stop(reeve_worker *worker)
{
    if (reeve_worker_stop(worker, 10000) != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    reeve_worker_destroy(worker);
}

void test_expect_counted(const char *id, unsigned failures, unsigned crashes)
{
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->failures, failures);
    assert_int_equal(info->crashes, crashes);
    reeve_task_info_free(info);
}

void test_expect_result(const char *id, const char *result)
{
    assert_string_equal(test_cmd(test_conn, "HGET reeve:{q}:results %s", id), result);
}

void test_expect_kind(const char *id, const char *kind)
{
    assert_string_equal(test_cmd(test_conn, "HGET reeve:{q}:info:%s kind", id), kind);
}
