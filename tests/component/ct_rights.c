/* Users with few rights: Redis 7 gives a new user no channels, so no notice reaches anybody; each script does its work
 * all the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/scripts.h"
#include "running/worker_state.h"
#include "support/user.h"
#include "support/worker.h"

#define Q "reeve:{q}:"
#define FAR "reeve:{far}:"
#define REST "\"type\":\"t\"}\n"
#define SESSION "by_hand-00000001"

/* ---- as this user ------------------------------------------------------------------------------------------------ */

static rv_conn *user;

/* From now on scripts are called by a user with these rights. */
static void become(const char *rights)
{
    static rv_url url;
    rv_error error;
    rv_conn_destroy(user);
    rv_url_fini(&url);
    test_user_set(rights);
    assert_int_equal(rv_url_parse(&url, test_user_url, &error), REEVE_OK);
    const rv_conn_options options = {.url = &url, .name = "w", .command_ms = 60000};
    assert_int_equal(rv_conn_create(&user, &options, &error), REEVE_OK);
    if (rv_conn_open(user, test_patience()) != REEVE_OK) fail_msg("%s", rv_conn_error(user)->text);
}

static const char *call(const rv_script *script, const char *prefix, size_t count, const char *const args[])
{
    const rv_reply *reply = NULL;
    rv_cmd_script(user, script, 1, count);
    rv_args(user, prefix);
    for (size_t i = 0; i < count; i++) rv_args(user, args[i]);
    (void)rv_conn_call(user, test_patience(), &reply);
    assert_non_null(reply);
    if (rv_reply_is(reply, RV_ERROR)) fail_msg("%s: %s", script->name, reply->text);
    return test_reply_text(reply);
}

#define CALL_IN(prefix, script, ...)                                                                     \
    call(&rv_script_##script, prefix, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), \
         (const char *const[]){__VA_ARGS__})
#define CALL(script, ...) CALL_IN(Q, script, __VA_ARGS__)
#define EXPECT(reply, ...) assert_string_equal(CALL(__VA_ARGS__), reply)

static int set_up(void **state)
{
    (void)test_place_empty(state);
    become(TEST_USER_NO_CHANNELS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rv_conn_destroy(user);
    user = NULL;
    return 0;
}

/* ---- a thread ---------------------------------------------------------------------------------------------------- */

static void lease(const char *want)
{
    (void)CALL(begin_session, SESSION, "60000", "{\"worker\":\"by_hand\"}");
    (void)CALL(turn, "1", want, "1", "", SESSION);
}

/* An outcome of one task, with its three arguments. */
static void settle(const char *verb, const char *id, const char *a, const char *b, const char *c)
{
    (void)CALL(turn, "1", "0", "0", "", "1", SESSION, "", "0", "1", verb, id, a, b, c);
}

static void put(const char *id, const char *options)
{
    EXPECT("[1]", enqueue, "0", id, options, REST);
}

static void expect(const char *id, const char *state)
{
    if (strcmp(test_state("q", id), state) != 0) fail_msg("%s is %s, not %s", id, test_state("q", id), state);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void a_scheduled_task_is_enqueued_and_promoted(void **state)
{
    (void)state;
    put("x", "{\"in\":60000}");
    put("y", "{\"expires\":60000}");
    expect("x", "scheduled");
    assert_int_equal(test_number("ZCARD " Q "deadlines"), 1);
    EXPECT("ok", reschedule, "x", "at", "0");
    expect("x", "ready");
    (void)CALL(maintain, "100");
}

/* The next of a chain has a deadline, or goes to another queue: its parent is not lost. */
static void a_chained_task_is_enqueued(void **state)
{
    (void)state;
    put("x", "");
    lease("1");
    (void)CALL(turn, "1", "0", "0", "", "1", SESSION, "", "0", "3", "chain", "x", "q/next", "{\"expires\":60000}", REST,
               "chain", "x", "far/next", "", REST, "done", "x", "", "", "");
    expect("x", "completed");
    expect("next", "ready");
    assert_int_equal(test_number("LLEN " Q "outbox"), 1);
}

static void a_task_with_a_deadline_is_given_back(void **state)
{
    (void)state;
    put("x", "{\"expires\":60000}");
    put("y", "{\"expires\":60000}");
    lease("2");
    settle("snooze", "x", "0", "", "");
    expect("x", "ready");
    EXPECT("[1 0]", end_session, SESSION, "100");
    expect("y", "ready");
}

static void a_failed_attempt_is_scheduled(void **state)
{
    (void)state;
    put("x", "");
    put("y", "");
    put("z", "");
    lease("3");
    settle("retry", "x", "60000", "k", "m");
    settle("snooze", "y", "60000", "1", "");
    settle("fail", "z", "1", "k", "m");
    expect("x", "scheduled");
    expect("y", "scheduled");
    expect("z", "dead");
    EXPECT("ok", retry, "z");
}

/* Somebody waits for each, and is not told. */
static void what_is_waited_for_ends(void **state)
{
    (void)state;
    const char *ids[] = {"x", "y", "z", "d"};
    for (int i = 0; i < 4; i++) put(ids[i], "");
    for (int i = 0; i < 4; i++) (void)CALL(wait, ids[i], "60000");
    lease("3");
    EXPECT("running", cancel, "y", "");
    settle("done", "x", "", "", "");
    settle("snooze", "y", "0", "", "");
    settle("fail", "z", "1", "k", "m");
    EXPECT("ok", cancel, "d", "");
    expect("x", "completed");
    expect("y", "cancelled");
    expect("z", "dead");
    expect("d", "cancelled");
    EXPECT("completed", wait, "x", "60000");
}

static void a_dead_session_is_reaped(void **state)
{
    (void)state;
    put("x", "{\"expires\":60000}");
    put("y", "");
    put("z", "");
    lease("3");
    (void)CALL(wait, "z", "60000");
    EXPECT("running", cancel, "z", "");
    assert_int_equal(test_number("ZADD " Q "sessions XX CH 1 " SESSION), 1);
    (void)CALL(maintain, "100");
    EXPECT("[" SESSION " 3 0]", reap, "100");
    expect("x", "ready");
    expect("y", "ready");
    expect("z", "cancelled");
}

static void children_are_told(void **state)
{
    (void)state;
    put("p", "");
    put("c", "{\"after\":[[\"q/p\",\"f\"]]}");
    put("e", "{\"after\":[[\"far/p\",\"f\"]]}");
    for (int i = 0; i < 20; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "c%d", i);
        put(id, "{\"after\":[[\"q/p\",\"f\"]]}");
    }
    put("g", "");
    EXPECT("ok", depend, "add", "g", "q/p", "w");
    EXPECT("ok", depend, "remove", "e", "far/p");
    EXPECT("[1]", enqueue, "0", "after_far", "{\"after\":[[\"far/p\",\"g\"]]}", REST);
    lease("1");
    settle("done", "p", "", "i", "");
    (void)CALL(maintain, "100");
    (void)CALL(fan, "25");
    expect("c", "ready");
    expect("c19", "ready");
    (void)CALL(deliver, "after_far", "far/p", "dead");
    expect("after_far", "ready");
    assert_string_equal(CALL_IN(FAR, link, "register", "p", "q/e", "fg", "1"), "completed");
}

static void operators_calls_work(void **state)
{
    (void)state;
    put("x", "{\"tags\":[\"a\"],\"group\":\"g\"}");
    EXPECT("- 0", limit, "", "concurrency", "5", "rate", "1 60000 1", "group_concurrency", "1", "c:g", "1");
    EXPECT("~ 0", limit, "- 0");
    EXPECT("", limit, "~ 0");
    assert_true(atoll(CALL(pause_for, "", "60000", "")) > 0);
    EXPECT("0", pause_for, "", "0", "");
    assert_true(atoll(CALL(pause_for, "g", "60000", "")) > 0);
    EXPECT("0", pause_for, "g", "0", "");
    (void)CALL(limits, "0", "10");
    EXPECT("1", pause, "1");
    EXPECT("1", pause, "0");
    EXPECT("1", cron, "set", "n", "{\"spec\":\"every 60s\"}\n" REST);
    EXPECT("1", cron, "pause", "n");
    EXPECT("1", cron, "resume", "n");
    (void)CALL(cron_look, "list", "0");
    (void)CALL(cron_look, "get", "n");
    EXPECT("1", fire, "n", "", "-1", "made");
    (void)CALL(events, "keep", "100");
    (void)CALL(events, "listen", "60000");
    (void)CALL(events_look, "");
    put("y", "");
    (void)CALL(show, "x");
    (void)CALL(stat, "");
    (void)CALL(stats, "0", "1");
    (void)CALL(minutes, "60");
    (void)CALL(list, "ready", "0", "10", "");
    (void)CALL(list_by_tag, "a", "", "0", "10");
    (void)CALL(tags, "0", "10");
    (void)CALL(failures, "0", "10");
    (void)CALL(outbox, "10");
    (void)CALL(cancelled, "x");
    (void)CALL(bulk_look, "ready", "", "100", "", "", "", "0");
    (void)CALL(find, "ready", "", "100", "", "", "", "0");
    (void)CALL(find, "running", "", "100", "", "", "", "0");
    (void)CALL(bulk_update, "cancel", "ready", "", "100", "", "", "", "0");
    expect("x", "cancelled");
    EXPECT("ok", delete, "x", "");
    EXPECT("1", cron, "remove", "n");
    (void)CALL(maintain, "100");
}

static void a_running_task_reports(void **state)
{
    (void)state;
    put("x", "");
    lease("1");
    EXPECT("1", progress, SESSION, "x", "5", "words");
    EXPECT("1", checkpoint, SESSION, "x", "bytes");
    EXPECT("[1 1 1]", heartbeat, SESSION, "60000", "0", "0", "0", "0");
    EXPECT("1", log, SESSION, "x", test_cmd(test_conn, "HGET " Q "running:" SESSION " x"), "1", "line", "100");
    EXPECT("1", suspect, SESSION, "x", "alone");
    EXPECT("1", suspect, SESSION, "x", "over");
    EXPECT("0", once, SESSION, "x");
    EXPECT("0", cancelled, "x");
    (void)CALL(recover, SESSION, "1", "0");
    EXPECT("0", wake_idle, SESSION);
    (void)CALL(result, "x");
    (void)CALL(why, "x", "");
    assert_non_null(strstr(CALL(overdue, ""), " -1 0 -1]"));
}

/* Without rights to XADD there are no events, and all else is as it is. */
static void events_that_cannot_be_written_stop_nothing(void **state)
{
    (void)state;
    become("on >p ~* +@all -@dangerous -xadd resetchannels");
    (void)CALL(events, "keep", "100");
    put("x", "");
    put("y", "{\"in\":60000}");
    lease("1");
    settle("done", "x", "", "", "");
    expect("x", "completed");
    assert_int_equal(test_number("XLEN " Q "events"), 0);
    assert_string_equal(test_cmd(test_conn, "SET " Q "events x"), "OK");
    become(TEST_USER_NO_CHANNELS);
    put("z", "");
    expect("z", "ready");
}

/* A command that may be refused behind others that have written is asked for before anything is leased. */
static void no_session_begins_without_rights_to_commands(void **state)
{
    (void)state;
    put("x", "");
    const char *const commands[] = {"zadd", "hincrby", "smismember", "rename"};
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        char rights[128], words[64] = "NOPERM reeve needs rights to ";
        const rv_reply *reply = NULL;
        (void)snprintf(rights, sizeof(rights), "on >p ~reeve:* +@all -@dangerous -%s", commands[i]);
        become(rights);
        rv_cmd_script(user, &rv_script_begin_session, 1, 3);
        for (const char *const *arg = (const char *const[]){Q, SESSION, "60000", "{}", NULL}; *arg; arg++)
            rv_args(user, *arg);
        assert_int_equal(rv_conn_call(user, test_patience(), &reply), REEVE_EREDIS);
        size_t length = strlen(words);
        for (const char *at = commands[i]; *at; at++) words[length++] = (char)(*at - 'a' + 'A');
        if (strncmp(reply->text, words, length) != 0) fail_msg("%s: %s", words, reply->text);
        expect("x", "ready");
        assert_int_equal(test_number("EXISTS " Q "sessions " Q "running:" SESSION), 0);
    }
    become("on >p ~reeve:* +@all -@dangerous");
    lease("1");
    expect("x", "running");
}

/* ---- a worker and clients ---------------------------------------------------------------------------------------- */

static reeve_worker *start_worker(void)
{
    test_close_gate();
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.redis = test_user_url, .session_ms = 60000});
    test_worker_pool(worker, "q", 2, 1);
    test_worker_start(worker);
    return worker;
}

static reeve_client *open_client(void)
{
    reeve_client *client;
    char words[512] = "";
    const reeve_client_options options = {.redis = test_user_url, .timeout_ms = 60000};
    if (reeve_client_open_with_error(&client, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    return client;
}

/* Nobody hears of it, and the worker has nothing else to do: far less than its session later it runs. */
static void an_idle_worker_finds_what_becomes_due(void **state)
{
    (void)state;
    reeve_worker *worker = start_worker();
    reeve_client *client = open_client();
    TEST_AWAIT(atomic_load(&worker->keeper.deaf));
    int64_t began = rv_now_ms();
    const reeve_task_spec spec = {.queue = "q", .id = "n1", .type = "t", .in_ms = 100};
    test_ok(client, reeve_enqueue(client, &spec, NULL));
    test_ok(client, reeve_wait(client, "q", "n1", 60000, NULL));
    if (rv_now_ms() - began > 15000) fail_msg("after %lld ms", (long long)(rv_now_ms() - began));
    test_ok(client, reeve_queue_set(client, "q", &(reeve_queue_settings){.result_max = &(int64_t){1000}}));
    reeve_client_close(client);
    test_worker_end(worker);
}

/* The worker may hear, but the producer may not speak: it is noticed, and looked for from then on. */
static void a_silent_producer_is_noticed(void **state)
{
    (void)state;
    become(TEST_USER_NO_CHANNELS);
    reeve_client *client = open_client();
    reeve_task_spec spec = {.queue = "q", .id = "n1", .type = "t", .in_ms = 1};
    test_ok(client, reeve_enqueue(client, &spec, NULL));
    test_close_gate();
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.session_ms = 60000});
    test_worker_pool(worker, "q", 1, 1);
    test_worker_start(worker);
    TEST_AWAIT_STATE("n1", "completed");
    int64_t began = rv_now_ms();
    spec.id = "n2";
    test_ok(client, reeve_enqueue(client, &spec, NULL));
    test_ok(client, reeve_wait(client, "q", "n2", 60000, NULL));
    if (rv_now_ms() - began > 15000) fail_msg("after %lld ms", (long long)(rv_now_ms() - began));
    reeve_client_close(client);
    test_worker_end(worker);
}

static void a_running_task_hears_of_its_cancel(void **state)
{
    (void)state;
    test_close_gate();
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.redis = test_user_url, .session_ms = 1000});
    test_worker_pool(worker, "q", 1, 1);
    test_worker_start(worker);
    reeve_client *client = open_client();
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    test_ok(client, reeve_cancel(client, "q", "x"));
    assert_int_equal(reeve_wait(client, "q", "x", 60000, NULL), REEVE_ECANCELLED);
    assert_int_equal(test_announced, 1);
    reeve_client_close(client);
    test_worker_end(worker);
}

/* A wait ends in time, and can be interrupted. */
static void a_wait_that_polls_ends(void **state)
{
    (void)state;
    reeve_client *client = open_client();
    test_put("q", "x");
    assert_int_equal(reeve_wait(client, "q", "x", 120, NULL), REEVE_ETIMEOUT);
    reeve_client_interrupt(client);
    assert_int_equal(reeve_wait(client, "q", "x", 60000, NULL), REEVE_EINTERRUPTED);
    reeve_client_close(client);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_scheduled_task_is_enqueued_and_promoted),
        TEST(a_chained_task_is_enqueued),
        TEST(a_task_with_a_deadline_is_given_back),
        TEST(a_failed_attempt_is_scheduled),
        TEST(what_is_waited_for_ends),
        TEST(a_dead_session_is_reaped),
        TEST(children_are_told),
        TEST(operators_calls_work),
        TEST(a_running_task_reports),
        TEST(events_that_cannot_be_written_stop_nothing),
        TEST(no_session_begins_without_rights_to_commands),
        TEST(an_idle_worker_finds_what_becomes_due),
        TEST(a_silent_producer_is_noticed),
        TEST(a_running_task_hears_of_its_cancel),
        TEST(a_wait_that_polls_ends),
    };
    return cmocka_run_group_tests_name("ct_rights", tests, test_place_start, test_place_stop);
}
