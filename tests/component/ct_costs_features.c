/*
 * The commands that a feature adds to an enqueue and to a turn, counted by Redis itself: a task that uses no feature
 * pays for none, and docs/features.md states the costs of those that it uses. ct_costs has the hot path itself.
 */
#include <stdio.h>

#include "protocol/handler_call.h"
#include "reeve/cron.h"
#include "reeve/depend.h"
#include "reeve/watch.h"
#include "support/costs_path.h"
#include "support/limits.h"

static const char *const tags[] = {"x", "y"};

static void no_limits(void)
{
    test_limit_queue(1000, TEST_RATE(1000, 1000, 1000));
    test_limit_groups(1000, TEST_RATE(1000, 1000, 1000));
    test_limit_group("g", 5, NULL);
    test_costs_path_put("x", 3, (reeve_task_spec){.group = "g"});
    assert_int_equal(test_lease(&test_costs_path_hand, 3), 3);
    test_settle(&test_costs_path_hand, TEST_DONE("x000"), TEST_DONE("x001"), TEST_DONE("x002"));
    test_ok(test_client, reeve_pause_for(test_client, "q", "g", 60000, NULL));
    test_ok(test_client, reeve_pause_for(test_client, "q", "g", 0, NULL));
    test_limit_forget("g");
    test_limit_groups(-1, TEST_ANY_RATE);
    test_limit_queue(-1, TEST_ANY_RATE);
    test_maintain_all("q"); /* (groups are forgotten) */
}

static void everything_about(void)
{
    const rv_reply *reply;
    test_costs_path_put("d", 2, (reeve_task_spec){0});
    assert_int_equal(test_lease(&test_costs_path_hand, 2), 2);
    test_settle(&test_costs_path_hand, TEST_FAIL("d000"), TEST_RESULT("d001", "r"));
    test_costs_path_put("s", 2, (reeve_task_spec){.in_ms = 3600000});
    test_put_spec((reeve_task_spec){.id = "u", .unique = "k", .in_ms = 3600000});
    test_put_spec(
        (reeve_task_spec){.id = "e", .expires_in_ms = 7200000, .in_ms = 3600000, .tags = tags, .tag_count = 2});
    test_costs_path_put("p", 1, (reeve_task_spec){0});
    assert_int_equal(test_lease(&test_costs_path_hand, 1), 1);
    rv_handler_call_checkpoint(test_conn, &test_costs_path_hand.prefixes[0], test_costs_path_hand.sessions[0], "p000",
                               (reeve_bytes){"here", 4});
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    test_settle(&test_costs_path_hand, TEST_SNOOZE("p000", 3600000));
    test_ok(test_client, reeve_set_priority(test_client, "q", "p000", 3));
    reeve_task_spec task = {.queue = "q", .type = "t"};
    reeve_cron_entry entry = {.name = "c", .spec = "@yearly", .task = &task};
    test_ok(test_client, reeve_cron_set(test_client, &entry, NULL));
    reeve_queue_policy policy = {.attempts = 3};
    reeve_queue_settings settings = {.policy = &policy, .on_dead = "t"};
    test_ok(test_client, reeve_queue_set(test_client, "q", &settings));
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_ok(test_client, reeve_resume(test_client, "q"));
}

/* Parents that have ended, and a callback of a batch that was called. */
static void no_dependencies(void)
{
    const reeve_parent after = {.handle = "q/x000"};
    reeve_batch batch;
    const reeve_task_spec callback = {.queue = "q", .type = "t", .id = "callback"};
    const char *const members[] = {"q/x000"};
    test_costs_path_put("x", 2, (reeve_task_spec){0});
    test_costs_path_put("y", 1, (reeve_task_spec){.after = &after, .after_count = 1});
    test_ok(test_client, reeve_batch_open(test_client, &batch, &(reeve_batch_callbacks){.complete = &callback}));
    test_ok(test_client, reeve_batch_add_tasks(test_client, &batch, members, 1));
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    assert_int_equal(test_lease(&test_costs_path_hand, 2), 2);
    test_settle(&test_costs_path_hand, TEST_DONE("x000"), TEST_DONE("x001"));
    assert_int_equal(test_lease(&test_costs_path_hand, 2), 2);
    test_settle(&test_costs_path_hand, TEST_DONE("y000"), TEST_DONE("callback"));
    test_maintain_all("q");
}

static void concurrency(void)
{
    test_limit_queue(100000, NULL);
}

static void rate(void)
{
    test_limit_queue(0, TEST_RATE(1000000, 1000, 1000000));
}

static void group_concurrency(void)
{
    test_limit_groups(100000, NULL);
}

static void group_rate(void)
{
    test_limit_groups(0, TEST_RATE(1000000, 1000, 1000000));
}

static void a_waiter(void)
{
    (void)test_cmd(test_conn, "HSET reeve:{q}:settings waiters 1");
    (void)test_cmd(test_conn, "ZADD reeve:{q}:waiters 9000000000000 somebody");
}

static void events(void)
{
    test_ok(test_client, reeve_events_keep(test_client, "q", 1000));
}

static void events_no_more(void)
{
    events();
    test_costs_path_put("x", 3, (reeve_task_spec){0});
    assert_int_equal(test_lease(&test_costs_path_hand, 3), 3);
    test_settle(&test_costs_path_hand, TEST_DONE("x000"), TEST_DONE("x001"), TEST_DONE("x002"));
    test_ok(test_client, reeve_events_keep(test_client, "q", 0));
}

static void bytes_of_results(void)
{
    static const int64_t max = 1000000;
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed_bytes = &max}));
}

static void bytes_of_results_no_more(void)
{
    static const int64_t any = 0;
    bytes_of_results();
    test_costs_path_put("x", 1, (reeve_task_spec){0});
    assert_int_equal(test_lease(&test_costs_path_hand, 1), 1);
    test_settle(&test_costs_path_hand, TEST_RESULT("x000", "r"));
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed_bytes = &any}));
}

static const reeve_meta meta[] = {{"key", "value"}};
static const reeve_backoff backoff = {.shape = REEVE_BACKOFF_FIXED, .base_ms = 5};

/*
 * What it costs beyond the plain path: to enqueue one, a batch, and a turn with a batch of one and of
 * TEST_COSTS_PATH_BATCH. longer: the script looks at an option or at the queue to enqueue it, and that is what its
 * cost is beyond.
 */
typedef struct feature {
    const char *name;
    bool longer;
    void (*use)(void);
    reeve_task_spec like;
    rv_settlement how;
    const char *enqueue_one, *enqueue_many, *turn_one, *turn_many;
} feature;

#define PUT_GROUP "hset-1 zadd+1 zrangebyscore+1 zscore+1"
#define DONE .how = {.outcome = REEVE_OUTCOME_DONE}

static const feature features[] = {
    {"priority",
     true,
     NULL,
     {.priority = -5},
     DONE,
     "",
     "",
     "",
     "lrange-1 ltrim-1 zincrby-1 zrange+1 zremrangebyrank+1"},
    {"options",
     false,
     NULL,
     {.attempts = 3, .max_crashes = 2, .timeout_ms = 1000, .backoff = &backoff},
     DONE,
     "",
     "",
     "",
     ""},
    {"tags and metadata",
     true,
     NULL,
     {.tags = tags, .tag_count = 2, .meta = meta, .meta_count = 1},
     DONE,
     "hmget+1 zadd+4 zrevrangebyscore+2",
     "hmget+1 zadd+256 zrevrangebyscore+128",
     "",
     "lrange-1 ltrim-1 zincrby-1 zrange+1 zremrangebyrank+1"},
    {"on_dead, of a task", false, NULL, {.on_dead = "t"}, DONE, "", "", "", ""},
    {"limits that are gone", false, no_limits, {0}, DONE, "", "", "", ""},
    {"other tasks' features", false, everything_about, {0}, DONE, "", "", "", ""},
    {"dependencies that are gone", false, no_dependencies, {0}, DONE, "", "", "", ""},
    {"deadline",
     true,
     NULL,
     {.expires_in_ms = 3600000},
     .how = {.outcome = REEVE_OUTCOME_DONE, .deadline = true},
     "zadd+1 zrange+1",
     "zadd+1 zrange+1",
     "zcard+1 zrem+1",
     "hdel+63 lrange-1 ltrim-1 zadd+63 zcard+64 zincrby-1 zrange+1 zrem+64 zremrangebyrank+1"},
    {"at most once, metadata, an own heartbeat",
     false,
     NULL,
     {.at_most_once = true, .heartbeat_ms = 1000, .meta = meta, .meta_count = 1},
     DONE,
     "",
     "",
     "",
     ""},
    {"group",
     true,
     NULL,
     {.group = "g"},
     DONE,
     PUT_GROUP,
     PUT_GROUP,
     "",
     "lrange-1 ltrim-1 zincrby-1 zrange+1 zremrangebyrank+1"},
    {"group with a weight",
     true,
     NULL,
     {.group = "g", .weight = 3},
     DONE,
     PUT_GROUP,
     PUT_GROUP,
     "",
     "lrange-1 ltrim-1 zincrby-1 zrange+1 zremrangebyrank+1"},
    {"schedule",
     true,
     NULL,
     {.in_ms = 3600000},
     DONE,
     "hset-1 llen-1 zrange+1 zrevrangebyscore+1",
     "hset-1 llen-1 zrange+1 zrevrangebyscore+1",
     NULL,
     NULL},
    {"unique",
     true,
     NULL,
     {.unique = "k"},
     .how = {.outcome = REEVE_OUTCOME_DONE, .unique = true},
     "set+1",
     "set+64",
     "del+1 get+1 hget+1 zcard+1",
     "del+64 get+64 hdel+63 hget+64 lrange-1 ltrim-1 zadd+63 zcard+64 zincrby-1 zrange+1 zremrangebyrank+1"},
    {"unique for a time",
     true,
     NULL,
     {.unique = "k", .unique_for_ms = 60000},
     DONE,
     "set+1",
     "set+64",
     "",
     "lrange-1 ltrim-1 zincrby-1 zrange+1 zremrangebyrank+1"},
    {"unique until started",
     true,
     NULL,
     {.unique = "k", .unique_until_started = true},
     DONE,
     "set+1",
     "set+64",
     "del+1 exists+1 get+1 hmget+2 zrange+1",
     "del+64 exists+1 get+64 hmget+65 lrange-1 ltrim-1 zincrby-1 zrange+2 zremrangebyrank+1"},
    {"result",
     false,
     NULL,
     {0},
     .how = {.outcome = REEVE_OUTCOME_DONE, .has_result = true, .result = {"r", 1}},
     "",
     "",
     "hset+1",
     "hsetnx+1 zadd+1"},
    {"more to tell",
     false,
     NULL,
     {0},
     .how = {.outcome = REEVE_OUTCOME_DONE, .has_info = true},
     "",
     "",
     "hexists+1 zcard+1",
     "hdel+63 hexists+1 zadd+63 zcard+64"},
    {"results kept by bytes",
     false,
     bytes_of_results,
     {0},
     .how = {.outcome = REEVE_OUTCOME_DONE, .has_result = true, .result = {"r", 1}},
     "",
     "",
     "hget+1 hincrby+1 hset+2 zcard+1",
     "hget+1 hincrby+1 hset+2 zcard+1"},
    {"results kept by bytes, a task without one", false, bytes_of_results, {0}, DONE, "", "", "", ""},
    {"results that are not kept by bytes any more",
     false,
     bytes_of_results_no_more,
     {0},
     .how = {.outcome = REEVE_OUTCOME_DONE, .has_result = true, .result = {"r", 1}},
     "",
     "",
     "hset+1",
     "hsetnx+1 zadd+1"},
    {"retry",
     false,
     NULL,
     {0},
     .how = {.outcome = REEVE_OUTCOME_RETRY, .delay_ms = 60000, .kind = "k", .message = "m"},
     "",
     "",
     "hget+2 hmget+1 hset+2 publish+1 zrange+1 zrevrangebyscore+1",
     "hdel+63 hget+65 hincrby+63 hmget+64 hset+128 publish+1 zadd+63 zrange+64 zrevrangebyscore+64"},
    {"fail",
     false,
     NULL,
     {0},
     .how = {.outcome = REEVE_OUTCOME_FAIL, .counts = true, .kind = "k", .message = "m"},
     "",
     "",
     "hget+4 hincrby+1 hmget+2 hset+2 zadd+2 zcard+1",
     "hdel+63 hget+193 hincrby+127 hmget+128 hset+128 zadd+191 zcard+64"},
    {"on_dead, at a death",
     false,
     NULL,
     {.on_dead = "t"},
     .how = {.outcome = REEVE_OUTCOME_FAIL, .counts = true, .kind = "k", .message = "m"},
     "",
     "",
     "hdel+1 hget+4 hincrby+1 hmget+4 hset+3 hsetnx+1 llen+1 zadd+3 zcard+1",
     "hdel+64 hget+130 hincrby+127 hmget+256 hset+192 hsetnx+64 llen+64 zadd+255 zcard+64 zscore+2"},
    {"snooze",
     false,
     NULL,
     {0},
     .how = {.outcome = REEVE_OUTCOME_SNOOZE, .delay_ms = 60000},
     "",
     "",
     "hget+1 hincrby-1 hset+1 publish+1 zrange+1 zrevrangebyscore+1",
     "hdel+63 hget+64 hincrby-1 hset+64 publish+1 zadd+63 zrange+64 zrevrangebyscore+64"},
    {"give back",
     false,
     NULL,
     {0},
     .how = {.outcome = REEVE_OUTCOME_SNOOZE},
     "",
     "",
     "hdel+1 hget+3 hincrby-1 llen+1 zrangebyscore+1",
     "hdel+64 hget+192 hincrby-1 llen+64 lrange-1 ltrim-1 zadd+63 zincrby-1 zrange+1 zrangebyscore+64 "
     "zremrangebyrank+1"},
    {"somebody waits",
     false,
     a_waiter,
     {0},
     DONE,
     "",
     "",
     "smismember+1 zcard+1 zrem+1",
     "smismember+1 zcard+1 zrem+64"},
    {"events",
     true,
     events,
     {0},
     DONE,
     "hdel+1 hget+2 hincrby+1 hmget+1 lpop+1 xadd+1",
     "hdel+1 hget+2 hincrby+1 hmget+1 xadd+1",
     "exists+1 hget+4 xadd+2 zcard+1",
     "exists+1 hget+4 lrange-1 ltrim-1 xadd+2 zcard+1 zincrby-1 zremrangebyrank+1"},
    {"events that are gone", false, events_no_more, {0}, DONE, "", "", "", ""},
    {"concurrency",
     false,
     concurrency,
     {0},
     DONE,
     "",
     "",
     "exists+2 hincrby+2 hmget+2 llen+1 zcard+1",
     "exists+3 hincrby+2 hmget+2 llen+1 lpop+1 lrange-1 ltrim-1 zadd+2 zcard+1 zincrby-1 zrange+2 zremrangebyrank+1 "
     "zscore+1"},
    {"rate",
     false,
     rate,
     {0},
     DONE,
     "",
     "",
     "exists+2 hmget+2 hset+1 llen+1 zcard+1",
     "exists+3 hmget+2 hset+1 llen+1 lpop+1 lrange-1 ltrim-1 zadd+2 zcard+1 zincrby-1 zrange+2 zremrangebyrank+1 "
     "zscore+1"},
    {"concurrency of groups",
     true,
     group_concurrency,
     {.group = "g"},
     DONE,
     PUT_GROUP,
     PUT_GROUP,
     "exists+4 hdel+2 hget+1 hincrby+2 hmget+4 hset+1 llen+1 zcard+3 zrange+1 zrem+1 zremrangebyrank-1 zscore+1",
     "exists+4 hdel+2 hget+1 hincrby+2 hmget+4 hset+1 llen+1 lrange-1 ltrim-1 zcard+3 zincrby-1 zrange+1 zrem+1 "
     "zscore+1"},
    {"concurrency of groups, a task without one",
     false,
     group_concurrency,
     {0},
     DONE,
     "",
     "",
     "exists+3 hmget+3 llen+1 zcard+1 zrange+1 zrem+1 zremrangebyrank-1",
     "exists+5 hmget+3 llen+1 lpop+2 lrange-1 ltrim-1 zadd+4 zcard+1 zincrby-1 zrange+5 zrem+1 zscore+2"},
    {"rate of groups",
     true,
     group_rate,
     {.group = "g"},
     DONE,
     PUT_GROUP,
     PUT_GROUP,
     "exists+3 hmget+3 llen+1 zadd+1 zcard+3 zrange+1 zrem+1 zremrangebyrank-1 zscore+2",
     "exists+3 hmget+3 llen+1 lrange-1 ltrim-1 zadd+1 zcard+3 zincrby-1 zrange+1 zrem+1 zscore+2"},
};

static void prepare(const feature *f)
{
    test_costs_path_begin();
    if (f->use != NULL) f->use();
}

static void measure(const feature *f, size_t n, const char *enqueue, const char *turn)
{
    test_costs plain = f->longer ? test_costs_path_full_enqueue(n) : test_costs_path_plain_enqueue(n), now;
    char what[64];
    prepare(f);
    now = test_costs_path_enqueue(n, f->like);
    (void)snprintf(what, sizeof(what), "enqueue, %zu", n);
    test_costs_check(f->name, what, test_costs_difference(&now, &plain), enqueue);
    if (turn == NULL) return;
    plain = test_costs_path_plain_turn(n);
    prepare(f);
    now = test_costs_path_turn(n, f->like, f->how);
    (void)snprintf(what, sizeof(what), "turn, %zu", n);
    test_costs_check(f->name, what, test_costs_difference(&now, &plain), turn);
}

static void beyond_the_plain_path(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
        measure(&features[i], 1, features[i].enqueue_one, features[i].turn_one);
        measure(&features[i], TEST_COSTS_PATH_BATCH, features[i].enqueue_many, features[i].turn_many);
    }
    test_costs_hold();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(beyond_the_plain_path, test_costs_path_set_up),
    };
    return cmocka_run_group_tests_name("ct_costs_features", tests, test_place_start, test_place_stop);
}
