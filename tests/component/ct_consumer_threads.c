/* A consumer that several threads of a program share. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(threads_keep_to_the_maximum_together, set_up),
    };
    return cmocka_run_group_tests_name("ct_consumer_threads", tests, test_place_start, test_place_stop);
}
