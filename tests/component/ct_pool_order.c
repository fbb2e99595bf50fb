/* In which order a pool's threads serve its queues: strict, round-robin, weighted. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/worker.h"

/* ---- what ran -------------------------------------------------------------------------------------------------- */

#define MAX 20000

/* The queue's letter for each run, in the order of the runs. */
static char ran[MAX + 1];
static atomic_size_t ran_begun, ran_count;

static reeve_outcome run_note(reeve_task *task, void *user)
{
    (void)user;
    size_t at = atomic_fetch_add(&ran_begun, 1);
    TEST_MUST(at < MAX);
    ran[at] = reeve_task_queue(task)[0];
    atomic_fetch_add(&ran_count, 1);
    return reeve_task_done(task, NULL, 0);
}

static int set_up(void **state)
{
    test_close_gate();
    memset(ran, 0, sizeof(ran));
    atomic_store(&ran_begun, 0);
    atomic_store(&ran_count, 0);
    return test_place_empty(state);
}

static size_t ran_of(char queue, size_t first, size_t count)
{
    size_t n = 0;
    for (size_t i = first; i < first + count; i++) n += ran[i] == queue;
    return n;
}

static void expect_ran(size_t first, const char *expected)
{
    char part[256];
    (void)snprintf(part, sizeof(part), "%.*s", (int)strlen(expected), &ran[first]);
    assert_string_equal(part, expected);
}

/* ---- what there is to do --------------------------------------------------------------------------------------- */

static void put(const char *queue, size_t count)
{
    enum { AT_ONCE = 500 };
    static reeve_task_spec specs[AT_ONCE];
    static reeve_enqueued results[AT_ONCE];
    for (size_t i = 0; i < AT_ONCE; i++) specs[i] = (reeve_task_spec){.queue = queue, .type = "note"};
    for (; count > 0; count -= count < AT_ONCE ? count : AT_ONCE)
        test_ok(test_client, reeve_enqueue_many(test_client, specs, count < AT_ONCE ? count : AT_ONCE, results));
}

/* Over queues, names separated by blanks. */
static void add_pool(reeve_worker *worker, const char *queues, reeve_order order, const unsigned *weights,
                     unsigned threads, unsigned batch)
{
    char copy[256], *rest = NULL;
    const char *names[8];
    reeve_pool_options options = {.size = sizeof(options),
                                  .queues = names,
                                  .threads = threads,
                                  .batch = batch,
                                  .order = order,
                                  .weights = weights};
    assert_int_equal(reeve_worker_handle(worker, "note", run_note, NULL), REEVE_OK);
    rv_copy_text(copy, sizeof(copy), queues);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        assert_true(options.queue_count < 8);
        names[options.queue_count++] = name;
    }
    if (reeve_worker_add_pool(worker, &options) != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
}

static reeve_worker *new_worker(const char *queues, reeve_order order, const unsigned *weights, unsigned threads,
                                unsigned batch)
{
    reeve_worker *worker = test_worker_new(NULL);
    add_pool(worker, queues, order, weights, threads, batch);
    return worker;
}

/* All that was put has run, once, and was settled where it belongs. */
static void finish(reeve_worker *worker, const char *queue, size_t count, const char *other, size_t others)
{
    TEST_AWAIT(test_count(queue, "completed") == count && test_count(other, "completed") == others);
    reeve_worker_stats stats = test_worker_stats(worker);
    assert_int_equal(stats.refused, 0);
    assert_int_equal(stats.failed, 0);
    reeve_worker_destroy(worker);
}

/* ---- the sequences --------------------------------------------------------------------------------------------- */

static void expect_sequence(reeve_order order, const char *expected)
{
    put("a", 5);
    put("b", 2);
    put("c", 3);
    reeve_worker *worker = new_worker("c b a", order, NULL, 1, 1);
    test_worker_start(worker);
    TEST_AWAIT(test_count("c", "completed") == 3);
    finish(worker, "a", 5, "b", 2);
    assert_string_equal(ran, expected);
}

static void strict(void **state)
{
    (void)state;
    expect_sequence(REEVE_ORDER_STRICT, "cccbbaaaaa");
}

static void round_robin(void **state)
{
    (void)state;
    expect_sequence(REEVE_ORDER_ROUND_ROBIN, "cbacbacaaa");
}

static void all_weights_1(void **state)
{
    (void)state;
    expect_sequence(REEVE_ORDER_WEIGHTED, "cbacbacaaa");
}

static void weighted(void **state)
{
    (void)state;
    const unsigned weights[] = {5, 1};
    put("a", 600);
    put("b", 600);
    reeve_worker *worker = new_worker("a b", REEVE_ORDER_WEIGHTED, weights, 1, 1);
    test_worker_start(worker);
    finish(worker, "a", 600, "b", 600);
    expect_ran(0, "abaaaabaaaaabaaaaabaaaaa");
    for (size_t i = 0; i < 720; i += 6) assert_int_equal(ran_of('a', i, 6), 5);
    assert_int_equal(ran_of('b', 720, 480), 480); /* the rest, once a is empty */
}

/* ---- batches, threads ------------------------------------------------------------------------------------------ */

/* A batch may be given back when the machine stands still for 20 ms, and is charged all the same: hence some slack. */
static void weighted_in_batches(void **state)
{
    (void)state;
    const unsigned weights[] = {5, 1};
    put("a", 5000);
    put("b", 5000);
    reeve_worker *worker = new_worker("a b", REEVE_ORDER_WEIGHTED, weights, 1, 16);
    test_worker_start(worker);
    finish(worker, "a", 5000, "b", 5000);
    assert_in_range(ran_of('b', 0, 4800), 800 - 48, 800 + 48);
}

static void round_robin_in_batches(void **state)
{
    (void)state;
    put("a", 3000);
    put("b", 3000);
    put("c", 3000);
    reeve_worker *worker = new_worker("a b c", REEVE_ORDER_ROUND_ROBIN, NULL, 1, 16);
    test_worker_start(worker);
    TEST_AWAIT(test_count("c", "completed") == 3000);
    finish(worker, "a", 3000, "b", 3000);
    assert_in_range(ran_of('a', 0, 6000), 2000 - 64, 2000 + 64);
    assert_in_range(ran_of('c', 0, 6000), 2000 - 64, 2000 + 64);
}

static void weighted_by_several_threads(void **state)
{
    (void)state;
    const unsigned weights[] = {1, 5};
    put("b", 2000);
    put("a", 2000);
    reeve_worker *worker = new_worker("b a", REEVE_ORDER_WEIGHTED, weights, 4, 1);
    test_worker_start(worker);
    finish(worker, "a", 2000, "b", 2000);
    assert_in_range(ran_of('b', 0, 1800), 300 - 8, 300 + 8);
}

/* ---- empty queues ---------------------------------------------------------------------------------------------- */

/* While the one thread is held by a task of one queue, the other fills: it had nothing until then. */
static void fill_late(const char *full, const char *empty, const unsigned weights[2], const char *then)
{
    put(full, 200);
    test_put_spec((reeve_task_spec){.queue = full, .type = "hold", .id = "held"});
    put(full, 200);
    reeve_worker *worker = new_worker("a b", REEVE_ORDER_WEIGHTED, weights, 1, 1);
    test_worker_start(worker);
    TEST_AWAIT(atomic_load(&test_begun) == 1);
    assert_int_equal(atomic_load(&ran_count), 200);
    assert_int_equal(ran_of(*full, 0, 200), 200);
    put(empty, 200);
    test_open_gate();
    finish(worker, full, 401, empty, 200);
    expect_ran(200, then);
}

static void an_empty_queue_saves_nothing(void **state)
{
    (void)state;
    const unsigned weights[] = {5, 1};
    fill_late("a", "b", weights, "baaaabaaaaabaaaaabaaaaa");
}

static void nor_does_a_heavy_one(void **state)
{
    (void)state;
    const unsigned weights[] = {5, 1};
    fill_late("b", "a", weights, "abaaaaabaaaaabaaaaabaaaaa");
}

/* ---- asleep ---------------------------------------------------------------------------------------------------- */

/* A thread that waits hears of each of its queues, wherever that stands in its next turn. */
static void any_queue_wakes(reeve_order order)
{
    static const char *const sequence[] = {"a", "c", "b", "b", "a", "b", "c", "c", "a"};
    const unsigned weights[] = {3, 1, 2};
    reeve_worker *worker = new_worker("c b a", order, order == REEVE_ORDER_WEIGHTED ? weights : NULL, 1, 4);
    test_worker_start(worker);
    for (size_t i = 0; i < 9; i++) {
        TEST_AWAIT(strstr(test_cmd(test_conn, "INFO clients"), "blocked_clients:1\r"));
        put(sequence[i], 1);
        TEST_AWAIT(atomic_load(&ran_count) == i + 1);
        assert_int_equal(ran[i], *sequence[i]);
    }
    TEST_AWAIT(test_count("c", "completed") == 3);
    finish(worker, "a", 3, "b", 3);
}

static void any_queue_wakes_round_robin(void **state)
{
    (void)state;
    any_queue_wakes(REEVE_ORDER_ROUND_ROBIN);
}

static void any_queue_wakes_weighted(void **state)
{
    (void)state;
    any_queue_wakes(REEVE_ORDER_WEIGHTED);
}

/* ---- what is lost ---------------------------------------------------------------------------------------------- */

/* The session of one queue is gone while the next turn does not begin with the first queue: it is that queue's. */
static void a_lost_session_is_the_right_one(void **state)
{
    (void)state;
    /* No heartbeat that would find it out, either. */
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.session_ms = 600000});
    add_pool(worker, "c b a", REEVE_ORDER_ROUND_ROBIN, NULL, 1, 1);
    test_worker_start(worker);
    put("b", 1);
    TEST_AWAIT(test_count("b", "completed") == 1);
    put("a", 1);
    TEST_AWAIT(test_count("a", "completed") == 1);
    put("c", 1); /* the next turn begins with b */
    TEST_AWAIT(test_count("c", "completed") == 1);
    char key[128];
    assert_int_equal(sscanf(test_cmd(test_conn, "KEYS reeve:{a}:running:*"), "[%127[^] ]]", key), 1);
    assert_string_equal(test_cmd(test_conn, "DEL %s reeve:{a}:sessions", key), "2");
    put("a", 1);
    TEST_AWAIT(test_count("a", "completed") == 2);
    put("b", 1);
    finish(worker, "a", 2, "b", 2);
    expect_ran(0, "bacab");
}

/* Leases and outcomes stay with their queues when replies get lost. */
static void lost_connections(reeve_order order)
{
    const unsigned weights[] = {1, 2, 3};
    reeve_worker *worker = new_worker("c b a", order, order == REEVE_ORDER_WEIGHTED ? weights : NULL, 2, 8);
    test_worker_start(worker);
    for (int i = 0; i < 10; i++) {
        put("c", 100);
        put("a", 100);
        put("b", 100);
        TEST_AWAIT(atomic_load(&ran_count) > (size_t)i * 300 + 50);
        test_kill_connections();
    }
    TEST_AWAIT(test_count("c", "completed") == 1000);
    TEST_AWAIT(test_count("a", "completed") == 1000 && test_count("b", "completed") == 1000);
    reeve_worker_destroy(worker);
}

static void lost_connections_round_robin(void **state)
{
    (void)state;
    lost_connections(REEVE_ORDER_ROUND_ROBIN);
}

static void lost_connections_weighted(void **state)
{
    (void)state;
    lost_connections(REEVE_ORDER_WEIGHTED);
}

/* ---- what is refused, what is told ----------------------------------------------------------------------------- */

static void refused(reeve_order order, const unsigned *weights, const char *words)
{
    reeve_worker *worker = test_worker_new(NULL);
    const char *const names[] = {"a", "b"};
    const reeve_pool_options options = {
        .name = "p", .queues = names, .queue_count = 2, .order = order, .weights = weights};
    assert_int_equal(reeve_worker_add_pool(worker, &options), REEVE_EINVAL);
    assert_string_equal(reeve_worker_error(worker), words);
    reeve_worker_destroy(worker);
}

static void bad_options(void **state)
{
    (void)state;
    const unsigned good[] = {1, 1000}, low[] = {0, 1}, high[] = {1, 1001};
    refused((reeve_order)3, NULL, "pool p: there is no such order");
    refused(REEVE_ORDER_STRICT, good, "pool p: weights are for REEVE_ORDER_WEIGHTED only");
    refused(REEVE_ORDER_ROUND_ROBIN, good, "pool p: weights are for REEVE_ORDER_WEIGHTED only");
    refused(REEVE_ORDER_WEIGHTED, low, "pool p: the weight of queue 1 is 0: it must be from 1 to 1000");
    refused(REEVE_ORDER_WEIGHTED, high, "pool p: the weight of queue 2 is 1001: it must be from 1 to 1000");
}

static bool told(const char *words)
{
    reeve_worker_info *list;
    size_t count;
    test_ok(test_client, reeve_workers(test_client, &list, &count));
    bool is = count == 1 && strstr(list[0].pools, words) != NULL;
    reeve_workers_free(list, count);
    return is;
}

static void the_workers_entry_tells(void **state)
{
    (void)state;
    reeve_worker *worker = new_worker("a b", REEVE_ORDER_STRICT, NULL, 1, 1);
    test_worker_start(worker);
    TEST_AWAIT(told("{\"name\":\"pool-1\",\"threads\":1,") && told(",\"queues\":[\"a\",\"b\"]}"));
    reeve_worker_destroy(worker);
    worker = new_worker("a b", REEVE_ORDER_WEIGHTED, NULL, 1, 1);
    test_worker_start(worker);
    TEST_AWAIT(told(",\"order\":\"weighted\",\"queues\":[\"a\",\"b\"]}"));
    reeve_worker_destroy(worker);
    worker = new_worker("a b", REEVE_ORDER_ROUND_ROBIN, NULL, 1, 1);
    test_worker_start(worker);
    TEST_AWAIT(told("\"order\":\"round-robin\""));
    reeve_worker_destroy(worker);
}

/* A thousand queues are allowed: the last is found, and woken for. */
static void a_thousand_queues(void **state)
{
    (void)state;
    enum { QUEUES = 1000 };
    static char texts[QUEUES][16];
    static const char *names[QUEUES];
    static const reeve_order orders[] = {REEVE_ORDER_ROUND_ROBIN, REEVE_ORDER_WEIGHTED};
    for (int i = 0; i < QUEUES; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "q%d", i);
        names[i] = texts[i];
    }
    for (size_t i = 0; i < 2; i++) {
        reeve_worker *worker = test_worker_new(NULL);
        const reeve_pool_options options = {.queues = names, .queue_count = QUEUES, .order = orders[i]};
        assert_int_equal(reeve_worker_handle(worker, "note", run_note, NULL), REEVE_OK);
        assert_int_equal(reeve_worker_add_pool(worker, &options), REEVE_OK);
        put("q999", 10);
        put("q500", 10);
        test_worker_start(worker);
        TEST_AWAIT(atomic_load(&ran_count) == i * 30 + 20);
        put("q0", 10);
        TEST_AWAIT(atomic_load(&ran_count) == i * 30 + 30);
        reeve_worker_destroy(worker);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(strict, set_up),
        cmocka_unit_test_setup(round_robin, set_up),
        cmocka_unit_test_setup(all_weights_1, set_up),
        cmocka_unit_test_setup(weighted, set_up),
        cmocka_unit_test_setup(weighted_in_batches, set_up),
        cmocka_unit_test_setup(round_robin_in_batches, set_up),
        cmocka_unit_test_setup(weighted_by_several_threads, set_up),
        cmocka_unit_test_setup(an_empty_queue_saves_nothing, set_up),
        cmocka_unit_test_setup(nor_does_a_heavy_one, set_up),
        cmocka_unit_test_setup(any_queue_wakes_round_robin, set_up),
        cmocka_unit_test_setup(any_queue_wakes_weighted, set_up),
        cmocka_unit_test_setup(a_lost_session_is_the_right_one, set_up),
        cmocka_unit_test_setup(lost_connections_round_robin, set_up),
        cmocka_unit_test_setup(lost_connections_weighted, set_up),
        cmocka_unit_test_setup(bad_options, set_up),
        cmocka_unit_test_setup(the_workers_entry_tells, set_up),
        cmocka_unit_test_setup(a_thousand_queues, set_up),
    };
    return cmocka_run_group_tests_name("ct_pool_order", tests, test_place_start, test_place_stop);
}
