/* Leases of another process: settled and extended by their tokens, and refused when they are not held any more. */
#include <stdio.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/consumer.h"
#include "support/depend.h"
#include "support/proxy.h"

static char tokens[8][REEVE_TOKEN_MAX];

#define Q "reeve:{q}:"

/* Leases tasks and goes; their tokens are in `tokens`. */
static void lease_and_go(unsigned max, int64_t session_ms)
{
    const reeve_consumer_options options = {.session_ms = session_ms};
    reeve_consumer *consumer = test_consumer_open("q", &options);
    (void)test_pull(consumer, max, true);
    for (unsigned i = 0; i < test_pulled_count; i++)
        test_good(consumer, reeve_consumer_token(consumer, test_pulled[i], tokens[i]));
    test_good(consumer, reeve_consumer_detach(consumer));
}

static reeve_status settle(const char *id, unsigned i, reeve_lease_outcome outcome)
{
    return reeve_lease_settle(test_client, "q", id, tokens[i], &outcome);
}

static void leases_outlive_their_consumer(void **state)
{
    (void)state;
    test_put("q", "a b c");
    lease_and_go(2, 60000);
    assert_string_equal(test_state("q", "a"), "running");
    assert_string_equal(test_state("q", "c"), "ready");
    test_ok(test_client, settle("a", 0, (reeve_lease_outcome){.outcome = REEVE_OUTCOME_DONE, .result = {"r", 1}}));
    assert_string_equal(test_cmd(test_conn, "HGET " Q "results a"), "r");
    assert_int_equal(settle("a", 0, (reeve_lease_outcome){.outcome = REEVE_OUTCOME_DONE}), REEVE_EREFUSED);
    test_ok(test_client, settle("b", 1, (reeve_lease_outcome){.cancel = true}));
    assert_string_equal(test_state("q", "b"), "cancelled");
}

static void a_task_waits_for_others(void **state)
{
    const reeve_parent parents[] = {{.handle = "q/b"}, {.handle = "q/c", .on_death = REEVE_PARENT_GO}};
    const reeve_parent itself = {.handle = "q/a"}, odd = {.handle = "b"};
    const reeve_lease_outcome waits = {.outcome = REEVE_OUTCOME_SNOOZE, .after = parents, .after_count = 2};
    reeve_lease_outcome wrong = waits;
    (void)state;
    test_put("q", "a b c");
    lease_and_go(1, 60000);
    wrong.after = &itself;
    wrong.after_count = 1;
    assert_int_equal(settle("a", 0, wrong), REEVE_EINVAL);
    wrong.after = &odd;
    assert_int_equal(settle("a", 0, wrong), REEVE_EINVAL);
    wrong = waits;
    wrong.delay_ms = 1;
    assert_int_equal(settle("a", 0, wrong), REEVE_EINVAL);
    wrong = waits;
    wrong.outcome = REEVE_OUTCOME_DONE;
    assert_int_equal(settle("a", 0, wrong), REEVE_EINVAL);
    assert_string_equal(test_state("q", "a"), "running");
    test_ok(test_client, settle("a", 0, waits));
    assert_string_equal(test_state("q", "a"), "blocked");
    assert_int_equal(settle("a", 0, waits), REEVE_EREFUSED);
    lease_and_go(2, 60000);
    test_ok(test_client, settle("b", 0, (reeve_lease_outcome){.outcome = REEVE_OUTCOME_DONE}));
    assert_string_equal(test_state("q", "a"), "blocked");
    test_ok(test_client, settle("c", 1, (reeve_lease_outcome){.outcome = REEVE_OUTCOME_FAIL}));
    assert_string_equal(test_state("q", "a"), "ready");
}

/* No worker is there, and nothing is maintained; nor does Redis know the scripts any more, as after a restart. */
static void children_hear_of_the_end_at_once(void **state)
{
    const reeve_parent fails[] = {{.handle = "q/a"}}, goes[] = {{.handle = "q/a", .on_death = REEVE_PARENT_GO}};
    const reeve_parent far[] = {{.handle = "q/b"}}, cancelled[] = {{.handle = "q/c", .on_death = REEVE_PARENT_GO}};
    (void)state;
    test_put("q", "a b c");
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "dies", .after = fails, .after_count = 1});
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "goes", .after = goes, .after_count = 1});
    test_put_spec((reeve_task_spec){.queue = "p", .type = "t", .id = "far", .after = far, .after_count = 1});
    test_put_spec((reeve_task_spec){.queue = "p", .type = "t", .id = "next", .after = cancelled, .after_count = 1});
    test_settle_queues("p q");
    lease_and_go(3, 60000);
    (void)test_cmd(test_conn, "SCRIPT FLUSH");
    test_ok(test_client, settle("a", 0, (reeve_lease_outcome){.outcome = REEVE_OUTCOME_FAIL, .kind = "k"}));
    test_state_is("q", "dies", "dead");
    test_state_is("q", "goes", "ready");
    test_ok(test_client, settle("b", 1, (reeve_lease_outcome){.outcome = REEVE_OUTCOME_DONE}));
    test_state_is("p", "far", "ready");
    test_ok(test_client, settle("c", 2, (reeve_lease_outcome){.cancel = true}));
    test_state_is("p", "next", "ready");
}

static void a_retry_follows_the_policies(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "a", .attempts = 2});
    for (int i = 0; i < 2; i++) {
        lease_and_go(1, 60000);
        test_ok(test_client,
                settle("a", 0,
                       (reeve_lease_outcome){
                           .outcome = REEVE_OUTCOME_RETRY, .has_delay = true, .kind = "k", .message = "m"}));
        assert_string_equal(test_state("q", "a"), i == 0 ? "scheduled" : "dead");
    }
    assert_string_equal(test_cmd(test_conn, "HGET " Q "info:a kind"), "k");
}

static void a_retry_follows_the_age_of_the_task(void **state)
{
    (void)state;
    const reeve_lease_outcome retry = {.outcome = REEVE_OUTCOME_RETRY, .kind = "k", .message = "m"};
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "a", .retry_for_ms = 3600000});
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "b", .retry_for_ms = 3600000});
    test_age("b");
    lease_and_go(2, 60000);
    test_ok(test_client, settle("a", 0, retry));
    test_ok(test_client, settle("b", 1, retry));
    assert_string_equal(test_state("q", "a"), "scheduled");
    assert_string_equal(test_state("q", "b"), "dead");
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    const reeve_lease_outcome done = {.outcome = REEVE_OUTCOME_DONE};
    test_put("q", "a");
    lease_and_go(1, 60000);
    test_refused(test_client, settle("a", 0, (reeve_lease_outcome){0}), REEVE_EINVAL, "outcome");
    test_refused(test_client, reeve_lease_settle(test_client, "q", "a", "x.1.1", &done), REEVE_EINVAL, "token");
    test_refused(test_client, reeve_lease_settle(test_client, "q", "a b", tokens[0], &done), REEVE_EINVAL, "id");
    test_refused(test_client, reeve_lease_settle(test_client, "q q", "a", tokens[0], &done), REEVE_EINVAL, "queue");
    test_refused(test_client, settle("other", 0, done), REEVE_EREFUSED, "lease");
    test_refused(test_client, reeve_lease_extend(test_client, "q", "other", tokens[0], 1000), REEVE_EREFUSED, "lease");
    test_refused(test_client, reeve_lease_extend(test_client, "q", "a", tokens[0], 0), REEVE_EINVAL, "1 ms");
    tokens[0][RV_SESSION_LENGTH + 2]++;
    test_refused(test_client, settle("a", 0, done), REEVE_EREFUSED, "lease");
    assert_string_equal(test_state("q", "a"), "running");
}

static void a_result_that_is_too_large_leaves_the_lease(void **state)
{
    (void)state;
    const int64_t max = 10;
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.result_max = &max}));
    test_put("q", "a");
    lease_and_go(1, 60000);
    test_refused(
        test_client,
        settle("a", 0, (reeve_lease_outcome){.outcome = REEVE_OUTCOME_DONE, .result = {"more than 10 bytes", 18}}),
        REEVE_ETOOBIG, "result_max");
    test_ok(test_client, settle("a", 0, (reeve_lease_outcome){.outcome = REEVE_OUTCOME_DONE, .result = {"short", 5}}));
}

static void an_extended_lease_lasts(void **state)
{
    (void)state;
    test_put("q", "a b");
    lease_and_go(1, 500);
    test_ok(test_client, reeve_lease_extend(test_client, "q", "a", tokens[0], 600000));
    char kept[REEVE_TOKEN_MAX];
    memcpy(kept, tokens[0], sizeof(kept));
    lease_and_go(1, 500);
    TEST_AWAIT((test_maintain_all("q"), strcmp(test_state("q", "b"), "ready") == 0));
    assert_int_equal(settle("b", 0, (reeve_lease_outcome){.outcome = REEVE_OUTCOME_DONE}), REEVE_EREFUSED);
    assert_string_equal(test_state("q", "a"), "running");
    const reeve_lease_outcome done = {.outcome = REEVE_OUTCOME_DONE};
    test_ok(test_client, reeve_lease_settle(test_client, "q", "a", kept, &done));
}

static void a_lost_reply_settles_once(void **state)
{
    (void)state;
    char words[512];
    reeve_client *client;
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_client_options options = {.redis = test_proxy_url(proxy)};
    const reeve_lease_outcome done = {.outcome = REEVE_OUTCOME_DONE};
    assert_int_equal(reeve_client_open_with_error(&client, &options, words, sizeof(words)), REEVE_OK);
    test_put("q", "a");
    lease_and_go(1, 60000);
    test_proxy_lose(proxy, rv_script_turn.sha, 0);
    test_ok(client, reeve_lease_settle(client, "q", "a", tokens[0], &done));
    assert_int_equal(test_proxy_lost(proxy), 1);
    assert_string_equal(test_state("q", "a"), "completed");
    assert_int_equal(reeve_lease_settle(client, "q", "a", tokens[0], &done), REEVE_EREFUSED);
    reeve_client_close(client);
    test_proxy_stop(proxy);
}

/* How many commands ago Redis was last sent this script by its SHA1. */
static size_t age_of_call(const rv_script *script)
{
    const rv_reply *log;
    rv_cmd(test_conn, 3);
    rv_args(test_conn, "SLOWLOG");
    rv_args(test_conn, "GET");
    rv_args(test_conn, "-1");
    assert_int_equal(rv_conn_call(test_conn, test_patience(), &log), REEVE_OK);
    for (size_t i = 0; i < log->count; i++)
        if (rv_reply_is_text(rv_reply_at(rv_reply_at(log->items[i], 3), 1), script->sha)) return i;
    fail_msg("a script was not called");
    return 0;
}

/* Redis knows no script but this one. */
static void load_only(const rv_script *script)
{
    const rv_reply *reply;
    (void)test_cmd(test_conn, "SCRIPT FLUSH");
    rv_cmd(test_conn, 3);
    rv_args(test_conn, "SCRIPT");
    rv_args(test_conn, "LOAD");
    rv_arg(test_conn, script->text, script->length);
    assert_int_equal(rv_conn_call(test_conn, test_patience(), &reply), REEVE_OK);
}

/* A turn that was executed in part is repeated behind regain.lua, also where Redis does not know that script yet. */
static void a_repeated_turn_follows_regain(void **state)
{
    (void)state;
    char words[512];
    reeve_client *client;
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_client_options options = {.redis = test_proxy_url(proxy)};
    const reeve_lease_outcome done = {.outcome = REEVE_OUTCOME_DONE};
    assert_int_equal(reeve_client_open_with_error(&client, &options, words, sizeof(words)), REEVE_OK);
    test_put("q", "a");
    lease_and_go(1, 60000);
    load_only(&rv_script_turn);
    (void)test_cmd(test_conn, "CONFIG SET slowlog-max-len 5000 slowlog-log-slower-than 0");
    test_proxy_lose(proxy, rv_script_turn.sha, 0);
    test_ok(client, reeve_lease_settle(client, "q", "a", tokens[0], &done));
    (void)test_cmd(test_conn, "CONFIG SET slowlog-log-slower-than -1");
    assert_int_equal(test_proxy_lost(proxy), 1);
    assert_true(age_of_call(&rv_script_turn) < age_of_call(&rv_script_regain));
    assert_string_equal(test_state("q", "a"), "completed");
    reeve_client_close(client);
    test_proxy_stop(proxy);
}

/* More leases than recover.lua returns at once. */
static void one_of_many_is_found(void **state)
{
    (void)state;
    char token[REEVE_TOKEN_MAX];
    const reeve_lease_outcome done = {.outcome = REEVE_OUTCOME_DONE};
    reeve_consumer *consumer = test_consumer_open("q", NULL);
    test_put_many("q", TEST_TASKS, "n%03zu");
    while (test_count("q", "running") < TEST_TASKS) (void)test_pull(consumer, TEST_TASKS, true);
    test_good(consumer, reeve_consumer_token(consumer, test_pulled[test_pulled_count - 1], token));
    test_ok(test_client, reeve_lease_settle(test_client, "q", "n255", token, &done));
    /* The consumer does not hold it any more. */
    assert_int_equal(test_settle_done(consumer, test_pulled_count - 1, NULL), REEVE_EREFUSED);
    test_good(consumer, reeve_consumer_close(consumer));
    assert_int_equal(test_count("q", "ready"), TEST_TASKS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(leases_outlive_their_consumer, test_place_empty),
        cmocka_unit_test_setup(a_task_waits_for_others, test_place_empty),
        cmocka_unit_test_setup(children_hear_of_the_end_at_once, test_place_empty),
        cmocka_unit_test_setup(a_retry_follows_the_policies, test_place_empty),
        cmocka_unit_test_setup(a_retry_follows_the_age_of_the_task, test_place_empty),
        cmocka_unit_test_setup(what_is_wrong_is_refused, test_place_empty),
        cmocka_unit_test_setup(a_result_that_is_too_large_leaves_the_lease, test_place_empty),
        cmocka_unit_test_setup(an_extended_lease_lasts, test_place_empty),
        cmocka_unit_test_setup(a_lost_reply_settles_once, test_place_empty),
        cmocka_unit_test_setup(a_repeated_turn_follows_regain, test_place_empty),
        cmocka_unit_test_setup(one_of_many_is_found, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_lease_token", tests, test_place_start, test_place_stop);
}
