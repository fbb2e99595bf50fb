/* Redis comes back without its last writes, as after a crash or in a replica that was behind: what a worker has settled
 * since then stands under its name again. */
#include <string.h>

#include "support/worker.h"

#define Q "reeve:{q}:"

static rv_conn *other; /* for handlers */
static atomic_bool noted;

static int set_up(void **state)
{
    test_close_gate();
    atomic_store(&noted, false);
    other = test_conn_open(test_redis);
    return test_place_empty(state);
}

static int tear_down(void **state)
{
    (void)state;
    rv_conn_destroy(other);
    return 0;
}

/* Notes all that Redis knows, in another database, if one session holds the short task and the long one. */
static bool note_all(void)
{
    const rv_reply *reply = NULL;
    rv_cmd(other, 3);
    rv_args(other, "EVAL");
    rv_args(other, "redis.call('SELECT', 1) redis.call('FLUSHDB') redis.call('SELECT', 0) "
                   "for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', key, key, 'DB', 1) end "
                   "local running = redis.call('KEYS', '" Q "running:*')[1] "
                   "local held = redis.call('HMGET', running, 'short', 'long') "
                   "return held[1] and held[2] and 1 or 0");
    rv_args(other, "0");
    return rv_conn_call(other, 0, &reply) == REEVE_OK && rv_reply_int(reply, 0) == 1;
}

/* Redis knows no more than it did then. */
static void roll_back(void)
{
    (void)test_cmd(test_conn, "MULTI");
    (void)test_cmd(test_conn, "SWAPDB 0 1");
    (void)test_cmd(test_conn, "CLIENT KILL TYPE normal SKIPME yes");
    (void)test_cmd(test_conn, "CLIENT KILL TYPE pubsub");
    (void)test_cmd(test_conn, "EXEC");
}

/* Its thread does so, between two tasks of a batch; not when it runs again. */
static reeve_outcome run_noting(reeve_task *task, void *user)
{
    (void)user;
    if (!atomic_load(&noted)) atomic_store(&noted, note_all());
    return reeve_task_done(task, NULL, 0);
}

/* The worker's, in q. */
static const char *session(void)
{
    static char text[64];
    rv_copy_text(text, sizeof(text), test_cmd(test_conn, "ZRANGE " Q "sessions 0 0"));
    text[strcspn(text, "]")] = '\0';
    return text + 1;
}

static reeve_worker *run_worker(unsigned threads)
{
    enum { BATCH = 16, SHORT = 100 };
    static reeve_task_spec specs[SHORT];
    static reeve_enqueued results[SHORT];
    const reeve_worker_options options = {.session_ms = 3000};
    reeve_worker *worker = test_worker_new(&options);
    assert_int_equal(reeve_worker_handle(worker, "note", run_noting, NULL), REEVE_OK);
    test_worker_pool(worker, "q", threads, BATCH);
    test_worker_start(worker);
    /* It learns that tasks are short, and leases a batch. */
    for (size_t i = 0; i < SHORT; i++) specs[i] = (reeve_task_spec){.queue = "q", .type = "t"};
    test_ok(test_client, reeve_enqueue_many(test_client, specs, SHORT, results));
    TEST_AWAIT(test_count("q", "completed") == SHORT);
    return worker;
}

static void put_three(bool at_most_once)
{
    const reeve_task_spec specs[] = {
        {.queue = "q", .type = "t", .id = "short"},
        {.queue = "q", .type = "note", .id = "noting"},
        {.queue = "q", .type = "stubborn", .id = "long", .at_most_once = at_most_once},
    };
    reeve_enqueued results[3];
    test_close_gate();
    test_ok(test_client, reeve_enqueue_many(test_client, specs, 3, results));
    TEST_AWAIT(test_begun == 1);
    TEST_AWAIT_STATE("short", "completed");
    TEST_AWAIT_STATE("noting", "completed");
}

/* One that is short, one that notes, a long one: again until they are leased together, on a slow machine. */
static void put_batch(bool at_most_once)
{
    put_three(at_most_once);
    while (!atomic_load(&noted)) {
        test_open_gate();
        TEST_AWAIT_STATE("long", "completed");
        TEST_AWAIT(test_count("q", "running") == 0);
        test_ok(test_client, reeve_delete(test_client, "q", "short"));
        test_ok(test_client, reeve_delete(test_client, "q", "noting"));
        test_ok(test_client, reeve_delete(test_client, "q", "long"));
        put_three(at_most_once);
    }
}

/* Its keeper has settled them while a long one ran. */
static void what_the_keeper_settled_runs_again(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(1);
    put_batch(false);
    roll_back();
    assert_string_equal(test_state("q", "short"), "running");
    test_open_gate();
    TEST_AWAIT_STATE("long", "completed");
    TEST_AWAIT_STATE("short", "completed");
    TEST_AWAIT_STATE("noting", "completed");
    assert_int_equal(test_begun, 1);
    test_worker_end(worker);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

/* It has run, and does not run again. */
static void what_runs_at_most_once_is_settled_again(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(1);
    put_batch(true);
    assert_string_equal(test_state("q", "long"), "completed");
    roll_back();
    assert_string_equal(test_state("q", "long"), "running");
    test_open_gate();
    TEST_AWAIT_STATE("long", "completed");
    TEST_AWAIT_STATE("short", "completed");
    assert_int_equal(test_begun, 1);
    test_worker_end(worker);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

/* The thread turns only when its long task has ended; what it had settled before does not wait for that. */
static void what_was_settled_goes_back_while_a_long_one_runs(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(1);
    put_batch(false);
    roll_back();
    assert_string_equal(test_state("q", "short"), "running");
    TEST_AWAIT_STATE("short", "ready");
    TEST_AWAIT_STATE("noting", "ready");
    assert_string_equal(test_state("q", "long"), "running");
    test_open_gate();
    TEST_AWAIT_STATE("long", "completed");
    TEST_AWAIT_STATE("short", "completed");
    assert_int_equal(test_begun, 1);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    test_worker_end(worker);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

/* Whether its worker can be handed tasks. */
static bool is_listening(void)
{
    char worker[17] = "";
    memcpy(worker, session(), 16);
    return strstr(test_cmd(test_conn, "PUBSUB NUMSUB reeve:alive:%s", worker), " 1]") != NULL;
}

/* Its thread was idle then, and has a long task by now, which Redis does not know. */
static void a_busy_thread_is_handed_nothing(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(1);
    TEST_AWAIT(test_number("LLEN " Q "idle") == 1 && is_listening());
    (void)note_all();
    test_put_spec((reeve_task_spec){.id = "long", .type = "stubborn"});
    TEST_AWAIT(test_begun == 1);
    roll_back();
    TEST_AWAIT(is_listening());
    assert_int_equal(test_count("q", "running"), 0); /* (the client connects again) */
    test_put_spec((reeve_task_spec){.id = "new", .type = "t"});
    assert_string_equal(test_state("q", "new"), "ready");
    test_open_gate();
    TEST_AWAIT_STATE("new", "completed");
    test_put_spec((reeve_task_spec){.id = "next", .type = "t"});
    TEST_AWAIT_STATE("next", "completed");
    assert_int_equal(test_begun, 1);
    test_worker_end(worker);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

static void a_key_that_was_freed_is_free(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(2);
    test_put_spec((reeve_task_spec){.id = "once", .type = "stubborn", .unique = "k", .at_most_once = true});
    TEST_AWAIT(test_begun == 1);
    assert_int_equal(test_number("EXISTS " Q "unique:k"), 1);
    (void)note_all();
    test_open_gate();
    TEST_AWAIT(test_number("EXISTS " Q "unique:k") == 0);
    roll_back();
    assert_int_equal(test_number("EXISTS " Q "unique:k"), 1);
    TEST_AWAIT(test_number("EXISTS " Q "unique:k") == 0);
    test_worker_end(worker);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

static void a_key_is_held_while_its_task_runs(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(2);
    test_put_spec((reeve_task_spec){.id = "once", .type = "stubborn", .unique = "k", .at_most_once = true});
    TEST_AWAIT(test_begun == 1);
    (void)note_all();
    roll_back();
    (void)test_cmd(test_conn, "HSET " Q "once:%s other j", session());
    TEST_AWAIT(test_number("HEXISTS " Q "once:%s other", session()) == 0);
    assert_int_equal(test_number("EXISTS " Q "unique:k"), 1);
    test_open_gate();
    TEST_AWAIT(test_number("EXISTS " Q "unique:k") == 0);
    test_worker_end(worker);
}

/* All of its connections are dead, which each of them finds out by itself. */
static void a_worker_that_stops_then_leaves(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(1);
    put_batch(false);
    roll_back();
    test_open_gate();
    test_worker_end(worker);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
    assert_string_not_equal(test_state("q", "short"), "running");
    assert_string_not_equal(test_state("q", "long"), "running");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_the_keeper_settled_runs_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_runs_at_most_once_is_settled_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_settled_goes_back_while_a_long_one_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_busy_thread_is_handed_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_key_that_was_freed_is_free, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_key_is_held_while_its_task_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_worker_that_stops_then_leaves, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("ct_worker_rollback", tests, test_place_start, test_place_stop);
}
