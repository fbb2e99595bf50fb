/* Tasks that wait for a place among their plugin's handlers: their time does not count yet, and the wait can end. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "reeve/plugin.h"
#include "reeve/stats.h"
#include "support/worker.h"

/* narrow.so, which counts its handlers that have begun, and waits until it is opened. As it is open, workers join it, and load
 * no copy of their own. */
static reeve_plugin_handle *plugin;
static void *library;
static atomic_uint *begun;
static atomic_bool *is_open;

static void plugin_path(char *path, size_t size, const char *file)
{
    const char *build = getenv("REEVE_BUILD");
    (void)snprintf(path, size, "%s/tests/plugins%s", build ? build : ".", file);
}

static int start(void **state)
{
    char path[4096];
    plugin_path(path, sizeof(path), "/narrow.so");
    char words[512];
    if (reeve_plugin_open(&plugin, path, NULL, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return -1;
    begun = dlsym(library, "narrow_begun");
    is_open = dlsym(library, "narrow_open");
    return begun == NULL || is_open == NULL ? -1 : test_place_start(state);
}

static int stop(void **state)
{
    (void)dlclose(library);
    reeve_plugin_close(plugin);
    return test_place_stop(state);
}

static int set_up(void **state)
{
    atomic_store(begun, 0);
    atomic_store(is_open, false);
    return test_place_empty(state);
}

static reeve_worker *run_worker(unsigned threads)
{
    char directory[4096];
    plugin_path(directory, sizeof(directory), "");
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.plugin_dir = directory});
    if (reeve_worker_load_plugin(worker, "narrow") != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    test_worker_pool(worker, "q", threads, 0);
    test_worker_start(worker);
    return worker;
}

/* It has the only place. */
static void begin_first(void)
{
    test_put_spec((reeve_task_spec){.id = "first", .type = "one"});
    TEST_AWAIT(atomic_load(begun) == 1);
}

/* The task has a thread of its own, and waits. */
static void put_behind_first(reeve_task_spec spec)
{
    begin_first();
    test_put_spec(spec);
    TEST_AWAIT_STATE(spec.id, "running");
}

static void expect_unbegun(const char *id, const char *state)
{
    TEST_AWAIT_STATE(id, state);
    assert_int_equal(atomic_load(begun), 1);
    assert_string_equal(test_state("q", "first"), "running");
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->failures, 0);
    assert_int_equal(info->crashes, 0);
    reeve_task_info_free(info);
}

static void end(reeve_worker *worker)
{
    atomic_store(is_open, true);
    test_worker_end(worker);
}

static void waiting_is_not_running(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(2);
    put_behind_first((reeve_task_spec){.id = "x", .type = "one", .timeout_ms = 700});
    usleep(900000); /* (what does not come cannot be waited for) */
    expect_unbegun("x", "running");
    atomic_store(is_open, true);
    TEST_AWAIT_STATE("x", "completed");
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->failures, 0);
    reeve_task_info_free(info);
    end(worker);
}

static void run_time_begins_behind_the_gate(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(2);
    int64_t began_ms = rv_now_ms();
    put_behind_first((reeve_task_spec){.id = "x", .type = "one"});
    usleep(500000);
    atomic_store(is_open, true);
    TEST_AWAIT(test_count("q", "completed") == 2);
    int64_t took_ms = rv_now_ms() - began_ms;
    test_worker_end(worker);
    reeve_day *day;
    test_ok(test_client, reeve_stats(test_client, "q", 0, 1, &day));
    assert_int_equal(day->run.count, 2);
    /* One ran after the other: the 500 ms of the first do not count for the other, too. */
    long long ran_ms = (long long)day->run.sum * day->run.unit_us / 1000;
    if (ran_ms > took_ms) fail_msg("%lld of %lld ms", ran_ms, (long long)took_ms);
    reeve_stats_free(day, 1);
}

static void quiet_gives_back_what_waits(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(2);
    put_behind_first((reeve_task_spec){.id = "x", .type = "one"});
    reeve_worker_quiet(worker);
    expect_unbegun("x", "ready");
    end(worker);
    assert_int_equal(atomic_load(begun), 1);
}

static void stop_gives_back_what_runs_at_most_once(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(2);
    put_behind_first((reeve_task_spec){.id = "x", .type = "one", .at_most_once = true});
    reeve_worker_quiet(worker);
    expect_unbegun("x", "ready");
    end(worker);
    assert_int_equal(atomic_load(begun), 1);
    assert_string_equal(test_state("q", "x"), "ready");
}

static void stop_gives_back_a_call_of_many(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(2);
    put_behind_first((reeve_task_spec){.id = "x", .type = "all"});
    reeve_worker_quiet(worker);
    expect_unbegun("x", "ready");
    end(worker);
    assert_int_equal(atomic_load(begun), 1);
}

static void a_call_of_many_begins_when_there_is_a_place(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(2);
    put_behind_first((reeve_task_spec){.id = "x", .type = "all", .timeout_ms = 700});
    usleep(900000);
    atomic_store(is_open, true);
    TEST_AWAIT(test_count("q", "completed") == 2);
    end(worker);
}

static void cancelled_while_it_waits(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(2);
    put_behind_first((reeve_task_spec){.id = "x", .type = "one"});
    test_ok(test_client, reeve_cancel(test_client, "q", "x"));
    expect_unbegun("x", "cancelled");
    end(worker);
}

static void too_late_when_it_has_its_place(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(2);
    begin_first();
    int64_t deadline_ms = rv_wall_ms() + 2000;
    test_put_spec((reeve_task_spec){.id = "x", .type = "one", .deadline_ms = deadline_ms});
    TEST_AWAIT_STATE("x", "running");
    TEST_AWAIT(rv_wall_ms() > deadline_ms + 200);
    atomic_store(is_open, true);
    TEST_AWAIT_STATE("x", "dead");
    assert_int_equal(atomic_load(begun), 1);
    reeve_task_info *info = test_show("q", "x");
    assert_string_equal(info->error_kind, "expired");
    reeve_task_info_free(info);
    end(worker);
}

/* The one that gives up may have been the one that was woken for the place. */
static void a_place_is_not_lost_with_who_gives_up(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(6);
    for (int round = 0; round < 50; round++) {
        atomic_store(begun, 0);
        atomic_store(is_open, false);
        put_behind_first((reeve_task_spec){.id = "x", .type = "one"});
        for (int i = 0; i < 3; i++) test_put_spec((reeve_task_spec){.type = "one"});
        atomic_store(is_open, true);
        (void)reeve_cancel(test_client, "q", "x");
        TEST_AWAIT(test_count("q", "running") == 0 && test_count("q", "ready") == 0);
        (void)test_cmd(test_conn, "DEL reeve:{q}:completed reeve:{q}:cancelled reeve:{q}:tasks");
    }
    end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(waiting_is_not_running, set_up),
        cmocka_unit_test_setup(run_time_begins_behind_the_gate, set_up),
        cmocka_unit_test_setup(quiet_gives_back_what_waits, set_up),
        cmocka_unit_test_setup(stop_gives_back_what_runs_at_most_once, set_up),
        cmocka_unit_test_setup(stop_gives_back_a_call_of_many, set_up),
        cmocka_unit_test_setup(a_call_of_many_begins_when_there_is_a_place, set_up),
        cmocka_unit_test_setup(cancelled_while_it_waits, set_up),
        cmocka_unit_test_setup(too_late_when_it_has_its_place, set_up),
        cmocka_unit_test_setup(a_place_is_not_lost_with_who_gives_up, set_up),
    };
    return cmocka_run_group_tests_name("ct_plugin_gate", tests, start, stop);
}
