/*
 * The commands that the hot path costs Redis, counted by Redis itself: enqueueing plain tasks, turns that complete
 * them, and an idle worker. ct_costs_features has what features add.
 */
#include "protocol/heartbeat_call.h"
#include "support/costs_path.h"

#define ENQUEUE_ONE "evalsha=1 hincrby=1 hsetnx=1 time=1 zadd=1"
#define ENQUEUE_MANY "evalsha=1 exists=1 hget=1 hincrby=1 hmget=1 hset=2 rpush=1 time=1 zadd=1"
#define ENQUEUE_MORE "evalsha=1 hget=1 hincrby=1 hmget=1 hset=2 llen=1 rpush=1 time=1 zscore=1"
#define ENQUEUE_BULK "del=1 evalsha=1 exec=1 hincrby=1 hset=2 llen=1 multi=1 rpush=1 time=1 watch=1 zadd=1"
#define ENQUEUE_THREE "evalsha=1 hincrby=1 hmget=1 hset=1 time=1 zadd=1"
#define FULL_ONE "evalsha=1 hget=1 hmget=1 hset=2 llen=1 time=1 zadd=1"
#define FULL_MANY "evalsha=1 hmget=2 hset=2 llen=1 time=1 zadd=1"
#define TURN "evalsha=1 hdel=1 hincrby=1 hmget=2 hset=1 llen=1 time=1 zadd=1 zrange=1 zremrangebyrank=1"
#define TURN_NOTHING_KEPT "evalsha=1 hdel=2 hincrby=1 hmget=2 hset=1 llen=1 time=1 zrange=1 zremrangebyrank=1"
#define TURN_SEGMENT \
    "evalsha=1 hdel=1 hincrby=1 hmget=2 hset=1 llen=1 lrange=1 ltrim=1 time=1 zadd=1 zincrby=1 zrange=1"
#define TURN_SEGMENT_NOTHING_KEPT \
    "evalsha=1 hdel=2 hincrby=1 hmget=2 hset=1 llen=1 lrange=1 ltrim=1 time=1 zincrby=1 zrange=1"
#define TURN_IDLE "evalsha=1 hdel=1 hget=1 hmget=1 time=1 zrange=1"
#define HEARTBEAT "evalsha=1 exists=1 hget=2 hlen=1 time=1 zadd=1"

static void keep_nothing(void)
{
    static const reeve_keep none = {0, 0};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none, .dead = &none}));
}

/* The client knows what time it is from the first call on, and the second leaves a number to go on with. */
static void bulk_inserted_tasks(void **state)
{
    static reeve_task_spec specs[TEST_COSTS_PATH_BATCH];
    reeve_enqueued results[TEST_COSTS_PATH_BATCH];
    (void)state;
    for (size_t i = 0; i < TEST_COSTS_PATH_BATCH; i++) specs[i] = (reeve_task_spec){.queue = "q", .type = "t"};
    for (int i = 0; i < 3; i++) {
        test_costs_reset();
        test_ok(test_client, reeve_enqueue_many(test_client, specs, TEST_COSTS_PATH_BATCH, results));
    }
    test_costs now = test_costs_read();
    assert_string_equal(test_costs_text(&now), ENQUEUE_BULK);
}

static void plain_tasks(void **state)
{
    (void)state;
    test_costs now = test_costs_path_plain_enqueue(1);
    assert_string_equal(test_costs_text(&now), ENQUEUE_ONE);
    now = test_costs_path_plain_enqueue(TEST_COSTS_PATH_BATCH);
    assert_string_equal(test_costs_text(&now), ENQUEUE_MANY);
    test_costs_reset();
    test_costs_path_put("more", TEST_COSTS_PATH_BATCH, (reeve_task_spec){0}); /* the same segment takes them */
    now = test_costs_read();
    assert_string_equal(test_costs_text(&now), ENQUEUE_MORE);
    now = test_costs_path_plain_enqueue(3);
    assert_string_equal(test_costs_text(&now), ENQUEUE_THREE);
    now = test_costs_path_full_enqueue(1);
    assert_string_equal(test_costs_text(&now), FULL_ONE);
    now = test_costs_path_full_enqueue(TEST_COSTS_PATH_BATCH);
    assert_string_equal(test_costs_text(&now), FULL_MANY);
    now = test_costs_path_plain_turn(1);
    assert_string_equal(test_costs_text(&now), TURN);
    now = test_costs_path_plain_turn(TEST_COSTS_PATH_BATCH);
    assert_string_equal(test_costs_text(&now), TURN_SEGMENT);
    for (size_t n = 1; n <= TEST_COSTS_PATH_BATCH; n += TEST_COSTS_PATH_BATCH - 1) {
        test_costs_path_begin();
        keep_nothing();
        now = test_costs_path_turn(n, (reeve_task_spec){0}, (rv_settlement){.outcome = REEVE_OUTCOME_DONE});
        assert_string_equal(test_costs_text(&now), n == 1 ? TURN_NOTHING_KEPT : TURN_SEGMENT_NOTHING_KEPT);
    }
}

static void an_idle_worker(void **state)
{
    rv_heartbeat_reply heartbeat;
    const rv_reply *reply;
    test_costs now;
    (void)state;
    test_put("q", "a");
    assert_int_equal(test_lease(&test_costs_path_hand, 1), 1);
    test_settle(&test_costs_path_hand, TEST_DONE("a"));
    test_costs_reset();
    assert_int_equal(test_lease(&test_costs_path_hand, 1), 0);
    now = test_costs_read();
    assert_string_equal(test_costs_text(&now), TURN_IDLE);
    for (int i = 0; i < 2; i++) { /* the first call loads the script */
        test_costs_reset();
        rv_heartbeat_call_build(test_conn, &test_costs_path_hand.prefixes[0], test_costs_path_hand.sessions[0],
                                test_costs_path_hand.session_ms);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_true(rv_heartbeat_call_read(&heartbeat, reply) && heartbeat.alive);
        now = test_costs_read();
    }
    assert_string_equal(test_costs_text(&now), HEARTBEAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(plain_tasks, test_costs_path_set_up),
        cmocka_unit_test_setup(bulk_inserted_tasks, test_costs_path_set_up),
        cmocka_unit_test_setup(an_idle_worker, test_costs_path_set_up),
    };
    return cmocka_run_group_tests_name("ct_costs", tests, test_place_start, test_place_stop);
}
