/* Why a task, or a queue, does not run: each reason, with its numbers. */
#include <stdio.h>
#include <string.h>

#include "reeve/depend.h"
#include "reeve/limits.h"
#include "reeve/why.h"
#include "support/clock.h"
#include "support/queue.h"

#define Q "reeve:{q}:"

static test_hand hand;
static reeve_why *found;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    hand.session_ms = 1000000;
    reeve_why_free(found);
    found = NULL;
    if (test_place_empty(state) != 0) return 1;
    /* Clients do so once a minute. */
    (void)test_cmd(test_conn, "SADD reeve:queues q");
    return 0;
}

/* A worker in the registry, which says of itself what is in json. */
static void enter_worker(const char *id, const char *json)
{
    (void)test_cmd(test_conn, "SADD reeve:workers %s", id);
    (void)test_cmd(test_conn, "SET reeve:worker:%s %s", id, json);
}

#define SERVES "\"pools\":[{\"name\":\"p\",\"threads\":1,\"queues\":[\"other\",\"q\"]}]"
#define WORKER "{\"name\":\"w\",\"host\":\"h\",\"state\":\"running\"," SERVES ",\"types\":[\"t\"]}"

/* The names of the reasons, separated by blanks. */
static const char *names(void)
{
    static char text[1024];
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < found->count; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i > 0 ? " " : "",
                               reeve_reason_name(found->reasons[i].kind));
    return text;
}

static const char *why_task(const char *id)
{
    reeve_why_free(found);
    found = NULL;
    test_ok(test_client, reeve_task_why(test_client, "q", id, &found));
    assert_string_equal(found->queue, "q");
    assert_string_equal(found->id, id);
    return names();
}

static const char *why_queue(void)
{
    reeve_why_free(found);
    found = NULL;
    test_ok(test_client, reeve_queue_why(test_client, "q", &found));
    assert_null(found->id);
    return names();
}

static const reeve_reason *reason(reeve_reason_kind kind)
{
    for (size_t i = 0; i < found->count; i++) {
        if (found->reasons[i].kind == kind) return &found->reasons[i];
    }
    fail_msg("no reason %s among: %s", reeve_reason_name(kind), names());
    return NULL;
}

static void what_is_not_there(void **state)
{
    (void)state;
    test_refused(test_client, reeve_task_why(test_client, "q", "a", &found), REEVE_ENOTFOUND, "q/a");
    test_refused(test_client, reeve_queue_why(test_client, "none", &found), REEVE_ENOTFOUND, "no queue none");
    test_refused(test_client, reeve_task_why(test_client, "q", "no id", &found), REEVE_EINVAL, "");
    assert_int_equal(reeve_queue_why(test_client, "no queue", &found), REEVE_EINVAL);
    assert_int_equal(reeve_queue_why(NULL, "q", &found), REEVE_EINVAL);
    assert_string_equal(reeve_reason_name((reeve_reason_kind)1000), "unknown");
}

static void nobody_serves_the_queue(void **state)
{
    (void)state;
    test_put("q", "a b");
    enter_worker("elsewhere", "{\"state\":\"running\",\"pools\":[{\"queues\":[\"other\"]}],\"types\":[\"t\"]}");
    assert_string_equal(why_task("a"), "unserved ready");
    assert_int_equal(found->workers, 0);
    assert_string_equal(why_queue(), "unserved ready");
    assert_int_equal(reason(REEVE_REASON_READY)->count, 2);
    enter_worker("quiet", "{\"state\":\"quiet\"," SERVES ",\"types\":[\"t\"]}");
    assert_string_equal(why_task("a"), "quiet ready");
    assert_int_equal(reason(REEVE_REASON_QUIET)->count, 1);
    enter_worker("w", WORKER);
    assert_string_equal(why_task("a"), "ready");
    assert_int_equal(found->workers, 2);
    assert_int_equal(found->taking, 1);
}

/* A worker whose only thread in this queue runs a task; whose other pool is idle. */
static void all_threads_are_busy(void **state)
{
#define BUSY "{\"name\":\"p\",\"threads\":2,\"busy\":2,\"queues\":[\"other\",\"q\"]}"
#define IDLE_ELSEWHERE "{\"name\":\"o\",\"threads\":4,\"busy\":0,\"queues\":[\"other\"]}"
    (void)state;
    enter_worker("w", "{\"state\":\"running\",\"pools\":[" BUSY "," IDLE_ELSEWHERE "],\"types\":[\"t\"]}");
    assert_string_equal(why_queue(), "empty");
    test_put("q", "a b");
    assert_string_equal(why_task("a"), "busy ready");
    assert_int_equal(reason(REEVE_REASON_BUSY)->count, 2);
    assert_string_equal(why_task("b"), "busy behind");
    assert_string_equal(why_queue(), "busy ready");
    test_put_spec((reeve_task_spec){.id = "later", .type = "t", .in_ms = 60000});
    assert_string_equal(why_task("later"), "due");
    /* The threads of a worker that is quiet do not count. */
    enter_worker("quiet", "{\"state\":\"quiet\"," SERVES ",\"types\":[\"t\"]}");
    assert_string_equal(why_task("a"), "busy ready");
    /* One that has room, or whose record does not tell. */
    enter_worker("x",
                 "{\"state\":\"running\",\"pools\":[{\"name\":\"p\",\"threads\":2,\"busy\":1,\"queues\":[\"q\"]}]}");
    assert_string_equal(why_task("a"), "ready");
    enter_worker("x", "{\"state\":\"running\"," SERVES "}");
    assert_string_equal(why_task("a"), "ready");
    enter_worker("x", "{\"state\":\"running\",\"pools\":[" BUSY "]}");
    assert_string_equal(why_task("a"), "busy ready");
    assert_int_equal(reason(REEVE_REASON_BUSY)->count, 4);
}

static void no_worker_has_the_handler(void **state)
{
    (void)state;
    enter_worker("w", WORKER);
    test_put_spec((reeve_task_spec){.id = "a", .type = "rare"});
    assert_string_equal(why_task("a"), "no_handler ready");
    assert_string_equal(reason(REEVE_REASON_NO_HANDLER)->type, "rare");
    assert_int_equal(reason(REEVE_REASON_NO_HANDLER)->count, 1);
    assert_string_equal(why_queue(), "no_handler ready");
    assert_string_equal(reason(REEVE_REASON_NO_HANDLER)->handle, "q/a");
    /* One that does not tell (all of) its types may have it. */
    enter_worker("old", "{\"state\":\"running\"," SERVES "}");
    assert_string_equal(why_task("a"), "ready");
    enter_worker("old", "{\"state\":\"running\"," SERVES ",\"types\":[\"x\"],\"types_more\":true}");
    assert_string_equal(why_task("a"), "ready");
    enter_worker("old", "{\"state\":\"running\"," SERVES ",\"types\":[\"rare\"]}");
    assert_string_equal(why_task("a"), "ready");
    enter_worker("old", "{\"state\":\"stopping\"," SERVES ",\"types\":[\"rare\"]}");
    assert_string_equal(why_task("a"), "no_handler ready");
}

static void paused_and_held(void **state)
{
    (void)state;
    int64_t until;
    enter_worker("w", WORKER);
    test_put("q", "a");
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_clock_advance(5000);
    test_ok(test_client, reeve_pause(test_client, "q")); /* it is paused since the first one */
    assert_string_equal(why_task("a"), "paused ready");
    int64_t since = reason(REEVE_REASON_PAUSED)->since_ms;
    assert_in_range(found->now_ms - since, 5000, 60000);
    reeve_queue_info info;
    test_ok(test_client, reeve_queue(test_client, "q", &info));
    assert_true(info.paused);
    assert_int_equal(info.paused_ms, since);
    test_ok(test_client, reeve_pause_for(test_client, "q", NULL, 60000, &until));
    assert_string_equal(why_task("a"), "paused paused_for ready");
    assert_int_equal(reason(REEVE_REASON_PAUSED_FOR)->until_ms, until);
    test_ok(test_client, reeve_resume(test_client, "q"));
    assert_string_equal(why_queue(), "paused_for ready");
    /* As an older version paused it. */
    (void)test_cmd(test_conn, "HSET " Q "settings paused 1");
    assert_string_equal(why_task("a"), "paused paused_for ready");
    assert_int_equal(reason(REEVE_REASON_PAUSED)->since_ms, -1);
}

static void the_queue_is_at_its_limits(void **state)
{
    (void)state;
    const reeve_limit_change change = {.concurrency = 2, .rate = &(reeve_rate){2, 60000, 2}};
    enter_worker("w", WORKER);
    test_ok(test_client, reeve_limit(test_client, "q", &change));
    test_put("q", "a b c d");
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(why_task("d"), "behind");
    assert_int_equal(reason(REEVE_REASON_BEHIND)->count, 2);
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(why_task("c"), "concurrency rate ready");
    assert_int_equal(reason(REEVE_REASON_CONCURRENCY)->limit, 2);
    assert_int_equal(reason(REEVE_REASON_CONCURRENCY)->count, 2);
    assert_int_equal(reason(REEVE_REASON_RATE)->rate.period_ms, 60000);
    assert_in_range(reason(REEVE_REASON_RATE)->until_ms - found->now_ms, 20000, 30000);
    reeve_queue_info info;
    test_ok(test_client, reeve_queue(test_client, "q", &info));
    assert_int_equal(info.concurrency, 2);
    assert_int_equal(info.rate.count, 2);
    assert_int_equal(info.pause_until_ms, -1);
    assert_string_equal(why_queue(), "concurrency rate running ready");
    assert_int_equal(reason(REEVE_REASON_RUNNING)->count, 2);
}

static void the_group_is_at_its_limits(void **state)
{
    (void)state;
    const reeve_limit_change change = {.of = REEVE_LIMIT_GROUPS, .concurrency = 1};
    int64_t until;
    enter_worker("w", WORKER);
    test_ok(test_client, reeve_limit(test_client, "q", &change));
    for (const char *id = "abc"; *id; id++)
        test_put_spec((reeve_task_spec){.id = (const char[]){*id, '\0'}, .type = "t", .group = "g"});
    assert_int_equal(test_lease(&hand, 3), 1);
    assert_string_equal(why_task("c"), "group_concurrency parked");
    const reeve_reason *limit = reason(REEVE_REASON_GROUP_CONCURRENCY), *place = reason(REEVE_REASON_PARKED);
    assert_string_equal(limit->group, "g");
    assert_int_equal(limit->limit, 1);
    assert_int_equal(limit->count, 1);
    assert_int_equal(place->count, 1);
    test_ok(test_client, reeve_pause_for(test_client, "q", "g", 60000, &until));
    assert_string_equal(why_task("b"), "group_paused group_concurrency parked");
    assert_int_equal(reason(REEVE_REASON_GROUP_PAUSED)->until_ms, until);
    assert_string_equal(why_queue(), "running parked");
    const reeve_limit_change rate = {.of = REEVE_LIMIT_GROUP, .group = "h", .rate = &(reeve_rate){1, 60000, 1}};
    test_ok(test_client, reeve_limit(test_client, "q", &rate));
    test_put_spec((reeve_task_spec){.id = "x", .type = "t", .group = "h"});
    test_put_spec((reeve_task_spec){.id = "y", .type = "t", .group = "h"});
    (void)test_lease(&hand, 2);
    assert_string_equal(why_task("y"), "group_concurrency group_rate parked");
    assert_int_equal(reason(REEVE_REASON_GROUP_RATE)->rate.count, 1);
}

static void it_waits_for_others(void **state)
{
    (void)state;
    reeve_parent after[14] = {{.handle = "q/p1"}, {.handle = "far/p2"}, {.handle = "far/dead", REEVE_PARENT_WAIT}};
    static char handles[14][16];
    enter_worker("w", WORKER);
    test_put("q", "p1 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13");
    test_put("far", "p2 dead");
    test_ok(test_client, reeve_cancel(test_client, "far", "dead"));
    test_put_spec((reeve_task_spec){.id = "a", .type = "t", .after = after, .after_count = 3});
    assert_string_equal(why_task("a"), "blocked parent parent parent");
    assert_int_equal(found->reasons[0].count, 3);
    assert_string_equal(found->reasons[1].handle, "q/p1");
    assert_string_equal(found->reasons[1].state, "ready");
    assert_string_equal(found->reasons[2].handle, "far/p2");
    assert_string_equal(found->reasons[2].state, "ready");
    assert_string_equal(found->reasons[3].state, "cancelled");
    assert_string_equal(why_queue(), "ready blocked");
    /* Of many the first ten. */
    for (size_t i = 0; i < 11; i++) {
        (void)snprintf(handles[i], sizeof(handles[i]), "q/p%zu", i + 3);
        after[i] = (reeve_parent){.handle = handles[i]};
    }
    test_put_spec((reeve_task_spec){.id = "b", .type = "t", .after = after, .after_count = 11});
    (void)why_task("b");
    assert_int_equal(found->count, 11);
    assert_int_equal(found->reasons[0].count, 11);
    /* One that is kept open. */
    after[0] = (reeve_parent){.handle = REEVE_PARENT_OPEN};
    test_put_spec((reeve_task_spec){.id = "c", .type = "t", .after = after, .after_count = 1});
    assert_string_equal(why_task("c"), "blocked parent");
    assert_string_equal(found->reasons[1].handle, REEVE_PARENT_OPEN);
}

static void it_is_due_later(void **state)
{
    (void)state;
    enter_worker("w", WORKER);
    test_put_spec((reeve_task_spec){.id = "a", .type = "t", .in_ms = 86403000});
    assert_string_equal(why_task("a"), "due");
    assert_in_range(found->reasons[0].until_ms - found->now_ms, 86390000, 86403000);
    assert_int_equal(found->reasons[0].failures, 0);
    test_put("q", "b");
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_RETRY("b", 60000));
    assert_string_equal(why_task("b"), "due");
    assert_int_equal(found->reasons[0].failures, 1);
    assert_string_equal(why_queue(), "due");
    assert_int_equal(found->reasons[0].count, 2);
    assert_in_range(found->reasons[0].until_ms - found->now_ms, 50000, 60000);
}

static void it_is_behind_others(void **state)
{
    (void)state;
    enter_worker("w", WORKER);
    test_put("q", "single");
    test_put_many("q", 1500, "x%04zu"); /* in segments */
    test_put_spec((reeve_task_spec){.id = "first", .type = "t", .priority = -1});
    assert_string_equal(why_task("first"), "ready");
    assert_string_equal(why_task("x0000"), "behind");
    assert_int_equal(found->reasons[0].count, 2);
    (void)why_task("x1200");
    assert_int_equal(found->reasons[0].count, 1202);
    assert_false(found->reasons[0].more);
    (void)why_task("x1499");
    assert_int_equal(found->reasons[0].count, 1501);
}

static void it_runs_or_has_ended(void **state)
{
    (void)state;
    test_put("q", "a b");
    assert_int_equal(test_lease(&hand, 2), 2);
    assert_string_equal(why_task("a"), "running");
    assert_int_equal(found->reasons[0].since_ms, hand.now_ms);
    /* The session has begun just before the turn. */
    int64_t until_ms = found->reasons[0].until_ms;
    assert_in_range(until_ms, hand.now_ms + hand.session_ms - 1000, hand.now_ms + hand.session_ms);
    test_clock_advance(1000001);
    assert_string_equal(why_task("a"), "stalled");
    assert_int_equal(found->reasons[0].since_ms, until_ms);
    assert_string_equal(why_queue(), "unserved stalled running empty");
    assert_int_equal(reason(REEVE_REASON_STALLED)->count, 1);
    test_settle(&hand, TEST_DONE("a"), TEST_FAIL("b"));
    assert_string_equal(why_task("a"), "completed");
    assert_int_equal(found->reasons[0].since_ms, hand.now_ms);
    assert_string_equal(why_task("b"), "dead");
    assert_string_equal(found->reasons[0].error_kind, "k");
    test_put("q", "c");
    test_ok(test_client, reeve_cancel(test_client, "q", "c"));
    assert_string_equal(why_task("c"), "cancelled");
    assert_string_equal(why_queue(), "unserved stalled empty");
}

/* Where messages to other queues are not carried, parents there may not know, and children there hear nothing. */
static void messages_wait_to_be_carried(void **state)
{
    (void)state;
    enter_worker("w1", WORKER);
    test_put("q", "a b");
    const reeve_parent near = {.handle = "q/a"}, far = {.handle = "p/a", .unknown = REEVE_UNKNOWN_EXPECTED};
    test_put_spec((reeve_task_spec){.id = "near", .after = &near, .after_count = 1});
    test_put_spec((reeve_task_spec){.id = "far", .after = &far, .after_count = 1});
    assert_string_equal(why_task("far"), "blocked parent");
    (void)test_cmd(test_conn, "RPUSH " Q "outbox x y z");
    assert_string_equal(why_task("near"), "blocked parent");
    assert_string_equal(why_task("far"), "blocked parent messages");
    assert_int_equal(reason(REEVE_REASON_MESSAGES)->count, 3);
    assert_string_equal(why_queue(), "ready blocked messages");
    assert_int_equal(reason(REEVE_REASON_MESSAGES)->count, 3);
}

/* ---- circles --------------------------------------------------------------------------------------------------- */

static void put_after(const char *queue, const char *id, const char *parent)
{
    const reeve_parent after = {.handle = parent};
    const reeve_task_spec spec = {.queue = queue, .type = "t", .id = id, .after = &after, .after_count = 1};
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
}

static void add_parent(const char *queue, const char *id, const char *parent)
{
    const reeve_parent after = {.handle = parent};
    test_ok(test_client, reeve_add_dependency(test_client, queue, id, &after, 1));
}

/* The handles of the circle; "": none is told. */
static const char *circle_of(const char *id, int64_t count)
{
    (void)why_task(id);
    for (size_t i = 0; i < found->count; i++) {
        if (found->reasons[i].kind != REEVE_REASON_CIRCLE) continue;
        assert_int_equal(found->reasons[i].count, count);
        return found->reasons[i].handle;
    }
    return "";
}

static void tasks_that_wait_for_each_other_are_named(void **state)
{
    (void)state;
    test_put("q", "p");
    put_after("q", "a", "q/p");
    put_after("b", "x", "q/a");
    put_after("q", "c", "b/x");
    put_after("q", "behind", "q/c");
    assert_string_equal(circle_of("a", 0), "");
    add_parent("q", "a", "q/c");
    assert_string_equal(circle_of("a", 3), "q/c b/x");
    assert_string_equal(circle_of("c", 3), "b/x q/a");
    assert_string_equal(circle_of("behind", 0), "");
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "a", (const char *[]){"q/c"}, 1));
    assert_string_equal(circle_of("c", 0), "");
}

/* It is searched for over so many tasks, and no more. */
static void a_large_circle_is_named_or_not(void **state)
{
    (void)state;
    char id[16], parent[24];
    test_put("q", "p");
    put_after("q", "t0", "q/p");
    for (int i = 1; i < 200; i++) {
        (void)snprintf(id, sizeof(id), "t%d", i);
        (void)snprintf(parent, sizeof(parent), "q/t%d", i - 1);
        put_after("q", id, parent);
    }
    add_parent("q", "t0", "q/t127");
    assert_int_equal(strncmp(circle_of("t0", 128), "q/t127 q/t126 ", 14), 0);
    add_parent("q", "t0", "q/t199");
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "t0", (const char *[]){"q/t127"}, 1));
    assert_string_equal(circle_of("t0", 0), "");
}

int main(void)
{
    test_options.clock = true;
#define TEST(function) cmocka_unit_test_setup(function, set_up)
    const struct CMUnitTest tests[] = {
        TEST(what_is_not_there),
        TEST(nobody_serves_the_queue),
        TEST(all_threads_are_busy),
        TEST(no_worker_has_the_handler),
        TEST(paused_and_held),
        TEST(the_queue_is_at_its_limits),
        TEST(the_group_is_at_its_limits),
        TEST(it_waits_for_others),
        TEST(it_is_due_later),
        TEST(it_is_behind_others),
        TEST(it_runs_or_has_ended),
        TEST(messages_wait_to_be_carried),
        cmocka_unit_test_setup(tasks_that_wait_for_each_other_are_named, set_up),
        cmocka_unit_test_setup(a_large_circle_is_named_or_not, set_up),
    };
    int failed = cmocka_run_group_tests_name("ct_why", tests, test_place_start, test_place_stop);
    reeve_why_free(found);
    return failed;
}
