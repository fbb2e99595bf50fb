/* ut_run_inline.c - one run of a plugin's handler without Redis: the report, the sample plugin, the gate. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "handlers/plugin.h"
#include "handlers/task.h"
#include "support/cmocka.h"

static char directory[4000];
static reeve_plugin_handle *sample;

REEVE_API void test_plugin_saw(const char *event);
static char seen[256];

void test_plugin_saw(const char *event)
{
    size_t used = strlen(seen);

    snprintf(seen + used, sizeof(seen) - used, "%s ", event);
}

static int set_up_group(void **state)
{
    const char *build = getenv("REEVE_BUILD");
    char plugins[4000], said[1024];

    (void)state;
    snprintf(directory, sizeof(directory), "%s/tests/plugins", build != NULL ? build : ".");
    snprintf(plugins, sizeof(plugins), "%s/plugins", build != NULL ? build : ".");
    if (access(plugins, R_OK) != 0) return 0; /* a build without the plugins: what needs them is skipped */
    if (reeve_plugin_open(&sample, "sample", plugins, said, sizeof(said)) == REEVE_OK) return 0;
    fprintf(stderr, "%s\n", said);
    return -1;
}

static int tear_down_group(void **state)
{
    (void)state;
    reeve_plugin_close(sample);
    return 0;
}

static reeve_plugin_handle *opened(const char *name)
{
    reeve_plugin_handle *plugin = NULL;
    char said[1024] = "";

    if (reeve_plugin_open(&plugin, name, directory, said, sizeof(said)) != REEVE_OK) fail_msg("%s", said);
    return plugin;
}

static reeve_run_report run(const char *type, const char *payload, unsigned attempt)
{
    reeve_run_options options = {.size = sizeof(options), .payload = {payload, strlen(payload)}, .attempt = attempt};
    reeve_run_report report;

    if (sample == NULL) skip();
    assert_int_equal(reeve_plugin_run(sample, type, &options, &report), REEVE_OK);
    return report;
}

static void expect_failure(const char *type, const char *payload, reeve_outcome outcome, const char *kind,
                           const char *words)
{
    reeve_run_report report = run(type, payload, 1);

    if (report.outcome != outcome)
        fail_msg("%s %s: outcome %d, %s", type, payload, (int)report.outcome, report.message);
    assert_string_equal(report.kind, kind);
    if (strstr(report.message, words) == NULL) fail_msg("\"%s\" is not in: %s", words, report.message);
    assert_null(report.result.data);
    reeve_run_report_fini(&report);
}

/* ---- the sample plugin ----------------------------------------------------------------------------------------- */

static void noop_is_done_without_a_result(void **state)
{
    reeve_run_report report = run("noop", "whatever", 1);

    (void)state;
    assert_int_equal(report.outcome, REEVE_OUTCOME_DONE);
    assert_null(report.result.data);
    assert_int_equal(report.result.length, 0);
    assert_int_equal(report.delay_ms, 0);
    assert_string_equal(report.kind, "");
    assert_string_equal(report.message, "");
    reeve_run_report_fini(&report);
    reeve_run_report_fini(&report);
    reeve_run_report_fini(NULL);
}

static void echo_returns_every_byte(void **state)
{
    char every[256];
    reeve_run_options options = {.payload = {every, sizeof(every)}};
    reeve_run_report report;

    (void)state;
    if (sample == NULL) skip();
    for (size_t i = 0; i < sizeof(every); i++) every[i] = (char)i;
    assert_int_equal(reeve_plugin_run(sample, "echo", &options, &report), REEVE_OK);
    assert_int_equal(report.outcome, REEVE_OUTCOME_DONE);
    assert_int_equal(report.result.length, sizeof(every));
    assert_memory_equal(report.result.data, every, sizeof(every));
    reeve_run_report_fini(&report);
    report = run("echo", "", 1);
    assert_int_equal(report.outcome, REEVE_OUTCOME_DONE);
    assert_int_equal(report.result.length, 0);
    reeve_run_report_fini(&report);
}

static void sleep_takes_as_long_as_asked(void **state)
{
    reeve_run_report report = run("sleep", "{\"ms\":35}", 1);

    (void)state;
    assert_int_equal(report.outcome, REEVE_OUTCOME_DONE);
    assert_true(report.elapsed_us >= 35000);
    assert_null(report.result.data);
    reeve_run_report_fini(&report);
    report = run("sleep", "{\"ms\":0}", 1);
    assert_int_equal(report.outcome, REEVE_OUTCOME_DONE);
    reeve_run_report_fini(&report);
}

static void sleep_refuses_what_it_cannot_read(void **state)
{
    static const char *const payloads[] = {"",
                                           "{}",
                                           "[]",
                                           "{\"ms\":-1}",
                                           "{\"ms\":\"1\"}",
                                           "{\"ms\":1.5}",
                                           "{\"ms\":1e99}",
                                           "{\"ms\":1} x",
                                           "{\"ms\":",
                                           "{\"ms\":null}"};

    (void)state;
    for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
        expect_failure("sleep", payloads[i], REEVE_OUTCOME_FAIL, "payload", "");
    }
}

static const reeve_handler *handler_of(const char *type)
{
    const reeve_plugin *plugin = reeve_plugin_get(sample);

    for (size_t i = 0; i < plugin->handler_count; i++) {
        if (strcmp(plugin->handlers[i].type, type) == 0) return &plugin->handlers[i];
    }
    fail_msg("no handler of %s", type);
    return NULL;
}

static void sleep_is_given_back_when_the_worker_stops(void **state)
{
    static const char payload[] = "{\"ms\":3600000}";
    atomic_bool stop = true;
    rv_task_host host = {.stop = &stop};
    int64_t began = rv_now_ms();
    reeve_task task;

    (void)state;
    if (sample == NULL) skip();
    rv_task_init(&task);
    task.payload = (reeve_bytes){payload, sizeof(payload) - 1};
    task.host = &host;
    assert_int_equal(rv_task_run(&task, handler_of("sleep")), REEVE_OUTCOME_SNOOZE);
    assert_int_equal(task.delay_ms, 0);
    assert_true(rv_now_ms() - began < 60000);
    rv_task_fini(&task);
}

static void fail_fails_as_asked(void **state)
{
    reeve_run_report report;

    (void)state;
    expect_failure("fail", "{\"kind\":\"odd\",\"message\":\"told to\"}", REEVE_OUTCOME_RETRY, "odd", "told to");
    expect_failure("fail", "{}", REEVE_OUTCOME_RETRY, "sample", "asked to fail");
    expect_failure("fail", "", REEVE_OUTCOME_RETRY, "sample", "asked to fail");
    expect_failure("fail", "{\"message\":\"100 %s\"}", REEVE_OUTCOME_RETRY, "sample", "100 %s");
    expect_failure("fail", "{\"times\":-1}", REEVE_OUTCOME_FAIL, "payload", "expected");
    expect_failure("fail", "{\"kind\":3}", REEVE_OUTCOME_FAIL, "payload", "expected");
    expect_failure("fail", "nonsense", REEVE_OUTCOME_FAIL, "payload", "not JSON");
    report = run("fail", "{\"times\":0}", 1);
    assert_int_equal(report.outcome, REEVE_OUTCOME_DONE);
    reeve_run_report_fini(&report);
    for (unsigned attempt = 1; attempt <= 3; attempt++) {
        report = run("fail", "{\"times\":2}", attempt);
        assert_int_equal(report.outcome, attempt <= 2 ? REEVE_OUTCOME_RETRY : REEVE_OUTCOME_DONE);
        reeve_run_report_fini(&report);
    }
    report = run("fail", "{}", 1000000);
    assert_int_equal(report.outcome, REEVE_OUTCOME_RETRY);
    reeve_run_report_fini(&report);
}

static void the_backoff_is_applied_to_the_report(void **state)
{
    reeve_run_report report = run("fail", "{}", 1);

    (void)state;
    assert_in_range(report.delay_ms, 800, 1200);
    reeve_run_report_fini(&report);
    report = run("fail", "{}", 4);
    assert_in_range(report.delay_ms, 6400, 9600);
    reeve_run_report_fini(&report);
}

static void crash_is_a_real_one(void **state)
{
    int status = 0;
    pid_t child;

    (void)state;
    if (sample == NULL) skip();
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};
        reeve_run_report report;

        (void)setrlimit(RLIMIT_CORE, &none);
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(7);
        (void)signal(SIGSEGV, SIG_DFL); /* a sanitizer, or the test's own, would catch it */
        reeve_plugin_run(sample, "crash", NULL, &report);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

/* ---- the run itself -------------------------------------------------------------------------------------------- */

static void note_progress(int percent, const char *words, void *user)
{
    char *note = user;

    snprintf(note, 64, "%d %s", percent, words);
}

static void hooks_surround_the_run(void **state)
{
    reeve_plugin_handle *good;
    char note[64] = "";
    reeve_run_options options = {
        .size = sizeof(options), .queue = "here", .id = "x", .progress = note_progress, .user = note};
    reeve_run_report report;

    (void)state;
    seen[0] = '\0';
    good = opened("good");
    assert_int_equal(reeve_plugin_run(good, "good:one", &options, &report), REEVE_OK);
    assert_string_equal(report.message, "");
    assert_int_equal(report.outcome, REEVE_OUTCOME_DONE);
    assert_memory_equal(report.result.data, "here", 4);
    assert_string_equal(note, "50 half way");
    reeve_run_report_fini(&report);
    reeve_plugin_close(good);
    assert_string_equal(seen, "load thread_start run thread_stop unload ");
}

static void a_handler_that_says_nothing_fails(void **state)
{
    reeve_plugin_handle *good = opened("good");
    reeve_run_report report;

    (void)state;
    assert_int_equal(reeve_plugin_run(good, "good/silent", NULL, &report), REEVE_OK);
    assert_int_equal(report.outcome, REEVE_OUTCOME_RETRY);
    assert_string_equal(report.kind, "handler");
    reeve_run_report_fini(&report);
    reeve_plugin_close(good);
}

static void a_failed_set_up_is_a_failure_without_a_run(void **state)
{
    reeve_plugin_handle *good = opened("good");
    reeve_run_report report;

    (void)state;
    seen[0] = '\0';
    assert_int_equal(reeve_plugin_run(good, "good.setup", NULL, &report), REEVE_OK);
    assert_int_equal(report.outcome, REEVE_OUTCOME_RETRY);
    assert_string_equal(report.kind, "setup");
    assert_non_null(strstr(report.message, "returned 5"));
    assert_int_equal(report.elapsed_us, 0);
    assert_string_equal(seen, "");
    reeve_run_report_fini(&report);
    reeve_plugin_close(good);
}

static void wrong_arguments_are_refused(void **state)
{
    reeve_run_options no_queue = {.queue = "no queue"}, no_id = {.id = "a/b"}, none = {.payload = {NULL, 3}};
    reeve_run_options large = {.payload = {"", (size_t)REEVE_PAYLOAD_MAX + 1}};
    reeve_run_report report;

    (void)state;
    if (sample == NULL) skip();
    assert_int_equal(reeve_plugin_run(sample, "nothing", NULL, &report), REEVE_ENOTFOUND);
    assert_int_equal(reeve_plugin_run(sample, NULL, NULL, &report), REEVE_EINVAL);
    assert_int_equal(reeve_plugin_run(sample, "noop", &no_queue, &report), REEVE_EINVAL);
    assert_int_equal(reeve_plugin_run(sample, "noop", &no_id, &report), REEVE_EINVAL);
    assert_int_equal(reeve_plugin_run(sample, "noop", &none, &report), REEVE_EINVAL);
    assert_int_equal(reeve_plugin_run(sample, "noop", &large, &report), REEVE_ETOOBIG);
    rv_mem_fail_at(1);
    assert_int_equal(reeve_plugin_run(sample, "noop", NULL, &report), REEVE_ENOMEM);
    rv_mem_fail_at(0);
}

/* A caller compiled before the last fields came says so by its size. */
static void options_of_an_older_size_are_read_no_further(void **state)
{
    reeve_plugin_handle *good = opened("good");
    reeve_run_options options = {.size = offsetof(reeve_run_options, progress)};
    reeve_run_report report;

    (void)state;
    memset(&options.progress, 0xff, sizeof(options.progress));
    assert_int_equal(reeve_plugin_run(good, "good:one", &options, &report), REEVE_OK);
    assert_int_equal(report.outcome, REEVE_OUTCOME_DONE);
    reeve_run_report_fini(&report);
    reeve_plugin_close(good);
}

/* ---- the gate -------------------------------------------------------------------------------------------------- */

#define GATE_THREADS 6
#define GATE_RUNS 25

static void *run_through_gate(void *context)
{
    reeve_plugin_handle *gate = context;

    for (int i = 0; i < GATE_RUNS; i++) {
        reeve_run_report report;

        if (reeve_plugin_run(gate, "gate", NULL, &report) != REEVE_OK) return (void *)"unknown";
        if (report.outcome != REEVE_OUTCOME_DONE) return (void *)(strcmp(report.kind, "alone") == 0 ? "few" : "many");
        reeve_run_report_fini(&report);
    }
    return NULL;
}

static void expect_gate_kept(const char *name)
{
    reeve_plugin_handle *gate = opened(name);
    pthread_t threads[GATE_THREADS];

    for (size_t i = 0; i < GATE_THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_through_gate, gate), 0);
    }
    for (size_t i = 0; i < GATE_THREADS; i++) {
        void *trouble = NULL;

        assert_int_equal(pthread_join(threads[i], &trouble), 0);
        if (trouble != NULL) fail_msg("%s: too %s ran at once", name, (const char *)trouble);
    }
    reeve_plugin_close(gate);
}

static void the_declared_concurrency_is_kept(void **state)
{
    (void)state;
    expect_gate_kept("gate_1");
    expect_gate_kept("gate_2");
}

static void collect_comes_alone(void **state)
{
    (void)state;
    reeve_run_report report = run("collect", "x", 1);

    assert_int_equal(report.outcome, REEVE_OUTCOME_DONE);
    assert_int_equal(report.result.length, 14);
    assert_memory_equal(report.result.data, "{\"together\":1}", 14);
    reeve_run_report_fini(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noop_is_done_without_a_result),
        cmocka_unit_test(echo_returns_every_byte),
        cmocka_unit_test(sleep_takes_as_long_as_asked),
        cmocka_unit_test(sleep_refuses_what_it_cannot_read),
        cmocka_unit_test(sleep_is_given_back_when_the_worker_stops),
        cmocka_unit_test(fail_fails_as_asked),
        cmocka_unit_test(the_backoff_is_applied_to_the_report),
        cmocka_unit_test(crash_is_a_real_one),
        cmocka_unit_test(collect_comes_alone),
        cmocka_unit_test(hooks_surround_the_run),
        cmocka_unit_test(a_handler_that_says_nothing_fails),
        cmocka_unit_test(a_failed_set_up_is_a_failure_without_a_run),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(options_of_an_older_size_are_read_no_further),
        cmocka_unit_test(the_declared_concurrency_is_kept),
    };
    return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}
