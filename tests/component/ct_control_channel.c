/* A worker that lost its subscription wakes its idle threads (wake_idle), subscribes again, and asks for the cancels
 * and ends of leases that it has missed: what Redis refuses of that is reported and repeated, and loses none of them. */
#include <stdio.h>
#include <string.h>

#include "reeve/change.h"
#include "running/worker_state.h"
#include "support/calls.h"
#include "support/limited_user.h"
#include "support/worker.h"

#define Q "reeve:{q}:"
#define RIGHTS "on >p ~reeve:* &* +@all -@dangerous +info"

static int set_up(void **state)
{
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w " RIGHTS), "OK");
    test_close_gate();
    return test_place_empty(state);
}

/* ---- the script ------------------------------------------------------------------------------------------------ */

static const test_script_call wake_idle = {&rv_script_wake_idle, {"s"}, true};

static const char *call_rouse(void)
{
    const rv_reply *reply = test_call_send(test_user_conn, &wake_idle, 1, test_call_args(&wake_idle), NULL);
    return rv_reply_is(reply, RV_ERROR) ? reply->text : "";
}

static void put_idle(void)
{
    (void)test_cmd(test_conn, "HSET " Q "running:s # {}");
    (void)test_cmd(test_conn, "RPUSH " Q "idle s:1 other:1 s:2");
}

static void without_a_right_the_threads_stay_idle(void **state)
{
    (void)state;
    const char *const rights[] = {"lrem", "sadd", "lpush", "exists"};
    put_idle();
    for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER w " RIGHTS " -%s", rights[i]), "OK");
        assert_non_null(strstr(call_rouse(), "NOPERM"));
        assert_string_equal(test_cmd(test_conn, "LRANGE " Q "idle 0 -1"), "[s:1 other:1 s:2]");
        assert_int_equal(test_number("EXISTS " Q "woken:s " Q "hand:s:1 " Q "hand:s:2"), 0);
    }
}

static void a_thread_that_cannot_be_woken_stays_idle(void **state)
{
    (void)state;
    put_idle();
    (void)test_cmd(test_conn, "SET " Q "hand:s:2 x");
    assert_non_null(strstr(call_rouse(), "WRONGTYPE"));
    assert_string_equal(test_cmd(test_conn, "LRANGE " Q "idle 0 -1"), "[other:1 s:2]");
    assert_int_equal(test_number("LLEN " Q "hand:s:1"), 1);
    (void)test_cmd(test_conn, "DEL " Q "hand:s:2");
    assert_string_equal(call_rouse(), "");
    assert_string_equal(test_cmd(test_conn, "LRANGE " Q "idle 0 -1"), "[other:1]");
    assert_int_equal(test_number("LLEN " Q "hand:s:2"), 1);
}

/* ---- the worker ------------------------------------------------------------------------------------------------ */

typedef struct refusals {
    atomic_uint count;
    char error[512]; /* of the first one */
} refusals;

static void note_refusal(const reeve_log_record *record, void *user)
{
    refusals *noted = user;
    if (strstr(record->message, "control channel") == NULL && strstr(record->message, "idle threads") == NULL) return;
    for (size_t i = 0; i < record->field_count && atomic_load(&noted->count) == 0; i++) {
        if (strcmp(record->fields[i].key, "error") == 0)
            (void)snprintf(noted->error, sizeof(noted->error), "%s", record->fields[i].value);
    }
    atomic_fetch_add(&noted->count, 1);
}

static bool is_subscribed(const reeve_worker *worker)
{
    return strstr(test_cmd(test_conn, "PUBSUB NUMSUB reeve:alive:%s", worker->id), " 1]") != NULL;
}

static reeve_worker *run_idle_worker(refusals *noted)
{
    char url[512];
    (void)snprintf(url, sizeof(url), "unix://w:p@%s", test_redis_url(test_redis) + strlen("unix://"));
    const reeve_worker_options options = {.redis = url, .session_ms = 60000};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    TEST_AWAIT(is_subscribed(worker));
    test_put("q", "n0");
    TEST_AWAIT_STATE("n0", "completed");
    TEST_AWAIT(test_number("LLEN " Q "idle") == 1);
    reeve_log_set(note_refusal, noted, REEVE_LOG_DEBUG);
    return worker;
}

static void end_worker(reeve_worker *worker, const refusals *noted, const char *reason)
{
    test_worker_end(worker);
    reeve_log_set(NULL, NULL, REEVE_LOG_DEBUG);
    if (strstr(noted->error, reason) == NULL) fail_msg("\"%s\" in place of %s", noted->error, reason);
}

static void a_worker_without_a_right_to_wake_its_threads_does_not_listen(void **state)
{
    (void)state;
    refusals noted = {0};
    reeve_worker *worker = run_idle_worker(&noted);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w -lrem"), "OK");
    (void)test_cmd(test_conn, "CLIENT KILL TYPE pubsub");
    TEST_AWAIT(atomic_load(&noted.count) > 0);
    assert_false(is_subscribed(worker));
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w +lrem"), "OK");
    TEST_AWAIT(is_subscribed(worker));
    end_worker(worker, &noted, "NOPERM");
}

/* Nobody is handed a task in that queue then, and there may be others. */
static void a_foreign_idle_key_is_reported_and_the_worker_listens(void **state)
{
    (void)state;
    refusals noted = {0};
    reeve_worker *worker = run_idle_worker(&noted);
    (void)test_cmd(test_conn, "SET " Q "idle x");
    (void)test_cmd(test_conn, "CLIENT KILL TYPE pubsub");
    TEST_AWAIT(is_subscribed(worker));
    (void)test_cmd(test_conn, "DEL " Q "idle");
    end_worker(worker, &noted, "WRONGTYPE");
}

static bool was_denied(const char *command)
{
    return strstr(test_cmd(test_conn, "ACL LOG"), command) != NULL;
}

/* The worker does not listen while the task is cancelled, and Redis refuses what it asks when it listens again. */
static void a_missed_cancel_is_asked_for_until_redis_answers(void **state)
{
    (void)state;
    refusals noted = {0};
    reeve_worker *worker = run_idle_worker(&noted);
    test_put_spec((reeve_task_spec){.id = "n1", .type = "hold"});
    TEST_AWAIT(atomic_load(&test_begun) == 1);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w -lrem -hget"), "OK");
    (void)test_cmd(test_conn, "CLIENT KILL TYPE pubsub");
    TEST_AWAIT(atomic_load(&noted.count) > 0);
    test_ok(test_client, reeve_cancel_with_reason(test_client, "q", "n1", "no use", false, NULL));
    assert_string_equal(test_cmd(test_conn, "ACL LOG RESET"), "OK");
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w +lrem"), "OK");
    TEST_AWAIT(is_subscribed(worker) && was_denied("hget"));
    assert_int_equal(atomic_load(&test_announced), 0);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w +hget"), "OK");
    TEST_AWAIT_STATE("n1", "cancelled");
    assert_int_equal(atomic_load(&test_announced), 1);
    assert_string_equal(test_reason, "no use");
    end_worker(worker, &noted, "NOPERM");
}

/* The same for a lease that is ended by hand: as the worker does not hear of it, the session may not lease the task
 * again until it has asked. */
static void a_missed_end_of_a_lease_is_asked_for(void **state)
{
    (void)state;
    refusals noted = {0};
    reeve_worker *worker = run_idle_worker(&noted);
    test_put_spec((reeve_task_spec){.id = "n1", .type = "hold"});
    TEST_AWAIT(atomic_load(&test_begun) == 1);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w -lrem"), "OK");
    (void)test_cmd(test_conn, "CLIENT KILL TYPE pubsub");
    TEST_AWAIT(atomic_load(&noted.count) > 0);
    test_ok(test_client, reeve_expire(test_client, "q", "n1"));
    assert_string_equal(test_state("q", "n1"), "ready");
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w +lrem"), "OK");
    TEST_AWAIT(atomic_load(&test_announced) == 1 && atomic_load(&test_begun) == 2);
    assert_int_equal(test_number("HEXISTS " Q "info:n1 revoked"), 0);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    test_open_gate();
    TEST_AWAIT_STATE("n1", "completed");
    end_worker(worker, &noted, "NOPERM");
}

/* Without a right to the channel it asks at heartbeats. */
static void a_worker_that_never_listens_asks_for_the_ends_of_its_leases(void **state)
{
    (void)state;
    char url[512];
    (void)snprintf(url, sizeof(url), "unix://w:p@%s", test_redis_url(test_redis) + strlen("unix://"));
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w resetchannels"), "OK");
    const reeve_worker_options options = {.redis = url, .session_ms = 600};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "n1", .type = "hold"});
    TEST_AWAIT(atomic_load(&test_begun) == 1);
    test_ok(test_client, reeve_expire(test_client, "q", "n1"));
    TEST_AWAIT(atomic_load(&test_announced) == 1);
    test_open_gate();
    TEST_AWAIT_STATE("n1", "completed");
    assert_int_equal(test_worker_stats(worker).refused, 0);
    test_worker_end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_a_right_the_threads_stay_idle, set_up),
        cmocka_unit_test_setup(a_thread_that_cannot_be_woken_stays_idle, set_up),
        cmocka_unit_test_setup(a_worker_without_a_right_to_wake_its_threads_does_not_listen, set_up),
        cmocka_unit_test_setup(a_foreign_idle_key_is_reported_and_the_worker_listens, set_up),
        cmocka_unit_test_setup(a_missed_cancel_is_asked_for_until_redis_answers, set_up),
        cmocka_unit_test_setup(a_missed_end_of_a_lease_is_asked_for, set_up),
        cmocka_unit_test_setup(a_worker_that_never_listens_asks_for_the_ends_of_its_leases, set_up),
    };
    return cmocka_run_group_tests_name("ct_control_channel", tests, test_user_start, test_user_stop);
}
