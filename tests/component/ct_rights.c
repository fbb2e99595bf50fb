/* Users with few rights: Redis 7 gives a new user no channels, so no notice reaches anybody; each script does its work
 * all the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/scripts.h"
#include "running/worker_state.h"
#include "support/proxy.h"
#include "support/worker.h"

#define Q "reeve:{q}:"
#define FAR "reeve:{far}:"
#define REST "\"type\":\"t\"}\n"
#define SESSION "by_hand-00000001"
#define NO_CHANNELS "on >p ~* +@all -@dangerous resetchannels"

/* ---- as this user ------------------------------------------------------------------------------------------------ */

static rv_conn *user;

static char user_url[512];

/* From now on scripts are called by a user with these rights. */
static void become(const char *rights)
{
    static rv_url url;
    rv_error error;
    rv_conn_destroy(user);
    rv_url_fini(&url);
    (void)test_cmd(test_conn, "ACL DELUSER w");
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w %s", rights), "OK");
    (void)snprintf(user_url, sizeof(user_url), "unix://w:p@%s", test_redis_url(test_redis) + strlen("unix://"));
    assert_int_equal(rv_url_parse(&url, user_url, &error), REEVE_OK);
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
    become(NO_CHANNELS);
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
    (void)CALL(turn, "1", want, "60000", "1", "", SESSION, "{\"worker\":\"by_hand\"}");
}

/* An outcome of one task, with its three arguments. */
static void settle(const char *verb, const char *id, const char *a, const char *b, const char *c)
{
    (void)CALL(turn, "1", "0", "60000", "0", "", "1", SESSION, "", "0", "1", verb, id, a, b, c);
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
    EXPECT("ok", move, "x", "at", "0");
    expect("x", "ready");
    (void)CALL(tend, "100");
}

/* The next of a chain has a deadline, or goes to another queue: its parent is not lost. */
static void a_chained_task_is_enqueued(void **state)
{
    (void)state;
    put("x", "");
    lease("1");
    (void)CALL(turn, "1", "0", "60000", "0", "", "1", SESSION, "", "0", "3", "hand", "x", "q/next",
               "{\"expires\":60000}", REST, "hand", "x", "far/next", "", REST, "done", "x", "", "", "");
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
    EXPECT("[1 0]", leave, SESSION, "100");
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
    for (int i = 0; i < 5; i++) (void)CALL(tend, "100");
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
    (void)CALL(tend, "100");
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
    assert_true(atoll(CALL(hold, "", "60000", "")) > 0);
    EXPECT("0", hold, "", "0", "");
    assert_true(atoll(CALL(hold, "g", "60000", "")) > 0);
    EXPECT("0", hold, "g", "0", "");
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
    (void)CALL(list, "ready", "0", "10", "");
    (void)CALL(tagged, "a", "", "0", "10");
    (void)CALL(tags, "0", "10");
    (void)CALL(failures, "0", "10");
    (void)CALL(outbox, "10");
    (void)CALL(cancelled, "x");
    (void)CALL(sweep, "cancel", "ready", "", "100", "", "", "", "0");
    expect("x", "cancelled");
    EXPECT("ok", delete, "x", "");
    EXPECT("1", cron, "remove", "n");
    (void)CALL(tend, "100");
}

static void a_running_task_reports(void **state)
{
    (void)state;
    put("x", "");
    lease("1");
    EXPECT("1", progress, SESSION, "x", "5", "words");
    EXPECT("1", checkpoint, SESSION, "x", "bytes");
    EXPECT("[1 1]", beat, SESSION, "60000", "0", "0", "0");
    EXPECT("1", log, SESSION, "x", test_cmd(test_conn, "HGET " Q "running:" SESSION " x"), "1", "line", "100");
    EXPECT("1", suspect, SESSION, "x", "alone");
    EXPECT("1", suspect, SESSION, "x", "over");
    EXPECT("0", once, SESSION, "x");
    EXPECT("0", cancelled, "x");
    (void)CALL(recall, SESSION, "1", "0");
    (void)CALL(result, "x");
    (void)CALL(why, "x", "");
    assert_non_null(strstr(CALL(overdue, ""), " -1 0]"));
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
    become(NO_CHANNELS);
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
        rv_cmd_script(user, &rv_script_turn, 1, 7);
        for (const char *const *arg = (const char *const[]){Q, "1", "1", "60000", "1", "", SESSION, "{}", NULL}; *arg;
             arg++)
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
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.redis = user_url, .session_ms = 60000});
    test_worker_pool(worker, "q", 2, 1);
    test_worker_start(worker);
    return worker;
}

static reeve_client *open_client(void)
{
    reeve_client *client;
    char words[512] = "";
    const reeve_client_options options = {.redis = user_url, .timeout_ms = 60000};
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
    const reeve_task_spec spec = {.queue = "q", .id = "n1", .type = "t", .delay_ms = 100};
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
    become(NO_CHANNELS);
    reeve_client *client = open_client();
    reeve_task_spec spec = {.queue = "q", .id = "n1", .type = "t", .delay_ms = 1};
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
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.redis = user_url, .session_ms = 1000});
    test_worker_pool(worker, "q", 1, 1);
    test_worker_start(worker);
    reeve_client *client = open_client();
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    test_ok(client, reeve_cancel(client, "q", "x"));
    assert_int_equal(reeve_wait(client, "q", "x", 60000, NULL), REEVE_ECANCELLED);
    assert_int_equal(test_told, 1);
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

/* Rights that are taken away while a worker's turns need them, and given again: turns fail, some of them half way. */

static bool was_denied(void)
{
    return strcmp(test_cmd(test_conn, "ACL LOG 1"), "[]") != 0;
}

static long long ended(void)
{
    return (long long)(test_count("q", "completed") + test_count("q", "dead"));
}

/* Maintenance asks before it does anything, which Redis does not note: what is scheduled waits for it. */
static void take_and_give(const char *right)
{
    for (int i = 0; i < 5 && test_count("q", "ready") > 0; i++) {
        assert_string_equal(test_cmd(test_conn, "ACL LOG RESET"), "OK");
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER w -%s", right), "OK");
        TEST_AWAIT(was_denied() || test_count("q", "ready") == 0);
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER w +%s", right), "OK");
        long long so_far = ended();
        TEST_AWAIT(ended() > so_far || test_count("q", "ready") == 0);
    }
}

static void turns_without_a_right_lose_no_task(void **state)
{
    (void)state;
    enum { COUNT = 800 };
    const char *const rights[] = {"zadd", "hset", "hdel", "zremrangebyrank", "zincrby", "zrem", "hincrby", "lpop"};
    for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
        (void)set_up(state);
        reeve_worker *worker = test_worker_new(&(reeve_worker_options){.redis = user_url, .session_ms = 60000});
        test_worker_pool(worker, "q", 4, 8);
        for (int n = 0; n < COUNT; n++) {
            char id[16];
            (void)snprintf(id, sizeof(id), "n%d", n);
            const reeve_bytes payload = n % 8 == 0 ? (reeve_bytes){"retry 1", 7} : (reeve_bytes){"fail", 4};
            test_put_spec(n % 4 != 0
                              ? (reeve_task_spec){.id = id, .type = "t"}
                              : (reeve_task_spec){.id = id, .type = "act", .payload = payload, .max_attempts = 2});
        }
        test_worker_start(worker);
        take_and_give(rights[i]);
        int64_t until = test_patience();
        while (ended() < COUNT && rv_now_ms() < until) (void)usleep(1000);
        if (ended() != COUNT) fail_msg("without %s: %lld of %d ended", rights[i], ended(), COUNT);
        test_worker_end(worker);
    }
}

/* A parent whose children could not be told of its end has not ended: the turn asks before it writes. */
static void a_parent_ends_with_the_rights_to_tell_its_children(void **state)
{
    const char *const rights[] = {"hset",   "lpush", "zrem", "hincrby", "srem",       "lpop",   "rpush",
                                  "zrange", "zcard", "hget", "llen",    "smismember", "zscore", "hexists"};
    for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
        const char *const turn[] = {Q, "1", "0", "60000", "0", "", "1", SESSION, "", "1", "p", "0"};
        const rv_reply *reply = NULL;
        char words[96];
        (void)set_up(state);
        put("p", "");
        put("one", "{\"after\":[[\"q/p\",\"f\"]]}");
        put("other", "{\"after\":[[\"q/p\",\"f\"]]}");
        lease("1");
        (void)snprintf(words, sizeof(words), "on >p ~reeve:* +@all -@dangerous -%s", rights[i]);
        become(words);
        rv_cmd_script(user, &rv_script_turn, 1, 11);
        for (size_t j = 0; j < 12; j++) rv_args(user, turn[j]);
        assert_int_equal(rv_conn_call(user, 0, &reply), REEVE_EREDIS);
        become(NO_CHANNELS);
        expect("p", "running");
        (void)CALL(turn, "1", "0", "60000", "0", "", "1", SESSION, "", "1", "p", "0");
        expect("p", "completed");
        expect("one", "ready");
        expect("other", "ready");
    }
}

/* The reply of the turn that failed half way is lost with its connection: what it left nowhere is taken back all the
 * same. */

static test_proxy *proxy;
static reeve_worker *lossy;

/* A worker of one thread that has a session, and lacks a right that its turns need from now on. */
static void start_lossy(const char *right)
{
    char url[512];
    proxy = test_proxy_start(test_redis);
    (void)snprintf(url, sizeof(url), "unix://w:p@%s", test_proxy_url(proxy) + strlen("unix://"));
    test_close_gate();
    lossy = test_worker_new(&(reeve_worker_options){.redis = url, .session_ms = 60000});
    test_worker_pool(lossy, "q", 1, 8);
    test_put("q", "n0");
    test_worker_start(lossy);
    TEST_AWAIT_STATE("n0", "completed");
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w -%s", right), "OK");
}

/* Behind the one that began the session one task has ended. */
static void end_lossy(const char *right)
{
    TEST_AWAIT(test_proxy_lost(proxy) > 0);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w +%s", right), "OK");
    int64_t until = test_patience();
    while (ended() < 2 && rv_now_ms() < until) (void)usleep(1000);
    assert_int_equal(ended(), 2);
    test_worker_end(lossy);
    test_proxy_stop(proxy);
}

static void a_turn_without_a_right_and_reply_loses_no_task(void **state)
{
    (void)state;
    start_lossy("zadd");
    test_put_spec((reeve_task_spec){.id = "lone", .type = "stubborn"});
    TEST_AWAIT(test_begun == 1);
    test_proxy_lose(proxy, "lone", 0);
    test_open_gate();
    end_lossy("zadd");
}

static void a_delivery_without_a_right_and_reply_loses_no_task(void **state)
{
    (void)state;
    start_lossy("zadd");
    test_proxy_lose(proxy, "\r\nkeeper\r\n", 0);
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold", .timeout_ms = 60, .max_attempts = 1});
    end_lossy("zadd");
    expect("x", "dead");
}

static void what_runs_at_most_once_without_a_right_and_reply_is_not_lost(void **state)
{
    (void)state;
    start_lossy("zadd");
    test_proxy_lose(proxy, "\r\nn1\r\n", 0);
    test_put_spec((reeve_task_spec){.id = "n1", .type = "t", .at_most_once = true});
    end_lossy("zadd");
    assert_int_equal(test_runs[1], 1);
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
        TEST(a_parent_ends_with_the_rights_to_tell_its_children),
        TEST(turns_without_a_right_lose_no_task),
        TEST(a_turn_without_a_right_and_reply_loses_no_task),
        TEST(a_delivery_without_a_right_and_reply_loses_no_task),
        TEST(what_runs_at_most_once_without_a_right_and_reply_is_not_lost),
    };
    return cmocka_run_group_tests_name("ct_rights", tests, test_place_start, test_place_stop);
}
