/* Handlers of patterns: "mail.*" runs the types that begin so, "*" all that have no other handler. */
#include <pthread.h>
#include <string.h>

#include "reeve/layer.h"
#include "reeve/why.h"
#include "support/worker.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char seen[20][160];
static size_t seen_count;

static void note(const char *handler, const char *type)
{
    (void)pthread_mutex_lock(&lock);
    (void)snprintf(seen[seen_count++ % 20], sizeof(seen[0]), "%s runs %s", handler, type);
    (void)pthread_mutex_unlock(&lock);
}

static bool was_seen(const char *text)
{
    bool found = false;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < seen_count && i < 20; i++) found = found || strcmp(seen[i], text) == 0;
    (void)pthread_mutex_unlock(&lock);
    return found;
}

static reeve_outcome run(reeve_task *task, void *user)
{
    note(user, reeve_task_type(task));
    return reeve_task_done(task, NULL, 0);
}

static void run_batch(reeve_task *const *tasks, size_t count, void *user)
{
    for (size_t i = 0; i < count; i++) {
        note(user, reeve_task_type(tasks[i]));
        (void)reeve_task_done(tasks[i], NULL, 0);
    }
}

static reeve_worker *make_worker(void)
{
    static char names[][16] = {"mail.*", "*", "mail.news", "mail.n*", "files/*"};
    reeve_worker *worker = NULL;
    const reeve_worker_options options = {.redis = test_redis_url(test_redis)};
    char error[256] = "";
    if (reeve_worker_create(&worker, &options, error, sizeof(error)) != REEVE_OK) fail_msg("%s", error);
    for (size_t i = 0; i < 4; i++) assert_int_equal(reeve_worker_handle(worker, names[i], run, names[i]), REEVE_OK);
    const reeve_handler files = {.type = names[4], .run_batch = run_batch, .batch_size = 10, .user = names[4]};
    assert_int_equal(reeve_worker_register(worker, &files), REEVE_OK);
    return worker;
}

static void the_best_handler_runs_a_type(void **state)
{
    (void)state;
    static const char *const types[] = {"mail.news", "mail.new", "mail.x",  "mail.",
                                        "mail",      "mail.*x",  "files/a", "files/b"};
    static const char *const expected[] = {"mail.news runs mail.news", "mail.n* runs mail.new", "mail.* runs mail.x",
                                           "mail.* runs mail.",        "* runs mail",           NULL,
                                           "files/* runs files/a",     "files/* runs files/b"};
    reeve_worker *worker = make_worker();
    for (size_t i = 0; i < 8; i++) {
        const reeve_task_spec spec = {.queue = "q", .type = types[i]};
        reeve_status status = reeve_enqueue(test_client, &spec, NULL);
        assert_int_equal(status, expected[i] != NULL ? REEVE_OK : REEVE_EINVAL);
    }
    test_worker_pool(worker, "q", 2, 4);
    test_worker_start(worker);
    for (size_t i = 0; i < 8; i++)
        if (expected[i] != NULL) TEST_AWAIT(was_seen(expected[i]));
    TEST_AWAIT(test_count("q", "completed") == 7);
    test_worker_end(worker);
}

static void a_type_that_a_pattern_handles_has_a_handler(void **state)
{
    (void)state;
    reeve_worker *worker = make_worker();
    reeve_why *why;
    const reeve_task_spec spec = {.queue = "q", .type = "files/odd", .id = "f"};
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
    test_worker_pool(worker, "q", 1, 1);
    test_worker_start(worker);
    TEST_AWAIT(test_worker_stats(worker).connected);
    test_ok(test_client, reeve_task_why(test_client, "q", "f", &why));
    for (size_t i = 0; i < why->count; i++) assert_true(why->reasons[i].kind != REEVE_REASON_NO_HANDLER);
    reeve_why_free(why);
    test_ok(test_client, reeve_resume(test_client, "q"));
    test_worker_end(worker);
}

static void patterns_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {"**", "a*b", "*a", "a b*", "", "mail.*"};
    reeve_worker *worker = make_worker();
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(reeve_worker_handle(worker, bad[i], run, NULL), i < 5 ? REEVE_EINVAL : REEVE_EDUPLICATE);
    const reeve_handler_policy own = {.type = "mail.*", .attempts = 3}, other = {.type = "mail.x", .attempts = 3};
    assert_int_equal(reeve_worker_set_policy(worker, &own), REEVE_OK);
    assert_int_equal(reeve_worker_set_policy(worker, &other), REEVE_ENOTFOUND);
    const reeve_layer layer = {.name = "l", .type = "mail.*x", .enqueue = NULL};
    assert_int_equal(reeve_worker_add_layer(worker, &layer), REEVE_EINVAL);
    reeve_worker_destroy(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_best_handler_runs_a_type, test_place_empty),
        cmocka_unit_test_setup(a_type_that_a_pattern_handles_has_a_handler, test_place_empty),
        cmocka_unit_test_setup(patterns_are_checked, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_type_patterns", tests, test_place_start, test_place_stop);
}
