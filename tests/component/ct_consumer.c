/* A consumer: a program leases tasks and settles them itself. Its outcomes, what it may hold, and its end. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "reeve/depend.h"
#include "support/consumer.h"
#include "support/limits.h"
#include "support/worker.h"

static reeve_consumer *c;

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

static void end(void)
{
    test_good(c, reeve_consumer_close(c));
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
    assert_int_equal(test_count("q", "running"), 0);
}

/* ---- outcomes -------------------------------------------------------------------------------------------------- */

static void a_task_is_leased_read_and_settled(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put_spec((reeve_task_spec){.queue = "q", .type = "mail", .id = "a", .payload = {"hello", 5}, .group = "g"});
    assert_string_equal(test_pull(c, 8, true), "a");
    reeve_task *task = test_pulled[0];
    reeve_bytes payload = reeve_task_payload(task);
    assert_string_equal(payload.data, "hello");
    assert_int_equal(payload.length, 5);
    assert_string_equal(reeve_task_type(task), "mail");
    assert_string_equal(reeve_task_handle(task), "q/a");
    assert_string_equal(reeve_task_group(task), "g");
    assert_int_equal(reeve_task_attempt(task), 1);
    assert_false(reeve_task_should_stop(task));
    assert_string_equal(test_state("q", "a"), "running");
    test_good(c, test_settle_done(c, 0, "result"));
    assert_string_equal(test_state("q", "a"), "completed");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "results a"), "result");
    assert_string_equal(test_pull(c, 8, false), "");
    end();
}

static reeve_status settle(unsigned i, reeve_outcome outcome)
{
    return reeve_consumer_settle(c, test_pulled[i], outcome);
}

static void each_outcome_is_settled(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put("q", "done retry fail snooze back cancel");
    assert_string_equal(test_pull(c, 8, true), "done retry fail snooze back cancel");
    test_good(c, settle(0, reeve_task_done(test_pulled[0], NULL, 0)));
    test_good(c, settle(1, reeve_task_retry(test_pulled[1], 60000, "k", "m")));
    test_good(c, settle(2, reeve_task_fail(test_pulled[2], "kind", "message %d", 7)));
    test_good(c, settle(3, reeve_task_snooze(test_pulled[3], 60000)));
    test_good(c, settle(4, reeve_task_give_back(test_pulled[4])));
    test_good(c, reeve_consumer_cancel(c, test_pulled[5]));
    assert_string_equal(test_state("q", "done"), "completed");
    assert_string_equal(test_state("q", "retry"), "scheduled");
    assert_string_equal(test_state("q", "fail"), "dead");
    assert_string_equal(test_state("q", "snooze"), "scheduled");
    assert_string_equal(test_state("q", "back"), "ready");
    assert_string_equal(test_state("q", "cancel"), "cancelled");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "info:fail kind"), "kind");
    reeve_task_info *info = test_show("q", "retry");
    assert_int_equal(info->failures, 1);
    reeve_task_info_free(info);
    reeve_worker_stats stats;
    reeve_consumer_get_stats(c, &stats);
    assert_int_equal(stats.leased, 6);
    assert_int_equal(stats.completed, 1);
    assert_int_equal(stats.dead, 1);
    end();
}

static void the_last_attempt_is_the_death(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "a", .attempts = 2});
    for (int i = 0; i < 2; i++) {
        assert_string_equal(test_pull(c, 1, true), "a");
        assert_int_equal(reeve_task_attempt(test_pulled[0]), i + 1);
        test_good(c, settle(0, reeve_task_retry(test_pulled[0], 0, "k", "m")));
    }
    assert_string_equal(test_state("q", "a"), "dead");
    end();
}

static void many_are_settled_in_one_call(void **state)
{
    (void)state;
    enum { COUNT = 100 };
    reeve_outcome outcomes[COUNT];
    reeve_status statuses[COUNT];
    c = test_consumer_open("q", NULL);
    test_put_many("q", COUNT, "n%03zu");
    (void)test_pull(c, COUNT, true);
    assert_int_equal(test_pulled_count, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        outcomes[i] = i % 10 == 3 ? reeve_task_fail(test_pulled[i], "k", "m") : reeve_task_done(test_pulled[i], "r", 1);
    }
    test_good(c, reeve_consumer_settle_many(c, test_pulled, outcomes, COUNT, statuses));
    for (unsigned i = 0; i < COUNT; i++) assert_int_equal(statuses[i], REEVE_OK);
    assert_int_equal(test_count("q", "completed"), 90);
    assert_int_equal(test_count("q", "dead"), 10);
    end();
}

static void outcomes_for_later_go_with_the_next_call(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put("q", "a b c d");
    (void)test_pull(c, 2, true);
    for (unsigned i = 0; i < 2; i++)
        test_good(c, reeve_consumer_settle_later(c, test_pulled[i], reeve_task_done(test_pulled[i], "r", 1)));
    assert_int_equal(test_count("q", "completed"), 0);
    assert_string_equal(test_pull(c, 1, false), "c");
    assert_int_equal(test_count("q", "completed"), 2);
    test_good(c, reeve_consumer_settle_later(c, test_pulled[0], reeve_task_done(test_pulled[0], NULL, 0)));
    test_good(c, reeve_consumer_flush(c));
    assert_int_equal(test_count("q", "completed"), 3);
    assert_string_equal(test_pull(c, 1, false), "d");
    test_good(c, reeve_consumer_settle_later(c, test_pulled[0], reeve_task_done(test_pulled[0], NULL, 0)));
    end();
    assert_int_equal(test_count("q", "completed"), 4);
}

static void a_wrong_outcome_is_refused(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put("q", "a");
    (void)test_pull(c, 1, true);
    assert_int_equal(settle(0, REEVE_OUTCOME_NONE), REEVE_EINVAL);
    assert_int_equal(settle(0, REEVE_OUTCOME_DONE), REEVE_EINVAL);
    (void)reeve_task_snooze(test_pulled[0], 0);
    assert_int_equal(settle(0, REEVE_OUTCOME_DONE), REEVE_EINVAL);
    assert_true(strlen(reeve_consumer_error(c)) > 0);
    test_good(c, test_settle_done(c, 0, NULL));
    end();
}

/* ---- what it gets ---------------------------------------------------------------------------------------------- */

static void it_holds_no_more_than_its_maximum(void **state)
{
    (void)state;
    const reeve_consumer_options options = {.max = 2};
    reeve_task *more;
    unsigned count = 7;
    c = test_consumer_open("q", &options);
    test_put("q", "a b c");
    assert_string_equal(test_pull(c, 8, true), "a b");
    assert_int_equal(reeve_consumer_lease(c, &more, 1, 0, &count), REEVE_ESTATE);
    assert_int_equal(count, 0);
    test_good(c, test_settle_done(c, 1, NULL));
    test_good(c, reeve_consumer_lease(c, &more, 8, 0, &count));
    assert_int_equal(count, 1);
    assert_string_equal(reeve_task_id(more), "c");
    end();
    assert_int_equal(test_count("q", "ready"), 2);
}

static void the_front_comes_back_when_it_closes(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put("q", "a b c");
    (void)test_pull(c, 2, true);
    end();
    assert_string_equal(test_state("q", "a"), "ready");
    reeve_task_info *info = test_show("q", "a");
    assert_int_equal(info->failures + info->crashes, 0);
    reeve_task_info_free(info);
    c = test_consumer_open("q", NULL);
    assert_string_equal(test_pull(c, 3, true), "a b c");
    end();
}

static void queues_are_asked_in_their_order(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put("r", "x y");
    c = test_consumer_open("q r", NULL);
    assert_string_equal(test_pull(c, 3, true), "a b x");
    assert_string_equal(reeve_task_queue(test_pulled[2]), "r");
    for (unsigned i = 0; i < 3; i++) test_good(c, test_settle_done(c, i, NULL));
    end();
    const reeve_consumer_options options = {.order = REEVE_ORDER_ROUND_ROBIN};
    test_put("q", "c d");
    c = test_consumer_open("q r", &options);
    char order[64] = "";
    for (int i = 0; i < 3; i++) {
        strcat(order, test_pull(c, 1, true));
        test_good(c, test_settle_done(c, 0, NULL));
    }
    assert_string_equal(order, "cyd");
    end();
}

/* What it holds is listed with the workers. */
static bool is_listed(const char *name, const char *id)
{
    reeve_worker_info *workers = NULL;
    size_t count = 0;
    test_ok(test_client, reeve_workers(test_client, &workers, &count));
    bool is = count == 1 && strcmp(workers[0].name, name) == 0 && strstr(workers[0].running, id) != NULL;
    reeve_workers_free(workers, count);
    return is;
}

static void it_is_listed(void **state)
{
    (void)state;
    const reeve_consumer_options options = {.name = "puller", .session_ms = 600};
    c = test_consumer_open("q", &options);
    test_put("q", "a b c");
    (void)test_pull(c, 2, true);
    TEST_AWAIT(is_listed("puller", "\"id\":\"a\"") && is_listed("puller", "\"id\":\"b\""));
    assert_false(is_listed("puller", "\"id\":\"c\""));
    end();
}

static void limits_hold(void **state)
{
    (void)state;
    test_limit_queue(2, NULL);
    test_put("q", "a b c");
    c = test_consumer_open("q", NULL);
    assert_string_equal(test_pull(c, 8, true), "a");
    reeve_task *first = test_pulled[0];
    assert_string_equal(test_pull(c, 8, true), "b");
    assert_string_equal(test_pull(c, 8, false), "");
    test_good(c, reeve_consumer_settle(c, first, reeve_task_done(first, NULL, 0)));
    assert_string_equal(test_pull(c, 8, true), "c");
    end();
}

static void a_task_that_runs_at_most_once_is_completed_first(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "a", .at_most_once = true, .unique = "k"});
    c = test_consumer_open("q", NULL);
    assert_string_equal(test_pull(c, 1, true), "a");
    assert_string_equal(test_state("q", "a"), "completed");
    assert_int_equal(test_number("EXISTS " Q "unique:k"), 1);
    assert_int_equal(reeve_consumer_cancel(c, test_pulled[0]), REEVE_ESTATE);
    test_good(c, settle(0, reeve_task_retry(test_pulled[0], 0, "k", "m")));
    assert_int_equal(test_number("EXISTS " Q "unique:k"), 0);
    assert_string_equal(test_state("q", "a"), "completed");
    end();
}

static void a_task_that_may_not_run_is_settled(void **state)
{
    (void)state;
    test_put("q", "a b");
    (void)test_cmd(test_conn, "HSET " Q "tasks a {\"type\":\"?\"}");
    c = test_consumer_open("q", NULL);
    assert_string_equal(test_pull(c, 2, true), "b");
    TEST_AWAIT_STATE("a", "dead");
    test_good(c, test_settle_done(c, 0, NULL));
    end();
}

/* ---- waits ----------------------------------------------------------------------------------------------------- */

/* A lease that waits for a minute, on a thread of its own. */
static struct waiting {
    pthread_t thread;
    reeve_task *task;
    unsigned count;
    reeve_status status;
} waiting;

static void *wait_long(void *argument)
{
    waiting.status = reeve_consumer_lease(argument, &waiting.task, 1, 60000, &waiting.count);
    return NULL;
}

static bool is_blocked(void)
{
    return strstr(test_cmd(test_conn, "INFO clients"), "blocked_clients:0") == NULL;
}

static void begin_wait(void)
{
    memset(&waiting, 0, sizeof(waiting));
    assert_int_equal(pthread_create(&waiting.thread, NULL, wait_long, c), 0);
    TEST_AWAIT(is_blocked());
}

static void end_wait(reeve_status status, const char *id)
{
    assert_int_equal(pthread_join(waiting.thread, NULL), 0);
    assert_int_equal(waiting.status, status);
    if (waiting.count > 0 || id[0] != '\0') assert_string_equal(reeve_task_id(waiting.task), id);
    assert_int_equal(test_number("EXISTS " Q "idle"), 0);
}

static void a_waiting_lease_gets_the_next_task(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    begin_wait(); /* without a session: for a token */
    test_put("q", "a");
    end_wait(REEVE_OK, "a");
    test_good(c, reeve_consumer_settle(c, waiting.task, reeve_task_done(waiting.task, NULL, 0)));
    begin_wait(); /* it is handed its task */
    assert_int_equal(test_number("EXISTS " Q "idle"), 1);
    test_put("q", "b");
    end_wait(REEVE_OK, "b");
    assert_string_equal(test_state("q", "b"), "running");
    end();
}

static void one_of_several_queues_ends_the_wait(void **state)
{
    (void)state;
    c = test_consumer_open("p q r", NULL);
    begin_wait();
    test_put("q", "a");
    end_wait(REEVE_OK, "a");
    begin_wait();
    test_put("q", "b");
    end_wait(REEVE_OK, "b");
    end();
}

static void a_wait_ends_in_time_and_leaves_nothing(void **state)
{
    (void)state;
    unsigned count = 1;
    c = test_consumer_open("q", NULL);
    int64_t begun = rv_now_ms();
    test_good(c, reeve_consumer_lease(c, test_pulled, 1, 150, &count));
    assert_int_equal(count, 0);
    assert_in_range(rv_now_ms() - begun, 149, 60000);
    assert_int_equal(test_number("EXISTS " Q "idle"), 0);
    /* A task that comes now waits for others. */
    test_put("q", "a");
    assert_string_equal(test_state("q", "a"), "ready");
    assert_string_equal(test_pull(c, 1, false), "a");
    end();
}

static void a_wait_is_interrupted(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    begin_wait();
    reeve_consumer_interrupt(c);
    end_wait(REEVE_EINTERRUPTED, "");
    test_put("q", "a");
    assert_string_equal(test_pull(c, 1, true), "a");
    begin_wait();
    reeve_consumer_interrupt(c);
    end_wait(REEVE_EINTERRUPTED, "");
    end();
}

static void another_thread_settles_during_a_wait(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put("q", "a b");
    (void)test_pull(c, 2, true);
    begin_wait();
    for (unsigned i = 0; i < 2; i++) {
        test_good(c, test_settle_done(c, i, NULL));
        TEST_AWAIT(is_blocked());
    }
    assert_int_equal(test_count("q", "completed"), 2);
    test_put("q", "x");
    end_wait(REEVE_OK, "x");
    end();
    assert_string_equal(test_state("q", "x"), "ready");
}

/* Nobody else serves the queue: the consumer makes due tasks ready. */
static void due_tasks_come(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "a", .in_ms = 100});
    assert_string_equal(test_pull(c, 1, true), "a");
    end();
}

/* ---- calls of the task ----------------------------------------------------------------------------------------- */

static void a_task_reports_and_chains(void **state)
{
    (void)state;
    reeve_bytes last;
    char id[REEVE_ID_MAX] = "";
    c = test_consumer_open("q", NULL);
    test_put("q", "a");
    (void)test_pull(c, 1, true);
    reeve_task *task = test_pulled[0];
    assert_int_equal(reeve_task_progress(task, 40, "on its way"), REEVE_OK);
    assert_int_equal(reeve_task_checkpoint(task, "half", 4), REEVE_OK);
    assert_int_equal(reeve_task_log(task, "line %d", 1), REEVE_OK);
    assert_int_equal(reeve_task_heartbeat(task), REEVE_OK);
    assert_int_equal(test_number("HGET " Q "info:a progress"), 40);
    test_good(c, settle(0, reeve_task_retry(task, 0, "k", "m")));
    assert_string_equal(test_pull(c, 1, true), "a");
    assert_int_equal(reeve_task_last_checkpoint(test_pulled[0], &last), REEVE_OK);
    assert_string_equal(last.data, "half");
    const reeve_task_spec child = {.queue = "r", .type = "t"};
    assert_int_equal(reeve_task_chain(test_pulled[0], &child, id), REEVE_OK);
    assert_int_equal(test_number("EXISTS reeve:{r}:tasks"), 0);
    test_good(c, test_settle_done(c, 0, NULL));
    TEST_AWAIT(test_number("EXISTS reeve:{r}:tasks") == 1);
    end();
}

static void a_task_reads_the_results_of_its_parents(void **state)
{
    (void)state;
    const reeve_parent after[] = {{.handle = "q/a"}};
    const reeve_task_parent *parents;
    size_t count;
    reeve_bytes result;
    c = test_consumer_open("q", NULL);
    test_put("q", "a");
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "b", .after = after, .after_count = 1});
    (void)test_pull(c, 1, true);
    test_good(c, test_settle_done(c, 0, "from a"));
    assert_string_equal(test_pull(c, 1, true), "b");
    assert_int_equal(reeve_task_parents(test_pulled[0], &parents, &count), REEVE_OK);
    assert_int_equal(count, 1);
    assert_int_equal(reeve_task_parent_result(test_pulled[0], parents[0].handle, &result), REEVE_OK);
    assert_string_equal(result.data, "from a");
    test_good(c, test_settle_done(c, 0, NULL));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_task_is_leased_read_and_settled, set_up),
        cmocka_unit_test_setup(each_outcome_is_settled, set_up),
        cmocka_unit_test_setup(the_last_attempt_is_the_death, set_up),
        cmocka_unit_test_setup(many_are_settled_in_one_call, set_up),
        cmocka_unit_test_setup(outcomes_for_later_go_with_the_next_call, set_up),
        cmocka_unit_test_setup(a_wrong_outcome_is_refused, set_up),
        cmocka_unit_test_setup(it_holds_no_more_than_its_maximum, set_up),
        cmocka_unit_test_setup(the_front_comes_back_when_it_closes, set_up),
        cmocka_unit_test_setup(queues_are_asked_in_their_order, set_up),
        cmocka_unit_test_setup(it_is_listed, set_up),
        cmocka_unit_test_setup(limits_hold, set_up),
        cmocka_unit_test_setup(a_task_that_runs_at_most_once_is_completed_first, set_up),
        cmocka_unit_test_setup(a_task_that_may_not_run_is_settled, set_up),
        cmocka_unit_test_setup(a_waiting_lease_gets_the_next_task, set_up),
        cmocka_unit_test_setup(one_of_several_queues_ends_the_wait, set_up),
        cmocka_unit_test_setup(a_wait_ends_in_time_and_leaves_nothing, set_up),
        cmocka_unit_test_setup(a_wait_is_interrupted, set_up),
        cmocka_unit_test_setup(another_thread_settles_during_a_wait, set_up),
        cmocka_unit_test_setup(due_tasks_come, set_up),
        cmocka_unit_test_setup(a_task_reports_and_chains, set_up),
        cmocka_unit_test_setup(a_task_reads_the_results_of_its_parents, set_up),
    };
    return cmocka_run_group_tests_name("ct_consumer", tests, test_place_start, test_place_stop);
}
