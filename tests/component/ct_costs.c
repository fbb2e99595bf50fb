/*
 * What a call costs Redis, in commands, counted by Redis itself. The plain path is written out here, so that nobody
 * adds to it unnoticed: a task that uses no feature pays for none, and one that is used costs what docs/features.md
 * says.
 */
#include <stdio.h>
#include <string.h>

#include "reeve/cron.h"
#include "reeve/depend.h"
#include "reeve/watch.h"
#include "support/costs.h"
#include "support/limits.h"

#define BATCH 64

static test_hand hand;
static const char *const tags[] = {"x", "y"};

static void begin_anew(void)
{
    test_hand_init(&hand, "1", "q");
    hand.session_ms = 1000000000;
    (void)test_place_empty(NULL);
}

static int set_up(void **state)
{
    (void)state;
    begin_anew();
    return 0;
}

/* ---- what is measured ------------------------------------------------------------------------------------------ */

/* Enqueues n tasks "<name>000", ... that are like one. */
static void put(const char *name, size_t n, reeve_task_spec like)
{
    static char ids[3 * BATCH + 1][REEVE_ID_MAX], keys[3 * BATCH + 1][REEVE_ID_MAX];
    static reeve_task_spec specs[3 * BATCH + 1];
    static reeve_enqueued results[3 * BATCH + 1];
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%s%03zu", name, i);
        (void)snprintf(keys[i], sizeof(keys[i]), "key-%s%03zu", name, i);
        specs[i] = like;
        specs[i].queue = "q";
        specs[i].type = "t";
        specs[i].id = ids[i];
        if (like.unique != NULL) specs[i].unique = keys[i];
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, n, results));
}

/* Of n tasks, into a queue that has some of them waiting. */
static test_costs cost_of_enqueueing(size_t n, reeve_task_spec like)
{
    put("a", 1, like);
    put("c", 1, like);
    test_costs_reset();
    put("b", n, like);
    return test_costs_read();
}

/* Of a turn in the middle of a drain: it settles n tasks in a way, and leases n, with more behind them. */
static test_costs cost_of_turning(size_t n, reeve_task_spec like, rv_settlement how)
{
    static test_outcome outcomes[BATCH];
    static char ids[BATCH][REEVE_ID_MAX];
    put("t", 3 * n, like);
    assert_int_equal(test_lease(&hand, (unsigned)n), n);
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%s", hand.leased[i].id);
        outcomes[i] = (test_outcome){0, how};
        outcomes[i].is.id = ids[i];
    }
    test_costs_reset();
    assert_int_equal(test_turn(&hand, (unsigned)n, outcomes, n), n);
    test_costs ret = test_costs_read();
    assert_string_equal(hand.refused, "");
    return ret;
}

static const rv_settlement done = {.outcome = REEVE_OUTCOME_DONE};

static test_costs plain_enqueue(size_t n)
{
    begin_anew();
    return cost_of_enqueueing(n, (reeve_task_spec){0});
}

/* With an option that the script looks at, of which a priority is the least. */
static test_costs longer_enqueue(size_t n)
{
    begin_anew();
    return cost_of_enqueueing(n, (reeve_task_spec){.priority = -5});
}

static test_costs plain_turn(size_t n)
{
    begin_anew();
    return cost_of_turning(n, (reeve_task_spec){0}, done);
}

/* ---- the plain path -------------------------------------------------------------------------------------------- */

#define ENQUEUE_ONE "evalsha=1 hincrby=1 hsetnx=1 time=1 zadd=1"
#define ENQUEUE_MANY "evalsha=1 exists=1 hget=1 hincrby=1 hmget=1 hset=2 rpush=1 time=1 zadd=1"
#define ENQUEUE_MORE "evalsha=1 hget=1 hincrby=1 hmget=1 hset=2 llen=1 rpush=1 time=1 zscore=1"
#define ENQUEUE_LAID "del=1 evalsha=1 exec=1 hincrby=1 hset=2 llen=1 multi=1 rpush=1 time=1 watch=1 zadd=1"
#define ENQUEUE_THREE "evalsha=1 hincrby=1 hmget=1 hset=1 time=1 zadd=1"
#define LONGER_ONE "evalsha=1 hget=1 hmget=1 hset=2 llen=1 time=1 zadd=1"
#define LONGER_MANY "evalsha=1 hmget=2 hset=2 llen=1 time=1 zadd=1"
#define TURN "evalsha=1 hdel=1 hincrby=1 hmget=2 hset=1 llen=1 time=1 zadd=1 zrange=1 zremrangebyrank=1"
#define TURN_NOTHING_KEPT "evalsha=1 hdel=2 hincrby=1 hmget=2 hset=1 llen=1 time=1 zrange=1 zremrangebyrank=1"
#define TURN_PACKET "evalsha=1 hdel=1 hincrby=1 hmget=2 hset=1 llen=2 lpop=1 time=1 zadd=1 zincrby=1 zrange=1"
#define TURN_PACKET_NOTHING_KEPT "evalsha=1 hdel=2 hincrby=1 hmget=2 hset=1 llen=2 lpop=1 time=1 zincrby=1 zrange=1"
#define TURN_IDLE "evalsha=1 hdel=1 hget=1 hmget=1 time=1 zrange=1"
#define BEAT "evalsha=1 hget=2 hlen=1 time=1 zadd=1"

static void keep_nothing(void)
{
    static const reeve_keep none = {0, 0};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none, .dead = &none}));
}

/* The client knows what time it is from the first call on, and the second leaves a number to go on with. */
static void laid_tasks(void **state)
{
    static reeve_task_spec specs[BATCH];
    reeve_enqueued results[BATCH];
    (void)state;
    for (size_t i = 0; i < BATCH; i++) specs[i] = (reeve_task_spec){.queue = "q", .type = "t"};
    for (int i = 0; i < 3; i++) {
        test_costs_reset();
        test_ok(test_client, reeve_enqueue_many(test_client, specs, BATCH, results));
    }
    test_costs now = test_costs_read();
    assert_string_equal(test_costs_text(&now), ENQUEUE_LAID);
}

static void plain_tasks(void **state)
{
    (void)state;
    test_costs now = plain_enqueue(1);
    assert_string_equal(test_costs_text(&now), ENQUEUE_ONE);
    now = plain_enqueue(BATCH);
    assert_string_equal(test_costs_text(&now), ENQUEUE_MANY);
    test_costs_reset();
    put("more", BATCH, (reeve_task_spec){0}); /* (into the same packet) */
    now = test_costs_read();
    assert_string_equal(test_costs_text(&now), ENQUEUE_MORE);
    now = plain_enqueue(3);
    assert_string_equal(test_costs_text(&now), ENQUEUE_THREE);
    now = longer_enqueue(1);
    assert_string_equal(test_costs_text(&now), LONGER_ONE);
    now = longer_enqueue(BATCH);
    assert_string_equal(test_costs_text(&now), LONGER_MANY);
    now = plain_turn(1);
    assert_string_equal(test_costs_text(&now), TURN);
    now = plain_turn(BATCH);
    assert_string_equal(test_costs_text(&now), TURN_PACKET);
    for (size_t n = 1; n <= BATCH; n += BATCH - 1) {
        begin_anew();
        keep_nothing();
        now = cost_of_turning(n, (reeve_task_spec){0}, done);
        assert_string_equal(test_costs_text(&now), n == 1 ? TURN_NOTHING_KEPT : TURN_PACKET_NOTHING_KEPT);
    }
}

static void an_idle_worker(void **state)
{
    bool alive = false;
    uint64_t held = 0;
    const rv_reply *reply;
    test_costs now;
    (void)state;
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_DONE("a"));
    test_costs_reset();
    assert_int_equal(test_lease(&hand, 1), 0);
    now = test_costs_read();
    assert_string_equal(test_costs_text(&now), TURN_IDLE);
    for (int i = 0; i < 2; i++) { /* (the first one makes the script known) */
        test_costs_reset();
        rv_beat_build(test_conn, &hand.prefixes[0], hand.sessions[0], hand.session_ms);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_true(rv_beat_read(reply, &alive, &held) && alive);
        now = test_costs_read();
    }
    assert_string_equal(test_costs_text(&now), BEAT);
}

/* ---- features -------------------------------------------------------------------------------------------------- */

static void no_limits(void)
{
    test_limit_queue(1000, TEST_RATE(1000, 1000, 1000));
    test_limit_groups(1000, TEST_RATE(1000, 1000, 1000));
    test_limit_group("g", 5, NULL);
    put("x", 3, (reeve_task_spec){.group = "g"});
    assert_int_equal(test_lease(&hand, 3), 3);
    test_settle(&hand, TEST_DONE("x000"), TEST_DONE("x001"), TEST_DONE("x002"));
    test_ok(test_client, reeve_pause_for(test_client, "q", "g", 60000, NULL));
    test_ok(test_client, reeve_pause_for(test_client, "q", "g", 0, NULL));
    test_limit_forget("g");
    test_limit_groups(-1, TEST_ANY_RATE);
    test_limit_queue(-1, TEST_ANY_RATE);
    test_tend_all("q"); /* (groups are forgotten) */
}

static void everything_about(void)
{
    const rv_reply *reply;
    put("d", 2, (reeve_task_spec){0});
    assert_int_equal(test_lease(&hand, 2), 2);
    test_settle(&hand, TEST_FAIL("d000"), TEST_RESULT("d001", "r"));
    put("s", 2, (reeve_task_spec){.in_ms = 3600000});
    test_put_spec((reeve_task_spec){.id = "u", .unique = "k", .in_ms = 3600000});
    test_put_spec(
        (reeve_task_spec){.id = "e", .expires_in_ms = 7200000, .in_ms = 3600000, .tags = tags, .tag_count = 2});
    put("p", 1, (reeve_task_spec){0});
    assert_int_equal(test_lease(&hand, 1), 1);
    rv_checkpoint_build(test_conn, &hand.prefixes[0], hand.sessions[0], "p000", (reeve_bytes){"here", 4});
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    test_settle(&hand, TEST_SNOOZE("p000", 3600000));
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
    put("x", 2, (reeve_task_spec){0});
    put("y", 1, (reeve_task_spec){.after = &after, .after_count = 1});
    test_ok(test_client, reeve_batch_open(test_client, &batch, &callback, NULL));
    test_ok(test_client, reeve_batch_add_tasks(test_client, &batch, members, 1));
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    assert_int_equal(test_lease(&hand, 2), 2);
    test_settle(&hand, TEST_DONE("x000"), TEST_DONE("x001"));
    assert_int_equal(test_lease(&hand, 2), 2);
    test_settle(&hand, TEST_DONE("y000"), TEST_DONE("callback"));
    test_tend_all("q");
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
    put("x", 3, (reeve_task_spec){0});
    assert_int_equal(test_lease(&hand, 3), 3);
    test_settle(&hand, TEST_DONE("x000"), TEST_DONE("x001"), TEST_DONE("x002"));
    test_ok(test_client, reeve_events_keep(test_client, "q", 0));
}

static void bytes_of_results(void)
{
    static const int64_t most = 1000000;
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed_bytes = &most}));
}

static void bytes_of_results_no_more(void)
{
    static const int64_t any = 0;
    bytes_of_results();
    put("x", 1, (reeve_task_spec){0});
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_RESULT("x000", "r"));
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed_bytes = &any}));
}

static const reeve_meta meta[] = {{"key", "value"}};
static const reeve_backoff backoff = {.shape = REEVE_BACKOFF_FIXED, .base_ms = 5};

/*
 * What it costs beyond the plain path: to enqueue one, a batch, and a turn with a batch of one and of BATCH. longer:
 * the script looks at an option or at the queue to enqueue it, and that is what its cost is beyond.
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
    {"priority", true, NULL, {.priority = -5}, DONE, "", "", "", "llen-1 lpop-1 zincrby-1 zrange+1 zremrangebyrank+1"},
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
     "llen-1 lpop-1 zincrby-1 zrange+1 zremrangebyrank+1"},
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
     "hdel+63 llen-1 lpop-1 zadd+63 zcard+64 zincrby-1 zrange+1 zrem+64 zremrangebyrank+1"},
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
     "llen-1 lpop-1 zincrby-1 zrange+1 zremrangebyrank+1"},
    {"group with a weight",
     true,
     NULL,
     {.group = "g", .weight = 3},
     DONE,
     PUT_GROUP,
     PUT_GROUP,
     "",
     "llen-1 lpop-1 zincrby-1 zrange+1 zremrangebyrank+1"},
    {"schedule",
     true,
     NULL,
     {.in_ms = 3600000},
     DONE,
     "hget+1 hmget-1 hset-1 llen-1 zrange+1 zrevrangebyscore+1",
     "hget+1 hmget-1 hset-1 llen-1 zrange+1 zrevrangebyscore+1",
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
     "del+64 get+64 hdel+63 hget+64 llen-1 lpop-1 zadd+63 zcard+64 zincrby-1 zrange+1 zremrangebyrank+1"},
    {"unique for a time",
     true,
     NULL,
     {.unique = "k", .unique_for_ms = 60000},
     DONE,
     "set+1",
     "set+64",
     "",
     "llen-1 lpop-1 zincrby-1 zrange+1 zremrangebyrank+1"},
    {"unique until started",
     true,
     NULL,
     {.unique = "k", .unique_until_started = true},
     DONE,
     "set+1",
     "set+64",
     "del+1 exists+1 get+1 hmget+2 zrange+1",
     "del+64 exists+1 get+64 hmget+65 llen-1 lpop-1 zincrby-1 zrange+2 zremrangebyrank+1"},
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
     "hdel+64 hget+192 hincrby-1 llen+63 lpop-1 zadd+63 zincrby-1 zrange+1 zrangebyscore+64 zremrangebyrank+1"},
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
     "exists+2 hget+4 llen+1 xadd+2 zcard+1",
     "exists+2 hget+4 lpop-1 xadd+2 zcard+1 zincrby-1 zremrangebyrank+1"},
    {"events that are gone", false, events_no_more, {0}, DONE, "", "", "", ""},
    {"concurrency",
     false,
     concurrency,
     {0},
     DONE,
     "",
     "",
     "exists+2 hincrby+2 hmget+2 llen+1 zcard+1",
     "exists+3 hincrby+2 hmget+2 zadd+2 zcard+1 zincrby-1 zrange+2 zremrangebyrank+1 zscore+1"},
    {"rate",
     false,
     rate,
     {0},
     DONE,
     "",
     "",
     "exists+2 hmget+2 hset+1 llen+1 zcard+1",
     "exists+3 hmget+2 hset+1 zadd+2 zcard+1 zincrby-1 zrange+2 zremrangebyrank+1 zscore+1"},
    {"concurrency of groups",
     true,
     group_concurrency,
     {.group = "g"},
     DONE,
     PUT_GROUP,
     PUT_GROUP,
     "exists+4 hdel+2 hget+1 hincrby+2 hmget+4 hset+1 llen+1 zcard+3 zrange+1 zrem+1 zremrangebyrank-1 zscore+1",
     "exists+4 hdel+2 hget+1 hincrby+2 hmget+4 hset+1 lpop-1 zcard+3 zincrby-1 zrange+1 zrem+1 zscore+1"},
    {"concurrency of groups, a task without one",
     false,
     group_concurrency,
     {0},
     DONE,
     "",
     "",
     "exists+3 hmget+3 llen+1 zcard+1 zrange+1 zrem+1 zremrangebyrank-1",
     "exists+5 hmget+3 lpop+1 zadd+4 zcard+1 zincrby-1 zrange+5 zrem+1 zscore+2"},
    {"rate of groups",
     true,
     group_rate,
     {.group = "g"},
     DONE,
     PUT_GROUP,
     PUT_GROUP,
     "exists+3 hmget+3 llen+1 zadd+1 zcard+3 zrange+1 zrem+1 zremrangebyrank-1 zscore+2",
     "exists+3 hmget+3 lpop-1 zadd+1 zcard+3 zincrby-1 zrange+1 zrem+1 zscore+2"},
};

static void prepare(const feature *f)
{
    begin_anew();
    if (f->use != NULL) f->use();
}

static void measure(const feature *f, size_t n, const char *enqueue, const char *turn)
{
    test_costs plain = f->longer ? longer_enqueue(n) : plain_enqueue(n), now;
    char what[64];
    prepare(f);
    now = cost_of_enqueueing(n, f->like);
    (void)snprintf(what, sizeof(what), "enqueue, %zu", n);
    test_costs_check(f->name, what, test_costs_difference(&now, &plain), enqueue);
    if (turn == NULL) return;
    plain = plain_turn(n);
    prepare(f);
    now = cost_of_turning(n, f->like, f->how);
    (void)snprintf(what, sizeof(what), "turn, %zu", n);
    test_costs_check(f->name, what, test_costs_difference(&now, &plain), turn);
}

static void beyond_the_plain_path(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
        measure(&features[i], 1, features[i].enqueue_one, features[i].turn_one);
        measure(&features[i], BATCH, features[i].enqueue_many, features[i].turn_many);
    }
    test_costs_hold();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(plain_tasks, set_up),
        cmocka_unit_test_setup(laid_tasks, set_up),
        cmocka_unit_test_setup(an_idle_worker, set_up),
        cmocka_unit_test_setup(beyond_the_plain_path, set_up),
    };
    return cmocka_run_group_tests_name("ct_costs", tests, test_place_start, test_place_stop);
}
