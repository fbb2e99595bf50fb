/* Producing when replies and connections are lost: each task is enqueued once, and what is said of it is so. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocol/scripts.h"
#include "reeve/change.h"
#include "reeve/dead.h"
#include "support/proxied.h"
#include "support/segments.h"
#include "support/specs.h"
#include "support/worker.h"

static test_proxy *proxy;
static reeve_client *behind; /* the proxy */

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static int start(void **state)
{
    int failed = test_place_start(state);
    if (failed == 0) test_proxied_open(&proxy, &behind, 10000);
    return failed;
}

static int stop(void **state)
{
    test_proxied_close(proxy, behind);
    return test_place_stop(state);
}

#define Q "reeve:{q}:"
static void make_script_known(void)
{
    test_put("other", "x");
}

/* ---- replies --------------------------------------------------------------------------------------------------- */

static void one_whose_reply_is_lost(void **state)
{
    (void)state;
    make_script_known();
    for (int i = 0; i < 3; i++) {
        char id[REEVE_ID_MAX];
        const reeve_task_spec spec = {.queue = "q", .type = "t", .payload = {"p", 1}};
        unsigned lost = test_proxy_lost(proxy);
        test_proxy_lose(proxy, "EVALSHA", 0);
        test_ok(behind, reeve_enqueue(behind, &spec, id));
        assert_int_equal(test_proxy_lost(proxy), lost + 1);
        assert_string_equal(reeve_client_error(behind), "");
        assert_int_equal(test_ready_count("q"), i + 1);
        assert_string_equal(test_state("q", id), "ready");
    }
}

static void another_s_task_is_not_taken_for_ours(void **state)
{
    (void)state;
    reeve_task_spec spec = {.queue = "q", .type = "t", .id = "x", .payload = {"first", 5}};
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
    spec.payload = (reeve_bytes){"second", 6};
    test_proxy_lose(proxy, "EVALSHA", 0);
    test_refused(behind, reeve_enqueue(behind, &spec, NULL), REEVE_EEXISTS, "a task q/x exists already");
}

/* How many bytes of replies pass: none, some of the first, all of it, of some more. (It has 1006, others 4.) */
static void many_whose_replies_are_lost(void **state)
{
    (void)state;
    static const size_t passes[] = {0, 1, 5, 500, 1005, 1006, 1007, 1010, 1030, 1049};
    for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
        (void)test_place_empty(NULL);
        make_script_known();
        test_specs_make(TEST_SPECS);
        test_specs[100].priority = 999; /* refused here, */
        test_put("q", "n0200");         /* and there */
        unsigned lost = test_proxy_lost(proxy);
        test_proxy_lose(proxy, "EVALSHA", passes[i]);
        test_refused(behind, reeve_enqueue_many(behind, test_specs, TEST_SPECS, test_results), REEVE_EINVAL,
                     "priority 999");
        assert_int_equal(test_proxy_lost(proxy), lost + 1);
        for (size_t j = 0; j < TEST_SPECS; j++) {
            reeve_status expected = j == 100 ? REEVE_EINVAL : REEVE_OK;
            /* That of another's with the very same envelope cannot be told from ours once the reply is lost. */
            if (j == 200)
                assert_true(test_results[j].status == REEVE_EEXISTS || test_results[j].status == REEVE_OK);
            else if (test_results[j].status != expected)
                fail_msg("%zu bytes passed: %zu: %d", passes[i], j, (int)test_results[j].status);
        }
        assert_int_equal(test_ready_count("q"), TEST_SPECS - 1);
        assert_int_equal(test_number("HLEN " Q "tasks"), TEST_SPECS - 1);
    }
}

static void order_is_kept_when_sent_again(void **state)
{
    (void)state;
    make_script_known();
    test_specs_make(TEST_SPECS);
    test_proxy_lose(proxy, "EVALSHA", 3000);
    test_ok(behind, reeve_enqueue_many(behind, test_specs, TEST_SPECS, test_results));
    test_specs_expect_in_order(TEST_SPECS);
}

/* The first time that a server hears of the script, the whole pipeline comes again. */
static void order_is_kept_when_the_script_is_new(void **state)
{
    (void)state;
    assert_string_equal(test_cmd(test_conn, "SCRIPT FLUSH"), "OK");
    test_specs_make(TEST_SPECS);
    test_ok(test_client, reeve_enqueue_many(test_client, test_specs, TEST_SPECS, test_results));
    test_specs_expect_in_order(TEST_SPECS);
}

/* What was answered is not sent again: its record may be gone by then. */
static void what_was_answered_is_not_enqueued_twice(void **state)
{
    (void)state;
    const reeve_keep none = {0};
    make_script_known();
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    reeve_worker *worker = test_worker_run(2, 0);
    test_specs_make(2000);
    test_proxy_lose(proxy, "EVALSHA", 4 * 1006 + 10);
    test_ok(behind, reeve_enqueue_many(behind, test_specs, 2000, test_results));
    TEST_AWAIT(test_number("HLEN " Q "tasks") == 0);
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    reeve_worker_destroy(worker);
    for (size_t i = 0; i < 1000; i++)
        if (test_runs[i] != 1) fail_msg("n%zu has run %u times", i, test_runs[i]);
    for (size_t i = 1000; i < 2000; i++) assert_in_range(test_runs[i], 1, 2);
}

/* ---- what has come and gone before the second try -------------------------------------------------------------- */

typedef struct background {
    const reeve_task_spec *spec;
    char id[REEVE_ID_MAX];
    reeve_status status;
} background;

static void *enqueue_in_background(void *context)
{
    background *b = context;
    b->status = reeve_enqueue(behind, b->spec, b->id);
    return NULL;
}

/* Enqueues n0 behind the proxy; the reply is lost only after `end` has brought the task to its end by hand. */
static void enqueue_and_lose(background *b, const reeve_task_spec *spec, void (*end)(test_hand *hand))
{
    pthread_t thread;
    test_hand hand;
    *b = (background){.spec = spec};
    /* The script is known, and so is the queue. */
    test_ok(behind, reeve_resume(behind, "q")); /* (an earlier test may have lost the connection) */
    test_ok(behind, reeve_enqueue(behind, &(reeve_task_spec){.queue = "q", .type = "t", .id = "known"}, NULL));
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_DONE("known"));
    test_proxy_lose(proxy, "EVALSHA", 0);
    assert_int_equal(pthread_create(&thread, NULL, enqueue_in_background, b), 0);
    TEST_AWAIT(test_lease(&hand, 1) == 1); /* (the proxy waits for silence before it hangs up: 60 ms) */
    end(&hand);
    (void)pthread_join(thread, NULL);
}

static void complete(test_hand *hand)
{
    test_settle(hand, TEST_DONE("n0"));
}

static void enqueue_and_lose_late(background *b, const reeve_task_spec *spec)
{
    enqueue_and_lose(b, spec, complete);
}

static void keep_completed(int64_t age_ms, int64_t count)
{
    const reeve_keep keep = {.age_ms = age_ms, .count = count};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &keep}));
}

/* Nothing is kept: that it came and went cannot be known, so it is not enqueued again, and its id is told. */
static void a_task_that_came_and_went_is_not_enqueued_again(void **state)
{
    (void)state;
    background b;
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "n0"};
    keep_completed(0, 0);
    enqueue_and_lose_late(&b, &spec);
    assert_int_equal(b.status, REEVE_ELOST);
    assert_non_null(strstr(reeve_client_error(behind), "unknown whether the task was enqueued"));
    assert_string_equal(b.id, "n0");
    assert_int_equal(test_count("q", "ready"), 0);
    assert_string_equal(test_state("q", "n0"), "");
}

static void what_is_kept_tells_that_it_came(void **state)
{
    (void)state;
    background b;
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "n0"};
    enqueue_and_lose_late(&b, &spec);
    assert_int_equal(b.status, REEVE_OK);
    assert_string_equal(test_state("q", "n0"), "completed");
}

static void discard(test_hand *hand)
{
    test_settle(hand, (test_outcome){0, {.id = "n0", .outcome = REEVE_OUTCOME_DISCARD, .message = ""}});
}

static void complete_and_delete(test_hand *hand)
{
    complete(hand);
    test_ok(test_client, reeve_delete(test_client, "q", "n0"));
}

static void complete_and_delete_all(test_hand *hand)
{
    const reeve_filter completed = {.state = REEVE_STATE_COMPLETED};
    reeve_bulk_result result;
    complete(hand);
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_DELETE, &completed, NULL, NULL, &result));
    assert_int_equal(result.done, 2);
}

static void move_away(test_hand *hand)
{
    test_settle(hand, TEST_SNOOZE("n0", 0));
    test_ok(test_client, reeve_move(test_client, "q", "n0", "other"));
}

/* However its record went: what came is not enqueued again. */
static void what_went_without_a_record_is_not_enqueued_again(void **state)
{
    (void)state;
    background b;
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "n0"};
    void (*const ends[])(test_hand * hand) = {discard, complete_and_delete, complete_and_delete_all};
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        (void)test_cmd(test_conn, "FLUSHALL");
        enqueue_and_lose(&b, &spec, ends[i]);
        assert_int_equal(b.status, REEVE_ELOST);
        assert_string_equal(test_state("q", "n0"), "");
    }
}

static void what_was_moved_is_not_enqueued_again(void **state)
{
    (void)state;
    background b;
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "n0"};
    enqueue_and_lose(&b, &spec, move_away);
    assert_int_equal(b.status, REEVE_ELOST);
    assert_string_equal(test_state("q", "n0"), "");
    TEST_AWAIT(strcmp(test_state("other", "n0"), "ready") == 0);
}

/* The replies to calls with "again" for a task that is not there. */
static const char *again(const char *id)
{
    const rv_reply *reply;
    rv_cmd_script(test_conn, &rv_script_enqueue, 1, 4);
    rv_args(test_conn, Q);
    rv_args(test_conn, "again 3000");
    rv_args(test_conn, id);
    rv_args(test_conn, "");
    rv_args(test_conn, "\"type\":\"t\"}\n");
    (void)rv_conn_call(test_conn, 0, &reply);
    return test_reply_text(reply);
}

static void the_proof_goes_by_the_oldest_record(void **state)
{
    (void)state;
    test_put("q", "first");
    /* Room is left: nothing has gone. */
    assert_string_equal(again("a"), "[1]");
    keep_completed(-1, 2);
    assert_string_equal(again("b"), "[1]");
    /* Two that ended just now may have pushed others out; one that ended before the first try shows that they have
     * not. */
    (void)test_cmd(test_conn, "ZADD " Q "completed 9000000000000 x 9000000000001 y");
    assert_string_equal(again("c"), "[-1]");
    assert_string_equal(test_state("q", "c"), "");
    (void)test_cmd(test_conn, "ZADD " Q "completed 1 w");
    assert_string_equal(again("c"), "[1]");
    assert_string_equal(again("c"), "[1]");
    /* An age that is shorter than the time since. */
    keep_completed(3500, -1);
    assert_string_equal(again("d"), "[-1]");
    keep_completed(-1, 0);
    assert_string_equal(again("e"), "[-1]");
    keep_completed(-1, -1);
    assert_string_equal(again("e"), "[1]");
    const reeve_keep none = {.age_ms = -1, .count = 0};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.dead = &none}));
    assert_string_equal(again("f"), "[-1]");
}

/* A frozen server would come to the first copy after the second, and after that one's task has come and gone. */
static void the_first_copy_is_not_carried_out_later(void **state)
{
    (void)state;
    background b;
    pthread_t thread;
    test_hand hand;
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "n0"};
    b = (background){.spec = &spec};
    test_ok(behind, reeve_resume(behind, "q")); /* (an earlier test may have lost the connection) */
    test_ok(behind, reeve_enqueue(behind, &(reeve_task_spec){.queue = "q", .type = "t", .id = "known"}, NULL));
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_proxy_hold_and_lose(proxy, "EVALSHA");
    assert_int_equal(pthread_create(&thread, NULL, enqueue_in_background, &b), 0);
    (void)pthread_join(thread, NULL);
    assert_int_equal(b.status, REEVE_OK);
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_DONE("n0"));
    test_ok(test_client, reeve_delete(test_client, "q", "n0"));
    test_proxy_release(proxy);
    assert_int_equal(test_count("q", "ready"), 0);
    assert_string_equal(test_state("q", "n0"), "");
}

/* A connection that was closed while nobody used it has lost nothing. */
static void a_stale_connection_is_made_anew_before_it_is_used(void **state)
{
    (void)state;
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "n0"};
    test_ok(behind, reeve_enqueue(behind, &(reeve_task_spec){.queue = "q", .type = "t", .id = "known"}, NULL));
    keep_completed(0, 0);
    (void)test_cmd(test_conn, "CLIENT KILL TYPE normal SKIPME yes");
    usleep(1200000); /* (as long as it has to be unused to be looked at) */
    test_ok(behind, reeve_enqueue(behind, &spec, NULL));
    assert_string_equal(test_state("q", "n0"), "ready");
}

static void no_answer_in_time_tells_the_id(void **state)
{
    (void)state;
    reeve_client *client = test_client_open(500);
    char id[REEVE_ID_MAX] = "";
    const reeve_task_spec spec = {.queue = "q", .type = "t"};
    test_ok(client, reeve_enqueue(client, &spec, NULL));
    test_redis_freeze(test_redis);
    assert_int_equal(reeve_enqueue(client, &spec, id), REEVE_ETIMEOUT);
    assert_non_null(strstr(reeve_client_error(client), "unknown whether the task was enqueued"));
    assert_true(id[0] != '\0');
    test_redis_thaw(test_redis);
    /* It was enqueued. With its id the call can be repeated. */
    TEST_AWAIT(test_state("q", id)[0] != '\0');
    reeve_task_spec same = spec;
    same.id = id;
    assert_int_equal(reeve_enqueue(client, &same, NULL), REEVE_EEXISTS);
    reeve_client_close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_whose_reply_is_lost, set_up),
        cmocka_unit_test_setup(another_s_task_is_not_taken_for_ours, set_up),
        cmocka_unit_test_setup(many_whose_replies_are_lost, set_up),
        cmocka_unit_test_setup(order_is_kept_when_sent_again, set_up),
        cmocka_unit_test_setup(order_is_kept_when_the_script_is_new, set_up),
        cmocka_unit_test_setup(what_was_answered_is_not_enqueued_twice, set_up),
        cmocka_unit_test_setup(a_task_that_came_and_went_is_not_enqueued_again, set_up),
        cmocka_unit_test_setup(what_is_kept_tells_that_it_came, set_up),
        cmocka_unit_test_setup(what_went_without_a_record_is_not_enqueued_again, set_up),
        cmocka_unit_test_setup(what_was_moved_is_not_enqueued_again, set_up),
        cmocka_unit_test_setup(the_proof_goes_by_the_oldest_record, set_up),
        cmocka_unit_test_setup(the_first_copy_is_not_carried_out_later, set_up),
        cmocka_unit_test_setup(a_stale_connection_is_made_anew_before_it_is_used, set_up),
        cmocka_unit_test_setup(no_answer_in_time_tells_the_id, set_up),
    };
    return cmocka_run_group_tests_name("ct_enqueue_loss", tests, start, stop);
}
