/* Producing when replies and connections are lost: each task is enqueued once, and what is said of it is so. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/packets.h"
#include "support/proxy.h"
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
    char words[512];
    test_place_start(state);
    proxy = test_proxy_start(test_redis);
    const reeve_client_options options = {.redis = test_proxy_url(proxy), .timeout_ms = 10000};
    if (reeve_client_open_or_say(&behind, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    return 0;
}

static int stop(void **state)
{
    reeve_client_close(behind);
    test_proxy_stop(proxy);
    return test_place_stop(state);
}

#define Q "reeve:{q}:"
enum { MANY = 3000 };

static reeve_task_spec specs[MANY];
static reeve_enqueued results[MANY];
static char ids[MANY][REEVE_ID_MAX];

static void make(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(ids[i], REEVE_ID_MAX, "n%04zu", i);
        specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .id = ids[i]};
    }
    memset(results, 0xff, sizeof(results));
}

static void expect_in_order(size_t count)
{
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_ready_count("q"), count);
    for (size_t at = 0; at < count;) {
        size_t got = test_lease(&hand, 250);
        assert_true(got > 0);
        for (size_t i = 0; i < got; i++) assert_string_equal(hand.leased[i].id, ids[at++]);
    }
}

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
        make(MANY);
        specs[100].priority = 999; /* refused here, */
        test_put("q", "n0200");    /* and there */
        unsigned lost = test_proxy_lost(proxy);
        test_proxy_lose(proxy, "EVALSHA", passes[i]);
        test_refused(behind, reeve_enqueue_many(behind, specs, MANY, results), REEVE_EINVAL, "priority 999");
        assert_int_equal(test_proxy_lost(proxy), lost + 1);
        for (size_t j = 0; j < MANY; j++) {
            reeve_status expected = j == 100 ? REEVE_EINVAL : REEVE_OK;
            /* (That of another's with the very same envelope cannot be told from ours once the reply is lost.) */
            if (j == 200) assert_true(results[j].status == REEVE_EEXISTS || results[j].status == REEVE_OK);
            else if (results[j].status != expected) fail_msg("%zu bytes passed: %zu: %d", passes[i], j, (int)results[j].status);
        }
        assert_int_equal(test_ready_count("q"), MANY - 1);
        assert_int_equal(test_number("HLEN " Q "tasks"), MANY - 1);
    }
}

static void order_is_kept_when_sent_again(void **state)
{
    (void)state;
    make_script_known();
    make(MANY);
    test_proxy_lose(proxy, "EVALSHA", 3000);
    test_ok(behind, reeve_enqueue_many(behind, specs, MANY, results));
    expect_in_order(MANY);
}

/* The first time that a server hears of the script, the whole pipeline comes again. */
static void order_is_kept_when_the_script_is_new(void **state)
{
    (void)state;
    assert_string_equal(test_cmd(test_conn, "SCRIPT FLUSH"), "OK");
    make(MANY);
    test_ok(test_client, reeve_enqueue_many(test_client, specs, MANY, results));
    expect_in_order(MANY);
}

/* What was answered is not sent again: its record may be gone by then. */
static void what_was_answered_is_not_enqueued_twice(void **state)
{
    (void)state;
    const reeve_keep none = {0};
    make_script_known();
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    reeve_worker *worker = test_worker_run(2, 0);
    make(2000);
    test_proxy_lose(proxy, "EVALSHA", 4 * 1006 + 10);
    test_ok(behind, reeve_enqueue_many(behind, specs, 2000, results));
    TEST_AWAIT(test_number("HLEN " Q "tasks") == 0);
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    reeve_worker_destroy(worker);
    for (size_t i = 0; i < 1000; i++)
        if (test_runs[i] != 1) fail_msg("n%zu has run %u times", i, test_runs[i]);
    for (size_t i = 1000; i < 2000; i++) assert_in_range(test_runs[i], 1, 2);
}

/* ---- connections and outages ----------------------------------------------------------------------------------- */

static atomic_bool stop_killing;

static void *kill_on(void *argument)
{
    (void)argument;
    rv_conn *conn = test_conn_open(test_redis);
    while (!atomic_load(&stop_killing)) {
        (void)test_cmd(conn, "CLIENT KILL TYPE normal SKIPME yes");
        usleep(2000);
    }
    rv_conn_destroy(conn);
    return NULL;
}

static void connections_are_killed_again_and_again(void **state)
{
    (void)state;
    pthread_t thread;
    make(MANY);
    atomic_store(&stop_killing, false);
    assert_int_equal(pthread_create(&thread, NULL, kill_on, NULL), 0);
    for (size_t at = 0; at < MANY;) {
        size_t count = 1 + at / 7 % 100;
        if (count > MANY - at) count = MANY - at;
        reeve_status status = reeve_enqueue_many(test_client, specs + at, count, results);
        if (status != REEVE_OK) break;
        at += count;
    }
    atomic_store(&stop_killing, true);
    (void)pthread_join(thread, NULL);
    assert_string_equal(reeve_client_error(test_client), "");
    test_conn_again();
    expect_in_order(MANY);
}

/* Of 64 and more that get their ids here (queue/lay.h). */
static void connections_are_killed_while_tasks_are_laid(void **state)
{
    (void)state;
    enum { CALLS = 40 };
    pthread_t thread;
    size_t at = 0;
    for (size_t i = 0; i < MANY; i++) specs[i] = (reeve_task_spec){.queue = "q", .type = "t"};
    atomic_store(&stop_killing, false);
    assert_int_equal(pthread_create(&thread, NULL, kill_on, NULL), 0);
    reeve_status status = REEVE_OK;
    for (size_t i = 0; status == REEVE_OK && i < CALLS; i++) {
        size_t count = MANY / CALLS - 5 + i % 10;
        if (count > MANY - at) count = MANY - at;
        status = reeve_enqueue_many(test_client, specs + at, count, results);
        for (size_t j = 0; j < count; j++) rv_copy_text(ids[at + j], REEVE_ID_MAX, results[j].id);
        at += count;
    }
    atomic_store(&stop_killing, true);
    (void)pthread_join(thread, NULL);
    test_ok(test_client, status);
    test_conn_again();
    expect_in_order(at);
}

static void redis_goes_away_for_good(void **state)
{
    (void)state;
    enum { MORE = 20000 /* more than a pipeline carries */, TIMEOUT_MS = 3000 };
    static reeve_task_spec more[MORE];
    static reeve_enqueued said[MORE];
    reeve_client *client = test_client_open(TIMEOUT_MS);
    for (size_t i = 0; i < MORE; i++) more[i] = (reeve_task_spec){.queue = "q", .type = i == 7 ? "" : "t"};
    test_redis_kill(test_redis);
    int64_t begin = rv_now_ms();
    test_refused(client, reeve_enqueue_many(client, more, MORE, said), REEVE_ELOST, "cannot connect");
    assert_in_range(rv_now_ms() - begin, 0, 2 * TIMEOUT_MS - 1); /* one timeout, not one a pipeline */
    for (size_t i = 0; i < MORE; i++) {
        reeve_status expected = i == 7 ? REEVE_EINVAL : said[i].status == REEVE_ELOST ? REEVE_ELOST : REEVE_ECONNECT;
        if (said[i].status != expected) fail_msg("%zu: %d", i, (int)said[i].status);
    }
    assert_int_equal(said[0].status, REEVE_ELOST);         /* may have been */
    assert_int_equal(said[MORE - 1].status, REEVE_ECONNECT); /* was never sent */
    char words[512];
    reeve_enqueued_error(client, &more[MORE - 1], &said[MORE - 1], words, sizeof(words));
    assert_non_null(strstr(words, "not sent: "));
    reeve_enqueued_error(client, &more[0], &said[0], words, sizeof(words));
    assert_non_null(strstr(words, "cannot connect"));
    assert_null(strstr(words, "not sent: "));
    more[0].type = "";
    test_refused(client, reeve_enqueue_many(client, more, MORE, said), REEVE_EINVAL, "type");
    assert_int_equal(said[1].status, REEVE_ECONNECT);
    assert_int_equal(said[MORE - 1].status, REEVE_ECONNECT);
    test_redis_launch(test_redis);
    test_conn_again();
    test_ok(client, reeve_enqueue(client, &more[1], NULL));
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
        cmocka_unit_test_setup(connections_are_killed_again_and_again, set_up),
        cmocka_unit_test_setup(connections_are_killed_while_tasks_are_laid, set_up),
        cmocka_unit_test_setup(redis_goes_away_for_good, set_up),
    };
    return cmocka_run_group_tests_name("ct_enqueue_loss", tests, start, stop);
}
