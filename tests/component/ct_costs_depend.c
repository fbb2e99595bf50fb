/* What it costs Redis, in commands, that tasks wait for others: edges that are made, and what is told at an end. */
#include <stdio.h>
#include <string.h>

#include "support/costs.h"
#include "support/depend.h"

static void a_is_done(void)
{
    test_costs_done("a");
}

static void b_is_done(void)
{
    test_costs_done("b");
}

static void a_is_dead(void)
{
    test_settle(&test_costs_hand, TEST_FAIL("a"));
}

static void b_is_dead(void)
{
    test_settle(&test_costs_hand, TEST_FAIL("b"));
}

/* ---- to be made ------------------------------------------------------------------------------------------------ */

static void a_waits(void)
{
    test_costs_begin();
    test_put("q", "a b c");
}

/* A priority takes the longer way, too: see ct_costs_features. */
static void after_none(void)
{
    test_put_spec((reeve_task_spec){.id = "x", .priority = -5});
}

static void after_one(void)
{
    test_put_after("q", "x", "f:q/a");
}

static void after_three(void)
{
    test_put_after("q", "x", "f:q/a f:q/b g:q/c");
}

static void after_one_and_later(void)
{
    const reeve_parent after = {.handle = "q/a"};
    test_put_spec((reeve_task_spec){.id = "x", .in_ms = 60000, .after = &after, .after_count = 1});
}

static void a_has_ended(void)
{
    a_waits();
    test_costs_lease(1);
    a_is_done();
}

static void a_has_died(void)
{
    a_waits();
    test_costs_lease(1);
    a_is_dead();
}

static void add_an_edge(void)
{
    test_add_edges("q", "b", "f:q/a");
}

static void b_is_blocked(void)
{
    a_waits();
    add_an_edge();
}

static void add_another(void)
{
    test_add_edges("q", "b", "f:q/c");
}

static void b_is_blocked_twice(void)
{
    b_is_blocked();
    add_another();
}

static void take_it_away(void)
{
    const char *const parents[] = {"q/a"};
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "b", parents, 1));
}

static void cancel_cascade(void)
{
    test_ok(test_client, reeve_cancel_cascade(test_client, "q", "a"));
}

static void cancel_refused(void)
{
    test_refused(test_client, reeve_cancel(test_client, "q", "a"), REEVE_ESTATE, "others wait");
}

static const test_costs_row making[] = {
    {"a task after one that waits, beyond one with a priority", a_waits, after_one, after_none,
     "hdel-1 hexists+1 hget+1 hlen+1 hset+2 llen-1 mget+1 sadd+1 time+1 zadd+1 zintercard+1 zmscore+4"},
    {"a task after three, beyond after one", a_waits, after_three, after_one, "hexists+2 sadd+2 zadd+2"},
    {"a task after one and at a time, beyond after one", a_waits, after_one_and_later, after_one, "hset+1"},
    {"a task after one that has completed, beyond one with a priority", a_has_ended, after_one, after_none,
     "hdel+1 hincrby+1 hlen+1 hmget+1 hset+1 mget+1 sadd+1 zadd+2 zintercard+1 zmscore+4"},
    {"a task after one that has died, beyond one with a priority", a_has_died, after_one, after_none,
     "exists+1 expireat+1 hget+4 hincrby+3 hlen+2 hmget+1 hscan+1 hset+1 llen-1 mget+1 smismember+1 zadd+3 zcard+1 "
     "zintercard+1 zmscore+4 zrem+2"},
    {"an edge added to a ready task", a_waits, add_an_edge, NULL,
     "evalsha=1 exists=1 hexists=1 hget=5 hincrby=1 hlen=1 hset=5 mget=1 sadd=1 time=2 zadd=2 zintercard=1 zmscore=4 "
     "zrem=1 zscore=1"},
    {"an edge added to a blocked task", b_is_blocked, add_another, NULL,
     "evalsha=1 exists=2 hexists=1 hget=2 hgetall=1 hincrby=1 hlen=1 hmget=1 hset=3 mget=1 sadd=1 time=2 zadd=1 "
     "zintercard=1 zmscore=4 zscore=4"},
    {"the last edge taken away", b_is_blocked, take_it_away, NULL,
     "evalsha=1 exists=4 hdel=3 hexists=1 hget=5 hincrby=1 hmget=3 hset=4 llen=1 mget=1 srem=1 time=1 zadd=1 "
     "zintercard=1 zrem=3 zscore=4"},
    {"another edge taken away", b_is_blocked_twice, take_it_away, NULL,
     "evalsha=1 exists=4 hdel=1 hget=2 hincrby=1 hmget=1 mget=1 srem=1 time=1 zintercard=1 zrem=2 zscore=4"},
    {"a cancel that is refused", b_is_blocked, cancel_refused, NULL,
     "evalsha=1 hget=1 mget=1 sismember=1 zcard=2 zintercard=1 zscore=1"},
    {"a cancel that cascades", b_is_blocked, cancel_cascade, NULL,
     "evalsha=2 exists=8 hdel=1 hget=8 hincrby=2 hlen=1 hmget=2 hscan=1 hset=4 lindex=1 llen=2 lpop=2 lrange=1 mget=2 "
     "publish=2 rename=1 rpush=1 sismember=1 smismember=2 srem=2 time=5 zadd=2 zcard=4 zintercard=2 zpopmin=1 zrem=4 "
     "zscore=2"},
};

static void how_edges_are_made(void **state)
{
    (void)state;
    test_costs_check_rows(making, sizeof(making) / sizeof(making[0]));
}

/* ---- an end ---------------------------------------------------------------------------------------------------- */

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

static void one_waits_for_both(void)
{
    nobody_waits();
    test_put_after("q", "x", "f:q/a f:q/b");
}

static void children_wait(size_t count)
{
    nobody_waits();
    for (size_t i = 0; i < count; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "x%02zu", i);
        test_put_after("q", id, "f:q/a");
    }
}

static void two_wait(void)
{
    children_wait(2);
}

static void seventeen_wait(void)
{
    children_wait(17);
}

static void seventeen_are_to_be_told(void)
{
    seventeen_wait();
    a_is_done();
}

static void one_is_to_die(void)
{
    one_waits();
    a_is_dead();
}

static void maintain(void)
{
    (void)test_maintain("q", 100);
}

static const test_costs_row ends[] = {
    {"the end of a task without children, others have some", one_waits, b_is_done, NULL,
     "evalsha=1 hdel=1 hincrby=1 hmget=1 smismember=1 time=1 zadd=1 zcard=1 zrem=1"},
    {"the end of a task, no task has children", nobody_waits, b_is_done, NULL,
     "evalsha=1 hdel=1 hincrby=1 hmget=1 time=1 zadd=1"},
    {"the end of an only parent, beyond the end of a task without children", one_waits, a_is_done, b_is_done,
     "del+2 hdel+2 hexists+1 hget+3 hincrby+2 hmget+3 hset+5 llen+1 sadd+1 srem+1 time+1 zadd+3 zcard+2 zrange+2 "
     "zrem+1 zscore+1"},
    {"the end of the first of two parents", one_waits_for_both, a_is_done, NULL,
     "del=2 evalsha=1 hdel=1 hget=1 hincrby=3 hmget=2 hset=1 sadd=1 smismember=1 srem=1 time=2 zadd=3 zcard=3 zrange=2 "
     "zrem=1 zscore=1"},
    {"the end of the only parent of two", two_wait, a_is_done, NULL,
     "del=2 evalsha=1 hdel=4 hexists=2 hget=5 hincrby=5 hmget=7 hset=9 llen=2 sadd=1 smismember=1 srem=1 time=2 zadd=6 "
     "zcard=3 zrange=2 zrem=3 zscore=2"},
    {"the end of the parent of seventeen", seventeen_wait, a_is_done, NULL,
     "evalsha=1 hdel=1 hget=1 hincrby=1 hmget=1 hset=1 publish=1 rename=1 rpush=1 sadd=1 smismember=1 srem=1 "
     "time=3 zadd=2 zcard=3 zrem=1"},
    {"maintain, and notify the seventeen children", seventeen_are_to_be_told, maintain, NULL,
     "evalsha=2 exists=9 hdel=18 hexists=17 hget=35 hincrby=34 hmget=53 hset=68 lindex=1 llen=19 lpop=2 lrange=1 "
     "mget=2 "
     "sadd=1 time=2 unlink=1 zadd=35 zcard=3 zintercard=2 zpopmin=1 zrandmember=1 zrange=9 zrangebyscore=7 zrem=18 "
     "zscore=18"},
    {"the death of an only parent, beyond the death of a task without children", one_waits, a_is_dead, b_is_dead,
     "exists+2 hexists+1 hget+1 hset+1 publish+1 rename+1 rpush+1 srem+1 time+2"},
    {"maintain, and move its child to dead", one_is_to_die, maintain, NULL,
     "evalsha=2 exists=9 expireat=1 hdel=2 hget=7 hincrby=3 hlen=1 hmget=3 hscan=1 hset=3 lindex=1 llen=2 lpop=2 "
     "lrange=1 mget=2 publish=1 smismember=1 time=3 unlink=1 zadd=3 zcard=4 zintercard=2 zpopmin=1 zrandmember=1 "
     "zrange=9 zrangebyscore=7 zrem=2 zscore=1"},
};

static void what_an_end_costs(void **state)
{
    (void)state;
    test_costs_check_rows(ends, sizeof(ends) / sizeof(ends[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(how_edges_are_made, test_costs_count_all),
        cmocka_unit_test_setup(what_an_end_costs, test_costs_count_all),
    };
    return cmocka_run_group_tests_name("ct_costs_depend", tests, test_place_start, test_place_stop);
}
