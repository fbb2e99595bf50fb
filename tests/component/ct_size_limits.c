/* How large things may be, as a client and a worker that were told so keep it. */
#include <stdlib.h>
#include <string.h>

#include "reeve/cron.h"
#include "reeve/depend.h"
#include "support/worker.h"

static reeve_client *client;

static int start(void **state)
{
    int failed = test_place_start(state);
    const reeve_client_options options = {.redis = test_redis_url(test_redis),
                                          .size_limits = {.payload = 100, .parents = 4, .batch = 3, .tags = 2}};
    if (failed == 0 && reeve_client_open(&client, &options) != REEVE_OK) return -1;
    return failed;
}

static int stop(void **state)
{
    reeve_client_close(client);
    return test_place_stop(state);
}

static char bytes[101];

static void of_a_client(void **state)
{
    (void)state;
    reeve_task_spec spec = {.queue = "q", .type = "t", .payload = {bytes, 100}};
    test_ok(client, reeve_enqueue(client, &spec, NULL));
    spec.payload.length = 101;
    test_refused(client, reeve_enqueue(client, &spec, NULL), REEVE_ETOOBIG,
                 "the payload has 101 bytes: at most 100 (size_limits.payload raises it, up to 67108864)");
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
    assert_int_equal(test_count("q", "ready"), 2);
    const reeve_cron_entry entry = {.name = "e", .spec = "@daily", .task = &spec};
    test_refused(client, reeve_cron_set(client, &entry, NULL), REEVE_ETOOBIG, "the payload has 101 bytes: at most 100");
    test_ok(test_client, reeve_cron_set(test_client, &entry, NULL));
}

static void that_cannot_be(void **state)
{
    (void)state;
    char words[512];
    reeve_client *none;
    reeve_worker *worker;
    const reeve_client_options options = {.redis = test_redis_url(test_redis), .size_limits = {.tags = 65}};
    assert_int_equal(reeve_client_open_with_error(&none, &options, words, sizeof(words)), REEVE_EINVAL);
    assert_string_equal(words, "size_limits.tags: a limit of 65: must be from 1 to 64");
    const reeve_worker_options of_worker = {.redis = test_redis_url(test_redis), .size_limits = {.result = -1}};
    assert_int_equal(reeve_worker_create(&worker, &of_worker, words, sizeof(words)), REEVE_EINVAL);
    assert_string_equal(words, "size_limits.result: a limit of -1: must be from 1 to 16777216");
}

static void tasks_of_a_call(void **state)
{
    (void)state;
    reeve_task_spec specs[4];
    reeve_enqueued results[4];
    for (size_t i = 0; i < 4; i++) specs[i] = (reeve_task_spec){.queue = "q", .type = "t"};
    test_ok(client, reeve_enqueue_many(client, specs, 2, results));
    test_ok(client, reeve_enqueue_many(client, specs, 3, results));
    test_refused(client, reeve_enqueue_many(client, specs, 4, results), REEVE_ETOOBIG,
                 "4 tasks in one call: at most 3 (size_limits.batch raises it, up to 1000000000)");
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(results[i].status, REEVE_ETOOBIG);
        assert_string_equal(results[i].id, "");
        char words[200];
        reeve_enqueued_error(client, &specs[i], &results[i], words, sizeof(words));
        assert_string_equal(words, "4 tasks in one call: at most 3 (size_limits.batch raises it, up to 1000000000)");
    }
    assert_int_equal(test_count("q", "ready"), 5);
}

/* Of one of them. */
static void a_task_of_a_call(void **state)
{
    (void)state;
    const reeve_task_spec specs[] = {{.queue = "q", .type = "t"}, {.queue = "q", .type = "t", .payload = {bytes, 101}}};
    reeve_enqueued results[2];
    char words[200];
    test_refused(client, reeve_enqueue_many(client, specs, 2, results), REEVE_ETOOBIG, "the payload has 101 bytes");
    assert_int_equal(results[0].status, REEVE_OK);
    assert_int_equal(results[1].status, REEVE_ETOOBIG);
    reeve_enqueued_error(client, &specs[1], &results[1], words, sizeof(words));
    assert_string_equal(words,
                        "the payload has 101 bytes: at most 100 (size_limits.payload raises it, up to 67108864)");
}

/* ---- parents --------------------------------------------------------------------------------------------------- */

static const reeve_parent six[] = {{.handle = "q/p1"}, {.handle = "q/p2"}, {.handle = "q/p3"},
                                   {.handle = "q/p4"}, {.handle = "q/p5"}, {.handle = "q/p6"}};
#define TOO_MANY "5 parents of a task: at most 4 (size_limits.parents raises it, up to 1000000000)"

static void parents_at_once(void **state)
{
    (void)state;
    reeve_task_spec spec = {.queue = "q", .type = "t", .id = "c", .after = six, .after_count = 5};
    test_put("q", "p1 p2 p3 p4 p5 p6");
    test_refused(client, reeve_enqueue(client, &spec, NULL), REEVE_ETOOBIG, TOO_MANY);
    spec.after_count = 4;
    test_ok(client, reeve_enqueue(client, &spec, NULL));
    assert_int_equal(test_number("HLEN reeve:{q}:parents:c"), 4);
}

static void parents_over_calls(void **state)
{
    (void)state;
    const reeve_parent same[] = {six[0], six[3], six[3], {.handle = REEVE_PARENT_OPEN}};
    reeve_task_spec spec = {.queue = "q", .type = "t", .id = "c", .after = six, .after_count = 2};
    test_put("q", "p1 p2 p3 p4 p5 p6");
    test_ok(client, reeve_enqueue(client, &spec, NULL));
    test_refused(client, reeve_add_dependency(client, "q", "c", six, 5), REEVE_ETOOBIG, TOO_MANY);
    test_ok(client, reeve_add_dependency(client, "q", "c", six + 2, 1));
    test_refused(client, reeve_add_dependency(client, "q", "c", six + 3, 2), REEVE_ETOOBIG, TOO_MANY);
    assert_int_equal(test_number("HLEN reeve:{q}:parents:c"), 3);
    /* What is there already, is said twice, or is no task, does not count. */
    test_ok(client, reeve_add_dependency(client, "q", "c", same, 4));
    test_ok(client, reeve_add_dependency(client, "q", "c", same, 4));
    assert_int_equal(test_number("HLEN reeve:{q}:parents:c"), 5);
    test_refused(client, reeve_add_dependency(client, "q", "c", six + 5, 1), REEVE_ETOOBIG, TOO_MANY);
    test_ok(test_client, reeve_add_dependency(test_client, "q", "c", six + 5, 1));
    assert_int_equal(test_number("HLEN reeve:{q}:parents:c"), 6);
    test_refused(client, reeve_add_dependency(client, "q", "c", six + 4, 1), REEVE_ETOOBIG,
                 "6 parents of a task: at most 4");
}

static void members_of_a_batch(void **state)
{
    (void)state;
    reeve_batch batch;
    reeve_enqueued results[5];
    reeve_task_spec specs[5], complete = {.queue = "q", .type = "t", .id = "all"};
    for (size_t i = 0; i < 5; i++) specs[i] = (reeve_task_spec){.queue = "q", .type = "t"};
    test_ok(client, reeve_batch_open(client, &batch, &(reeve_batch_callbacks){.complete = &complete}));
    test_refused(client, reeve_batch_add(client, &batch, specs, 4, results), REEVE_ETOOBIG,
                 "4 tasks in one call: at most 3");
    assert_int_equal(test_count("q", "ready"), 0);
    test_ok(client, reeve_batch_add(client, &batch, specs, 3, results));
    test_ok(client, reeve_batch_add(client, &batch, specs, 1, results));
    test_refused(client, reeve_batch_add(client, &batch, specs, 1, results), REEVE_ETOOBIG, TOO_MANY);
    assert_int_equal(results[0].status, REEVE_ETOOBIG);
    assert_int_equal(test_count("q", "ready"), 4);
    assert_int_equal(test_number("HLEN reeve:{q}:parents:all"), 5); /* (with the one that is none) */
    test_ok(client, reeve_batch_close(client, &batch));
}

static void members_of_one_call(void **state)
{
    (void)state;
    reeve_client *other;
    reeve_batch batch;
    reeve_enqueued results[3];
    const reeve_client_options options = {.redis = test_redis_url(test_redis), .size_limits = {.parents = 2}};
    reeve_task_spec specs[3], complete = {.queue = "q", .type = "t", .id = "all"};
    for (size_t i = 0; i < 3; i++) specs[i] = (reeve_task_spec){.queue = "q", .type = "t"};
    assert_int_equal(reeve_client_open(&other, &options), REEVE_OK);
    test_ok(other, reeve_batch_open(other, &batch, &(reeve_batch_callbacks){.complete = &complete}));
    test_refused(other, reeve_batch_add(other, &batch, specs, 3, results), REEVE_ETOOBIG,
                 "3 tasks of a batch: at most 2 (size_limits.parents raises it, up to 1000000000)");
    assert_int_equal(results[2].status, REEVE_ETOOBIG);
    assert_int_equal(test_count("q", "ready"), 0);
    test_ok(other, reeve_batch_add(other, &batch, specs, 2, results));
    reeve_client_close(other);
}

/* ---- a worker -------------------------------------------------------------------------------------------------- */

/* Says what it was refused. */
static reeve_outcome give(reeve_task *task, void *user)
{
    const reeve_task_spec next = {.queue = "p", .type = "t", .payload = {bytes, 21}};
    const char *payload = reeve_task_payload(task).data;
    (void)user;
    if (strcmp(payload, "checkpoint") == 0) TEST_MUST(reeve_task_checkpoint(task, bytes, 31) == REEVE_ETOOBIG);
    if (strcmp(payload, "next") == 0) TEST_MUST(reeve_task_chain(task, &next, NULL) == REEVE_ETOOBIG);
    if (strcmp(payload, "result") == 0) return reeve_task_done(task, bytes, 101);
    const char *words = reeve_task_call_error(task);
    return reeve_task_done(task, words, strlen(words));
}

static void check_result(const char *id, const char *expected)
{
    reeve_task_info *info;
    test_ok(test_client, reeve_wait(test_client, "q", id, 15000, &info));
    if (info->result.length != strlen(expected) || memcmp(info->result.data, expected, strlen(expected)) != 0)
        fail_msg("%.*s", (int)info->result.length, (const char *)info->result.data);
    reeve_task_info_free(info);
}

static void of_a_worker(void **state)
{
    (void)state;
    const reeve_worker_options options = {.size_limits = {.result = 100, .checkpoint = 30, .payload = 20}};
    reeve_worker *worker = test_worker_new(&options);
    assert_int_equal(reeve_worker_handle(worker, "give", give, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    /* A payload that somebody else allowed is run. */
    test_put_spec((reeve_task_spec){.id = "c", .type = "give", .payload = {"checkpoint", 10}});
    test_put_spec((reeve_task_spec){.id = "n", .type = "give", .payload = {"next", 4}});
    test_put_spec((reeve_task_spec){.id = "r", .type = "give", .payload = {"result", 6}});
    test_put_spec((reeve_task_spec){.id = "l", .type = "give", .payload = {bytes, 101}});
    check_result("c", "the checkpoint has 31 bytes: at most 30 (size_limits.checkpoint raises it, up to 1048576)");
    check_result("n", "the payload has 21 bytes: at most 20 (size_limits.payload raises it, up to 67108864)");
    reeve_task_info *info;
    assert_int_equal(reeve_wait(test_client, "q", "r", 15000, &info), REEVE_EDEAD);
    assert_string_equal(info->error_kind, "result");
    assert_string_equal(info->error_message,
                        "the result has 101 bytes: at most 100 (size_limits.result raises it, up to 16777216)");
    reeve_task_info_free(info);
    test_ok(test_client, reeve_wait(test_client, "q", "l", 15000, NULL));
    reeve_worker_destroy(worker);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, test_place_empty)
    const struct CMUnitTest tests[] = {TEST(of_a_client),         TEST(that_cannot_be),     TEST(tasks_of_a_call),
                                       TEST(parents_at_once),     TEST(parents_over_calls), TEST(members_of_a_batch),
                                       TEST(members_of_one_call), TEST(of_a_worker),        TEST(a_task_of_a_call)};
    return cmocka_run_group_tests(tests, start, stop);
}
