/* The metrics of a worker (reeve_worker_metrics): what is counted, both formats, and a buffer that is too small. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reeve/plugin.h"
#include "support/worker.h"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static void put(const char *id, const char *type, const char *payload)
{
    test_put_spec((reeve_task_spec){.id = id, .type = type, .payload = {payload, strlen(payload)}});
}

/* The caller frees the text. */
static char *metrics_of(reeve_worker *worker, reeve_metrics_format format)
{
    size_t length, again;
    assert_int_equal(reeve_worker_metrics(worker, format, NULL, 0, &length), REEVE_ETOOBIG);
    char *text = malloc(length + 1000);
    assert_non_null(text);
    assert_int_equal(reeve_worker_metrics(worker, format, text, length + 1000, &again), REEVE_OK);
    assert_int_equal(strlen(text), again);
    return text;
}

static bool has(reeve_worker *worker, const char *line)
{
    char *text = metrics_of(worker, REEVE_METRICS_PROMETHEUS);
    bool found = strstr(text, line) != NULL;
    free(text);
    return found;
}

static void expect(reeve_worker *worker, const char *line)
{
    if (!has(worker, line)) fail_msg("there is no %s", line);
}

static reeve_worker *run(bool metrics)
{
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.metrics = metrics});
    test_worker_pool(worker, "q", 2, 0);
    test_worker_start(worker);
    return worker;
}

static void counts_attempts_by_outcome(void **state)
{
    (void)state;
    put("plain", "t", "");
    put("result", "act", "result of it");
    put("fail", "act", "fail");
    put("retry", "act", "retry 50000");
    put("snooze", "act", "snooze 40000");
    put("held", "hold", "");
    reeve_worker *worker = run(true);
    TEST_AWAIT(test_count("q", "completed") == 2 && test_count("q", "scheduled") == 2 && test_count("q", "dead") == 1);
    TEST_AWAIT(has(worker, "reeve_tasks_total{queue=\"q\",type=\"act\",outcome=\"given_back\"} 1\n"));
    expect(worker, "reeve_tasks_total{queue=\"q\",type=\"t\",outcome=\"completed\"} 1\n");
    expect(worker, "reeve_tasks_total{queue=\"q\",type=\"act\",outcome=\"completed\"} 1\n");
    expect(worker, "reeve_tasks_total{queue=\"q\",type=\"act\",outcome=\"dead\"} 1\n");
    expect(worker, "reeve_tasks_total{queue=\"q\",type=\"act\",outcome=\"retried\"} 1\n");
    expect(worker, "reeve_task_run_seconds_count{queue=\"q\",type=\"act\"} 4\n");
    expect(worker, "reeve_task_wait_seconds_bucket{queue=\"q\",type=\"t\",le=\"+Inf\"} 1\n");
    TEST_AWAIT(has(worker, "reeve_worker_busy{pool=\"pool-1\"} 1\n"));
    assert_false(has(worker, "reeve_running_longest_seconds{pool=\"pool-1\"} 0\n"));
    expect(worker, "reeve_worker_threads{pool=\"pool-1\"} 2\n");
    expect(worker, "reeve_up 1\n");
    expect(worker, "reeve_leases_lost_total 0\n");
    assert_int_equal(reeve_plugin_count("test_seen", "What a test saw.", 7), REEVE_OK);
    expect(worker, "# TYPE reeve_plugin_test_seen_total counter\nreeve_plugin_test_seen_total 7\n");
    test_open_gate();
    test_worker_end(worker);
}

/* An outcome that Redis refuses, and connections that are opened again. */
static void counts_what_goes_wrong(void **state)
{
    (void)state;
    put("held", "stubborn", "");
    reeve_worker *worker = run(true);
    TEST_AWAIT(atomic_load(&test_begun) == 1);
    (void)test_cmd(test_conn, "FLUSHALL");
    test_kill_connections();
    TEST_AWAIT(has(worker, "reeve_sessions_lost_total 1\n"));
    TEST_AWAIT(!has(worker, "reeve_redis_reconnects_total 0\n"));
    test_open_gate();
    TEST_AWAIT(has(worker, "reeve_tasks_total{queue=\"q\",type=\"stubborn\",outcome=\"refused\"} 1\n"));
    expect(worker, "reeve_leases_lost_total 1\n");
    test_worker_end(worker);
}

static void counts_nothing_unasked(void **state)
{
    (void)state;
    put("plain", "t", "");
    reeve_worker *worker = run(false);
    TEST_AWAIT(test_count("q", "completed") == 1);
    char *text = metrics_of(worker, REEVE_METRICS_OPENMETRICS);
    assert_null(strstr(text, "reeve_tasks"));
    assert_non_null(strstr(text, "reeve_leases_total 1\n"));
    assert_string_equal(text + strlen(text) - strlen("# EOF\n"), "# EOF\n");
    free(text);
    test_worker_end(worker);
}

static void refuses_wrong_calls(void **state)
{
    char text[10] = "as it was";
    size_t length = 5;
    (void)state;
    reeve_worker *worker = test_worker_new(NULL); /* not started */
    assert_int_equal(reeve_worker_metrics(NULL, REEVE_METRICS_PROMETHEUS, text, 10, &length), REEVE_EINVAL);
    assert_int_equal(reeve_worker_metrics(worker, (reeve_metrics_format)7, text, 10, &length), REEVE_EINVAL);
    assert_int_equal(reeve_worker_metrics(worker, REEVE_METRICS_PROMETHEUS, text, 10, NULL), REEVE_EINVAL);
    assert_int_equal(length, 5);
    assert_int_equal(reeve_worker_metrics(worker, REEVE_METRICS_PROMETHEUS, text, 10, &length), REEVE_ETOOBIG);
    assert_string_equal(text, "as it was");
    assert_true(length > 100);
    reeve_worker_destroy(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(counts_attempts_by_outcome, set_up),
        cmocka_unit_test_setup(counts_what_goes_wrong, set_up),
        cmocka_unit_test_setup(counts_nothing_unasked, set_up),
        cmocka_unit_test_setup(refuses_wrong_calls, set_up),
    };
    return cmocka_run_group_tests(tests, test_place_start, test_place_stop);
}
