/* A waiting task gets another time or priority: from each state, and with nothing else about it changed. */
#include <stdio.h>
#include <string.h>

#include "protocol/definition.h"
#include "protocol/scripts.h"
#include "protocol/spec.h"
#include "support/clock.h"
#include "support/proxy.h"
#include "support/queue.h"
#include "support/script.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

static void order_is(const char *ids)
{
    (void)test_lease(&hand, 20);
    assert_string_equal(test_leased_ids(&hand), ids);
}

static void expect_due(const char *id, int64_t due)
{
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->state, REEVE_STATE_SCHEDULED);
    assert_int_equal(info->due_ms, due);
    reeve_task_info_free(info);
}

/* Parked as by a group at its limit; all of the group's. */
static void park(const char *id)
{
    const char *score = test_cmd(test_conn, "ZSCORE " Q "ready %s", id);
    (void)test_cmd(test_conn, "ZADD " Q "parked %s %s", score, id);
    (void)test_cmd(test_conn, "ZADD " Q "parked:g %s %s", score, id);
    (void)test_cmd(test_conn, "ZADD " Q "limit_due 9007199254740991 g");
    (void)test_cmd(test_conn, "ZREM " Q "ready %s", id);
    assert_string_equal(test_state("q", id), "parked");
}

static void put_parked(const char *ids)
{
    char copy[100], *rest = NULL;
    rv_copy_text(copy, sizeof(copy), ids);
    for (char *id = strtok_r(copy, " ", &rest); id; id = strtok_r(NULL, " ", &rest)) {
        test_put_spec((reeve_task_spec){.id = id, .group = "g"});
        park(id);
    }
}

/* ---- times ----------------------------------------------------------------------------------------------------- */

static void from_ready_to_a_time(void **state)
{
    (void)state;
    test_put("q", "a b c d");
    int64_t now = test_clock_now();
    test_ok(test_client, reeve_reschedule(test_client, "q", "b", now + 50000));
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "c", 30000));
    expect_due("b", now + 50000);
    expect_due("c", now + 30000);
    order_is("a d");
    test_clock_advance(50001);
    test_maintain_all("q");
    order_is("c b");
}

static void from_one_time_to_another(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .in_ms = 60000});
    int64_t now = test_clock_now();
    test_ok(test_client, reeve_reschedule(test_client, "q", "a", now + 5000));
    expect_due("a", now + 5000);
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "a", 100000));
    expect_due("a", now + 100000);
    test_ok(test_client, reeve_reschedule(test_client, "q", "a", INT64_MAX));
    expect_due("a", RV_LATEST); /* the latest time there is */
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "a", INT64_MAX));
    expect_due("a", RV_LATEST);
    assert_int_equal(test_number("ZCARD " Q "scheduled"), 1);
}

static void now(void **state)
{
    (void)state;
    static const char *const ids[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < 5; i++) test_put_spec((reeve_task_spec){.id = ids[i], .in_ms = 60000});
    test_put("q", "x");
    test_ok(test_client, reeve_reschedule(test_client, "q", "b", 0));
    test_ok(test_client, reeve_reschedule(test_client, "q", "a", 1));
    test_ok(test_client, reeve_reschedule(test_client, "q", "c", test_clock_now()));
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "d", 0));
    test_ok(test_client, reeve_reschedule(test_client, "q", "e", -5));
    assert_int_equal(test_count("q", "scheduled"), 0);
    order_is("x b a c d e");
}

/* What is ready and is to run now stays where it stands. */
static void ready_and_now(void **state)
{
    (void)state;
    char before[64];
    test_put("q", "a b");
    rv_copy_text(before, sizeof(before), test_digest());
    test_ok(test_client, reeve_reschedule(test_client, "q", "a", 0));
    assert_string_equal(test_digest(), before);
    order_is("a b");
}

/* By its priority, group and weight. */
static void now_by_its_options(void **state)
{
    (void)state;
    test_put("q", "x");
    test_put_spec((reeve_task_spec){.id = "a", .in_ms = 60000, .priority = -1});
    test_put_spec((reeve_task_spec){.id = "b", .in_ms = 60000, .group = "g", .weight = 4});
    test_ok(test_client, reeve_reschedule(test_client, "q", "a", 0));
    test_ok(test_client, reeve_reschedule(test_client, "q", "b", 0));
    order_is("a b x");
}

static void a_retry_that_waits(void **state)
{
    (void)state;
    test_put("q", "a");
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_RETRY("a", 60000));
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "a", 5000));
    reeve_task_info *info = test_show("q", "a");
    assert_int_equal(info->failures, 1);
    reeve_task_info_free(info);
    test_ok(test_client, reeve_reschedule(test_client, "q", "a", 0));
    order_is("a");
    assert_int_equal(hand.leased[0].failures, 1);
}

static void parked_to_a_time(void **state)
{
    (void)state;
    put_parked("a b");
    test_ok(test_client, reeve_reschedule(test_client, "q", "a", 0)); /* it is its group that it waits for */
    assert_string_equal(test_state("q", "a"), "parked");
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "a", 1000));
    expect_due("a", test_clock_now() + 1000);
    assert_int_equal(test_number("ZCARD " Q "parked"), 1);
    assert_int_equal(test_number("ZCARD " Q "parked:g"), 1);
    assert_int_equal(test_number("ZCARD " Q "limit_due"), 1);
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "b", 1000));
    assert_int_equal(test_number("EXISTS " Q "parked " Q "parked:g " Q "limit_due"), 0);
}

/* Schedulers hear of it. */
static void an_earlier_time_is_announced(void **state)
{
    (void)state;
    char text[200], channel[64];
    rv_conn *listener = test_conn_open(test_redis);
    const rv_reply *reply;
    (void)test_cmd(listener, "SUBSCRIBE reeve:control");
    test_put_spec((reeve_task_spec){.id = "a", .at_ms = 4000000000000});
    assert_int_equal(rv_conn_receive(listener, test_patience(), &reply), REEVE_OK);
    test_ok(test_client, reeve_reschedule(test_client, "q", "a", 3000000000000));
    assert_int_equal(rv_conn_receive(listener, test_patience(), &reply), REEVE_OK);
    rv_copy_text(channel, sizeof(channel), "[message reeve:control due q 3000000000000]");
    rv_copy_text(text, sizeof(text), test_reply_text(reply));
    assert_string_equal(text, channel);
    /* Not a later one than another's; but an earlier one. */
    test_put_spec((reeve_task_spec){.id = "b", .at_ms = 4000000000000});
    test_ok(test_client, reeve_reschedule(test_client, "q", "b", 3500000000000));
    test_ok(test_client, reeve_reschedule(test_client, "q", "b", 2500000000000));
    assert_int_equal(rv_conn_receive(listener, test_patience(), &reply), REEVE_OK);
    assert_string_equal(test_reply_text(reply), "[message reeve:control due q 2500000000000]");
    rv_conn_destroy(listener);
}

/* ---- priorities ------------------------------------------------------------------------------------------------ */

static void to_the_end_of_its_order(void **state)
{
    (void)state;
    test_put("q", "a b c");
    test_put_spec((reeve_task_spec){.id = "u", .priority = -5});
    test_ok(test_client, reeve_set_priority(test_client, "q", "b", -5));
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", 7));
    reeve_task_info *info = test_show("q", "b");
    assert_int_equal(info->priority, -5);
    assert_string_equal(info->type, "t");
    reeve_task_info_free(info);
    order_is("u b c a");
}

static void back_to_none(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .priority = 3});
    char plain[200];
    test_put("q", "x");
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", 0));
    rv_copy_text(plain, sizeof(plain), test_cmd(test_conn, "HGET " Q "tasks a"));
    assert_null(strstr(plain, "priority"));
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", REEVE_PRIORITY_MIN));
    assert_non_null(strstr(test_cmd(test_conn, "HGET " Q "tasks a"), "\"type\":\"t\",\"priority\":-128}"));
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", REEVE_PRIORITY_MAX));
    assert_non_null(strstr(test_cmd(test_conn, "HGET " Q "tasks a"), "\"type\":\"t\",\"priority\":127}"));
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", 0));
    assert_string_equal(test_cmd(test_conn, "HGET " Q "tasks a"), plain);
    order_is("x a");
}

static void the_same_priority_changes_nothing(void **state)
{
    (void)state;
    char before[64];
    test_put_spec((reeve_task_spec){.id = "a", .priority = 3});
    test_put_spec((reeve_task_spec){.id = "b", .priority = 3});
    test_put("q", "x");
    rv_copy_text(before, sizeof(before), test_digest());
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", 3));
    test_ok(test_client, reeve_set_priority(test_client, "q", "x", 0));
    assert_string_equal(test_digest(), before);
    order_is("x a b");
}

static void while_it_waits_for_its_time(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .in_ms = 60000});
    test_put("q", "x");
    int64_t due = test_clock_now() + 60000;
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", -1));
    expect_due("a", due);
    test_clock_advance(60001);
    test_maintain_all("q");
    order_is("a x");
}

static void while_it_is_parked(void **state)
{
    (void)state;
    put_parked("a b");
    test_put("q", "x");
    test_ok(test_client, reeve_set_priority(test_client, "q", "b", -1));
    assert_int_equal(test_number("ZCARD " Q "parked"), 1);
    assert_string_equal(test_state("q", "b"), "ready"); /* whoever leases looks at its group */
    order_is("b x");
}

static void a_group_s(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .group = "g"});
    test_put_spec((reeve_task_spec){.id = "b", .group = "g"});
    test_put_spec((reeve_task_spec){.id = "c", .group = "h", .priority = 2});
    test_put_spec((reeve_task_spec){.id = "d", .group = "h", .priority = 2});
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", 2));
    order_is("b a c d"); /* g has its turn as soon as h */
}

/* Each byte of it stays as it was, but for the priority. */
static void nothing_else_changes(void **state)
{
    (void)state;
    static const char bytes[] = "line\nline,\"priority\":5,\0\xff\xfe%1%\n\n{\"type\":\"x\"}";
    static const char *const tags[] = {",\"priority\":5", "\"type\":\"z\"", "%d%%", "\xc3\xa9"};
    const reeve_meta meta[] = {{"priority", "9"}, {",\"priority\":7", ",\"priority\":8"}, {"type", "\\\"\n\t"}};
    const reeve_backoff backoff = {.shape = REEVE_BACKOFF_LIST, .jitter = 0.333, .list_ms = {1, 90000000000, 3}};
    reeve_task_spec spec = {.id = "a",
                            .type = "a/b:c",
                            .payload = {bytes, sizeof(bytes) - 1},
                            .group = "g\"\\",
                            .weight = 200,
                            .attempts = 100,
                            .max_crashes = 7,
                            .timeout_ms = 123456789012345,
                            .backoff = &backoff,
                            .tags = tags,
                            .tag_count = 4,
                            .meta = meta,
                            .meta_count = 3,
                            .unique = ",\"priority\":6",
                            .on_dead = "x/y"};
    for (int first = -3; first <= 3; first += 3) {
        (void)test_place_empty(NULL);
        for (int then = -128; then <= 127; then += 51) {
            rv_buf expected;
            const rv_reply *reply;
            spec.priority = first;
            test_put_spec(spec);
            reeve_task_info *info = test_show("q", "a");
            test_ok(test_client, reeve_set_priority(test_client, "q", "a", then));
            rv_buf_init(&expected, 100000);
            /* What was changed has a history. */
            rv_buf_addf(&expected, "{%s\"at\":%lld,", then != first ? "\"info\":1," : "", (long long)info->enqueued_ms);
            spec.priority = then;
            rv_spec_write_envelope(&expected, &spec);
            rv_cmd(test_conn, 3);
            rv_args(test_conn, "HGET");
            rv_args(test_conn, Q "tasks");
            rv_args(test_conn, "a");
            assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
            assert_int_equal(reply->length, expected.length);
            assert_memory_equal(reply->text, expected.data, expected.length);
            rv_buf_fini(&expected);
            reeve_task_info_free(info);
            test_ok(test_client, reeve_delete(test_client, "q", "a"));
        }
    }
}

/* A program of another language: its metadata has numbers. */
static void numbers_in_its_metadata(void **state)
{
    (void)state;
    (void)test_cmd(test_conn, "HSET " Q "tasks a {\"at\":1,\"type\":\"t\",\"meta\":{\"x\":1,\"priority\":5}}\n{}");
    (void)test_cmd(test_conn, "ZADD " Q "ready 1099511628032 a");
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", 2));
    assert_string_equal(test_cmd(test_conn, "HGET " Q "tasks a"),
                        "{\"info\":1,\"at\":1,\"type\":\"t\",\"priority\":2,\"meta\":{\"x\":1,\"priority\":5}}\n{}");
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", 0));
    assert_string_equal(test_cmd(test_conn, "HGET " Q "tasks a"),
                        "{\"info\":1,\"at\":1,\"type\":\"t\",\"meta\":{\"x\":1,\"priority\":5}}\n{}");
}

static void a_marked_one(void **state)
{
    (void)state;
    test_put("q", "a");
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_RETRY("a", 0));
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", 9));
    assert_non_null(strstr(test_cmd(test_conn, "HGET " Q "tasks a"), "{\"info\":1,\"at\":"));
    test_ok(test_client, reeve_reschedule(test_client, "q", "a", 0));
    order_is("a");
    assert_int_equal(hand.leased[0].failures, 1);
}

/* ---- where it is not possible ---------------------------------------------------------------------------------- */

static void other_states(void **state)
{
    (void)state;
    static const struct {
        const char *id, *state;
    } cases[] = {{"running", "running"}, {"done", "completed"}, {"dead", "dead"}, {"cancelled", "cancelled"}};
    test_put("q", "done dead running cancelled");
    (void)test_lease(&hand, 3);
    test_settle(&hand, TEST_DONE("done"), TEST_FAIL("dead"));
    test_ok(test_client, reeve_cancel(test_client, "q", "cancelled"));
    char before[64];
    rv_copy_text(before, sizeof(before), test_digest());
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *id = cases[i].id;
        char words[128];
        (void)snprintf(words, sizeof(words), "cannot reschedule q/%s: it is %s", id, cases[i].state);
        test_refused(test_client, reeve_reschedule(test_client, "q", id, 0), REEVE_ESTATE, words);
        test_refused(test_client, reeve_reschedule_in(test_client, "q", id, 5), REEVE_ESTATE, words);
        (void)snprintf(words, sizeof(words), "cannot change the priority of q/%s: it is %s", id, cases[i].state);
        test_refused(test_client, reeve_set_priority(test_client, "q", id, 0), REEVE_ESTATE, words);
    }
    assert_string_equal(test_digest(), before);
    test_refused(test_client, reeve_reschedule(test_client, "q", "x", 0), REEVE_ENOTFOUND, "no task q/x");
    test_refused(test_client, reeve_set_priority(test_client, "q", "x", 1), REEVE_ENOTFOUND, "no task q/x");
    test_refused(test_client, reeve_set_priority(test_client, "q", "x", 128), REEVE_EINVAL, "priority 128: must be");
    test_refused(test_client, reeve_set_priority(test_client, "q", "x", -129), REEVE_EINVAL, "priority -129: must be");
    test_refused(test_client, reeve_reschedule_in(test_client, "q", "x", -1), REEVE_EINVAL, "delay -1 ms");
    test_refused(test_client, reeve_reschedule(test_client, "q", "a b", 0), REEVE_EINVAL, "id");
    test_refused(test_client, reeve_reschedule(test_client, "q q", "x", 0), REEVE_EINVAL, "queue");
    assert_int_equal(reeve_reschedule(NULL, "q", "x", 0), REEVE_EINVAL);
    assert_int_equal(reeve_reschedule_in(NULL, "q", "x", 0), REEVE_EINVAL);
    assert_int_equal(reeve_set_priority(NULL, "q", "x", 0), REEVE_EINVAL);
}

/* ---- asked again ----------------------------------------------------------------------------------------------- */

static void send_move(const char *id, const char *what, const char *number, const char *expected)
{
    const rv_reply *reply;
    rv_cmd_script(test_conn, &rv_script_reschedule, 1, 3);
    rv_args(test_conn, Q);
    rv_args(test_conn, id);
    rv_args(test_conn, what);
    rv_args(test_conn, number);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    assert_string_equal(test_reply_text(reply), expected);
}

static void sent_twice(void **state)
{
    (void)state;
    static const char *const calls[][2] = {{"at", "4000000000000"}, {"in", "5000"}, {"priority", "3"}, {"at", "0"},
                                           {"priority", "0"},       {"in", "0"}};
    test_put("q", "x a y");
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        char between[64];
        send_move("a", calls[i][0], calls[i][1], "ok");
        rv_copy_text(between, sizeof(between), test_digest());
        send_move("a", calls[i][0], calls[i][1], "ok");
        assert_string_equal(test_digest(), between);
    }
    send_move("none", "at", "0", "");
    order_is("x y a");
}

static void replies_are_lost(void **state)
{
    (void)state;
    test_proxy *proxy = test_proxy_start(test_redis);
    reeve_client *behind;
    const reeve_client_options options = {.redis = test_proxy_url(proxy), .timeout_ms = 10000};
    assert_int_equal(reeve_client_open(&behind, &options), REEVE_OK);
    test_put("q", "x a y");
    test_ok(behind, reeve_reschedule_in(behind, "q", "a", 1000)); /* (the script is known) */
    test_proxy_lose(proxy, "EVALSHA", 0);
    test_ok(behind, reeve_reschedule(behind, "q", "a", 0));
    test_proxy_lose(proxy, "EVALSHA", 0);
    test_ok(behind, reeve_set_priority(behind, "q", "a", -3));
    test_proxy_lose(proxy, "EVALSHA", 0);
    test_ok(behind, reeve_reschedule_in(behind, "q", "y", 60000));
    assert_int_equal(test_proxy_lost(proxy), 3);
    order_is("a x");
    reeve_client_close(behind);
    test_proxy_stop(proxy);
}

/* Producers in other languages write numbers in other ways. */
static void a_priority_that_is_written_otherwise(void **state)
{
    (void)state;
    static const char *const written[] = {",\"priority\":1.0", ",\"priority\":1e0", ", \"priority\" : 1"};
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
        char rest[128], id[8];
        (void)snprintf(id, sizeof(id), "w%zu", i);
        (void)snprintf(rest, sizeof(rest), "\"type\":\"t\"%s}\n{}", written[i]);
        assert_string_equal(TEST_SCRIPT(enqueue, "reeve:{q}:", "0", id, "{\"priority\":1}", rest), "[1]");
        assert_string_equal(TEST_SCRIPT(reschedule, "reeve:{q}:", id, "priority", "3"), "ok");
        reeve_task_info *info = test_show("q", id);
        assert_int_equal(info->priority, 3);
        reeve_task_info_free(info);
        assert_string_equal(TEST_SCRIPT(reschedule, "reeve:{q}:", id, "priority", "0"), "ok");
        if (strstr(TEST_WORDS("HGET", "reeve:{q}:tasks", id), "priority")) fail_msg("%s", rest);
    }
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(from_ready_to_a_time, set_up),
        cmocka_unit_test_setup(from_one_time_to_another, set_up),
        cmocka_unit_test_setup(now, set_up),
        cmocka_unit_test_setup(ready_and_now, set_up),
        cmocka_unit_test_setup(now_by_its_options, set_up),
        cmocka_unit_test_setup(a_retry_that_waits, set_up),
        cmocka_unit_test_setup(parked_to_a_time, set_up),
        cmocka_unit_test_setup(an_earlier_time_is_announced, set_up),
        cmocka_unit_test_setup(to_the_end_of_its_order, set_up),
        cmocka_unit_test_setup(back_to_none, set_up),
        cmocka_unit_test_setup(the_same_priority_changes_nothing, set_up),
        cmocka_unit_test_setup(while_it_waits_for_its_time, set_up),
        cmocka_unit_test_setup(while_it_is_parked, set_up),
        cmocka_unit_test_setup(a_group_s, set_up),
        cmocka_unit_test_setup(nothing_else_changes, set_up),
        cmocka_unit_test_setup(numbers_in_its_metadata, set_up),
        cmocka_unit_test_setup(a_marked_one, set_up),
        cmocka_unit_test_setup(other_states, set_up),
        cmocka_unit_test_setup(sent_twice, set_up),
        cmocka_unit_test_setup(replies_are_lost, set_up),
        cmocka_unit_test_setup(a_priority_that_is_written_otherwise, test_place_empty),
    };
    test_clock_set(1900000000000); /* it stands still */
    return cmocka_run_group_tests_name("ct_reschedule", tests, test_place_start, test_place_stop);
}
