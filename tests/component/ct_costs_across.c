/* What it costs Redis, in commands, that tasks wait for others in other queues, are handed on, or make up a batch. */
#include <stdio.h>
#include <string.h>

#include "client/outbox.h"
#include "handlers/task.h"
#include "protocol/envelope.h"
#include "protocol/scripts.h"
#include "protocol/settlement.h"
#include "protocol/spec.h"
#include "support/costs.h"
#include "support/depend.h"

static void a_is_done(void)
{
    test_costs_done("a");
}

static void nobody_waits(void)
{
    test_costs_begin();
    test_put("q", "a b");
    test_costs_lease(2);
}

/* Somebody waits for a. */
static void one_waits(void)
{
    nobody_waits();
    test_put_after("q", "x", "f:q/a");
}

/* ---- other queues ---------------------------------------------------------------------------------------------- */

/* The client would carry the message at once. */
static void put_after_far(void)
{
    const reeve_parent after = {.handle = "far/p"};
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "x", .after = &after, .after_count = 1};
    const rv_reply *reply;
    rv_buf options, rest;
    rv_buf_init(&options, 4096);
    rv_buf_init(&rest, 4096);
    rv_spec_write_options(&options, &spec);
    rv_spec_write_envelope(&rest, &spec);
    rv_cmd_script(test_conn, &rv_script_enqueue, 1, 4);
    rv_arg(test_conn, test_costs_hand.prefixes[0].text, test_costs_hand.prefixes[0].length);
    rv_args(test_conn, "0");
    rv_args(test_conn, "x");
    rv_arg(test_conn, options.data, options.length);
    rv_arg(test_conn, rest.data, rest.length);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    rv_buf_fini(&options);
    rv_buf_fini(&rest);
}

static void far_waits(void)
{
    test_costs_begin();
    test_put("far", "p");
}

static void far_is_to_hear(void)
{
    far_waits();
    put_after_far();
}

static void far_knows(void)
{
    far_waits();
    test_put_after("q", "x", "f:far/p");
    test_settle_queues("q far");
}

static void carry(const char *queue)
{
    rv_error error = {0};
    size_t carried = 0;
    if (rv_outbox_carry(test_conn, "reeve", queue, 1, &carried, &error) != REEVE_OK) fail_msg("%s", error.text);
    assert_int_equal(carried, 1);
}

static void carry_there(void)
{
    carry("q");
}

static void carry_back(void)
{
    carry("far");
}

static void far_runs(void)
{
    far_knows();
    test_hand_init(&test_costs_hand, "1", "far");
    test_costs_lease(1);
}

static void far_is_done(void)
{
    test_costs_done("p");
}

static void far_has_ended(void)
{
    far_runs();
    far_is_done();
}

static const test_costs_row across[] = {
    {"a task after one elsewhere", far_waits, put_after_far, NULL,
     "evalsha=1 hget=3 hlen=1 hmget=1 hset=4 mget=1 publish=1 rpush=1 time=2 zadd=1 zintercard=1"},
    {"the message to the parent's queue, delivered", far_is_to_hear, carry_there, NULL,
     "evalsha=3 expire=1 hexists=1 hset=1 lindex=1 lrange=2 lrem=1 mget=1 sadd=1 time=1 zadd=2 zintercard=1 zmscore=5 "
     "zremrangebyscore=1 zscore=2"},
    {"the end of a parent elsewhere", far_runs, far_is_done, NULL,
     "del=2 evalsha=1 hdel=1 hget=1 hincrby=1 hmget=1 hset=1 publish=1 rpush=1 sadd=1 smismember=1 srem=1 time=3 "
     "zadd=2 zcard=3 zrange=2 zrem=1"},
    {"the message to the child's queue, delivered", far_has_ended, carry_back, NULL,
     "evalsha=3 hdel=1 hexists=1 hget=3 hincrby=2 hmget=3 hset=4 lindex=1 llen=1 lrange=2 lrem=1 mget=1 time=1 zadd=2 "
     "zintercard=1 zrem=1 zscore=1"},
};

static void other_queues(void **state)
{
    (void)state;
    test_costs_check_rows(across, sizeof(across) / sizeof(across[0]));
}

/* ---- chains ---------------------------------------------------------------------------------------------------- */

static void hand_to(const char *queue)
{
    rv_buf hands;
    const reeve_task_spec spec = {.queue = queue, .type = "t"};
    rv_buf_init(&hands, 4096);
    rv_settlement_chain(&hands, &spec, "next");
    const test_outcome outcome = {
        0, {.id = "a", .outcome = REEVE_OUTCOME_DONE, .chained = {hands.data, hands.length}, .chained_count = 1}};
    (void)test_turn(&test_costs_hand, 0, &outcome, 1);
    assert_string_equal(test_costs_hand.refused, "");
    rv_buf_fini(&hands);
}

static void hand_here(void)
{
    hand_to("q");
}

static void hand_elsewhere(void)
{
    hand_to("far");
}

static void handed_elsewhere(void)
{
    nobody_waits();
    hand_elsewhere();
}

static reeve_status ask(void (*build)(rv_conn *conn, const void *what), const void *what, const rv_reply **ret,
                        void *context)
{
    (void)context;
    build(test_conn, what);
    return rv_conn_call(test_conn, 0, ret);
}

/* As a handler would; with or without what they came to. */
static void read_parents(bool results)
{
    const rv_task_host host = {.ask = ask, .ns = "reeve"};
    const reeve_task_parent *parents;
    reeve_bytes result;
    size_t count;
    reeve_task task;
    rv_task_init(&task);
    rv_task_begin(&task);
    task.queue = "q";
    task.id = "x";
    task.host = &host;
    assert_int_equal(reeve_task_parents(&task, &parents, &count), REEVE_OK);
    assert_int_equal(count, 1);
    assert_int_equal(reeve_task_parents(&task, &parents, &count), REEVE_OK);
    if (results) assert_int_equal(reeve_task_parent_result(&task, parents[0].handle, &result), REEVE_OK);
    rv_task_fini(&task);
}

static void parents(void)
{
    read_parents(false);
}

static void parents_and_a_result(void)
{
    read_parents(true);
}

static const test_costs_row chains[] = {
    {"a chained task, beyond a plain end", nobody_waits, hand_here, a_is_done,
     "hdel+1 hget+3 hmget+1 hset+2 hsetnx+1 llen+1 zadd+1 zcard+1"},
    {"a chained task to another queue, beyond a plain end", nobody_waits, hand_elsewhere, a_is_done,
     "hget+2 hset+1 publish+1 rpush+1 time+1 zcard+1"},
    {"the message with the chained task, delivered", handed_elsewhere, carry_there, NULL,
     "evalsha=3 expire=1 hdel=1 hget=2 hmget=1 hset=2 lindex=1 llen=1 lrange=2 lrem=1 mget=1 sadd=1 time=1 "
     "zadd=2 zintercard=1 zmscore=1 zremrangebyscore=1 zscore=1"},
    {"parents, read", one_waits, parents, NULL, "hscan=1"},
    {"the result of a parent, beyond that", one_waits, parents_and_a_result, parents, "evalsha+1 zscore+2"},
};

static void chains_and_parents(void **state)
{
    (void)state;
    test_costs_check_rows(chains, sizeof(chains) / sizeof(chains[0]));
}

/* ---- batches --------------------------------------------------------------------------------------------------- */

static reeve_batch batch;

static void open_batch(void)
{
    const reeve_task_spec complete = {.queue = "q", .type = "t", .id = "complete"};
    test_ok(test_client, reeve_batch_open(test_client, &batch, &(reeve_batch_callbacks){.complete = &complete}));
}

static void batch_is_open(void)
{
    test_costs_begin();
    open_batch();
}

static void put_ten(bool in_batch)
{
    static reeve_task_spec specs[10];
    static char ids[10][8];
    reeve_enqueued results[10];
    for (size_t i = 0; i < 10; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "m%zu", i);
        specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .id = ids[i]};
    }
    if (in_batch)
        test_ok(test_client, reeve_batch_add(test_client, &batch, specs, 10, results));
    else
        test_ok(test_client, reeve_enqueue_many(test_client, specs, 10, results));
}

static void add_ten(void)
{
    put_ten(true);
}

static void put_ten_alone(void)
{
    put_ten(false);
}

static void ten_are_in_it(void)
{
    batch_is_open();
    add_ten();
}

static void close_batch(void)
{
    test_ok(test_client, reeve_batch_close(test_client, &batch));
}

static const test_costs_row batches[] = {
    {"a batch is opened, with one callback", test_costs_begin, open_batch, NULL,
     "evalsha=1 hget=2 hlen=1 hmget=1 hset=3 mget=1 time=1 zadd=1 zintercard=1"},
    {"ten tasks put into a batch, beyond ten tasks", batch_is_open, add_ten, put_ten_alone,
     "evalsha+1 exists+2 hexists+10 hget+2 hgetall+1 hincrby+1 hlen+1 hmget+2 hset+3 mget+1 sadd+10 time+2 zadd+10 "
     "zintercard+1 zmscore+4 zscore+4"},
    {"a batch is closed", ten_are_in_it, close_batch, NULL,
     "evalsha=1 exists=3 hdel=1 hget=3 hincrby=1 hmget=1 mget=1 time=1 zintercard=1 zscore=4"},
};

static void batches_with_callbacks(void **state)
{
    (void)state;
    test_costs_check_rows(batches, sizeof(batches) / sizeof(batches[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(other_queues, test_costs_count_all),
        cmocka_unit_test_setup(chains_and_parents, test_costs_count_all),
        cmocka_unit_test_setup(batches_with_callbacks, test_costs_count_all),
    };
    return cmocka_run_group_tests_name("ct_costs_across", tests, test_place_start, test_place_stop);
}
