/* One call of turn.lua for several threads, where a pool has several queues, and where limits or events are in force:
 * the order of the queues, the limits and what events tell are as if each thread had called by itself. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reeve/watch.h"
#include "support/cmd.h"
#include "support/limits.h"
#include "support/proxy.h"
#include "support/worker.h"

#define Q "reeve:{q}:"
/* What only the turn of several threads has among its arguments. */
#define SEVERAL "$7\r\nseveral"

/* ---- what ran -------------------------------------------------------------------------------------------------- */

#define MAX 200000

/* The last letter of the queue's name, in the order in which the runs began. */
static char ran[MAX + 1];
static atomic_size_t ran_begun, ran_ended;
/* How many run at the same time, and the most of these. */
static atomic_int running_now, running_most;

static reeve_outcome run_note(reeve_task *task, void *user)
{
    (void)user;
    const char *queue = reeve_task_queue(task);
    size_t at = atomic_fetch_add(&ran_begun, 1);
    TEST_MUST(at < MAX);
    ran[at] = queue[strlen(queue) - 1];
    int now = atomic_fetch_add(&running_now, 1) + 1, most = atomic_load(&running_most);
    while (now > most && !atomic_compare_exchange_weak(&running_most, &most, now)) continue;
    usleep(1000);
    atomic_fetch_sub(&running_now, 1);
    atomic_fetch_add(&ran_ended, 1);
    return reeve_task_done(task, NULL, 0);
}

static int set_up(void **state)
{
    test_close_gate();
    memset(ran, 0, sizeof(ran));
    atomic_store(&ran_begun, 0);
    atomic_store(&ran_ended, 0);
    atomic_store(&running_most, 0);
    return test_place_empty(state);
}

static size_t ran_of(char queue, size_t first, size_t count)
{
    size_t n = 0;
    for (size_t i = first; i < first + count; i++) n += ran[i] == queue;
    return n;
}

/* ---- what there is to do --------------------------------------------------------------------------------------- */

static void put(const char *queue, size_t count, const char *group)
{
    enum { AT_ONCE = 500 };
    static reeve_task_spec specs[AT_ONCE];
    static reeve_enqueued results[AT_ONCE];
    for (size_t i = 0; i < AT_ONCE; i++) specs[i] = (reeve_task_spec){.queue = queue, .type = "note", .group = group};
    for (; count > 0; count -= count < AT_ONCE ? count : AT_ONCE)
        test_ok(test_client, reeve_enqueue_many(test_client, specs, count < AT_ONCE ? count : AT_ONCE, results));
}

static reeve_worker *worker_of(const char *url, const char *const *queues, size_t count, reeve_order order,
                               const unsigned *weights)
{
    const reeve_worker_options options = {.redis = url};
    reeve_worker *worker = test_worker_new(&options);
    const reeve_pool_options pool = {.size = sizeof(pool),
                                     .queues = queues,
                                     .queue_count = count,
                                     .threads = url != NULL ? 20 : 48, /* as many as a proxy has links for */
                                     .batch = 1,
                                     .order = order,
                                     .weights = weights};
    assert_int_equal(reeve_worker_handle(worker, "note", run_note, NULL), REEVE_OK);
    if (reeve_worker_add_pool(worker, &pool) != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    return worker;
}

static const char *const three[] = {"a", "b", "c"};

static void put_in_three(size_t each)
{
    for (size_t i = 0; i < 3; i++) put(three[i], each, NULL);
}

/* All end, with an outcome each, and nothing is left of them. */
static void end_after(reeve_worker *worker, const char *const *queues, size_t queue_count, size_t count)
{
    TEST_AWAIT(atomic_load(&ran_ended) == count);
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    reeve_worker_stats stats = test_worker_stats(worker);
    reeve_worker_destroy(worker);
    assert_int_equal(stats.completed, count);
    assert_int_equal(stats.refused, 0);
    assert_int_equal(atomic_load(&ran_begun), count);
    for (size_t i = 0; i < queue_count; i++) {
        assert_int_equal(test_count(queues[i], "running"), 0);
        assert_int_equal(test_count(queues[i], "ready"), 0);
    }
}

/* Whether threads shared calls for what was run last. */
static bool is_shared;

/* Runs what was put. */
static void run_shared(reeve_worker *worker, const char *const *queues, size_t queue_count, size_t count)
{
    test_remember_calls();
    test_worker_start(worker);
    TEST_AWAIT(atomic_load(&ran_ended) == count);
    is_shared = test_shared_calls() > 0;
    end_after(worker, queues, queue_count, count);
}

/* On a machine that stalls threads call by themselves for some seconds (running/share.h): then all is done again. */
static void until_shared(void **state, void (*run)(void))
{
    enum { TIMES_MAX = 30 };
    is_shared = false;
    for (int times = 0; !is_shared; times++) {
        if (times == TIMES_MAX) fail_msg("threads share no calls");
        set_up(state);
        run();
    }
}

/* ---- several queues -------------------------------------------------------------------------------------------- */

static void run_strict(void)
{
    enum { EACH = 2000, THREADS = 48 };
    put_in_three(EACH);
    run_shared(worker_of(NULL, three, 3, REEVE_ORDER_STRICT, NULL), three, 3, 3 * EACH);
    assert_int_equal(ran_of('a', 0, EACH - THREADS), EACH - THREADS);
    assert_int_equal(ran_of('c', 0, 2 * EACH - THREADS), 0);
}

static void the_first_queue_comes_first(void **state)
{
    until_shared(state, run_strict);
}

static void run_round_robin(void)
{
    enum { EACH = 2000 };
    put_in_three(EACH);
    run_shared(worker_of(NULL, three, 3, REEVE_ORDER_ROUND_ROBIN, NULL), three, 3, 3 * EACH);
    for (char queue = 'a'; queue <= 'c'; queue++) {
        size_t share = ran_of(queue, 0, 3000);
        if (share < 850 || share > 1150) fail_msg("%zu of 3000 are of queue %c", share, queue);
    }
}

static void each_queue_in_turn(void **state)
{
    until_shared(state, run_round_robin);
}

static void run_weighted(void)
{
    enum { EACH = 2000 };
    static const unsigned weights[] = {5, 2, 1};
    put_in_three(EACH);
    run_shared(worker_of(NULL, three, 3, REEVE_ORDER_WEIGHTED, weights), three, 3, 3 * EACH);
    for (size_t i = 0; i < 3; i++) {
        size_t share = ran_of(three[i][0], 0, 2400), fair = 2400 * weights[i] / 8;
        if (share < fair * 8 / 10 || share > fair * 12 / 10) fail_msg("%zu of 2400 are of queue %s", share, three[i]);
    }
}

static void queues_by_their_weights(void **state)
{
    until_shared(state, run_weighted);
}

/* A turn asks only some of the queues. */
static void very_many_queues(reeve_order order)
{
    enum { QUEUES = 60, EACH = 50 };
    static char names[QUEUES][8];
    static const char *queues[QUEUES];
    for (size_t i = 0; i < QUEUES; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "%zu-%c", i, (char)('a' + i % 26));
        queues[i] = names[i];
        put(queues[i], EACH, NULL);
    }
    reeve_worker *worker = worker_of(NULL, queues, QUEUES, order, NULL);
    test_worker_start(worker);
    end_after(worker, queues, QUEUES, QUEUES * EACH);
}

static void very_many_queues_strict(void **state)
{
    (void)state;
    very_many_queues(REEVE_ORDER_STRICT);
}

static void very_many_queues_in_turn(void **state)
{
    (void)state;
    very_many_queues(REEVE_ORDER_ROUND_ROBIN);
}

static void very_many_queues_weighted(void **state)
{
    (void)state;
    very_many_queues(REEVE_ORDER_WEIGHTED);
}

/* One queue is nearly empty all the time, and its tasks come in between. */
static void a_queue_that_fills_again(void **state)
{
    (void)state;
    enum { MANY = 4000, FEW = 100 };
    put("b", MANY, NULL);
    put("c", MANY, NULL);
    reeve_worker *worker = worker_of(NULL, three, 3, REEVE_ORDER_STRICT, NULL);
    test_worker_start(worker);
    for (size_t i = 0; i < FEW; i++) {
        size_t before = atomic_load(&ran_begun);
        put("a", 1, NULL);
        TEST_AWAIT(atomic_load(&ran_begun) > before);
    }
    end_after(worker, three, 3, 2 * MANY + FEW);
    assert_int_equal(ran_of('a', 0, 2 * MANY + FEW), FEW);
}

/* Threads that had to wait for a call that was lost call by themselves for a while: there are tasks until they share
 * again. */
static void replies_are_lost(void **state)
{
    (void)state;
    enum { EACH = 500, LOST = 12 };
    test_proxy *proxy = test_proxy_start(test_redis);
    reeve_worker *worker = worker_of(test_proxy_url(proxy), three, 3, REEVE_ORDER_ROUND_ROBIN, NULL);
    test_proxy_lose_all(proxy, SEVERAL, LOST);
    test_worker_start(worker);
    size_t count = 0;
    for (; test_proxy_lost(proxy) < LOST && count + 3 * EACH <= MAX; count += 3 * EACH) {
        put_in_three(EACH);
        TEST_AWAIT(atomic_load(&ran_ended) + EACH > count);
    }
    assert_int_equal(test_proxy_lost(proxy), LOST);
    end_after(worker, three, 3, count);
    test_proxy_stop(proxy);
}

/* The session in one of the queues is lost, that in the others is not. */
static void a_session_is_lost(void **state)
{
    (void)state;
    enum { EACH = 1500 };
    put_in_three(EACH);
    reeve_worker *worker = worker_of(NULL, three, 3, REEVE_ORDER_ROUND_ROBIN, NULL);
    /* A task that crashed before goes to the front, and may run again each time that a session is taken away. */
    const reeve_handler_policy policy = {.type = "note", .max_crashes = 100};
    assert_int_equal(reeve_worker_set_policy(worker, &policy), REEVE_OK);
    test_worker_start(worker);
    for (size_t i = 1; i <= 4; i++) {
        TEST_AWAIT(atomic_load(&ran_ended) > 600 * i);
        /* A session begins with a lease: none does behind the last task. */
        TEST_AWAIT(test_number("ZCARD reeve:{b}:sessions") > 0 || test_count("b", "completed") == EACH);
        if (test_count("b", "completed") == EACH) break;
        const char *sessions = test_cmd(test_conn, "ZRANGE reeve:{b}:sessions 0 0"); /* in brackets */
        char session[RV_SESSION_LENGTH + 1];
        rv_copy_text(session, sizeof(session), sessions + 1);
        (void)test_cmd(test_conn, "ZADD reeve:{b}:sessions XX 1 %s", session);
        test_maintain_all("b");
    }
    TEST_AWAIT(test_count("a", "completed") + test_count("b", "completed") + test_count("c", "completed") == 3 * EACH);
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    reeve_worker_stats stats = test_worker_stats(worker);
    reeve_worker_destroy(worker);
    assert_int_equal(stats.completed, 3 * EACH);
    /* A task that was leased, and did not begin, may be refused when it goes back. */
    assert_true(atomic_load(&ran_ended) <= stats.completed + stats.refused);
}

/* The threads share calls as those of one pool do. */
static void run_many_pools(void)
{
    enum { EACH = 2000 };
    put_in_three(EACH);
    reeve_worker *worker = test_worker_new(NULL);
    const reeve_pool_options pool = {.size = sizeof(pool), .queues = three, .queue_count = 3, .threads = 1, .batch = 1};
    assert_int_equal(reeve_worker_handle(worker, "note", run_note, NULL), REEVE_OK);
    for (int i = 0; i < 48; i++)
        if (reeve_worker_add_pool(worker, &pool) != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    run_shared(worker, three, 3, 3 * EACH);
}

static void many_pools_of_the_same_queues(void **state)
{
    until_shared(state, run_many_pools);
}

/* ---- limits and events ----------------------------------------------------------------------------------------- */

static const char *const one[] = {"q"};

static void run_limited(void)
{
    enum { COUNT = 6000, AT_ONCE = 40 };
    test_limit_queue(AT_ONCE, NULL);
    put("q", COUNT, NULL);
    run_shared(worker_of(NULL, one, 1, REEVE_ORDER_STRICT, NULL), one, 1, COUNT);
    assert_true(atomic_load(&running_most) <= AT_ONCE);
    test_limits_agree();
}

static void a_limit_of_the_queue(void **state)
{
    until_shared(state, run_limited);
}

static void run_limited_groups(void)
{
    enum { GROUPS = 20, EACH = 200, AT_ONCE = 2 };
    test_limit_groups(AT_ONCE, NULL);
    for (int i = 0; i < GROUPS; i++) {
        char group[8];
        (void)snprintf(group, sizeof(group), "g%d", i);
        put("q", EACH, group);
    }
    run_shared(worker_of(NULL, one, 1, REEVE_ORDER_STRICT, NULL), one, 1, GROUPS * EACH);
    assert_true(atomic_load(&running_most) <= GROUPS * AT_ONCE);
    test_limits_agree();
}

static void limits_of_groups(void **state)
{
    until_shared(state, run_limited_groups);
}

/* Each task is leased once, to a thread that there is. */
static void run_with_events(void)
{
    enum { COUNT = 3000 };
    test_ok(test_client, reeve_events_keep(test_client, "q", 100000));
    put("q", COUNT, NULL);
    run_shared(worker_of(NULL, one, 1, REEVE_ORDER_STRICT, NULL), one, 1, COUNT);
    size_t leased = 0;
    char from[64] = "-";
    for (const char *page = ""; strcmp(page, "[]") != 0;) {
        page = test_cmd(test_conn, "XRANGE " Q "events %s + COUNT 20", from);
        for (const char *at = page; (at = strstr(at, " leased ")) != NULL; at++) leased++;
        for (const char *at = page; (at = strstr(at, "[event ")) != NULL; at++) {
            const char *id = at - 2;
            while (id[-1] != '[') id--;
            (void)snprintf(from, sizeof(from), "(%.*s", (int)(at - 1 - id), id);
        }
    }
    assert_int_equal(leased, COUNT);
}

static void events_tell_of_each_lease(void **state)
{
    until_shared(state, run_with_events);
}

/* ---- the end of the work --------------------------------------------------------------------------------------- */

/* Whoever is leased nothing waits, and is handed the next task. */
static void nobody_calls_twice_when_the_queue_is_empty(void **state)
{
    (void)state;
    enum { COUNT = 3000, THREADS = 48, LATER = 200 };
    put("q", COUNT, NULL);
    reeve_worker *worker = worker_of(NULL, one, 1, REEVE_ORDER_STRICT, NULL);
    test_worker_start(worker);
    TEST_AWAIT(atomic_load(&ran_ended) == COUNT);
    TEST_AWAIT(test_number("LLEN " Q "idle") == THREADS);
    for (size_t i = 0; i < LATER; i++) put("q", 1, NULL);
    end_after(worker, one, 1, COUNT + LATER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_first_queue_comes_first, set_up),
        cmocka_unit_test_setup(each_queue_in_turn, set_up),
        cmocka_unit_test_setup(queues_by_their_weights, set_up),
        cmocka_unit_test_setup(very_many_queues_strict, set_up),
        cmocka_unit_test_setup(very_many_queues_in_turn, set_up),
        cmocka_unit_test_setup(very_many_queues_weighted, set_up),
        cmocka_unit_test_setup(a_queue_that_fills_again, set_up),
        cmocka_unit_test_setup(replies_are_lost, set_up),
        cmocka_unit_test_setup(a_session_is_lost, set_up),
        cmocka_unit_test_setup(many_pools_of_the_same_queues, set_up),
        cmocka_unit_test_setup(a_limit_of_the_queue, set_up),
        cmocka_unit_test_setup(limits_of_groups, set_up),
        cmocka_unit_test_setup(events_tell_of_each_lease, set_up),
        cmocka_unit_test_setup(nobody_calls_twice_when_the_queue_is_empty, set_up),
    };
    return cmocka_run_group_tests_name("ct_share_queues", tests, test_place_start, test_place_stop);
}
