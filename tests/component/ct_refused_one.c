/* A turn settles tasks of several queues, two of them with the same id, and one of these two is refused: that one
 * alone is. */
#include <stdio.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/worker.h"

static atomic_uint warnings;
static atomic_bool taken;

static int set_up(void **state)
{
    test_close_gate();
    atomic_store(&warnings, 0);
    atomic_store(&taken, false);
    return test_place_empty(state);
}

static void on_log(const reeve_log_record *record, void *user)
{
    (void)user;
    if (strcmp(record->event, "task.refused") == 0) atomic_fetch_add(&warnings, 1);
}

/* The handlers' own: the test's thread is using the other one. */
static rv_conn *handlers_conn;

/* Somebody takes the task out of its session's hands while it runs. */
static reeve_outcome lose(reeve_task *task, void *user)
{
    const char *session = user;
    TEST_MUST(strcmp(test_cmd(handlers_conn, "HDEL reeve:{%s}:running:%s %s", reeve_task_queue(task), session,
                              reeve_task_id(task)),
                     "1") == 0);
    atomic_store(&taken, true);
    return reeve_task_done(task, NULL, 0);
}

static void put(reeve_task_spec spec)
{
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
}

static const char *session_of(const char *queue)
{
    static char session[64];
    const char *list = test_cmd(test_conn, "ZRANGE reeve:{%s}:sessions 0 0", queue);
    (void)snprintf(session, sizeof(session), "%.*s", (int)strcspn(list + 1, "]"), list + 1);
    return session;
}

/* A thread that has seen short tasks takes the next two in one turn, and settles them in one. */
static void only_in_its_own_queue(const char *loses)
{
    static char session[64];
    const reeve_worker_options options = {0};
    handlers_conn = test_conn_open(test_redis);
    reeve_worker *worker = test_worker_new(&options);
    assert_int_equal(reeve_worker_handle(worker, "lose", lose, session), REEVE_OK);
    test_worker_pool(worker, "q r", 1, 0);
    test_worker_start(worker);
    for (int i = 0; i < 400; i++) put((reeve_task_spec){.queue = i % 2 ? "q" : "r", .type = "t"});
    TEST_AWAIT(test_worker_stats(worker).completed == 400);
    (void)snprintf(session, sizeof(session), "%s", session_of(loses));
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_ok(test_client, reeve_pause(test_client, "r"));
    put((reeve_task_spec){.queue = "q", .id = "x", .type = *loses == 'q' ? "lose" : "t"});
    put((reeve_task_spec){.queue = "r", .id = "x", .type = *loses == 'r' ? "lose" : "t"});
    assert_string_equal(test_cmd(test_conn, "HDEL reeve:{r}:settings paused"), "1");
    test_ok(test_client, reeve_resume(test_client, "q"));
    while (!atomic_load(&taken)) test_pause();
    TEST_AWAIT(test_worker_stats(worker).refused > 0);
    TEST_AWAIT(test_worker_stats(worker).refused + test_worker_stats(worker).completed >= 402);
    assert_int_equal(test_worker_stats(worker).refused, 1);
    assert_int_equal(test_worker_stats(worker).completed, 401);
    assert_int_equal(atomic_load(&warnings), 1);
    assert_string_equal(test_cmd(test_conn, "ZSCORE reeve:{%s}:completed x", loses), "(nil)");
    test_worker_end(worker);
    rv_conn_destroy(handlers_conn);
}

static void of_the_first_queue(void **state)
{
    (void)state;
    only_in_its_own_queue("q");
}

static void of_the_second_queue(void **state)
{
    (void)state;
    only_in_its_own_queue("r");
}

int main(void)
{
    reeve_log_set(on_log, NULL, REEVE_LOG_WARN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(of_the_first_queue, set_up),
        cmocka_unit_test_setup(of_the_second_queue, set_up),
    };
    return cmocka_run_group_tests_name("ct_refused_one", tests, test_place_start, test_place_stop);
}
