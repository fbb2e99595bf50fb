/* Unique keys: who holds one until it has ended, whichever way; with a worker, too. */
#include <string.h>

#include "support/clock.h"
#include "support/unique.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

/* ---- who holds it ---------------------------------------------------------------------------------------------- */

static void another_is_refused(void **state)
{
    (void)state;
    char first[REEVE_ID_MAX];
    test_ok(test_client, test_enqueue(test_with_key(NULL, "k"), first));
    test_held_by(first);
    assert_int_equal(test_number("HLEN " Q "tasks"), 1);
    assert_int_equal(test_enqueue(test_with_key("x", "k"), NULL), REEVE_EUNIQUE);
    assert_string_equal(test_state("q", "x"), "");
    /* Another key, no key, another queue: these are not concerned. */
    test_put_spec(test_with_key("y", "k2"));
    test_put("q", "z");
    reeve_task_spec elsewhere = test_with_key("x", "k");
    elsewhere.queue = "p";
    test_put_spec(elsewhere);
    /* An id that is taken is told before a key that is. */
    assert_int_equal(test_enqueue(test_with_key("z", "k"), NULL), REEVE_EEXISTS);
    assert_int_equal(test_enqueue(test_with_key(first, "k"), NULL), REEVE_EEXISTS);
    reeve_task_info *info = test_show("q", first);
    assert_string_equal(info->unique, "k");
    reeve_task_info_free(info);
    info = test_show("q", "z");
    assert_null(info->unique);
    reeve_task_info_free(info);
}

static void ids_that_look_like_answers(void **state)
{
    (void)state;
    test_put_key("1");
    test_held_by("1");
    test_ok(test_client, reeve_delete(test_client, "q", "1"));
    test_put_key("0");
    test_held_by("0");
    test_ok(test_client, reeve_delete(test_client, "q", "0"));
    test_is_free();
}

static void keys_of_any_text(void **state)
{
    (void)state;
    char longest[REEVE_UNIQUE_MAX + 1];
    memset(longest, '"', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    const char *const keys[] = {longest, " ", "a:b", "{x}", "\n", "\x01", "\\", "\xc3\xa9", "*", "%s", "null", "0"};
    enum { KEYS = sizeof(keys) / sizeof(keys[0]) };
    char ids[KEYS][REEVE_ID_MAX], told[REEVE_ID_MAX];
    for (size_t i = 0; i < KEYS; i++) test_ok(test_client, test_enqueue(test_with_key(NULL, keys[i]), ids[i]));
    for (size_t i = 0; i < KEYS; i++) {
        assert_int_equal(test_enqueue(test_with_key(NULL, keys[i]), told), REEVE_EUNIQUE);
        assert_string_equal(told, ids[i]);
        reeve_task_info *info = test_show("q", ids[i]);
        assert_string_equal(info->unique, keys[i]);
        reeve_task_info_free(info);
        test_ok(test_client, reeve_delete(test_client, "q", ids[i]));
    }
    test_is_free();
}

static void two_in_one_call(void **state)
{
    (void)state;
    reeve_task_spec specs[6] = {test_with_key("a", "k"),  test_with_key("b", "k"),  test_with_key("c", NULL),
                                test_with_key("d", "k2"), test_with_key("e", "k2"), test_with_key("f", "k")};
    reeve_enqueued results[6];
    specs[4].on_conflict = REEVE_CONFLICT_REPLACE;
    test_refused(test_client, reeve_enqueue_many(test_client, specs, 6, results), REEVE_EUNIQUE,
                 "unique key \"k\" is held by q/a");
    const reeve_status expected[] = {REEVE_OK, REEVE_EUNIQUE, REEVE_OK, REEVE_OK, REEVE_OK, REEVE_EUNIQUE};
    for (size_t i = 0; i < 6; i++) assert_int_equal(results[i].status, expected[i]);
    assert_string_equal(results[1].id, "a");
    assert_string_equal(results[5].id, "a");
    assert_string_equal(results[4].id, "e");
    assert_int_equal(test_lease(&hand, 9), 3);
    assert_string_equal(test_leased_ids(&hand), "a c e"); /* e where d was */
    assert_int_equal(test_number("HLEN " Q "tasks"), 3);
    assert_string_equal(test_holder("k2"), "e");
}

/* A chain in one call: each replaces the one before, and an id that was replaced is free again. */
static void a_chain_in_one_call(void **state)
{
    (void)state;
    reeve_task_spec specs[4] = {test_with_key("a", "k"), test_with_key("b", "k"), test_with_key("c", "k"),
                                test_with_key("a", "k")};
    reeve_enqueued results[4];
    for (size_t i = 0; i < 4; i++) specs[i].on_conflict = REEVE_CONFLICT_REPLACE;
    test_ok(test_client, reeve_enqueue_many(test_client, specs, 4, results));
    assert_int_equal(test_number("HLEN " Q "tasks"), 1);
    assert_int_equal(test_number("ZCARD " Q "ready"), 1);
    test_held_by("a");
}

/* ---- until it has ended ---------------------------------------------------------------------------------------- */

static void free_when_completed(void **state)
{
    (void)state;
    test_put_key("a");
    test_lease_one(&hand, "a");
    test_held_by("a");
    test_settle(&hand, TEST_UNIQUE_DONE("a"));
    assert_string_equal(test_state("q", "a"), "completed");
    test_is_free();
    test_put_key("b");
    test_lease_one(&hand, "b");
    const test_outcome with_result = {
        0, {.id = "b", .outcome = REEVE_OUTCOME_DONE, .unique = true, .has_result = true, .result = {"r", 1}}};
    test_settle(&hand, with_result);
    test_is_free();
    reeve_task_info *info = test_show("q", "b");
    assert_memory_equal(info->result.data, "r", 1);
    reeve_task_info_free(info);
}

static void free_when_nothing_is_kept(void **state)
{
    (void)state;
    const reeve_keep none = {0};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none, .dead = &none}));
    test_put_key("a");
    test_lease_one(&hand, "a");
    test_settle(&hand, TEST_UNIQUE_DONE("a"));
    assert_string_equal(test_state("q", "a"), "");
    test_is_free();
    test_put_key("a");
    test_lease_one(&hand, "a");
    test_settle(&hand, TEST_FAIL("a"));
    assert_string_equal(test_state("q", "a"), "");
    test_is_free();
    test_put_key("a");
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
    assert_string_equal(test_state("q", "a"), "");
    test_is_free();
}

static void held_over_retries(void **state)
{
    (void)state;
    test_put_key("a");
    test_lease_one(&hand, "a");
    test_settle(&hand, TEST_RETRY("a", 60000));
    test_held_by("a");
    test_ok(test_client, reeve_retry(test_client, "q", "a")); /* (a scheduled one: it has its key) */
    test_lease_one(&hand, "a");
    test_settle(&hand, TEST_SNOOZE("a", 0));
    test_held_by("a");
    test_lease_one(&hand, "a");
    test_settle(&hand, TEST_SNOOZE("a", 5000));
    test_held_by("a");
}

static void held_over_a_crash(void **state)
{
    (void)state;
    test_put_key("a");
    test_lease_one(&hand, "a");
    test_expire(&hand);
    test_maintain_all("q");
    assert_string_equal(test_state("q", "a"), "ready");
    test_held_by("a");
    test_hand_init(&hand, "1", "q");
    test_lease_one(&hand, "a");
    assert_int_equal(hand.leased[0].crashes, 1);
    test_held_by("a");
    test_settle(&hand, TEST_UNIQUE_DONE("a"));
    test_is_free();
}

static void free_when_dead(void **state)
{
    (void)state;
    test_put_key("a");
    test_lease_one(&hand, "a");
    test_settle(&hand, TEST_FAIL("a"));
    assert_string_equal(test_state("q", "a"), "dead");
    test_is_free();
}

static void free_when_cancelled_or_deleted(void **state)
{
    (void)state;
    static const int64_t delays[] = {0, 60000};
    for (size_t i = 0; i < 2; i++) {
        reeve_task_spec spec = test_with_key("a", "k");
        spec.in_ms = delays[i];
        test_put_spec(spec);
        test_held_by("a");
        test_ok(test_client, reeve_cancel(test_client, "q", "a"));
        test_is_free();
        test_ok(test_client, reeve_delete(test_client, "q", "a"));
        test_put_spec(spec);
        test_ok(test_client, reeve_delete(test_client, "q", "a"));
        test_is_free();
    }
}

/* The record of one that has ended goes, while another task has its key: that one keeps it. */
static void what_has_ended_takes_nothing_with_it(void **state)
{
    (void)state;
    test_put_key("done");
    test_lease_one(&hand, "done");
    test_settle(&hand, TEST_UNIQUE_DONE("done"));
    test_put_key("dead");
    test_lease_one(&hand, "dead");
    test_settle(&hand, TEST_FAIL("dead"));
    test_put_key("cancelled");
    test_ok(test_client, reeve_cancel(test_client, "q", "cancelled"));
    test_put_key("a");
    test_ok(test_client, reeve_delete(test_client, "q", "done"));
    test_ok(test_client, reeve_delete(test_client, "q", "dead"));
    test_ok(test_client, reeve_delete(test_client, "q", "cancelled"));
    test_held_by("a");
}

static void trimming_leaves_no_lock(void **state)
{
    (void)state;
    const reeve_keep one = {.age_ms = -1, .count = 1}, short_time = {.age_ms = 1000, .count = -1};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &one, .dead = &one}));
    static const char *const ids[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++) {
        test_put_key(ids[i]);
        test_lease_one(&hand, ids[i]);
        if (i % 2 == 0) {
            test_settle(&hand, TEST_UNIQUE_DONE(ids[i]));
        } else {
            test_settle(&hand, TEST_FAIL(ids[i]));
        }
    }
    assert_int_equal(test_number("HLEN " Q "tasks"), 2);
    test_is_free();
    test_ok(test_client,
            reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &short_time, .dead = &short_time}));
    test_clock_advance(2000);
    test_put_key("e");
    test_maintain_all("q");
    assert_int_equal(test_number("HLEN " Q "tasks"), 1);
    test_held_by("e");
}

static void a_retry_takes_the_key_again(void **state)
{
    (void)state;
    static const char *const how[] = {"dead", "cancelled"};
    for (size_t i = 0; i < 2; i++) {
        test_put_key("a");
        if (i == 0) {
            test_lease_one(&hand, "a");
            test_settle(&hand, TEST_FAIL("a"));
        } else {
            test_ok(test_client, reeve_cancel(test_client, "q", "a"));
        }
        test_put_key("b");
        test_refused(test_client, reeve_retry(test_client, "q", "a"), REEVE_EUNIQUE,
                     "cannot retry q/a: its unique key is held by q/b");
        assert_string_equal(test_state("q", "a"), how[i]);
        test_held_by("b");
        test_ok(test_client, reeve_delete(test_client, "q", "b"));
        test_ok(test_client, reeve_retry(test_client, "q", "a"));
        test_held_by("a");
        test_ok(test_client, reeve_delete(test_client, "q", "a"));
        test_is_free();
    }
}

/* ---- with a worker --------------------------------------------------------------------------------------------- */

static void put_for_worker(const char *id, const char *key, const char *type, const char *payload, bool until_started)
{
    reeve_task_spec spec = test_with_key(id, key);
    spec.type = type;
    spec.payload = (reeve_bytes){payload, strlen(payload)};
    spec.unique_until_started = until_started;
    test_put_spec(spec);
}

static void a_worker_frees_them(void **state)
{
    (void)state;
    test_close_gate();
    test_clock_run();
    put_for_worker("plain", "k1", "t", "", false);
    put_for_worker("result", "k2", "act", "result r", false);
    put_for_worker("fail", "k3", "act", "fail", false);
    put_for_worker("retry", "k4", "act", "retry 5000000", false);
    put_for_worker("held", "k5", "hold", "", false);
    put_for_worker("started", "k6", "hold", "", true);
    reeve_worker *worker = test_worker_run(4, 0);
    TEST_AWAIT(test_count("q", "completed") == 2 && test_count("q", "dead") == 1 && test_count("q", "scheduled") == 1);
    TEST_AWAIT(atomic_load(&test_begun) == 2);
    assert_int_equal(test_number("EXISTS " Q "unique:k1 " Q "unique:k2 " Q "unique:k3 " Q "unique:k6"), 0);
    assert_string_equal(test_holder("k4"), "retry");
    assert_string_equal(test_holder("k5"), "held");
    test_open_gate();
    TEST_AWAIT(test_count("q", "completed") == 4);
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "unique:*"), "[" Q "unique:k4]");
    /* Time and again, with one key. */
    for (unsigned done = 0; done < 200;) {
        reeve_status status = test_enqueue(test_with_key(NULL, "k"), NULL);
        if (status == REEVE_OK) done++;
        if (status != REEVE_OK) assert_int_equal(status, REEVE_EUNIQUE);
    }
    TEST_AWAIT(test_count("q", "completed") == 204);
    assert_string_equal(test_holder("k"), "(nil)");
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    reeve_worker_destroy(worker);
    test_clock_set(1900000000000);
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(another_is_refused, set_up),
        cmocka_unit_test_setup(ids_that_look_like_answers, set_up),
        cmocka_unit_test_setup(keys_of_any_text, set_up),
        cmocka_unit_test_setup(two_in_one_call, set_up),
        cmocka_unit_test_setup(a_chain_in_one_call, set_up),
        cmocka_unit_test_setup(free_when_completed, set_up),
        cmocka_unit_test_setup(free_when_nothing_is_kept, set_up),
        cmocka_unit_test_setup(held_over_retries, set_up),
        cmocka_unit_test_setup(held_over_a_crash, set_up),
        cmocka_unit_test_setup(free_when_dead, set_up),
        cmocka_unit_test_setup(free_when_cancelled_or_deleted, set_up),
        cmocka_unit_test_setup(what_has_ended_takes_nothing_with_it, set_up),
        cmocka_unit_test_setup(trimming_leaves_no_lock, set_up),
        cmocka_unit_test_setup(a_retry_takes_the_key_again, set_up),
        cmocka_unit_test_setup(a_worker_frees_them, set_up),
    };
    test_clock_set(1900000000000); /* it stands still */
    return cmocka_run_group_tests_name("ct_unique", tests, test_place_start, test_place_stop);
}
