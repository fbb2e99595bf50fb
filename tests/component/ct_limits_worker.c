/* Limits as workers keep them: counted where the handlers run; and that nothing polls while one holds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/limits.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

/* ---- handlers that count --------------------------------------------------------------------------------------- */

static atomic_int inside, max_inside, ended;
static atomic_uint order[1000];
static atomic_int said[8];

static void enter(void)
{
    int now = atomic_fetch_add(&inside, 1) + 1, max = atomic_load(&max_inside);
    while (now > max && !atomic_compare_exchange_weak(&max_inside, &max, now)) continue;
}

/* "count": takes 3 ms. */
static reeve_outcome count(reeve_task *task, void *user)
{
    (void)user;
    enter();
    usleep(3000);
    atomic_fetch_sub(&inside, 1);
    atomic_fetch_add(&ended, 1);
    return reeve_task_done(task, NULL, 0);
}

/* "step": one of "s000", "s001", ...; each third is given back when it comes for the first time. */
static atomic_uchar given_back[1000];

static reeve_outcome step(reeve_task *task, void *user)
{
    unsigned long number = strtoul(reeve_task_id(task) + 1, NULL, 10);
    (void)user;
    enter();
    usleep(500);
    atomic_fetch_sub(&inside, 1);
    if (number % 3 == 0 && atomic_exchange(&given_back[number], 1) == 0) return reeve_task_give_back(task);
    atomic_store(&order[atomic_fetch_add(&ended, 1)], (unsigned)number);
    return reeve_task_done(task, NULL, 0);
}

/* "retry-after": holds the queue, or its group, as its payload says, for longer than a test waits, and comes again. */
#define HOLD_MS 3600000

static reeve_outcome retry_after(reeve_task *task, void *user)
{
    const char *group = reeve_task_payload(task).length > 0 ? reeve_task_group(task) : NULL;
    (void)user;
    if (atomic_fetch_add(&test_begun, 1) > 0) return reeve_task_done(task, NULL, 0);
    said[0] = reeve_task_pause_for(task, group, HOLD_MS);
    said[1] = reeve_task_pause_for(task, group, 1); /* does not shorten it */
    said[2] = reeve_task_pause_for(task, "", 1);
    said[3] = reeve_task_pause_for(task, "\xff", 1);
    said[4] = reeve_task_pause_for(task, group, -1);
    return reeve_task_snooze(task, 0);
}

static int set_up(void **state)
{
    test_close_gate();
    inside = max_inside = ended = 0;
    memset(given_back, 0, sizeof(given_back));
    return test_place_empty(state);
}

static reeve_worker *run_worker(unsigned threads)
{
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_handle(worker, "count", count, NULL), REEVE_OK);
    assert_int_equal(reeve_worker_handle(worker, "step", step, NULL), REEVE_OK);
    assert_int_equal(reeve_worker_handle(worker, "retry-after", retry_after, NULL), REEVE_OK);
    test_worker_pool(worker, "q", threads, 0);
    test_worker_start(worker);
    return worker;
}

static void end(reeve_worker *worker)
{
    if (reeve_worker_stop(worker, 10000) != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    reeve_worker_destroy(worker);
    test_limits_agree();
}

static void put(const char *type, const char *group, const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char id[REEVE_ID_MAX];
        (void)snprintf(id, sizeof(id), "%s%03zu", name, i);
        test_put_spec((reeve_task_spec){.type = type, .group = group, .id = id});
    }
}

/* ---- concurrency ----------------------------------------------------------------------------------------------- */

static void never_more_and_not_less(void **state)
{
    (void)state;
    test_limit_queue(3, NULL);
    put("count", NULL, "x", 400);
    reeve_worker *one = run_worker(4), *two = run_worker(4);
    TEST_AWAIT(ended == 400);
    TEST_AWAIT(test_limits_running() == 0);
    assert_int_equal(max_inside, 3);
    end(one);
    end(two);
}

static void changed_while_they_run(void **state)
{
    (void)state;
    test_limit_queue(2, NULL);
    put("hold", NULL, "x", 20);
    reeve_worker *one = run_worker(5), *two = run_worker(5);
    TEST_AWAIT(test_begun == 2);
    test_limit_queue(7, NULL);
    TEST_AWAIT(test_begun == 7);
    assert_int_equal(test_limits_running(), 7);
    test_limit_queue(-1, NULL);
    TEST_AWAIT(test_begun == 10);
    test_limit_queue(3, NULL);
    assert_int_equal(test_limits_running(), test_count("q", "running"));
    put("count", NULL, "y", 100);
    test_open_gate();
    TEST_AWAIT(ended == 100);
    assert_int_equal(max_inside, 3);
    TEST_AWAIT(test_limits_running() == 0);
    end(one);
    end(two);
}

static void a_worker_that_stops(void **state)
{
    (void)state;
    test_limit_queue(3, NULL);
    test_limit_groups(2, NULL);
    put("hold", "g", "x", 5);
    put("hold", "h", "y", 5);
    reeve_worker *one = run_worker(4);
    TEST_AWAIT(test_begun == 3);
    assert_int_equal(reeve_worker_stop(one, 0), REEVE_OK);
    reeve_worker_destroy(one);
    test_limits_agree();
    assert_int_equal(test_limits_running(), 0);
    test_open_gate();
    reeve_worker *two = run_worker(4);
    TEST_AWAIT(test_count("q", "completed") == 10);
    end(two);
    test_groups_forgotten();
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

static void serial_and_in_order(void **state)
{
    (void)state;
    enum { STEPS = 200 };
    test_hand hand;
    test_limit_groups(1, NULL);
    put("step", "g", "s", STEPS);
    test_hand_init(&hand, "1", "q"); /* takes the first one, and dies */
    assert_int_equal(test_lease(&hand, 1), 1);
    reeve_worker *one = run_worker(3), *two = run_worker(3);
    test_expire(&hand);
    test_maintain_all("q");
    TEST_AWAIT(ended == STEPS);
    for (unsigned i = 0; i < STEPS; i++) assert_int_equal(order[i], i);
    assert_int_equal(max_inside, 1);
    end(one);
    end(two);
    test_groups_forgotten();
}

/* Whose turn parked all that was ready, and leased nothing. */
static void who_waits_for_a_place_lives_on(void **state)
{
    (void)state;
    const reeve_worker_options options = {.session_ms = 1500};
    test_hand hand;
    char session[RV_SESSION_LENGTH + 1] = "";
    test_limit_groups(1, NULL);
    put("t", "g", "first", 1);
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_lease(&hand, 1), 1);
    put("t", "g", "second", 1);
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    TEST_AWAIT(test_number("ZCARD " Q "sessions") == 2);
    for (int i = 0; i < 2; i++) {
        const char *one = test_cmd(test_conn, "ZRANGE " Q "sessions %d %d", i, i) + 1; /* (in brackets) */
        if (strncmp(one, hand.sessions[0], strlen(hand.sessions[0])) != 0) rv_copy_text(session, sizeof(session), one);
    }
    long long until = test_number("ZSCORE " Q "sessions %s", session);
    assert_true(until > 0);
    TEST_AWAIT(test_number("ZSCORE " Q "sessions %s", session) > until);
    test_expire(&hand);
    TEST_AWAIT(test_count("q", "completed") == 2);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    end(worker);
}

static void so_many_of_a_group(void **state)
{
    (void)state;
    test_limit_group("g", 3, NULL);
    put("count", "g", "x", 300);
    reeve_worker *one = run_worker(4), *two = run_worker(4);
    TEST_AWAIT(ended == 300);
    assert_int_equal(max_inside, 3);
    end(one);
    end(two);
    test_limit_forget("g");
    test_groups_forgotten();
}

static void a_full_group_holds_nobody_up(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put("hold", "slow", "x", 300);
    put("count", "fast", "y", 50);
    reeve_worker *worker = run_worker(3);
    TEST_AWAIT(ended == 50);
    TEST_AWAIT(test_begun >= 1); /* (it may have been leased first and begin last) */
    assert_int_equal(test_begun, 1);
    assert_int_equal(max_inside, 1);
    test_limit_groups(2, NULL); /* for those that are parked, too */
    TEST_AWAIT(test_begun == 2);
    test_open_gate();
    TEST_AWAIT(test_count("q", "completed") == 350);
    end(worker);
    test_groups_forgotten();
}

/* ---- silence ----------------------------------------------------------------------------------------------------- */

static long long scripts_called(void)
{
    const char *found = strstr(test_cmd(test_conn, "INFO commandstats"), "cmdstat_evalsha:calls=");
    return found ? strtoll(found + strlen("cmdstat_evalsha:calls="), NULL, 10) : 0;
}

/* There comes a second with heartbeats, and a look or two; whoever polled would call hundreds of times in each. */
static bool is_silent_for_a_second(void)
{
    long long before = scripts_called();
    usleep(1000000);
    return scripts_called() - before <= 6;
}

static void expect_silence(void)
{
    TEST_AWAIT(is_silent_for_a_second());
}

/* ---- rates and holds ------------------------------------------------------------------------------------------- */

static int64_t redis_ms(void)
{
    long long s = 0, us = 0;
    assert_int_equal(sscanf(test_cmd(test_conn, "TIME"), "[%lld %lld]", &s, &us), 2);
    return s * 1000 + us / 1000;
}

static void a_rate_is_kept(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(3);
    test_limit_queue(0, TEST_RATE(100, 1000, 5));
    int64_t began = redis_ms();
    put("count", NULL, "x", 55);
    TEST_AWAIT(ended == 55);
    assert_true(redis_ms() - began >= 500);
    test_limit_queue(0, TEST_ANY_RATE);
    test_limit_groups(0, TEST_RATE(50, 1000, 5));
    began = redis_ms();
    put("count", "g", "y", 30);
    put("count", "h", "z", 30);
    TEST_AWAIT(ended == 55 + 60);
    assert_true(redis_ms() - began >= 500);
    end(worker);
}

static void handlers_hold(const char *words)
{
    reeve_worker *worker = run_worker(2);
    const char *group = words[0] != '\0' ? "g" : NULL;
    test_put_spec((reeve_task_spec){.type = "retry-after", .id = "x", .group = "g", .payload = {words, strlen(words)}});
    TEST_AWAIT(test_begun == 1);
    TEST_AWAIT(test_count("q", "running") == 0);
    put("t", "g", "y", 3);
    put("t", "h", "z", 3);
    if (group != NULL) TEST_AWAIT(test_count("q", "completed") == 3);
    expect_silence();
    assert_int_equal(test_count("q", "completed"), group != NULL ? 3 : 0);
    test_ok(test_client, reeve_pause_for(test_client, "q", group, 0, NULL));
    TEST_AWAIT(test_count("q", "completed") == 7);
    const reeve_status expected[] = {REEVE_OK, REEVE_OK, REEVE_EINVAL, REEVE_EINVAL, REEVE_EINVAL};
    for (size_t i = 0; i < 5; i++) assert_int_equal(said[i], expected[i]);
    end(worker);
    test_groups_forgotten();
    assert_int_equal(test_number("HEXISTS " Q "settings in_force"), 0);
}

static void a_handler_holds_the_queue(void **state)
{
    (void)state;
    handlers_hold("");
}

static void a_handler_holds_its_group(void **state)
{
    (void)state;
    handlers_hold("group");
}

/* ---- idle ------------------------------------------------------------------------------------------------------ */

static void nothing_polls(void **state)
{
    (void)state;
    reeve_worker *one = run_worker(4), *two = run_worker(4);
    test_limit_queue(2, NULL);
    put("hold", "g", "x", 50);
    TEST_AWAIT(test_begun == 2);
    expect_silence();
    test_limit_groups(3, NULL);
    test_limit_queue(-1, NULL);
    TEST_AWAIT(test_begun == 3);
    expect_silence();
    test_limit_queue(0, TEST_RATE(1, 3600000, 1));
    test_limit_groups(-1, NULL);
    test_open_gate();
    TEST_AWAIT(test_count("q", "running") == 0);
    expect_silence();
    test_limit_queue(0, TEST_ANY_RATE);
    TEST_AWAIT(test_count("q", "completed") == 50);
    test_ok(test_client, reeve_pause_for(test_client, "q", NULL, 3600000, NULL));
    put("t", "g", "y", 50);
    expect_silence();
    test_ok(test_client, reeve_pause_for(test_client, "q", "g", 3600000, NULL));
    test_ok(test_client, reeve_pause_for(test_client, "q", NULL, 0, NULL));
    TEST_AWAIT(test_count("q", "parked") == 50);
    expect_silence();
    test_ok(test_client, reeve_pause_for(test_client, "q", "g", 0, NULL));
    TEST_AWAIT(test_count("q", "completed") == 100);
    end(one);
    end(two);
    test_groups_forgotten();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(never_more_and_not_less, set_up),
        cmocka_unit_test_setup(changed_while_they_run, set_up),
        cmocka_unit_test_setup(a_worker_that_stops, set_up),
        cmocka_unit_test_setup(serial_and_in_order, set_up),
        cmocka_unit_test_setup(who_waits_for_a_place_lives_on, set_up),
        cmocka_unit_test_setup(so_many_of_a_group, set_up),
        cmocka_unit_test_setup(a_full_group_holds_nobody_up, set_up),
        cmocka_unit_test_setup(a_rate_is_kept, set_up),
        cmocka_unit_test_setup(a_handler_holds_the_queue, set_up),
        cmocka_unit_test_setup(a_handler_holds_its_group, set_up),
        cmocka_unit_test_setup(nothing_polls, set_up),
    };
    return cmocka_run_group_tests_name("ct_limits_worker", tests, test_place_start, test_place_stop);
}
