/* A consumer that several threads of a program share. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "support/consumer.h"

#define THREADS 4
#define TASKS 24

static atomic_uint done, held, most;

static int set_up(void **state)
{
    done = held = most = 0;
    return test_place_empty(state);
}

/* Assertions are not for threads: a status that is not expected ends the thread. */
static void *work(void *argument)
{
    reeve_consumer *c = argument;
    while (atomic_load(&done) < TASKS) {
        reeve_task *task;
        unsigned count = 0;
        reeve_status status = reeve_consumer_lease(c, &task, 1, 100, &count);
        if (status != REEVE_OK && status != REEVE_ESTATE) break;
        if (count == 0) continue;
        unsigned now = atomic_fetch_add(&held, 1) + 1;
        if (now > atomic_load(&most)) atomic_store(&most, now);
        atomic_fetch_sub(&held, 1);
        if (reeve_consumer_settle(c, task, reeve_task_done(task, NULL, 0)) != REEVE_OK) break;
        atomic_fetch_add(&done, 1);
    }
    return NULL;
}

/* All wait for a task; the one that gets it leaves no room for the others. */
static void threads_keep_to_the_maximum_together(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    reeve_consumer *c = test_consumer_open("q", &(reeve_consumer_options){.max = 1});
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, c), 0);
    for (unsigned i = 0; i < TASKS; i += 6) {
        for (unsigned n = 0; n < 6; n++) test_put_spec((reeve_task_spec){.type = "t"});
        TEST_AWAIT(atomic_load(&done) >= i + 6);
    }
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(done, TASKS);
    assert_int_equal(most, 1);
    test_good(c, reeve_consumer_close(c));
}

/* ---- a thread that takes a task by its id ---------------------------------------------------------------------- */

static void *wait_for_a_task(void *argument)
{
    reeve_consumer *c = argument;
    reeve_task *task;
    unsigned count = 0;
    if (reeve_consumer_lease(c, &task, 1, 60000, &count) != REEVE_OK || count == 0) return NULL;
    return reeve_consumer_settle(c, task, reeve_task_done(task, NULL, 0)) == REEVE_OK ? c : NULL;
}

static atomic_bool asks;

static void *ask_for_a_missing_task(void *argument)
{
    reeve_consumer *c = argument;
    reeve_task *task;
    atomic_store(&asks, true);
    return reeve_consumer_lease_id(c, "q", "missing", &task) == REEVE_ENOTFOUND ? c : NULL;
}

static void *enqueue_late(void *argument)
{
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "late"};
    (void)argument;
    return reeve_enqueue(test_client, &spec, NULL) == REEVE_OK ? test_client : NULL;
}

/* Redis holds back a call of the connection whose name ends so. */
static bool is_held(const char *name)
{
    char *list = (char *)(uintptr_t)test_cmd(test_conn, "CLIENT LIST"), *rest = NULL;
    for (char *line = strtok_r(list, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        if (strstr(line, name) != NULL && strstr(line, " flags=b") != NULL) return true;
    return false;
}

/* Redis holds the turn of the first thread back, until the second one stands behind it. In between a task comes, or
 * afterwards. The session is so long that no heartbeat finds what was handed to nobody. */
static void overtake(bool in_between)
{
    pthread_t threads[3];
    void *results[3];
    reeve_consumer *c = test_consumer_open("q", &(reeve_consumer_options){.session_ms = 600000});
    test_put_spec((reeve_task_spec){.id = "first", .type = "t"}); /* the session begins with it */
    assert_string_equal(test_pull(c, 1, true), "first");
    test_good(c, test_settle_done(c, 0, NULL));
    atomic_store(&asks, false);
    assert_string_equal(test_cmd(test_conn, "CLIENT PAUSE 60000 WRITE"), "OK");
    assert_int_equal(pthread_create(&threads[0], NULL, wait_for_a_task, c), 0);
    TEST_AWAIT(is_held("-1 age="));
    if (in_between) assert_int_equal(pthread_create(&threads[2], NULL, enqueue_late, NULL), 0);
    if (in_between) TEST_AWAIT(is_held("reeve-client age="));
    assert_int_equal(pthread_create(&threads[1], NULL, ask_for_a_missing_task, c), 0);
    TEST_AWAIT(atomic_load(&asks));
    (void)poll(NULL, 0, 50); /* (nothing tells when it stands at the gate; if it comes late, there is nothing to see) */
    assert_string_equal(test_cmd(test_conn, "CLIENT UNPAUSE"), "OK");
    assert_int_equal(pthread_join(threads[1], &results[1]), 0);
    assert_ptr_equal(results[1], c);
    if (in_between) assert_int_equal(pthread_join(threads[2], &results[2]), 0);
    if (in_between) assert_ptr_equal(results[2], test_client);
    if (!in_between) test_put_spec((reeve_task_spec){.id = "late", .type = "t"});
    TEST_AWAIT_STATE("late", "completed");
    assert_int_equal(pthread_join(threads[0], &results[0]), 0);
    assert_ptr_equal(results[0], c);
    test_good(c, reeve_consumer_close(c));
}

static void a_call_by_id_takes_the_waiting_thread_out_of_idle(void **state)
{
    (void)state;
    overtake(false);
}

static void what_the_waiting_thread_was_handed_is_its_own(void **state)
{
    (void)state;
    overtake(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(threads_keep_to_the_maximum_together, set_up),
        cmocka_unit_test_setup(a_call_by_id_takes_the_waiting_thread_out_of_idle, set_up),
        cmocka_unit_test_setup(what_the_waiting_thread_was_handed_is_its_own, set_up),
    };
    return cmocka_run_group_tests_name("ct_consumer_threads", tests, test_place_start, test_place_stop);
}
