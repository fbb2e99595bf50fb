/* What a handler or a program makes of a task besides a success and a failure: it ends cancelled or discarded, or runs for longer
 * than its run time limit. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reeve/depend.h"
#include "support/consumer.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

/* ---- cancelled, discarded -------------------------------------------------------------------------------------- */

/* Its payload: the reason; "": it discards the task. */
static reeve_outcome run_end(reeve_task *task, void *user)
{
    reeve_bytes reason = reeve_task_payload(task);
    (void)user;
    (void)reeve_task_log(task, "seen");
    return reason.length > 0 ? reeve_task_cancel(task, "%s", (const char *)reason.data) : reeve_task_discard(task);
}

static reeve_worker *start(void)
{
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_handle(worker, "end", run_end, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    return worker;
}

static void put(const char *id, const char *reason)
{
    test_put_spec((reeve_task_spec){
        .id = id, .type = "end", .payload = {reason, strlen(reason)}, .unique = id, .group = "g", .tags = NULL});
}

static void expect_clean(void)
{
    assert_int_equal(test_number("EXISTS " Q "running_group"), 0);
    assert_int_equal(test_number("HEXISTS " Q "counters failed"), 0);
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "unique:*"), "[]");
}

static void cancelled_with_a_reason(void **state)
{
    (void)state;
    reeve_worker *worker = start();
    put("a", "no \"longer\" wanted\nreally");
    TEST_AWAIT_STATE("a", "cancelled");
    reeve_task_info *info = test_show("q", "a");
    assert_string_equal(info->cancel_reason, "no \"longer\" wanted really");
    assert_int_equal(info->failures, 0);
    reeve_task_info_free(info);
    assert_int_equal(reeve_wait(test_client, "q", "a", 60000, NULL), REEVE_ECANCELLED);
    test_worker_end(worker);
    expect_clean();
}

static void a_long_reason_is_cut(void **state)
{
    char reason[REEVE_REASON_MAX + 100];
    (void)state;
    memset(reason, 'x', sizeof(reason) - 1);
    reason[sizeof(reason) - 1] = '\0';
    reeve_worker *worker = start();
    put("a", reason);
    TEST_AWAIT_STATE("a", "cancelled");
    reeve_task_info *info = test_show("q", "a");
    assert_int_equal(strlen(info->cancel_reason), REEVE_REASON_MAX);
    reeve_task_info_free(info);
    test_worker_end(worker);
}

static void discarded(void **state)
{
    (void)state;
    put("a", "");
    test_put_spec((reeve_task_spec){.id = "b", .type = "end", .payload = {"done", 4}});
    reeve_worker *worker = start();
    TEST_AWAIT_STATE("b", "cancelled"); /* so the one before it has been settled */
    test_worker_end(worker);
    assert_string_equal(test_state("q", "a"), "");
    assert_int_equal(test_number("EXISTS " Q "info:a"), 0);
    assert_int_equal(test_number("HEXISTS " Q "tasks a"), 0);
    expect_clean();
}

/* A task that waits for it learns of a cancel, by which its rule decides. */
static void children_are_told(void **state)
{
    const reeve_parent waits[] = {{.handle = "q/a"}};
    const reeve_parent runs[] = {{.handle = "q/a", .on_death = REEVE_PARENT_GO}};
    (void)state;
    put("a", "");
    test_put_spec((reeve_task_spec){.id = "b", .type = "t", .after = waits, .after_count = 1});
    test_put_spec((reeve_task_spec){.id = "c", .type = "t", .after = runs, .after_count = 1});
    reeve_worker *worker = start();
    TEST_AWAIT_STATE("c", "completed");
    TEST_AWAIT_STATE("b", "dead");
    test_worker_end(worker);
}

static void by_a_consumer(void **state)
{
    reeve_consumer *c = test_consumer_open("q", NULL);
    (void)state;
    test_put("q", "a");
    test_put("q", "b");
    test_put("q", "c");
    assert_string_equal(test_pull(c, 8, true), "a b c");
    reeve_task *const *t = test_pulled;
    test_good(c, reeve_consumer_settle(c, t[0], reeve_task_cancel(t[0], "by %s", "hand")));
    test_good(c, reeve_consumer_settle(c, t[1], reeve_task_discard(t[1])));
    test_good(c, reeve_consumer_cancel(c, t[2]));
    assert_string_equal(test_state("q", "a"), "cancelled");
    assert_string_equal(test_state("q", "b"), "");
    assert_string_equal(test_state("q", "c"), "cancelled");
    reeve_task_info *info = test_show("q", "a");
    assert_string_equal(info->cancel_reason, "by hand");
    reeve_task_info_free(info);
    test_good(c, reeve_consumer_close(c));
}

/* ---- the run time limit is moved ------------------------------------------------------------------------------- */

static atomic_int extended;
static atomic_bool is_over;

/* Moves its limit until it is over; then it lets the limit pass. */
static reeve_outcome run_extend(reeve_task *task, void *user)
{
    (void)user;
    while (!atomic_load(&is_over)) {
        TEST_MUST(reeve_task_extend(task, 20000) == REEVE_OK);
        atomic_fetch_add(&extended, 1);
        test_pause();
    }
    TEST_MUST(!reeve_task_should_stop(task));
    TEST_MUST(reeve_task_extend(task, 0) == REEVE_EINVAL);
    TEST_MUST(reeve_task_extend(task, 1) != REEVE_EINVAL);
    while (!reeve_task_should_stop(task)) test_pause();
    TEST_MUST(reeve_task_extend(task, 20000) == REEVE_EREFUSED);
    return reeve_task_done(task, NULL, 0);
}

/* Long after the limit that it came with. */
static void end_after(int64_t limit_ms)
{
    TEST_AWAIT(atomic_load(&extended) > 0);
    usleep((unsigned)(2 * limit_ms * 1000));
    int count = atomic_load(&extended);
    TEST_AWAIT(atomic_load(&extended) > count);
    assert_string_equal(test_state("q", "x"), "running");
    atomic_store(&is_over, true);
    TEST_AWAIT_STATE("x", "dead");
    reeve_task_info *info = test_show("q", "x");
    assert_string_equal(info->error_kind, "timeout");
    long long ran_ms = 0;
    assert_int_equal(sscanf(info->error_message, "not done within %lld ms", &ran_ms), 1);
    assert_true(ran_ms >= 2 * limit_ms);
    reeve_task_info_free(info);
}

static void start_extending(int64_t timeout_ms)
{
    atomic_store(&extended, 0);
    atomic_store(&is_over, false);
    test_put_spec((reeve_task_spec){.id = "x", .type = "extend", .timeout_ms = timeout_ms, .attempts = 1});
}

static void a_handler_moves_its_limit(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_handle(worker, "extend", run_extend, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    start_extending(250);
    end_after(250);
    test_worker_end(worker);
}

/* A batch handler moves the limit of one of its tasks. */
static void run_batch(reeve_task *const *tasks, size_t count, void *user)
{
    (void)user;
    for (size_t i = 0; i < count; i++) (void)run_extend(tasks[i], NULL);
}

static void a_batch_handler_moves_a_limit(void **state)
{
    (void)state;
    const reeve_handler handler = {REEVE_HANDLER, .type = "extend", .run_batch = run_batch};
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_register(worker, &handler), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    start_extending(0); /* none before */
    end_after(20);
    test_worker_end(worker);
}

static void a_consumer_moves_a_limit(void **state)
{
    reeve_consumer *c = test_consumer_open("q", NULL);
    (void)state;
    test_put_spec((reeve_task_spec){.id = "x", .type = "t", .timeout_ms = 250, .attempts = 1});
    assert_string_equal(test_pull(c, 1, true), "x");
    reeve_task *task = test_pulled[0];
    test_good(c, reeve_task_extend(task, 20000));
    usleep(500000);
    assert_false(reeve_task_should_stop(task));
    assert_string_equal(test_state("q", "x"), "running");
    test_good(c, reeve_task_extend(task, 1));
    TEST_AWAIT_STATE("x", "dead");
    assert_int_equal(reeve_task_extend(task, 1000), REEVE_EREFUSED);
    assert_int_equal(reeve_consumer_settle(c, task, reeve_task_done(task, NULL, 0)), REEVE_EREFUSED);
    test_good(c, reeve_consumer_close(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(cancelled_with_a_reason, set_up),
        cmocka_unit_test_setup(a_long_reason_is_cut, set_up),
        cmocka_unit_test_setup(discarded, set_up),
        cmocka_unit_test_setup(children_are_told, set_up),
        cmocka_unit_test_setup(by_a_consumer, set_up),
        cmocka_unit_test_setup(a_handler_moves_its_limit, set_up),
        cmocka_unit_test_setup(a_batch_handler_moves_a_limit, set_up),
        cmocka_unit_test_setup(a_consumer_moves_a_limit, set_up),
    };
    return cmocka_run_group_tests_name("ct_ended_by_handler", tests, test_place_start, test_place_stop);
}
