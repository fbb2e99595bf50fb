/* How other queues let programs take tasks (blueque, torrelque, qless, redis-work-queue): the life cycle of each, operation
 * by operation, with the calls of reeve; and what goes wrong there does not go wrong here. */
#include <stdio.h>
#include <string.h>

#include "reeve/change.h"
#include "reeve/depend.h"
#include "reeve/limits.h"
#include "support/consumer.h"
#include "support/limits.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

static reeve_consumer *c, *other;

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static void begin(void)
{
    const reeve_consumer_options options = {.session_ms = 1000}; /* dead sessions are found within one */
    c = test_consumer_open("q", &options);
    other = test_consumer_open("q", &options);
}

static void end(void)
{
    test_good(c, reeve_consumer_close(c));
    test_good(other, reeve_consumer_close(other));
    assert_int_equal(test_count("q", "running"), 0);
}

/* A consumer that takes a task and is never seen again: its lease ends. */
static void take_and_die(const char *id)
{
    const reeve_consumer_options options = {.session_ms = 500};
    reeve_consumer *dies = test_consumer_open("q", &options);
    assert_string_equal(test_pull(dies, 1, true), id);
    test_good(dies, reeve_consumer_detach(dies));
}

/* ---- blueque: listen, start, complete, fail, delete ------------------------------------------------------------- */

static void listener(void **state)
{
    (void)state;
    begin();
    /* A time in the past is no time; each task can be read in any state. */
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "past", .at_ms = 1000});
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "later", .in_ms = 3600000});
    assert_string_equal(test_state("q", "later"), "scheduled");
    /* listen blocks until there is a task; nobody else gets it, and who has it is known at once. */
    assert_string_equal(test_pull(c, 1, true), "past");
    reeve_task *mine = test_pulled[0];
    assert_string_equal(test_pull(other, 1, false), "");
    reeve_task_info *info = test_show("q", "past");
    assert_string_equal(info->worker, reeve_consumer_id(c));
    reeve_task_info_free(info);
    test_good(c, reeve_consumer_settle(c, mine, reeve_task_done(mine, "result", 6)));
    assert_string_equal(test_state("q", "past"), "completed");
    test_ok(test_client, reeve_delete(test_client, "q", "past"));
    test_put("q", "fails");
    (void)test_pull(c, 1, true);
    test_good(c, reeve_consumer_settle(c, test_pulled[0], reeve_task_fail(test_pulled[0], "error", "words")));
    assert_string_equal(test_state("q", "fails"), "dead");
    /* There, a task of a dead listener on another host is lost. */
    test_put("q", "orphan");
    take_and_die("orphan");
    assert_string_equal(test_pull(c, 1, true), "orphan");
    test_good(c, test_settle_done(c, 0, NULL));
    end();
}

/* ---- torrelque: dequeue, requeue, release, sweep ----------------------------------------------------------------- */

static void dequeue_and_release(void **state)
{
    (void)state;
    char token[REEVE_TOKEN_MAX];
    begin();
    test_put("q", "a b c");
    assert_string_equal(test_pull(c, 2, true), "a b"); /* dequeue, up to two */
    reeve_task *a = test_pulled[0], *b = test_pulled[1];
    test_good(c, reeve_consumer_settle(c, a, reeve_task_snooze(a, 3600000))); /* requeue with a delay */
    assert_string_equal(test_state("q", "a"), "scheduled");
    test_good(c, reeve_consumer_settle(c, b, reeve_task_give_back(b))); /* and without: it is the next */
    assert_string_equal(test_pull(c, 1, true), "b");
    b = test_pulled[0];
    /* There, anybody can release a task; here only who has the token of the lease. */
    assert_int_equal(reeve_consumer_token(c, b, token), REEVE_OK);
    token[3] = token[3] == '0' ? '1' : '0';
    const reeve_lease_outcome done = {.outcome = REEVE_OUTCOME_DONE};
    assert_int_equal(reeve_lease_settle(test_client, "q", "b", token, &done), REEVE_EREFUSED);
    test_good(c, reeve_consumer_settle(c, b, reeve_task_done(b, "released", 8)));
    assert_string_equal(test_cmd(test_conn, "HGET " Q "results b"), "released");
    /* sweep: what is stale is pending again. There, a task that kills its programs comes back for ever. */
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "poison", .max_crashes = 1, .priority = -1});
    take_and_die("poison");
    TEST_AWAIT((test_maintain_all("q"), strcmp(test_state("q", "poison"), "running") != 0));
    assert_string_equal(test_pull(c, 1, true), "c");
    assert_string_equal(test_state("q", "poison"), "dead");
    end();
}

/* ---- qless: pop, heartbeat, complete with next, fail, retry, put on a running job --------------------------------- */

static void pop_and_heartbeat(void **state)
{
    (void)state;
    char next[REEVE_ID_MAX] = "";
    reeve_bytes data;
    begin();
    /* pop gives nothing while the queue is paused, and no more than its concurrency. */
    test_put("q", "a b c d");
    test_ok(test_client, reeve_pause(test_client, "q"));
    assert_string_equal(test_pull(c, 4, false), "");
    test_ok(test_client, reeve_resume(test_client, "q"));
    test_limit_queue(2, NULL);
    assert_string_equal(test_pull(c, 1, true), "a");
    reeve_task *a = test_pulled[0];
    assert_string_equal(test_pull(c, 1, true), "b");
    reeve_task *b = test_pulled[0];
    assert_string_equal(test_pull(other, 2, false), "");
    test_limit_queue(-1, NULL);
    /* heartbeat with data, which the next attempt finds; retry with a delay. */
    assert_int_equal(reeve_task_checkpoint(a, "data", 4), REEVE_OK);
    assert_int_equal(reeve_task_heartbeat(a), REEVE_OK);
    test_good(c, reeve_consumer_settle(c, a, reeve_task_retry(a, 0, "group", "message")));
    TEST_AWAIT(strcmp(test_pull(other, 1, false), "a") == 0);
    a = test_pulled[0];
    assert_int_equal(reeve_task_attempt(a), 2);
    assert_int_equal(reeve_task_last_checkpoint(a, &data), REEVE_OK);
    assert_string_equal(data.data, "data");
    /* complete, and put into the next queue at once. */
    const reeve_task_spec spec = {.queue = "next", .type = "t"};
    assert_int_equal(reeve_task_chain(a, &spec, next), REEVE_OK);
    test_good(other, reeve_consumer_settle(other, a, reeve_task_done(a, NULL, 0)));
    TEST_AWAIT(strcmp(test_state("next", next), "ready") == 0);
    /* A running job is taken away: its holder is told, and what it says is refused. */
    test_ok(test_client, reeve_expire(test_client, "q", "b"));
    TEST_AWAIT(reeve_task_should_stop(b));
    assert_string_equal(test_pull(other, 1, true), "b");
    assert_int_equal(reeve_consumer_settle(c, b, reeve_task_done(b, NULL, 0)), REEVE_EREFUSED);
    test_good(other, test_settle_done(other, 0, NULL));
    end();
}

/* ---- redis-work-queue: add_item, lease, complete, light_clean --------------------------------------------------- */

static void lease_and_complete(void **state)
{
    (void)state;
    begin();
    const reeve_task_spec item = {.queue = "q", .type = "t", .id = "item", .payload = {"bytes", 5}};
    test_ok(test_client, reeve_enqueue(test_client, &item, NULL));
    assert_int_equal(reeve_enqueue(test_client, &item, NULL), REEVE_EEXISTS); /* an item is added once */
    assert_string_equal(test_pull(c, 1, true), "item");
    reeve_task *first = test_pulled[0];
    assert_int_equal(test_count("q", "running"), 1);
    /* light_clean: there, it puts an item whose lease is about to be written back, so that two run it. */
    test_maintain_all("q");
    assert_string_equal(test_pull(other, 1, false), "");
    test_good(c, reeve_consumer_settle(c, first, reeve_task_done(first, NULL, 0)));
    /* A lease that is over: complete is for the one that has it now. There, the other's work is completed. */
    test_put("q", "again");
    const reeve_consumer_options options = {.session_ms = 500, .manual_heartbeat = true};
    reeve_consumer *hangs = test_consumer_open("q", &options);
    assert_string_equal(test_pull(hangs, 1, true), "again");
    reeve_task *late = test_pulled[0];
    assert_string_equal(test_pull(c, 1, true), "again");
    assert_int_equal(reeve_consumer_settle(hangs, late, reeve_task_done(late, NULL, 0)), REEVE_EREFUSED);
    assert_string_equal(test_state("q", "again"), "running");
    test_good(c, test_settle_done(c, 0, NULL));
    assert_string_equal(test_state("q", "again"), "completed");
    test_good(hangs, reeve_consumer_close(hangs));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(listener, set_up),
        cmocka_unit_test_setup(dequeue_and_release, set_up),
        cmocka_unit_test_setup(pop_and_heartbeat, set_up),
        cmocka_unit_test_setup(lease_and_complete, set_up),
    };
    return cmocka_run_group_tests_name("ct_pull_designs", tests, test_place_start, test_place_stop);
}
