/* Tasks that wait for tasks of a divided queue, in every way there is: the parent is in a partition that neither the
 * name of the queue nor its id tells; and partition 0 by its other name. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocol/partition.h"
#include "protocol/scripts.h"
#include "reeve/depend.h"
#include "reeve/partition.h"
#include "support/buffered.h"
#include "support/consumer.h"
#include "support/worker.h"

#define GROUP "ann" /* its tasks are in partition 3 of 4 */
#define PARENT "files/p0"

static reeve_consumer *c;

static int set_up(void **state)
{
    int failed = test_buffer_set_up(state);
    test_ok(test_client, reeve_partition_set(test_client, "files", 4));
    test_put_spec((reeve_task_spec){.queue = "files", .type = "t", .id = "p0", .group = GROUP, .in_ms = 3600000});
    assert_string_equal(test_state("files~3", "p0"), "scheduled");
    assert_int_not_equal(rv_partition_of("p0", 4), 3);
    return failed;
}

/* Queues of children: not divided, divided, a partition, and both by another name. */
static const char *const queues[] = {"b", "files", "files~1", "b~0", "files~0"};
#define QUEUES (sizeof(queues) / sizeof(queues[0]))

/* The queue that a child is in. */
static const char *place_of(const char *queue, const char *id)
{
    static char name[REEVE_QUEUE_MAX + 1];
    (void)snprintf(name, sizeof(name), "%s", queue);
    if (strcmp(queue, "files") == 0) rv_partition_name(name, queue, rv_partition_of(id, 4));
    rv_partition_canonicalize(name);
    return name;
}

static bool is_registered(const char *parent_queue, const char *parent, const char *queue, const char *id)
{
    const char *score = test_cmd(test_conn, "ZSCORE reeve:{%s}:children:%s %s/%s", parent_queue, parent, queue, id);
    return strcmp(score, "(nil)") != 0;
}

/* The parent will notify the child, which knows it by the same handle. */
static void expect_waits_for(const char *parent_queue, const char *parent, const char *queue, const char *id)
{
    TEST_AWAIT(is_registered(parent_queue, parent, queue, id) || strcmp(test_state(queue, id), "dead") == 0);
    assert_string_equal(test_state(queue, id), "blocked");
    assert_int_equal(test_number("HEXISTS reeve:{%s}:parents:%s %s/%s", queue, id, parent_queue, parent), 1);
}

static void expect_waits(const char *queue, const char *id)
{
    expect_waits_for("files~3", "p0", place_of(queue, id), id);
}

static reeve_task_spec child_of(const reeve_parent *parent, const char *queue, const char *id)
{
    return (reeve_task_spec){.queue = queue, .type = "t", .id = id, .after = parent, .after_count = 1};
}

static const reeve_parent the_parent = {.handle = PARENT};

/* ---- clients --------------------------------------------------------------------------------------------------- */

static void an_enqueue(void **state)
{
    (void)state;
    for (size_t i = 0; i < QUEUES; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "c%zu", i);
        test_put_spec(child_of(&the_parent, queues[i], id));
        expect_waits(queues[i], id);
    }
    assert_int_equal(test_number("SISMEMBER reeve:queues b~0"), 0);
}

/* Children before their parents, which are before theirs. */
static void an_enqueue_of_all_of_them(void **state)
{
    (void)state;
    const reeve_parent parents[] = {{.handle = "files/m"}, {.handle = "b/c"}, {.handle = "files/d"}};
    const reeve_task_spec specs[] = {
        child_of(&parents[2], "files~0", "e"),
        child_of(&parents[1], "files~1", "d"),
        child_of(&parents[0], "b", "c"),
        {.queue = "files", .type = "t", .id = "m", .group = GROUP},
    };
    reeve_enqueued results[4];
    test_ok(test_client, reeve_enqueue_many(test_client, specs, 4, results));
    for (size_t i = 0; i < 4; i++) assert_string_equal(results[i].id, specs[i].id);
    expect_waits_for("files~3", "m", "b", "c");
    expect_waits_for("b", "c", "files~1", "d");
    expect_waits_for("files~1", "d", "files", "e");
}

static void an_added_dependency(void **state)
{
    (void)state;
    test_put("b", "c");
    test_ok(test_client, reeve_add_dependency(test_client, "b~0", "c", &the_parent, 1));
    expect_waits("b", "c");
    const char *const handle = PARENT;
    test_ok(test_client, reeve_remove_dependency(test_client, "b", "c", &handle, 1));
    assert_string_equal(test_state("b", "c"), "ready");
}

static reeve_status put_buffered(const char *queue, const char *id)
{
    const reeve_task_spec spec = child_of(&the_parent, queue, id);
    return reeve_enqueue(test_buffered, &spec, NULL);
}

/* While Redis is away nobody can be asked where the parent is. */
static void a_buffered_enqueue(void **state)
{
    char dump[300];
    (void)state;
    test_buffer_open(test_buffer_path, 0);
    test_ok(test_buffered, reeve_enqueue(test_buffered, &(reeve_task_spec){.queue = "q", .type = "t"}, NULL));
    assert_string_equal(test_cmd(test_conn, "SAVE"), "OK");
    test_redis_kill(test_redis);
    assert_int_equal(put_buffered("files", "c"), REEVE_BUFFERED); /* the first one of the outage */
    assert_int_equal(put_buffered("b", "d"), REEVE_BUFFERED);
    const reeve_parent parents[] = {{.handle = "files/m"}};
    /* (a task of the call may stand before its parent) */
    const reeve_task_spec specs[] = {child_of(&parents[0], "b", "g"),
                                     {.queue = "files", .type = "t", .id = "m", .group = GROUP},
                                     child_of(&parents[0], "files~3", "e"),
                                     child_of(&parents[0], "b", "f")};
    reeve_enqueued results[4];
    assert_int_equal(reeve_enqueue_many(test_buffered, specs, 4, results), REEVE_BUFFERED);
    for (size_t i = 0; i < 4; i++) assert_string_equal(results[i].id, specs[i].id);
    reeve_client_close(test_buffered);
    test_redis_launch(test_redis);
    test_conn_again();
    test_buffer_open(test_buffer_path, 0); /* it has not asked Redis for anything yet */
    assert_int_equal(reeve_client_flush(test_buffered, 60000), REEVE_OK);
    assert_string_equal(test_buffer_told, "");
    test_buffer_expect(0, 6, 0);
    reeve_worker *worker = test_worker_new(NULL); /* it delivers the messages */
    test_worker_pool(worker, "b files", 1, 1);
    test_worker_start(worker);
    expect_waits("files", "c");
    expect_waits("b", "d");
    TEST_AWAIT(strcmp(test_state("files~3", "e"), "completed") == 0);
    TEST_AWAIT(strcmp(test_state("b", "f"), "completed") == 0);
    TEST_AWAIT(strcmp(test_state("b", "g"), "completed") == 0);
    test_worker_end(worker);
    (void)snprintf(dump, sizeof(dump), "%s/dump.rdb", test_redis_dir(test_redis));
    (void)unlink(dump);
}

/* ---- handlers -------------------------------------------------------------------------------------------------- */

/* Leases a task that is alone in its queue. */
static reeve_task *pull(const char *queue, const char *id)
{
    if (c == NULL) c = test_consumer_open("b files", NULL);
    test_put_spec((reeve_task_spec){.queue = queue, .type = "t", .id = id});
    assert_string_equal(test_pull(c, 1, true), id);
    return test_pulled[0];
}

static int close_consumer(void **state)
{
    if (c != NULL) (void)reeve_consumer_close(c);
    c = NULL;
    return test_buffer_tear_down(state);
}

static void a_handler_that_waits(void **state)
{
    (void)state;
    for (size_t i = 0; i < QUEUES; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "c%zu", i);
        reeve_task *task = pull(queues[i], id);
        test_good(c, reeve_consumer_settle(c, task, reeve_task_wait_for(task, &the_parent, 1)));
        expect_waits(queues[i], id);
    }
}

/* Chained tasks go to the partitions of their groups, as those of an enqueue do. */
static void a_handler_that_waits_for_what_it_chains(void **state)
{
    char ids[8][REEVE_ID_MAX], group[8], name[REEVE_QUEUE_MAX + 1];
    (void)state;
    reeve_task *task = pull("files", "c");
    for (int i = 0; i < 8; i++) {
        (void)snprintf(group, sizeof(group), "g%d", i);
        const reeve_task_spec spec = {.queue = "files", .type = "t", .group = group};
        assert_int_equal(reeve_task_chain(task, &spec, ids[i]), REEVE_OK);
    }
    test_good(c, reeve_consumer_settle(c, task, reeve_task_wait_chained(task, REEVE_PARENT_FAIL)));
    for (int i = 0; i < 8; i++) {
        (void)snprintf(group, sizeof(group), "g%d", i);
        rv_partition_name(name, "files", rv_partition_of(group, 4));
        TEST_AWAIT(test_number("HEXISTS reeve:{%s}:tasks %s", name, ids[i]) == 1);
        expect_waits_for(name, ids[i], place_of("files", "c"), "c");
    }
}

static void a_chained_task(void **state)
{
    (void)state;
    for (size_t i = 0; i < QUEUES; i++) {
        char id[16], own[16];
        (void)snprintf(id, sizeof(id), "c%zu", i);
        (void)snprintf(own, sizeof(own), "own%zu", i);
        reeve_task *task = pull("b", own);
        const reeve_task_spec spec = child_of(&the_parent, queues[i], id);
        assert_int_equal(reeve_task_chain(task, &spec, NULL), REEVE_OK);
        test_good(c, reeve_consumer_settle(c, task, reeve_task_done(task, NULL, 0)));
        expect_waits(queues[i], id);
    }
}

static void a_lease_that_another_process_settles(void **state)
{
    (void)state;
    for (size_t i = 0; i < QUEUES; i++) {
        char id[16], token[REEVE_TOKEN_MAX];
        const reeve_lease_outcome outcome = {.outcome = REEVE_OUTCOME_SNOOZE, .after = &the_parent, .after_count = 1};
        (void)snprintf(id, sizeof(id), "c%zu", i);
        test_good(c, reeve_consumer_token(c, pull(queues[i], id), token));
        test_ok(test_client, reeve_lease_settle(test_client, queues[i], id, token, &outcome));
        expect_waits(queues[i], id);
    }
}

/* A handle as the handler knows it, and as everybody knows it. */
static void the_result_of_a_parent(void **state)
{
    static const char *const handles[] = {"files/m", "files~3/m"};
    (void)state;
    c = test_consumer_open("b files", NULL);
    test_put_spec((reeve_task_spec){.queue = "files", .type = "t", .id = "m", .group = GROUP});
    assert_string_equal(test_pull(c, 1, true), "m");
    test_good(c, test_settle_done(c, 0, "result"));
    const reeve_task *task = pull("b", "c");
    for (size_t i = 0; i < 2; i++) {
        reeve_bytes result = {0};
        assert_int_equal(reeve_task_parent_result((reeve_task *)task, handles[i], &result), REEVE_OK);
        assert_int_equal(result.length, 6);
    }
    test_good(c, test_settle_done(c, 0, NULL));
}

/* ---- the other name of partition 0 ------------------------------------------------------------------------------ */

static void partition_0_by_its_exact_name(void **state)
{
    const reeve_parent parent = {.handle = "files~0/z"};
    (void)state;
    test_put_spec((reeve_task_spec){.queue = "files~0", .type = "t", .id = "z", .in_ms = 3600000});
    for (size_t i = 0; i < QUEUES; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "c%zu", i);
        test_put_spec(child_of(&parent, queues[i], id));
        expect_waits_for("files", "z", place_of(queues[i], id), id);
    }
    reeve_task *task = pull("b", "w");
    test_good(c, reeve_consumer_settle(c, task, reeve_task_wait_for(task, &parent, 1)));
    expect_waits_for("files", "z", "b", "w");
}

/* Programs in other languages call the scripts themselves. */
static void partition_0_by_a_foreign_call(void **state)
{
    const rv_reply *reply;
    static const char *const args[] = {"reeve:{b}:", "add 10", "c", "q~0/z", "f"};
    (void)state;
    test_put("q", "z");
    test_put("b", "c");
    test_ok(test_client, reeve_resume(test_client, "b"));
    rv_cmd_script(test_conn, &rv_script_depend, 1, 4);
    for (size_t i = 0; i < 5; i++) rv_args(test_conn, args[i]);
    assert_int_equal(rv_conn_call(test_conn, rv_deadline(60000), &reply), REEVE_OK);
    assert_string_equal(test_reply_text(reply), "ok");
    assert_int_equal(test_number("HEXISTS reeve:{b}:parents:c q/z"), 1);
}

/* Under whichever name. */
static void no_task_waits_for_itself(void **state)
{
    static const char *const own[][2] = {{"b", "b~0/c"}, {"b~0", "b/c"}, {"files~0", "files/c"}, {"files", "files/c"}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const reeve_parent parent = {.handle = own[i][1]};
        const reeve_task_spec spec = child_of(&parent, own[i][0], "c");
        test_refused(test_client, reeve_enqueue(test_client, &spec, NULL), REEVE_EINVAL, "cannot wait for itself");
    }
    reeve_task *task = pull("files~2", "c");
    assert_int_equal(reeve_task_wait_for(task, &(reeve_parent){.handle = "files/c"}, 1), REEVE_OUTCOME_FAIL);
    test_good(c, reeve_consumer_settle(c, task, reeve_task_done(task, NULL, 0)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, close_consumer)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_enqueue),
        TEST(an_enqueue_of_all_of_them),
        TEST(an_added_dependency),
        TEST(a_buffered_enqueue),
        TEST(a_handler_that_waits),
        TEST(a_handler_that_waits_for_what_it_chains),
        TEST(a_chained_task),
        TEST(a_lease_that_another_process_settles),
        TEST(the_result_of_a_parent),
        TEST(partition_0_by_its_exact_name),
        TEST(partition_0_by_a_foreign_call),
        TEST(no_task_waits_for_itself),
    };
    return cmocka_run_group_tests_name("ct_partition_parents", tests, test_place_start, test_place_stop);
}
