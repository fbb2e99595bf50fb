/* What it costs Redis, in commands, what a task does and tells while it runs, and what goes on meanwhile. */
#include <stdio.h>
#include <string.h>

#include "protocol/handler_call.h"
#include "protocol/heartbeat_call.h"
#include "protocol/scripts.h"
#include "protocol/tally.h"
#include "protocol/turn_build.h"
#include "protocol/turn_reply.h"
#include "support/costs.h"

static test_hand hand;

static const rv_reply *call(void)
{
    const rv_reply *reply;
    if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
    return reply;
}

#define PREFIX (&hand.prefixes[0])
#define SESSION (hand.sessions[0])

/* ---- while it runs --------------------------------------------------------------------------------------------- */

static void one_runs(void)
{
    test_hand_init(&hand, "1", "q");
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
}

static void progress(void)
{
    rv_handler_call_progress(test_conn, PREFIX, SESSION, "a", 50, "half");
    (void)call();
}

static void after_progress(void)
{
    one_runs();
    progress();
}

static void checkpoint(void)
{
    rv_handler_call_checkpoint(test_conn, PREFIX, SESSION, "a", (reeve_bytes){"here", 4});
    (void)call();
}

static void after_a_checkpoint(void)
{
    one_runs();
    checkpoint();
}

static void last_checkpoint(void)
{
    rv_handler_call_last_checkpoint(test_conn, PREFIX, "a");
    (void)call();
}

/* The lease is what the log knows a line by. */
static void a_line(void)
{
    char lease[40];
    static unsigned number;
    (void)snprintf(lease, sizeof(lease), "%lld %s", (long long)hand.now_ms, hand.thread);
    rv_handler_call_log(test_conn, PREFIX, SESSION, "a", lease, ++number, "words");
    (void)call();
}

static void after_a_line(void)
{
    one_runs();
    a_line();
}

static void heartbeat(void)
{
    rv_handler_call_heartbeat(test_conn, PREFIX, SESSION, "a");
    (void)call();
}

static void done(void)
{
    test_settle(&hand, {0, {.id = "a", .outcome = REEVE_OUTCOME_DONE, .has_info = true}});
}

static void done_with_a_checkpoint(void)
{
    test_settle(&hand, {0, {.id = "a", .outcome = REEVE_OUTCOME_DONE, .has_info = true, .checkpoint = true}});
}

static void hold_the_queue(void)
{
    rv_handler_call_pause_for(test_conn, PREFIX, NULL, 60000);
    (void)call();
}

static void hold_a_group(void)
{
    rv_handler_call_pause_for(test_conn, PREFIX, "g", 60000);
    (void)call();
}

/* Settled of this very lease, before it runs. */
static void settle_first(void)
{
    char lease[40];
    const rv_settlement settlement = {.id = "a", .outcome = REEVE_OUTCOME_DONE};
    const rv_settlement *const items[] = {&settlement};
    (void)snprintf(lease, sizeof(lease), "%lld %s", (long long)hand.now_ms, hand.thread);
    const rv_turn_group group = {.prefix = PREFIX, .session = SESSION, .lease = lease, .items = items, .count = 1};
    const rv_turn turn = {.thread = hand.thread, .groups = &group, .group_count = 1};
    rv_turn_reply said;
    rv_turn_build(test_conn, &turn);
    const rv_reply *reply = call();
    assert_true(rv_turn_reply_read(&said, reply));
    assert_int_equal(said.refused->count, 0);
}

static void cancel(void)
{
    assert_int_equal(reeve_cancel_with_running(test_client, "q", "a", NULL), REEVE_OK);
}

static void after_cancel(void)
{
    one_runs();
    cancel();
}

static void stopped(void)
{
    test_settle(&hand, {0, {.id = "a", .outcome = REEVE_OUTCOME_SNOOZE, .delay_ms = 1, .begun = true}});
}

static const test_costs_row running[] = {
    {"progress, the first", one_runs, progress, NULL, "evalsha=1 hexists=1 hget=2 hset=2"},
    {"progress, later", after_progress, progress, NULL, "evalsha=1 hexists=1 hget=2 hset=1"},
    {"checkpoint, the first", one_runs, checkpoint, NULL, "evalsha=1 hexists=1 hget=1 hset=2"},
    {"checkpoint, later", after_a_checkpoint, checkpoint, NULL, "evalsha=1 hexists=1 hget=1 hset=1"},
    {"checkpoint, read", after_a_checkpoint, last_checkpoint, NULL, "hget=1"},
    {"the end of a task with a checkpoint, beyond an end with another record", after_a_checkpoint,
     done_with_a_checkpoint, done, "hdel+1"},
    {"a line of the log, the first", one_runs, a_line, NULL, "evalsha=1 hget=3 hmget=1 hset=2 time=1"},
    {"a line of the log, later", after_a_line, a_line, NULL, "evalsha=1 hget=2 hmget=1 hset=1 time=1"},
    {"heartbeat", one_runs, heartbeat, NULL, "hexists=1"},
    {"pause, the queue", one_runs, hold_the_queue, NULL,
     "evalsha=1 exists=2 hdel=4 hget=2 hmget=1 hset=2 lpop=1 mget=1 publish=1 time=1 unlink=2 "
     "zintercard=1"},
    {"pause, a group", one_runs, hold_a_group, NULL,
     "evalsha=1 exists=3 hdel=4 hget=1 hmget=1 hset=1 lpop=1 mget=1 publish=1 time=1 unlink=2 zadd=1 "
     "zintercard=1 zscore=1"},
    {"at most once: the turn that completes it", one_runs, settle_first, NULL,
     "evalsha=1 hdel=1 hget=1 hincrby=1 hmget=1 time=1 zadd=1 zcard=1"},
    {"cancel what runs", one_runs, cancel, NULL,
     "evalsha=1 exists=1 hget=3 hset=1 mget=1 publish=1 sismember=1 zcount=1 zintercard=1 zrange=1 zscore=7"},
    {"the end of what was cancelled", after_cancel, stopped, NULL,
     "evalsha=1 hdel=1 hget=3 hincrby=1 hmget=2 hset=1 time=1 zadd=1 zcard=1"},
};

static void while_it_runs(void **state)
{
    (void)state;
    test_costs_check_rows(running, sizeof(running) / sizeof(running[0]));
}

/* A task that failed or crashed before is looked up when it is leased (and then what is to be leased is read anew, once
 * a call); nobody else is. */
static void a_failed_before(void)
{
    one_runs();
    test_settle(&hand, TEST_RETRY("a", 0));
    (void)test_maintain("q", 100);
}

static void a_did_not(void)
{
    test_hand_init(&hand, "1", "q");
    test_put("q", "b a");
    assert_int_equal(test_lease(&hand, 1), 1);
}

static void lease(void)
{
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(hand.leased[0].id, "a");
}

static const test_costs_row leases[] = {
    {"lease of a task that never ran", a_did_not, lease, NULL,
     "evalsha=1 hexists=1 hmget=2 hset=1 time=1 zrange=1 zremrangebyrank=1"},
    {"lease of a task that has failed before", a_failed_before, lease, NULL,
     "evalsha=1 exists=1 hexists=2 hmget=4 hset=1 time=1 zrange=2 zremrangebyrank=1"},
};

static void when_it_is_leased(void **state)
{
    (void)state;
    test_costs_check_rows(leases, sizeof(leases) / sizeof(leases[0]));
}

/* ---- in the background ----------------------------------------------------------------------------------------- */

static void heartbeat_with(const rv_tally *tally)
{
    rv_heartbeat_call_build_flush(test_conn, PREFIX, SESSION, 60000, tally, 1);
    (void)call();
}

/* Sums of one task that was completed: how many, its wait and its run (count, sum, squares, a place in the histogram).
 */
static const rv_attempt attempt = {.type = "t", .type_length = 1, .wait_ms = 5, .run_us = 1000};

static void statistics_of_one(void)
{
    rv_tally *tally = rv_tally_new(20000);
    rv_tally_add(tally, &(const rv_settlement){.id = "a", .outcome = REEVE_OUTCOME_DONE}, &attempt);
    heartbeat_with(tally);
    rv_tally_free(tally);
}

static void statistics_with_a_kind(void)
{
    rv_tally *tally = rv_tally_new(20000);
    rv_tally_add(tally, &(const rv_settlement){.id = "a", .outcome = REEVE_OUTCOME_DONE}, &attempt);
    rv_tally_add(tally, &(const rv_settlement){.id = "a", .outcome = REEVE_OUTCOME_FAIL, .kind = "k"},
                 &(const rv_attempt){.type = "t", .type_length = 1, .wait_ms = -1});
    heartbeat_with(tally);
    rv_tally_free(tally);
}

static void no_news(void)
{
    rv_heartbeat_call_build(test_conn, PREFIX, SESSION, 60000);
    (void)call();
}

static void maintain(void)
{
    (void)test_maintain("q", 100);
}

static void one_waits(void)
{
    test_hand_init(&hand, "1", "q");
    test_put("q", "a");
}

/* They are past from the beginning. */
static void one_has_expired(void)
{
    one_waits();
    test_put_spec((reeve_task_spec){.id = "late", .deadline_ms = 1000});
}

static void one_has_a_deadline(void)
{
    one_waits();
    test_put_spec((reeve_task_spec){.id = "timely", .expires_in_ms = 3600000});
}

static const test_costs_row background[] = {
    {"a heartbeat with statistics of a task, beyond one without", one_runs, statistics_of_one, no_news,
     "expireat+2 hget+5 hincrby+10 hmget+2 hset+7"},
    {"a kind of error in these statistics, beyond the heartbeat above", one_runs, statistics_with_a_kind,
     statistics_of_one, "hincrby+3 hmget+1"},
    {"maintain a queue with a ready task", one_waits, maintain, NULL, "evalsha=1 exists=3 hmget=1 time=1 zrange=7"},
    {"maintain, before a deadline", one_has_a_deadline, maintain, NULL, "evalsha=1 exists=3 hmget=1 time=1 zrange=7"},
    {"maintain, after a deadline", one_has_expired, maintain, NULL,
     "evalsha=1 exists=7 expireat=1 hget=5 hincrby=3 hmget=3 hset=4 llen=1 mget=1 smismember=1 time=2 zadd=3 zcard=4 "
     "zintercard=1 zrandmember=1 zrange=14 zrangebyscore=7 zrem=3 zscore=1"},
};

static void in_the_background(void **state)
{
    (void)state;
    test_costs_check_rows(background, sizeof(background) / sizeof(background[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_it_runs),
        cmocka_unit_test(when_it_is_leased),
        cmocka_unit_test(in_the_background),
    };
    return cmocka_run_group_tests_name("ct_costs_life", tests, test_place_start, test_place_stop);
}
