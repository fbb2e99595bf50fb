/* The last process that serves a queue ends: tasks of other queues that wait for its last outcomes hear of them. */
#include <stdio.h>

#include "protocol/scripts.h"
#include "support/consumer.h"
#include "support/depend.h"
#include "support/script.h"
#include "support/worker.h"

enum { ROUNDS = 20, TASKS = 100 };

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

/* Tasks of p wait for tasks of q of the same ids. */
static void put_pairs(int count)
{
    char id[8], parent[16];
    for (int i = 0; i < count; i++) {
        (void)snprintf(id, sizeof(id), "n%d", i);
        (void)snprintf(parent, sizeof(parent), "f:q/%s", id);
        test_put("q", id);
        test_put_after("p", id, parent);
    }
    test_settle_queues("p q");
}

static void has_told_all(int count)
{
    assert_int_equal(test_count("p", "ready"), count);
    assert_int_equal(test_number("EXISTS reeve:{q}:outbox reeve:{q}:fanout"), 0);
}

static void a_consumer_is_closed(void **state)
{
    for (int i = 0; i < ROUNDS; i++) {
        (void)set_up(state);
        put_pairs(1);
        reeve_consumer *consumer = test_consumer_open("q", NULL);
        assert_string_equal(test_pull(consumer, 1, true), "n0");
        test_good(consumer,
                  reeve_consumer_settle_later(consumer, test_pulled[0], reeve_task_done(test_pulled[0], "", 0)));
        test_good(consumer, reeve_consumer_close(consumer));
        has_told_all(1);
    }
}

/* It leaves leases behind, and nobody maintains the queue until they expire. */
static void a_consumer_is_detached(void **state)
{
    for (int i = 0; i < ROUNDS; i++) {
        (void)set_up(state);
        put_pairs(2);
        reeve_consumer *consumer = test_consumer_open("q", NULL);
        assert_string_equal(test_pull(consumer, 2, true), "n0 n1");
        test_good(consumer,
                  reeve_consumer_settle_later(consumer, test_pulled[0], reeve_task_done(test_pulled[0], "", 0)));
        test_good(consumer, reeve_consumer_detach(consumer));
        has_told_all(1);
        assert_int_equal(test_count("q", "running"), 1);
    }
}

/* More than a call of fan.lua and a round of the outbox take. */
static void a_consumer_has_ended_many(void **state)
{
    (void)state;
    reeve_outcome outcomes[TASKS];
    put_pairs(TASKS);
    reeve_consumer *consumer = test_consumer_open("q", NULL);
    (void)test_pull(consumer, TASKS, true);
    assert_int_equal(test_pulled_count, TASKS);
    for (int i = 0; i < TASKS; i++) outcomes[i] = reeve_task_done(test_pulled[i], "", 0);
    test_good(consumer, reeve_consumer_settle_many(consumer, test_pulled, outcomes, TASKS, NULL));
    test_good(consumer, reeve_consumer_close(consumer));
    has_told_all(TASKS);
}

/* A task that was cancelled while it ran ends when the worker gives it back. */
static void a_worker_gives_a_cancelled_task_back(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 1);
    test_put_spec((reeve_task_spec){.id = "n0", .type = "stubborn"});
    test_put_after("p", "n0", "g:q/n0");
    TEST_AWAIT(test_begun == 1);
    assert_string_equal(TEST_SCRIPT(cancel, "reeve:{q}:", "n0", "tell", ""), "running");
    assert_int_equal(reeve_worker_stop(worker, 0), REEVE_ETIMEOUT);
    test_state_is("q", "n0", "cancelled");
    has_told_all(1);
    test_open_gate();
    test_worker_end(worker);
}

/* Nobody serves p either: a task there dies with its parent, and others wait for it. */
static void what_follows_is_told_on(void **state)
{
    (void)state;
    test_put("q", "n0");
    test_put_after("p", "n0", "f:q/n0");
    test_put_after("r", "n0", "f:p/n0");
    test_put_after("s", "n0", "g:r/n0");
    reeve_consumer *consumer = test_consumer_open("q", NULL);
    assert_string_equal(test_pull(consumer, 1, true), "n0");
    reeve_outcome fails = reeve_task_fail(test_pulled[0], "k", "m");
    test_good(consumer, reeve_consumer_settle_later(consumer, test_pulled[0], fails));
    test_good(consumer, reeve_consumer_close(consumer));
    test_state_is("p", "n0", "dead");
    test_state_is("r", "n0", "dead");
    test_state_is("s", "n0", "ready");
}

/* What cannot be carried stays, and keeps nobody from ending. */
static void another_queue_takes_none(void **state)
{
    (void)state;
    put_pairs(1);
    (void)test_cmd(test_conn, "RENAME reeve:{p}:blocked reeve:{p}:kept");
    (void)test_cmd(test_conn, "SET reeve:{p}:blocked odd");
    reeve_consumer *consumer = test_consumer_open("q", NULL);
    assert_string_equal(test_pull(consumer, 1, true), "n0");
    test_good(consumer, test_settle_done(consumer, 0, NULL));
    test_good(consumer, reeve_consumer_close(consumer));
    assert_int_equal(test_number("LLEN reeve:{q}:outbox"), 1);
    (void)test_cmd(test_conn, "RENAME reeve:{p}:kept reeve:{p}:blocked");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_consumer_is_closed, set_up),
        cmocka_unit_test_setup(a_consumer_is_detached, set_up),
        cmocka_unit_test_setup(a_consumer_has_ended_many, set_up),
        cmocka_unit_test_setup(a_worker_gives_a_cancelled_task_back, set_up),
        cmocka_unit_test_setup(what_follows_is_told_on, set_up),
        cmocka_unit_test_setup(another_queue_takes_none, set_up),
    };
    return cmocka_run_group_tests_name("ct_last_messages", tests, test_place_start, test_place_stop);
}
