/* A worker meets malformed tasks: they are dead at once; all others run. */
#include <stdio.h>
#include <string.h>

#include "protocol/definition.h"
#include "protocol/scripts.h"
#include "support/foreign.h"
#include "support/proxy.h"
#include "support/worker.h"

#define Q "reeve:{q}:"
#define GOOD 50

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static void put_malformed(void)
{
    for (size_t i = 0; i < test_malformed_count; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "m%02zu", i);
        test_foreign("q", "ready", (double)RV_SCORE_START + (double)RV_SCORE_STEP * (double)(i + 1), id,
                     test_malformed[i]);
    }
}

/* So many have died of it, while the worker runs; nothing is held. */
static void await_dead(size_t count)
{
    TEST_AWAIT(test_number("ZCARD " Q "failures:malformed") == (long long)count);
    TEST_AWAIT(test_count("q", "running") == 0);
    assert_int_equal(test_count("q", "dead"), count);
}

static void among_good_ones(unsigned threads, unsigned batch)
{
    put_malformed();
    test_put_many("q", GOOD, "n%zu");
    reeve_worker *worker = test_worker_run(threads, batch);
    await_dead(test_malformed_count);
    TEST_AWAIT(test_count("q", "completed") == GOOD);
    TEST_AWAIT(test_worker_stats(worker).dead == test_malformed_count); /* it counts when it has read the replies */
    assert_int_equal(test_worker_stats(worker).refused, 0);
    test_worker_end(worker);
    for (size_t i = 0; i < GOOD; i++) assert_int_equal(test_runs[i], 1);
}

static void are_dead_at_once(void **state)
{
    (void)state;
    among_good_ones(1, 1);
}

static void are_dead_at_once_in_batches(void **state)
{
    (void)state;
    among_good_ones(2, 64);
}

static void put_id(int64_t score, const char *id, size_t length)
{
    const rv_reply *reply;
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "HSET");
    rv_args(test_conn, Q "tasks");
    rv_arg(test_conn, id, length);
    rv_args(test_conn, "{\"at\":1,\"type\":\"t\"}\n");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "ZADD");
    rv_args(test_conn, Q "ready");
    rv_argi(test_conn, score);
    rv_arg(test_conn, id, length);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
}

static void their_ids_may_have_any_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        size_t length;
    } ids[] = {{"a\0b", 3}, {"\0", 1}, {"a b", 3}, {"a\nb", 3}, {"\xff", 1}, {"#totals", 7}, {"+7", 2}, {"", 0}};
    const size_t count = sizeof(ids) / sizeof(ids[0]);
    for (size_t i = 0; i < count; i++) put_id((int64_t)i, ids[i].id, ids[i].length);
    test_put_many("q", GOOD, "n%zu");
    reeve_worker *worker = test_worker_run(1, 16);
    await_dead(count);
    TEST_AWAIT(test_count("q", "completed") == GOOD);
    test_worker_end(worker);
}

#define BEHIND 32

/* Malformed tasks whose ids have a zero byte, behind a long one. True: the thread leased some of them together with
 * it. */
static bool wait_behind_a_long_one(reeve_worker *worker, unsigned round)
{
    uint64_t before = test_worker_stats(worker).given_back;
    char id[16];
    test_close_gate();
    test_put_many("train", 200, "n%zu"); /* short tasks: the thread leases many at once */
    TEST_AWAIT(test_count("train", "completed") == 200 * (round + 1));
    test_ok(test_client, reeve_pause(test_client, "q"));
    (void)snprintf(id, sizeof(id), "long%u", round);
    test_put_spec((reeve_task_spec){.queue = "q", .type = "stubborn", .id = id});
    for (unsigned i = 0; i < BEHIND; i++) {
        size_t length = (size_t)snprintf(id, sizeof(id), "m%u-%u", round, i) + 1; /* the zero byte, too */
        put_id((int64_t)RV_SCORE_START + (int64_t)RV_SCORE_STEP * (1000 + i), id, length);
    }
    test_ok(test_client, reeve_resume(test_client, "q"));
    TEST_AWAIT(atomic_load(&test_begun) == 1);
    TEST_AWAIT(test_count("q", "running") == 1); /* the others are given back */
    test_open_gate();
    TEST_AWAIT(test_count("q", "completed") == round + 1);
    await_dead((round + 1) * BEHIND);
    return test_worker_stats(worker).given_back > before;
}

static void given_back_under_their_whole_ids(void **state)
{
    (void)state;
    unsigned round = 0;
    reeve_worker *worker = test_worker_new(NULL);
    test_worker_pool(worker, "q train", 1, 64);
    test_worker_start(worker);
    while (!wait_behind_a_long_one(worker, round)) assert_true(++round < 20);
    test_worker_end(worker);
}

/* The lease of the task "long", with another id. */
static void lease_too(const char *session, const char *id, size_t length)
{
    char key[128], lease[64];
    const rv_reply *reply;
    (void)snprintf(key, sizeof(key), Q "running:%s", session);
    (void)snprintf(lease, sizeof(lease), "%s", test_cmd(test_conn, "HGET %s long", key));
    put_id(1, id, length);
    rv_cmd(test_conn, 3);
    rv_args(test_conn, "ZREM");
    rv_args(test_conn, Q "ready");
    rv_arg(test_conn, id, length);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "HSET");
    rv_args(test_conn, key);
    rv_arg(test_conn, id, length);
    rv_args(test_conn, lease);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
}

/* Of one turn, whose reply is lost, a thread finds several tasks: their ids are equal before a zero byte. */
static void found_under_their_whole_ids(void **state)
{
    (void)state;
    test_proxy *proxy = test_proxy_start(test_redis);
    reeve_worker *worker =
        test_worker_new(&(reeve_worker_options){.redis = test_proxy_url(proxy), .session_ms = 60000});
    test_worker_pool(worker, "q", 1, 8);
    test_put_spec((reeve_task_spec){.queue = "q", .type = "stubborn", .id = "long"});
    test_worker_start(worker);
    TEST_AWAIT(atomic_load(&test_begun) == 1);
    lease_too(test_first_session(), "a\0b", 3);
    lease_too(test_first_session(), "a\0c", 3);
    lease_too(test_first_session(), "a", 1);
    test_proxy_lose(proxy, "\r\n1\r\n$4\r\nlong\r\n", 0); /* the turn that settles it, and nothing else that names it */
    test_open_gate();
    TEST_AWAIT(test_count("q", "completed") == 2);
    await_dead(2);
    assert_true(test_proxy_lost(proxy) > 0);
    test_worker_end(worker);
    test_proxy_stop(proxy);
}

/* An enqueue by another program hands it to an idle thread, without a look into it. */
static void handed_to_an_idle_thread(void **state)
{
    (void)state;
    const rv_reply *reply;
    reeve_worker *worker = test_worker_run(1, 1);
    test_put("q", "n1");
    TEST_AWAIT_STATE("n1", "completed");
    TEST_AWAIT(test_number("LLEN " Q "idle") == 1);
    rv_cmd_script(test_conn, &rv_script_enqueue, 1, 3);
    rv_args(test_conn, Q);
    rv_args(test_conn, "idle");
    rv_args(test_conn, "m");
    rv_args(test_conn, "\"type\":\"t\",\"priority\":null}\n");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    TEST_AWAIT_STATE("m", "dead");
    test_put("q", "n0");
    TEST_AWAIT_STATE("n0", "completed");
    test_worker_end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(are_dead_at_once, set_up),
        cmocka_unit_test_setup(are_dead_at_once_in_batches, set_up),
        cmocka_unit_test_setup(their_ids_may_have_any_bytes, set_up),
        cmocka_unit_test_setup(given_back_under_their_whole_ids, set_up),
        cmocka_unit_test_setup(found_under_their_whole_ids, set_up),
        cmocka_unit_test_setup(handed_to_an_idle_thread, set_up),
    };
    return cmocka_run_group_tests_name("ct_malformed_worker", tests, test_place_start, test_place_stop);
}
