/* A worker in the test's own process: what becomes of tasks by what their handlers say. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
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

static void expect(const char *id, reeve_state state, unsigned failures, const char *kind, const char *message)
{
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->state, state);
    assert_int_equal(info->failures, failures);
    assert_int_equal(info->crashes, 0);
    if (kind) assert_string_equal(info->error_kind, kind);
    if (!kind) assert_null(info->error_kind);
    if (message && !strstr(info->error_message, message)) fail_msg("%s: %s", id, info->error_message);
    reeve_task_info_free(info);
}

/* ---- outcomes -------------------------------------------------------------------------------------------------- */

static void every_outcome(void **state)
{
    (void)state;
    put("plain", "t", "");
    put("result", "act", "result of it");
    put("fail", "act", "fail");
    put("retry", "act", "retry 50000");
    put("snooze", "act", "snooze 40000");
    put("none", "act", "none");
    put("unknown", "no/such", "");
    reeve_worker *worker = test_worker_run(2, 0);
    TEST_AWAIT(test_count("q", "completed") == 2 && test_count("q", "scheduled") == 4 && test_count("q", "dead") == 1);
    expect("plain", REEVE_STATE_COMPLETED, 0, NULL, NULL);
    expect("fail", REEVE_STATE_DEAD, 1, "bad", "for good");
    expect("retry", REEVE_STATE_SCHEDULED, 1, "again", "said \"retry 50000\"");
    expect("snooze", REEVE_STATE_SCHEDULED, 0, NULL, NULL);
    expect("none", REEVE_STATE_SCHEDULED, 1, "handler", "without calling an outcome function");
    expect("unknown", REEVE_STATE_SCHEDULED, 1, "no_handler", "no/such");
    reeve_task_info *info = test_show("q", "result");
    assert_string_equal(info->result.data, "of it");
    reeve_task_info_free(info);
    assert_int_equal(reeve_worker_stop(worker, 5000), REEVE_OK);
    reeve_worker_stats stats = test_worker_stats(worker);
    assert_int_equal(stats.leased, 7);
    assert_int_equal(stats.completed, 2);
    assert_int_equal(stats.failed, 4);
    assert_int_equal(stats.dead, 1);
    assert_int_equal(stats.given_back, 1);
    assert_int_equal(stats.refused, 0);
    reeve_worker_destroy(worker);
    reeve_queue_info queue;
    test_ok(test_client, reeve_queue(test_client, "q", &queue)); /* the last heartbeat brought the sums */
    assert_int_equal(queue.completed_total, 2);
    assert_int_equal(queue.failed_total, 4);
    assert_int_equal(queue.dead_total, 1);
}

static void attempts_run_out(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    const reeve_handler_policy policy = {.type = "act", .attempts = 3};
    assert_int_equal(reeve_worker_set_policy(worker, &policy), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_put_spec((reeve_task_spec){.id = "n2", .type = "act", .payload = {"retry 0", 7}, .attempts = 2});
    put("n3", "act", "retry 0");
    test_worker_start(worker);
    TEST_AWAIT_STATE("n2", "dead");
    TEST_AWAIT_STATE("n3", "dead");
    expect("n2", REEVE_STATE_DEAD, 2, "again", "said \"retry 0\"");
    expect("n3", REEVE_STATE_DEAD, 3, "again", "said \"retry 0\"");
    assert_int_equal(test_runs[2], 2);
    assert_int_equal(test_runs[3], 3);
    test_ok(test_client, reeve_retry(test_client, "q", "n2")); /* begins to count anew */
    TEST_AWAIT(test_runs[2] == 4);
    TEST_AWAIT_STATE("n2", "dead");
    reeve_worker_destroy(worker);
}

static int64_t delay_of(const char *id)
{
    TEST_AWAIT_STATE(id, "scheduled");
    reeve_task_info *info = test_show("q", id);
    int64_t delay = info->due_ms - info->failed_ms;
    reeve_task_info_free(info);
    return delay;
}

static void delays(void **state)
{
    (void)state;
    const reeve_backoff own = {.shape = REEVE_BACKOFF_FIXED, .base_ms = 70000, .jitter = -1};
    const reeve_backoff handlers = {.base_ms = 40000, .jitter = 0.5};
    reeve_worker *worker = test_worker_new(NULL);
    const reeve_handler_policy policy = {.type = "act", .backoff = &handlers};
    assert_int_equal(reeve_worker_set_policy(worker, &policy), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    put("said", "act", "retry 55000");
    test_put_spec((reeve_task_spec){.id = "own", .type = "act", .payload = {"backoff", 7}, .backoff = &own});
    put("handlers", "act", "backoff");
    put("default", "unknown", "");
    test_worker_start(worker);
    assert_int_equal(delay_of("said"), 55000);
    assert_int_equal(delay_of("own"), 70000);
    assert_in_range(delay_of("handlers"), 20000, 60000);
    reeve_task_info *info = test_show("q", "default");
    assert_in_range(info->due_ms - info->failed_ms, 800, 1200);
    reeve_task_info_free(info);
    reeve_worker_destroy(worker);
}

static void backoff_grows(void **state)
{
    (void)state;
    const reeve_backoff doubling = {.base_ms = 20000, .cap_ms = 50000, .jitter = -1};
    reeve_worker *worker = test_worker_run(1, 0);
    test_put_spec((reeve_task_spec){.id = "n1", .type = "act", .payload = {"backoff", 7}, .backoff = &doubling});
    assert_int_equal(delay_of("n1"), 20000);
    test_ok(test_client, reeve_retry(test_client, "q", "n1"));
    TEST_AWAIT(test_runs[1] == 2);
    assert_int_equal(delay_of("n1"), 40000);
    test_ok(test_client, reeve_retry(test_client, "q", "n1"));
    TEST_AWAIT(test_runs[1] == 3);
    assert_int_equal(delay_of("n1"), 50000);
    reeve_worker_destroy(worker);
}

static void snoozes_use_no_attempt(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 0);
    test_put_spec((reeve_task_spec){.id = "n1", .type = "act", .payload = {"snooze 1", 8}, .attempts = 1});
    TEST_AWAIT(test_runs[1] >= 5);
    assert_int_equal(reeve_worker_stop(worker, 5000), REEVE_OK);
    expect("n1", strcmp(test_state("q", "n1"), "ready") == 0 ? REEVE_STATE_READY : REEVE_STATE_SCHEDULED, 0, NULL,
           NULL);
    /* What was leased and not begun when it stopped went back as well. */
    assert_in_range(test_worker_stats(worker).given_back, test_runs[1], test_runs[1] + 1);
    reeve_worker_destroy(worker);
}

/* ---- the task, as its handler sees it -------------------------------------------------------------------------- */

static reeve_outcome look(reeve_task *task, void *user)
{
    reeve_bytes payload = reeve_task_payload(task);
    (void)user;
    TEST_MUST(strcmp(reeve_task_id(task), "n7") == 0);
    TEST_MUST(strcmp(reeve_task_queue(task), "other") == 0);
    TEST_MUST(strcmp(reeve_task_type(task), "look") == 0);
    TEST_MUST(strcmp(reeve_task_handle(task), "other/n7") == 0);
    TEST_MUST(payload.length == 4);
    TEST_MUST(memcmp(payload.data, "a\n\0b", 5) == 0); /* and a zero byte */
    TEST_MUST(strcmp(reeve_task_group(task), "g \"1\"") == 0);
    TEST_MUST(strcmp(reeve_task_meta(task, "k"), "v\xc3\xa9\n") == 0);
    TEST_MUST(reeve_task_meta(task, "none") == NULL);
    TEST_MUST(reeve_task_crashes(task) == 0);
    TEST_MUST(reeve_task_thread_state(task) == NULL);
    TEST_MUST(llabs(reeve_task_enqueued_ms(task) - rv_wall_ms()) < 60000);
    TEST_MUST(!reeve_task_should_stop(task));
    if (reeve_task_attempt(task) == 1) return reeve_task_retry(task, 0, "k", "m");
    TEST_MUST(reeve_task_attempt(task) == 2);
    return reeve_task_done(task, NULL, 0);
}

static void what_a_handler_reads(void **state)
{
    (void)state;
    const reeve_meta meta = {"k", "v\xc3\xa9\n"};
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_handle(worker, "look", look, NULL), REEVE_OK);
    test_worker_pool(worker, "q other", 1, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.queue = "other",
                                    .id = "n7",
                                    .type = "look",
                                    .payload = {"a\n\0b", 4},
                                    .group = "g \"1\"",
                                    .meta = &meta,
                                    .meta_count = 1});
    TEST_AWAIT(strcmp(test_state("other", "n7"), "completed") == 0);
    reeve_worker_destroy(worker);
}

/* ---- hooks and signals ----------------------------------------------------------------------------------------- */

enum { HOOKED = 4 }; /* threads */
static atomic_uint hooks_begun, hooks_ended, hooks_freed, hook_failures;

static int hook_start(void *user, void **ret_state)
{
    TEST_MUST(user == &hooks_freed);
    if (atomic_load(&hook_failures) > 0) {
        atomic_fetch_sub(&hook_failures, 1);
        return -1;
    }
    atomic_fetch_add(&hooks_begun, 1);
    *ret_state = (void *)(uintptr_t)pthread_self();
    return 0;
}

static void hook_stop(void *user, void *thread)
{
    TEST_MUST(user == &hooks_freed);
    TEST_MUST(thread == (void *)(uintptr_t)pthread_self());
    atomic_fetch_add(&hooks_ended, 1);
}

static void hook_free(void *user)
{
    TEST_MUST(user == &hooks_freed);
    atomic_fetch_add(&hooks_freed, 1);
}

/* What a thread's own fault raises; the others are the program's. */
static bool is_fault(int signal)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (signal == faults[i]) return true;
    }
    return false;
}

/* Also: no signal of the program's is for this thread. */
static reeve_outcome hooked(reeve_task *task, void *user)
{
    sigset_t blocked;
    TEST_MUST(pthread_sigmask(SIG_SETMASK, NULL, &blocked) == 0);
    for (int i = 1; i < 32; i++) {
        if (i == SIGKILL || i == SIGSTOP || is_fault(i)) continue;
        if (sigismember(&blocked, i) != 1) return reeve_task_fail(task, "signal", "%d is not blocked", i);
    }
    if (reeve_task_thread_state(task) != (void *)(uintptr_t)pthread_self())
        return reeve_task_fail(task, "state", "wrong");
    while (atomic_load(&hooks_begun) < HOOKED) test_pause(); /* (each thread is to have some of them) */
    (void)user;
    return reeve_task_done(task, NULL, 0);
}

static void hooks_run_once_a_thread(void **state)
{
    (void)state;
    hooks_begun = hooks_ended = hooks_freed = 0;
    hook_failures = 2;
    reeve_worker *worker = test_worker_new(NULL);
    const reeve_handler handler = {REEVE_HANDLER,
                                   .type = "hooked",
                                   .run = hooked,
                                   .user = &hooks_freed,
                                   .backoff.base_ms = 1,
                                   .thread_start = hook_start,
                                   .thread_stop = hook_stop,
                                   .free_user = hook_free};
    assert_int_equal(reeve_worker_register(worker, &handler), REEVE_OK);
    test_worker_pool(worker, "q", HOOKED, 1);
    test_worker_start(worker);
    for (int i = 0; i < 400; i++) test_put_spec((reeve_task_spec){.type = "hooked"});
    TEST_AWAIT(test_count("q", "completed") == 400);
    TEST_AWAIT(test_worker_stats(worker).failed >= 2); /* of set-up; they were tried again */
    assert_int_equal(test_worker_stats(worker).failed, 2);
    assert_int_equal(hooks_begun, HOOKED);
    assert_int_equal(hooks_ended, 0);
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    assert_int_equal(hooks_ended, HOOKED);
    assert_int_equal(hooks_freed, 0);
    reeve_worker_destroy(worker);
    assert_int_equal(hooks_freed, 1);
    assert_int_equal(hooks_begun, HOOKED);
}

static atomic_int signals;
static pthread_t signalled;

static void on_signal(int number)
{
    (void)number;
    TEST_MUST(pthread_equal(pthread_self(), signalled));
    atomic_fetch_add(&signals, 1);
}

static void signals_reach_the_program_only(void **state)
{
    (void)state;
    struct sigaction before, action = {.sa_handler = on_signal};
    signalled = pthread_self();
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    reeve_worker *worker = test_worker_run(8, 0);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(kill(getpid(), SIGUSR1), 0);
        put("n1", "t", "");
        TEST_AWAIT_STATE("n1", "completed");
        test_ok(test_client, reeve_delete(test_client, "q", "n1"));
    }
    assert_true(signals > 0);
    reeve_worker_destroy(worker);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

/* ---- without memory -------------------------------------------------------------------------------------------- */

/* There is no memory for a copy of its words. */
static reeve_outcome run_without_memory(reeve_task *task, void *user)
{
    static const unsigned char result[] = "r";
    const char *id = reeve_task_id(task);
    reeve_outcome outcome;
    (void)user;
    if (reeve_task_attempt(task) > 1) return reeve_task_done(task, NULL, 0);
    if (strcmp(id, "fail") == 0)
        outcome = reeve_task_fail(task, "bad", "for good");
    else if (strcmp(id, "retry") == 0)
        outcome = reeve_task_retry(task, 50000, "again", "later");
    else
        outcome = reeve_task_done(task, result, 1);
    (void)rv_mem_fail_at(1);
    return outcome;
}

static void outcomes_stay_when_no_memory_keeps_their_words(void **state)
{
    (void)state;
    put("fail", "poor", "");
    put("retry", "poor", "");
    put("done", "poor", "");
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_handle(worker, "poor", run_without_memory, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 1);
    test_worker_start(worker);
    TEST_AWAIT(test_count("q", "completed") == 1);
    TEST_AWAIT(test_count("q", "ready") + test_count("q", "running") == 0);
    (void)rv_mem_fail_at(0);
    expect("fail", REEVE_STATE_DEAD, 1, "memory", "no memory");
    expect("retry", REEVE_STATE_SCHEDULED, 1, "memory", "no memory");
    expect("done", REEVE_STATE_COMPLETED, 1, "memory", "no memory");
    test_worker_end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_outcome, set_up),
        cmocka_unit_test_setup(attempts_run_out, set_up),
        cmocka_unit_test_setup(delays, set_up),
        cmocka_unit_test_setup(backoff_grows, set_up),
        cmocka_unit_test_setup(snoozes_use_no_attempt, set_up),
        cmocka_unit_test_setup(what_a_handler_reads, set_up),
        cmocka_unit_test_setup(hooks_run_once_a_thread, set_up),
        cmocka_unit_test_setup(signals_reach_the_program_only, set_up),
        cmocka_unit_test_setup(outcomes_stay_when_no_memory_keeps_their_words, set_up),
    };
    return cmocka_run_group_tests_name("ct_worker", tests, test_place_start, test_place_stop);
}
