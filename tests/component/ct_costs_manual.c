/* What it costs Redis, in commands, what people do to tasks by hand, and how they look at them. */
#include <stdio.h>
#include <string.h>

#include "reeve/tags.h"
#include "reeve/watch.h"
#include "support/costs.h"

static test_hand hand;

static void one_waits(void)
{
    test_hand_init(&hand, "1", "q");
    test_put("q", "a");
}

/* ---- done by hand ---------------------------------------------------------------------------------------------- */

static void change_priority(void)
{
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", -3));
}

static void reschedule(void)
{
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "a", 3600000));
}

static void cancel_waiting(void)
{
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
}

static void delete_waiting(void)
{
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
}

static void one_is_dead(void)
{
    one_waits();
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_FAIL("a"));
}

static void retry(void)
{
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
}

static const test_costs_row by_hand[] = {
    {"priority", one_waits, change_priority, NULL,
     "evalsha=1 hdel=1 hget=5 hmget=1 hset=4 llen=1 mget=1 time=1 zadd=1 zintercard=1 zrem=1 zscore=1"},
    {"reschedule", one_waits, reschedule, NULL,
     "evalsha=1 hget=4 hset=3 mget=1 publish=1 time=1 zadd=1 zintercard=1 zrange=1 zrem=1 zrevrangebyscore=1 "
     "zscore=1"},
    {"cancel", one_waits, cancel_waiting, NULL,
     "evalsha=1 hget=3 hincrby=1 hmget=1 hset=1 mget=1 sismember=1 smismember=1 time=1 zadd=1 zcard=1 zintercard=1 "
     "zrem=2 zscore=1"},
    {"delete", one_waits, delete_waiting, NULL,
     "evalsha=1 exists=1 hdel=1 hget=2 hincrby=1 hset=1 mget=1 sismember=1 smismember=1 time=1 unlink=1 zintercard=1 "
     "zrem=2 zscore=1"},
    {"retry", one_is_dead, retry, NULL,
     "evalsha=1 exists=3 hdel=2 hget=6 hincrby=1 hlen=1 hmget=1 hset=3 llen=1 mget=1 time=1 zadd=1 zintercard=1 "
     "zrem=3 zscore=6"},
};

static void done_by_hand(void **state)
{
    (void)state;
    test_costs_check_rows(by_hand, sizeof(by_hand) / sizeof(by_hand[0]));
}

/* ---- looked at ------------------------------------------------------------------------------------------------- */

static void ten_wait(void)
{
    static const char *const tags[] = {"x"};
    test_put_many("q", 9, "a%zu");
    test_put_spec((reeve_task_spec){.id = "z", .tags = tags, .tag_count = 1});
}

static void peek(void)
{
    reeve_task_info **list;
    size_t count;
    uint64_t total;
    test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_READY, 0, 5, &list, &count, &total));
    assert_int_equal(count, 5);
    reeve_task_list_free(list, count);
}

static void show(void)
{
    reeve_task_info_free(test_show("q", "z"));
}

static void list_tag(void)
{
    reeve_task_info **list;
    size_t count;
    int64_t next;
    test_ok(test_client, reeve_list_tag(test_client, "q", "x", NULL, 0, 5, &list, &count, &next));
    assert_int_equal(count, 1);
    reeve_task_list_free(list, count);
}

static void list_tags(void)
{
    reeve_tag *list;
    size_t count;
    uint64_t total;
    test_ok(test_client, reeve_tags(test_client, "q", 0, 5, &list, &count, &total));
    assert_int_equal(count, 1);
    reeve_tags_free(list);
}

static void watch_one(bool waits)
{
    reeve_watch *watch = NULL;
    const reeve_event *event = NULL;
    test_ok(test_client, reeve_watch_open(&watch, test_client, &(reeve_watch_options){.queue = "q"}));
    if (waits) assert_int_equal(reeve_watch_next(watch, 0, &event), REEVE_ETIMEOUT);
    reeve_watch_close(watch);
}

static void watch(void)
{
    watch_one(false);
}

static void watch_and_look(void)
{
    watch_one(true);
}

static const test_costs_row looks[] = {
    {"peek, five", ten_wait, peek, NULL,
     "evalsha=1 exists=2 hget=5 hkeys=5 hlen=1 llen=1 lrange=1 zcard=7 zcount=2 zrange=2"},
    {"show", ten_wait, show, NULL, "evalsha=1 hget=1 hkeys=1 hlen=1 sismember=1 zscore=1"},
    {"the tasks with a tag, one", ten_wait, list_tag, NULL, "evalsha=1 hget=1 hkeys=1 zcard=1 zmscore=1 zrevrange=1"},
    {"the tags, one", ten_wait, list_tags, NULL, "evalsha=1 zcard=2 zrevrange=1"},
    {"watch, open", ten_wait, watch, NULL,
     "evalsha=1 exists=2 hdel=4 hget=3 hmget=1 hset=3 lpop=1 mget=1 publish=1 time=1 unlink=2 xlen=1 "
     "xrevrange=1 zintercard=1"},
    {"watch, the first read, beyond opening", ten_wait, watch_and_look, watch, "xread+1"},
};

static void looked_at(void **state)
{
    (void)state;
    test_costs_check_rows(looks, sizeof(looks) / sizeof(looks[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(done_by_hand),
        cmocka_unit_test(looked_at),
    };
    return cmocka_run_group_tests_name("ct_costs_manual", tests, test_place_start, test_place_stop);
}
