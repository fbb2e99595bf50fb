/* ut_pool_busy.c - how many of the threads that a pool is to have run a task. */
#include "running/pool_threads.h"
#include "support/cmocka.h"

#define THREADS 4

static reeve_worker worker = {.lock = PTHREAD_MUTEX_INITIALIZER};
static rv_pool old, pool;
static rv_thread old_threads[1], threads[THREADS];

static void add_pool(rv_pool *to, unsigned target, rv_thread **list, rv_thread *made, unsigned count)
{
    *to = (rv_pool){.line = 1};
    atomic_store(&to->target, target);
    for (unsigned i = 0; i < count; i++) {
        made[i] = (rv_thread){.alive = true};
        list[i] = &made[i];
    }
    atomic_store(&to->threads, list);
    atomic_store(&to->thread_count, count);
}

/* A pool that is to have some threads, which run nothing, and one before it that it takes the place of. */
static void make(unsigned target, unsigned count)
{
    static rv_thread *old_list[1], *list[THREADS];
    static rv_pool *pools[] = {&old, &pool};
    add_pool(&old, 0, old_list, old_threads, 1);
    old_threads[0].alive = false;
    add_pool(&pool, target, list, threads, count);
    atomic_store(&worker.pools, pools);
    atomic_store(&worker.pool_count, 2);
}

static void run(rv_thread *t, bool retires)
{
    atomic_store(&t->activity, RV_ACTIVITY_RUNS);
    atomic_store(&t->retires, retires);
}

static unsigned busy(void)
{
    return rv_pool_threads_busy(&pool, &worker);
}

static void threads_that_run_count(void **state)
{
    (void)state;
    make(2, 2);
    assert_int_equal(busy(), 0);
    run(&threads[0], false);
    assert_int_equal(busy(), 1);
    run(&threads[1], false);
    assert_int_equal(busy(), 2);
}

static void a_stuck_thread_with_a_spare_one_does_not(void **state)
{
    (void)state;
    make(1, 2);
    run(&threads[0], false);
    threads[0].spared = true;
    assert_int_equal(busy(), 0);
    run(&threads[1], false);
    assert_int_equal(busy(), 1);
}

static void one_that_retires_counts_while_none_has_its_place(void **state)
{
    (void)state;
    make(2, 4); /* it was to have more */
    run(&threads[0], true);
    run(&threads[1], true);
    assert_int_equal(busy(), 0);
    run(&threads[2], false);
    assert_int_equal(busy(), 1);
    threads[3].alive = false;
    assert_int_equal(busy(), 2);
    make(1, 1); /* its handlers were replaced */
    run(&threads[0], true);
    assert_int_equal(busy(), 1);
}

static void one_of_the_pool_before_does_likewise(void **state)
{
    (void)state;
    make(1, 1);
    old_threads[0].alive = true;
    run(&old_threads[0], true);
    assert_int_equal(busy(), 0);
    threads[0].alive = false;
    assert_int_equal(busy(), 1);
}

/* Its program runs the tasks. */
static void the_thread_of_a_consumer_counts(void **state)
{
    (void)state;
    make(1, 1);
    threads[0].alive = false;
    run(&threads[0], false);
    assert_int_equal(busy(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_run_count),
        cmocka_unit_test(a_stuck_thread_with_a_spare_one_does_not),
        cmocka_unit_test(one_that_retires_counts_while_none_has_its_place),
        cmocka_unit_test(one_of_the_pool_before_does_likewise),
        cmocka_unit_test(the_thread_of_a_consumer_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
