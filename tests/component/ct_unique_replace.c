/* A unique key whose holder is replaced, or pushed back; and calls whose replies are lost. */
#include <string.h>

#include "protocol/scripts.h"
#include "support/clock.h"
#include "support/proxy.h"
#include "support/unique.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

/* ---- replace and debounce -------------------------------------------------------------------------------------- */

static void replaced_in_its_place(void **state)
{
    (void)state;
    test_put("q", "x");
    test_put_key("a");
    test_put("q", "y");
    test_put_spec(test_replacing("b"));
    assert_string_equal(test_state("q", "a"), "");
    test_put_spec(test_replacing("c"));
    assert_int_equal(test_number("HLEN " Q "tasks"), 3);
    test_held_by("c");
    assert_int_equal(test_lease(&hand, 9), 3);
    assert_string_equal(test_leased_ids(&hand), "x c y");
    reeve_task_info *info = test_show("q", "c");
    assert_memory_equal(info->payload.data, "c", 1);
    reeve_task_info_free(info);
    test_settle(&hand, TEST_UNIQUE_DONE("c"));
    test_is_free();
}

static void nobody_there_to_replace(void **state)
{
    (void)state;
    test_put_spec(test_replacing("a"));
    test_held_by("a");
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    reeve_task_spec spec = test_replacing("b");
    spec.on_conflict = REEVE_CONFLICT_DEBOUNCE;
    spec.in_ms = 5000;
    test_put_spec(spec);
    test_held_by("b");
    assert_string_equal(test_state("q", "b"), "scheduled");
}

static void replaced_at_its_time(void **state)
{
    (void)state;
    reeve_task_spec spec = test_with_key("a", "k");
    spec.at_ms = test_clock_now() + 60000;
    test_put_spec(spec);
    test_put_spec(test_replacing("b"));
    reeve_task_info *info = test_show("q", "b");
    assert_int_equal(info->state, REEVE_STATE_SCHEDULED);
    assert_int_equal(info->due_ms, spec.at_ms);
    reeve_task_info_free(info);
    /* A priority is another matter than a time. */
    reeve_task_spec urgent = test_replacing("c");
    urgent.priority = -5;
    test_put_spec(urgent);
    info = test_show("q", "c");
    assert_int_equal(info->due_ms, spec.at_ms);
    assert_int_equal(info->priority, -5);
    reeve_task_info_free(info);
    test_clock_advance(60001);
    test_maintain_all("q");
    test_put("q", "x");
    assert_int_equal(test_lease(&hand, 9), 2);
    assert_string_equal(test_leased_ids(&hand), "c x");
}

static void replaced_at_a_time_of_its_own(void **state)
{
    (void)state;
    test_put("q", "x");
    test_put_key("a");
    reeve_task_spec spec = test_replacing("b");
    spec.in_ms = 60000;
    test_put_spec(spec); /* from ready to a time */
    assert_int_equal(test_count("q", "scheduled"), 1);
    assert_int_equal(test_count("q", "ready"), 1);
    spec = test_replacing("c");
    spec.at_ms = 1;
    test_put_spec(spec); /* from a time to now */
    assert_int_equal(test_count("q", "scheduled"), 0);
    test_put("q", "y");
    spec = test_replacing("d");
    spec.priority = -1;
    test_put_spec(spec); /* before all others */
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(test_leased_ids(&hand), "d");
    test_settle(&hand, TEST_UNIQUE_DONE("d"));
    spec.id = "e";
    test_put_spec(spec);
    test_put_spec(test_replacing("f")); /* with that one's priority, in its place */
    assert_int_equal(test_lease(&hand, 9), 3);
    assert_string_equal(test_leased_ids(&hand), "f x y");
}

static void replaced_while_it_waits_for_another_attempt(void **state)
{
    (void)state;
    test_put_key("a");
    test_lease_one(&hand, "a");
    test_settle(&hand, TEST_RETRY("a", 60000));
    test_put_spec(test_replacing("b"));
    assert_string_equal(test_state("q", "b"), "scheduled");
    reeve_task_info *info = test_show("q", "b");
    assert_int_equal(info->failures, 0);
    reeve_task_info_free(info);
    assert_int_equal(test_number("EXISTS " Q "info:a"), 0);
    test_held_by("b");
}

static void replaced_while_parked(void **state)
{
    (void)state;
    reeve_task_spec spec = test_with_key("a", "k");
    spec.group = "g";
    test_put("q", "x");
    test_put_spec(spec);
    test_put("q", "y");
    char score[64];
    rv_copy_text(score, sizeof(score), test_cmd(test_conn, "ZSCORE " Q "ready a"));
    test_park("a", "g");
    spec = test_replacing("b");
    spec.group = "g";
    test_put_spec(spec);
    assert_string_equal(test_cmd(test_conn, "ZSCORE " Q "ready b"), score);
    assert_int_equal(test_number("EXISTS " Q "parked " Q "parked:g " Q "limit_due"), 0);
    test_held_by("b");
    test_park("b", "g");
    spec.id = "c";
    spec.on_conflict = REEVE_CONFLICT_DEBOUNCE;
    spec.in_ms = 1000;
    test_put_spec(spec);
    assert_string_equal(test_state("q", "c"), "scheduled");
    assert_int_equal(test_number("EXISTS " Q "parked " Q "parked:g " Q "limit_due"), 0);
    assert_int_equal(test_number("HLEN " Q "tasks"), 3);
}

static void pushed_back_again_and_again(void **state)
{
    (void)state;
    static const char *const ids[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++) {
        reeve_task_spec spec = test_replacing(ids[i]);
        spec.on_conflict = REEVE_CONFLICT_DEBOUNCE;
        spec.in_ms = 5000;
        test_put_spec(spec);
        test_held_by(ids[i]);
        test_clock_advance(3000);
        test_maintain_all("q");
        assert_int_equal(test_lease(&hand, 9), 0);
    }
    assert_int_equal(test_number("HLEN " Q "tasks"), 1);
    test_clock_advance(2001);
    test_maintain_all("q");
    test_lease_one(&hand, "d");
}

/* Without a time of its own it comes now, at the end of the order. */
static void debounced_to_now(void **state)
{
    (void)state;
    reeve_task_spec spec = test_replacing("b");
    spec.on_conflict = REEVE_CONFLICT_DEBOUNCE;
    test_put_key("a");
    test_put("q", "x");
    test_put_spec(spec);
    assert_int_equal(test_lease(&hand, 9), 2);
    assert_string_equal(test_leased_ids(&hand), "x b");
}

static void what_is_not_replaced(void **state)
{
    (void)state;
    static const reeve_conflict rules[] = {REEVE_CONFLICT_REPLACE, REEVE_CONFLICT_DEBOUNCE};
    test_put_key("a");
    test_lease_one(&hand, "a");
    char told[REEVE_ID_MAX];
    for (size_t i = 0; i < 2; i++) {
        reeve_task_spec spec = test_replacing("b");
        spec.on_conflict = rules[i];
        test_refused(test_client, test_enqueue(spec, told), REEVE_EUNIQUE, "is held by q/a");
        assert_string_equal(told, "a");
    }
    assert_string_equal(test_state("q", "a"), "running");
    assert_string_equal(test_state("q", "b"), "");
    /* Nor while a dead session's tasks are being taken back. */
    (void)test_cmd(test_conn, "RENAME " Q "running:%s " Q "lost:%s", hand.sessions[0], hand.sessions[0]);
    assert_int_equal(test_enqueue(test_replacing("b"), NULL), REEVE_EUNIQUE);
    (void)test_cmd(test_conn, "RENAME " Q "lost:%s " Q "running:%s", hand.sessions[0], hand.sessions[0]);
    test_settle(&hand, TEST_UNIQUE_DONE("a"));
    /* One that has ended and holds it for a time. */
    test_put_for("c", 10000);
    test_lease_one(&hand, "c");
    test_settle(&hand, TEST_UNIQUE_DONE("c"));
    assert_int_equal(test_enqueue(test_replacing("b"), NULL), REEVE_EUNIQUE);
    assert_string_equal(test_state("q", "c"), "completed");
}

/* The one that replaces brings its own rules. */
static void rules_change_with_the_holder(void **state)
{
    (void)state;
    test_put_key("a");
    reeve_task_spec spec = test_replacing("b");
    spec.unique_for_ms = 10000;
    test_put_spec(spec);
    test_lease_one(&hand, "b");
    test_settle(&hand, TEST_UNIQUE_DONE("b"));
    test_held_by("b");
    test_ok(test_client, reeve_delete(test_client, "q", "b"));
    test_put_for("c", 10000);
    test_put_spec(test_replacing("d"));
    assert_int_equal(test_number("PTTL " Q "unique:k"), -1);
    spec = test_replacing("e");
    spec.unique_until_started = true;
    test_put_spec(spec);
    test_lease_one(&hand, "e");
    test_is_free();
}

/* ---- asked again ----------------------------------------------------------------------------------------------- */

static const char *send_enqueue(const char *again, const char *id, const char *options)
{
    const rv_reply *reply;
    rv_cmd_script(test_conn, &rv_script_enqueue, 1, 4);
    rv_args(test_conn, Q);
    rv_args(test_conn, again);
    rv_args(test_conn, id);
    rv_args(test_conn, options);
    rv_args(test_conn, "\"type\":\"t\",\"unique\":\"k\"}\n");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    return test_reply_text(reply);
}

#define TWICE(id, options, first, second)                            \
    do {                                                             \
        char between[64];                                            \
        assert_string_equal(send_enqueue("0", id, options), first);  \
        rv_copy_text(between, sizeof(between), test_digest());       \
        assert_string_equal(send_enqueue("1", id, options), second); \
        assert_string_equal(test_digest(), between);                 \
    } while (0)

static void sent_twice(void **state)
{
    (void)state;
    TWICE("a", "{\"unique\":\"k\"}", "[1]", "[1]");
    TWICE("b", "{\"unique\":\"k\"}", "[a]", "[a]");
    TWICE("b", "{\"unique\":\"k\",\"conflict\":\"replace\"}", "[1]", "[1]");
    TWICE("c", "{\"unique\":\"k\",\"conflict\":\"debounce\",\"in\":60000}", "[1]", "[1]");
    TWICE("d", "{\"unique\":\"k\",\"conflict\":\"replace\"}", "[1]", "[1]");
    assert_string_equal(test_state("q", "d"), "scheduled");
    assert_int_equal(test_number("HLEN " Q "tasks"), 1);
}

/* The reply is lost; the task has run by then, and its record is gone, but not yet its key. */
static void sent_again_after_it_has_run(void **state)
{
    (void)state;
    const reeve_keep none = {0};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    test_put_for("a", 10000);
    test_lease_one(&hand, "a");
    test_settle(&hand, TEST_UNIQUE_DONE("a"));
    assert_string_equal(send_enqueue("1", "a", "{\"unique\":\"k\",\"unique_for\":10000}"), "[1]");
    assert_string_equal(send_enqueue("0", "a", "{\"unique\":\"k\",\"unique_for\":10000}"), "[a]");
    assert_string_equal(test_state("q", "a"), "");
}

/* The reply is lost, and meanwhile another task has taken its place: that one stays. */
static void sent_again_after_it_was_replaced(void **state)
{
    (void)state;
    test_put("q", "x");
    assert_string_equal(send_enqueue("0", "a", "{\"unique\":\"k\",\"conflict\":\"debounce\"}"), "[1]");
    assert_string_equal(send_enqueue("0", "b", "{\"unique\":\"k\",\"conflict\":\"debounce\"}"), "[1]");
    assert_string_equal(send_enqueue("again 3000", "a", "{\"unique\":\"k\",\"conflict\":\"debounce\"}"), "[-1]");
    assert_string_equal(test_state("q", "a"), "");
    assert_string_equal(test_state("q", "b"), "ready");
    assert_string_equal(send_enqueue("again 3000", "b", "{\"unique\":\"k\",\"conflict\":\"debounce\"}"), "[1]");
}

static void replies_are_lost(void **state)
{
    (void)state;
    test_proxy *proxy = test_proxy_start(test_redis);
    reeve_client *behind;
    char id[REEVE_ID_MAX], told[REEVE_ID_MAX];
    const reeve_client_options options = {.redis = test_proxy_url(proxy), .timeout_ms = 10000};
    test_clock_run(); /* a client that has lost a reply compares Redis's clock with its own */
    assert_int_equal(reeve_client_open(&behind, &options), REEVE_OK);
    test_put("other", "x"); /* (the script is known) */
    reeve_task_spec spec = test_with_key(NULL, "k");
    test_proxy_lose(proxy, "EVALSHA", 0);
    test_ok(behind, reeve_enqueue(behind, &spec, id));
    test_held_by(id);
    test_proxy_lose(proxy, "EVALSHA", 0);
    test_refused(behind, reeve_enqueue(behind, &spec, told), REEVE_EUNIQUE, "unique key \"k\" is held by q/");
    assert_string_equal(told, id);
    spec.on_conflict = REEVE_CONFLICT_REPLACE;
    test_proxy_lose(proxy, "EVALSHA", 0);
    test_ok(behind, reeve_enqueue(behind, &spec, told));
    test_held_by(told);
    assert_string_equal(test_state("q", id), "");
    /* A chain in one call: the last one stands, however often the call comes. */
    reeve_task_spec chain[3] = {test_replacing("a"), test_replacing("b"), test_replacing("c")};
    reeve_enqueued results[3];
    test_proxy_lose(proxy, "EVALSHA", 0);
    test_ok(behind, reeve_enqueue_many(behind, chain, 3, results));
    test_held_by("c");
    assert_string_equal(test_state("q", "c"), "ready");
    assert_int_equal(test_number("HLEN " Q "tasks"), 1);
    assert_int_equal(test_proxy_lost(proxy), 4);
    /* A dead one is retried, and nobody hears of it. */
    test_lease_one(&hand, "c");
    test_settle(&hand, TEST_FAIL("c"));
    test_ok(behind, reeve_retry(behind, "q", "c"));
    test_ok(behind, reeve_cancel(behind, "q", "c"));
    test_proxy_lose(proxy, "EVALSHA", 0);
    test_ok(behind, reeve_retry(behind, "q", "c"));
    test_held_by("c");
    reeve_client_close(behind);
    test_proxy_stop(proxy);
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(replaced_in_its_place, set_up),
        cmocka_unit_test_setup(nobody_there_to_replace, set_up),
        cmocka_unit_test_setup(replaced_at_its_time, set_up),
        cmocka_unit_test_setup(replaced_at_a_time_of_its_own, set_up),
        cmocka_unit_test_setup(replaced_while_it_waits_for_another_attempt, set_up),
        cmocka_unit_test_setup(replaced_while_parked, set_up),
        cmocka_unit_test_setup(pushed_back_again_and_again, set_up),
        cmocka_unit_test_setup(debounced_to_now, set_up),
        cmocka_unit_test_setup(what_is_not_replaced, set_up),
        cmocka_unit_test_setup(rules_change_with_the_holder, set_up),
        cmocka_unit_test_setup(sent_twice, set_up),
        cmocka_unit_test_setup(sent_again_after_it_was_replaced, set_up),
        cmocka_unit_test_setup(sent_again_after_it_has_run, set_up),
        cmocka_unit_test_setup(replies_are_lost, set_up),
    };
    test_clock_set(1900000000000); /* it stands still */
    return cmocka_run_group_tests_name("ct_unique_replace", tests, test_place_start, test_place_stop);
}
