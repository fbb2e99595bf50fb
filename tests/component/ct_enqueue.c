/* Producing: one task, many, what lies in Redis then, what is refused, and how much goes in a call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "protocol/definition.h"
#include "support/specs.h"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

#define Q "reeve:{q}:"
/* ---- one ------------------------------------------------------------------------------------------------------- */

static void an_id_is_made(void **state)
{
    (void)state;
    char one[REEVE_ID_MAX], two[REEVE_ID_MAX];
    const reeve_task_spec spec = {.queue = "q", .type = "t"};
    test_ok(test_client, reeve_enqueue(test_client, &spec, one));
    test_ok(test_client, reeve_enqueue(test_client, &spec, two));
    assert_int_equal(strlen(one), 36);
    assert_int_equal(one[14], '7');
    assert_true(strcmp(one, two) < 0);
    assert_string_equal(test_state("q", one), "ready");
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
    assert_int_equal(test_count("q", "ready"), 3);
    assert_int_equal(test_number("SISMEMBER reeve:queues q"), 1);
}

static void an_id_is_taken_once(void **state)
{
    (void)state;
    char id[REEVE_ID_MAX] = "untouched";
    reeve_task_spec spec = {.queue = "q", .type = "t", .id = "x"};
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
    test_refused(test_client, reeve_enqueue(test_client, &spec, id), REEVE_EEXISTS, "a task q/x exists already");
    assert_string_equal(id, "untouched");
    spec.queue = "other"; /* ids are a queue's own */
    test_ok(test_client, reeve_enqueue(test_client, &spec, id));
    assert_string_equal(id, "x");
    spec.queue = "q";
    (void)test_lease(&hand, 1);
    test_refused(test_client, reeve_enqueue(test_client, &spec, NULL), REEVE_EEXISTS, "exists");
    test_settle(&hand, TEST_DONE("x"));
    test_refused(test_client, reeve_enqueue(test_client, &spec, NULL), REEVE_EEXISTS,
                 "exists"); /* as long as it is kept */
    test_ok(test_client, reeve_delete(test_client, "q", "x"));
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
}

static void what_lies_in_redis(void **state)
{
    (void)state;
    char plain[100];
    const char *const tags[] = {"a", "b\"\n"};
    const reeve_meta meta[] = {{"k", "v"}, {"\xc3\xa9", "\\"}};
    const reeve_backoff backoff = {.shape = REEVE_BACKOFF_FIXED, .base_ms = 10, .cap_ms = 20, .jitter = 0.5};
    test_put_spec((reeve_task_spec){.id = "plain", .payload = {"p q", 3}});
    reeve_task_info *info = test_show("q", "plain");
    (void)snprintf(plain, sizeof(plain), "{\"at\":%lld,\"type\":\"t\"}\np q", (long long)info->enqueued_ms);
    reeve_task_info_free(info);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "tasks plain"), plain);
    test_put_spec((reeve_task_spec){.id = "full",
                                    .priority = -3,
                                    .group = "g\"",
                                    .weight = 2,
                                    .attempts = 4,
                                    .max_crashes = 5,
                                    .timeout_ms = 6,
                                    .backoff = &backoff,
                                    .tags = tags,
                                    .tag_count = 2,
                                    .meta = meta,
                                    .meta_count = 2});
    assert_string_equal(strstr(test_cmd(test_conn, "HGET " Q "tasks full"), ",\"type\""),
                        ",\"type\":\"t\",\"priority\":-3,\"group\":\"g\\\"\",\"weight\":2,\"attempts\":4,\"crashes\":5,"
                        "\"timeout\":6,\"backoff\":{\"shape\":1,\"base\":10,\"cap\":20,\"jitter\":500},"
                        "\"tags\":[\"a\",\"b\\\"\\n\"],\"meta\":{\"k\":\"v\",\"\xc3\xa9\":\"\\\\\"}}\n");
}

static void payloads_of_any_bytes(void **state)
{
    (void)state;
    static char all[70000];
    for (size_t i = 0; i < sizeof(all); i++) all[i] = (char)(i * 7 + i / 256);
    static const size_t lengths[] = {0, 1, 2, 255, 256, 65535, 65536, 70000};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "p%zu", i);
        test_put_spec((reeve_task_spec){.id = id, .payload = {all, lengths[i]}});
        reeve_task_info *info = test_show("q", id);
        assert_int_equal(info->payload.length, lengths[i]);
        assert_memory_equal(info->payload.data, all, lengths[i]);
        reeve_task_info_free(info);
    }
}

static void later(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "in", .in_ms = 50000});
    test_put_spec((reeve_task_spec){.id = "at", .at_ms = 4102444800000});
    test_put_spec((reeve_task_spec){.id = "past", .at_ms = 1000});
    reeve_task_info *info = test_show("q", "in");
    assert_int_equal(info->state, REEVE_STATE_SCHEDULED);
    assert_int_equal(info->due_ms, info->enqueued_ms + 50000);
    reeve_task_info_free(info);
    info = test_show("q", "at");
    assert_int_equal(info->due_ms, 4102444800000);
    reeve_task_info_free(info);
    assert_string_equal(test_state("q", "past"), "ready");
    test_put_spec((reeve_task_spec){.id = "never", .in_ms = INT64_MAX});
    test_put_spec((reeve_task_spec){.id = "neither", .at_ms = INT64_MAX});
    info = test_show("q", "never");
    assert_int_equal(info->state, REEVE_STATE_SCHEDULED);
    assert_int_equal(info->due_ms, RV_LATEST);
    reeve_task_info_free(info);
    (void)test_maintain("q", 200);
    assert_string_equal(test_state("q", "neither"), "scheduled");
}

/* The schedulers hear of what is due before all that they know of, and of nothing else. */
static void what_is_due_first_is_announced(void **state)
{
    (void)state;
    const rv_reply *message;
    rv_conn *listener = test_conn_open(test_redis);
    assert_string_equal(test_cmd(listener, "SUBSCRIBE reeve:control"), "[subscribe reeve:control 1]");
    test_put_spec((reeve_task_spec){.id = "a", .in_ms = 50000});
    test_put_spec((reeve_task_spec){.id = "b", .in_ms = 60000});
    test_put_spec((reeve_task_spec){.id = "c", .in_ms = 40000});
    static const char *const heard[] = {"a", "c"};
    for (int i = 0; i < 2; i++) {
        char words[128];
        reeve_task_info *info = test_show("q", heard[i]);
        (void)snprintf(words, sizeof(words), "[message reeve:control due q %lld]", (long long)info->due_ms);
        reeve_task_info_free(info);
        assert_int_equal(rv_conn_receive(listener, test_patience(), &message), REEVE_OK);
        assert_string_equal(test_reply_text(message), words);
    }
    assert_int_equal(rv_conn_receive(listener, rv_deadline(20), &message), REEVE_ETIMEOUT);
    rv_conn_destroy(listener);
}

/* ---- many ------------------------------------------------------------------------------------------------------ */

static void order_is_kept_over_calls_and_pipelines(void **state)
{
    (void)state;
    test_specs_make(TEST_SPECS);
    test_ok(test_client, reeve_enqueue_many(test_client, test_specs, TEST_SPECS, test_results));
    for (size_t i = 0; i < TEST_SPECS; i++) {
        assert_int_equal(test_results[i].status, REEVE_OK);
        assert_string_equal(test_results[i].id, test_ids[i]);
    }
    for (size_t at = 0; at < TEST_SPECS; at += 250) {
        assert_int_equal(test_lease(&hand, 250), 250);
        for (size_t i = 0; i < 250; i++) assert_string_equal(hand.leased[i].id, test_ids[at + i]);
    }
}

static long long calls(void)
{
    const char *stat = strstr(test_cmd(test_conn, "INFO commandstats"), "cmdstat_evalsha:calls=");
    return stat ? atoll(strchr(stat, '=') + 1) : 0;
}

static void a_call_carries_so_many(void **state)
{
    (void)state;
    static char payload[300000];
    static const struct {
        size_t count, bytes;
        long long calls;
    } loads[] = {{0, 0, 0},    {1, 0, 1},      {250, 0, 1},    {251, 0, 2},
                 {1000, 0, 4}, {4, 262144, 1}, {5, 262144, 2}, {10, 300000, 4}};
    test_put("q", "first"); /* so that the script is known */
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
        for (size_t j = 0; j < loads[i].count; j++)
            test_specs[j] = (reeve_task_spec){.queue = "q", .type = "t", .payload = {payload, loads[i].bytes}};
        (void)test_cmd(test_conn, "CONFIG RESETSTAT");
        test_ok(test_client, reeve_enqueue_many(test_client, test_specs, loads[i].count, test_results));
        if (calls() != loads[i].calls)
            fail_msg("%zu of %zu bytes: %lld calls", loads[i].count, loads[i].bytes, calls());
    }
}

static void queues_mixed(void **state)
{
    (void)state;
    static const char *const queues[] = {"q", "r", "s"};
    test_specs_make(300);
    for (size_t i = 0; i < 300; i++) test_specs[i].queue = queues[i / 7 % 3];
    test_ok(test_client, reeve_enqueue_many(test_client, test_specs, 300, test_results));
    for (size_t which = 0; which < 3; which++) {
        test_hand one;
        size_t at = 0;
        test_hand_init(&one, "1", queues[which]);
        (void)test_lease(&one, 256);
        for (size_t i = 0; i < 300; i++) {
            if (i / 7 % 3 != which) continue;
            assert_string_equal(one.leased[at++].id, test_ids[i]);
        }
        assert_int_equal(one.count, at);
    }
}

static void refused_ones_in_between(void **state)
{
    (void)state;
    test_specs_make(600);
    test_specs[0].queue = "no good";
    test_specs[3].type = "";
    test_specs[4].priority = 999;
    test_specs[250].id = "a/b";
    test_specs[300].payload = (reeve_bytes){"", REEVE_PAYLOAD_MAX + 1};
    test_specs[599].queue = NULL;
    test_put("q", "n0100");
    assert_int_equal(reeve_enqueue_many(test_client, test_specs, 600, test_results), REEVE_EINVAL);
    assert_non_null(strstr(reeve_client_error(test_client), "queue \"no good\"")); /* the first */
    for (size_t i = 0; i < 600; i++) {
        reeve_status expected = i == 300 ? REEVE_ETOOBIG : i == 100 ? REEVE_EEXISTS : REEVE_OK;
        if (i == 0 || i == 3 || i == 4 || i == 250 || i == 599) expected = REEVE_EINVAL;
        if (test_results[i].status != expected) fail_msg("%zu: %d", i, (int)test_results[i].status);
    }
    assert_int_equal(test_count("q", "ready"), 600 - 6);
}

/* The first of the specs that failed, though another was found sooner. */
static void the_first_failure_is_told(void **state)
{
    (void)state;
    test_specs_make(4);
    test_put("q", "n0001");
    test_specs[2].priority = 999;
    test_refused(test_client, reeve_enqueue_many(test_client, test_specs, 4, test_results), REEVE_EEXISTS,
                 "a task q/n0001 exists already");
    assert_int_equal(test_results[2].status, REEVE_EINVAL);
    test_specs_make(4);
    test_specs[0].priority = 999;
    test_refused(test_client, reeve_enqueue_many(test_client, test_specs, 2, test_results), REEVE_EINVAL,
                 "priority 999");
    assert_int_equal(test_results[1].status, REEVE_EEXISTS);
}

static void all_queues_are_made_known(void **state)
{
    (void)state;
    reeve_client *client = test_client_open(5000);
    static char names[20][16];
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 20; i++) {
            (void)snprintf(names[i], sizeof(names[i]), "queue-%zu", i);
            test_specs[i] = (reeve_task_spec){.queue = names[i], .type = "t"};
        }
        test_ok(client, reeve_enqueue_many(client, test_specs, 20, test_results));
        assert_int_equal(test_number("SCARD reeve:queues"), 20);
    }
    reeve_client_close(client);
}

static void the_same_id_twice_in_a_call(void **state)
{
    (void)state;
    test_specs_make(5);
    test_specs[3].id = test_ids[1];
    test_specs[4].queue = "other";
    test_specs[4].id = test_ids[1];
    test_refused(test_client, reeve_enqueue_many(test_client, test_specs, 5, test_results), REEVE_EEXISTS,
                 "q/n0001 exists");
    for (size_t i = 0; i < 5; i++) assert_int_equal(test_results[i].status, i == 3 ? REEVE_EEXISTS : REEVE_OK);
    assert_int_equal(test_count("q", "ready"), 3);
}

static void misuse(void **state)
{
    (void)state;
    test_specs_make(1);
    assert_int_equal(reeve_enqueue_many(NULL, test_specs, 1, test_results), REEVE_EINVAL);
    assert_int_equal(reeve_enqueue_many(test_client, NULL, 1, test_results), REEVE_EINVAL);
    assert_int_equal(reeve_enqueue_many(test_client, test_specs, 1, NULL), REEVE_EINVAL);
    assert_int_equal(reeve_enqueue(NULL, test_specs, NULL), REEVE_EINVAL);
    test_refused(test_client, reeve_enqueue(test_client, NULL, NULL), REEVE_EINVAL, "no task");
    test_ok(test_client, reeve_enqueue_many(test_client, NULL, 0, NULL));
}

/* ---- limits ---------------------------------------------------------------------------------------------------- */

static void the_largest_payload(void **state)
{
    (void)state;
    char *payload = calloc(1, REEVE_PAYLOAD_MAX + 1);
    assert_non_null(payload);
    payload[0] = 'a';
    payload[REEVE_PAYLOAD_MAX - 1] = 'z';
    reeve_task_spec spec = {.queue = "q", .type = "t", .id = "x", .payload = {payload, REEVE_PAYLOAD_MAX + 1}};
    test_refused(test_client, reeve_enqueue(test_client, &spec, NULL), REEVE_ETOOBIG,
                 "the payload has 67108865 bytes: at most 67108864");
    spec.payload.length--;
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->payload.length, REEVE_PAYLOAD_MAX);
    assert_int_equal(((const char *)info->payload.data)[REEVE_PAYLOAD_MAX - 1], 'z');
    reeve_task_info_free(info);
    free(payload);
}

static void redis_has_no_memory_left(void **state)
{
    (void)state;
    test_specs_make(3);
    test_put("q", "before");
    (void)test_cmd(test_conn, "CONFIG SET maxmemory 1mb");
    test_refused(test_client, reeve_enqueue_many(test_client, test_specs, 3, test_results), REEVE_EREDIS,
                 "queue q: OOM");
    for (size_t i = 0; i < 3; i++) assert_int_equal(test_results[i].status, REEVE_EREDIS);
    /* What is there is worked off. */
    assert_int_equal(test_lease(&hand, 5), 1);
    test_settle(&hand, TEST_RESULT("before", "r"));
    assert_string_equal(test_state("q", "before"), "completed");
    (void)test_cmd(test_conn, "CONFIG SET maxmemory 0");
    test_ok(test_client, reeve_enqueue_many(test_client, test_specs, 3, test_results));
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    const char *const tags[] = {"t\"1\""};
    unsigned long nth = 0, made = 0;
    reeve_status status = REEVE_ENOMEM;
    while (made >= nth) {
        reeve_client *client = test_client_open(5000);
        test_specs_make(40);
        for (size_t i = 0; i < 40; i++) {
            test_specs[i].tags = tags;
            test_specs[i].tag_count = 1;
            test_specs[i].payload = (reeve_bytes){test_ids, 100 * i};
            if (i % 10 == 9) test_specs[i].queue = "other";
        }
        (void)test_cmd(test_conn, "FLUSHALL");
        nth++;
        (void)rv_mem_fail_at(nth);
        status = reeve_enqueue_many(client, test_specs, 40, test_results);
        made = rv_mem_fail_at(0);
        if (status != REEVE_OK && status != REEVE_ENOMEM) fail_msg("allocation %lu: status %d", nth, (int)status);
        if (status != REEVE_OK) assert_true(strlen(reeve_client_error(client)) > 0);
        /* What was said of each is so. */
        for (size_t i = 0; i < 40; i++) {
            const char *there = test_state(test_specs[i].queue, test_ids[i]);
            if (test_results[i].status == REEVE_OK && strcmp(there, "ready") != 0)
                fail_msg("allocation %lu: %zu is not there", nth, i);
            if (test_results[i].status != REEVE_OK) assert_int_equal(test_results[i].status, REEVE_ENOMEM);
        }
        reeve_client_close(client);
    }
    assert_int_equal(status, REEVE_OK);
    assert_true(nth > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_id_is_made, set_up),
        cmocka_unit_test_setup(an_id_is_taken_once, set_up),
        cmocka_unit_test_setup(what_lies_in_redis, set_up),
        cmocka_unit_test_setup(payloads_of_any_bytes, set_up),
        cmocka_unit_test_setup(later, set_up),
        cmocka_unit_test_setup(what_is_due_first_is_announced, set_up),
        cmocka_unit_test_setup(order_is_kept_over_calls_and_pipelines, set_up),
        cmocka_unit_test_setup(a_call_carries_so_many, set_up),
        cmocka_unit_test_setup(queues_mixed, set_up),
        cmocka_unit_test_setup(refused_ones_in_between, set_up),
        cmocka_unit_test_setup(the_first_failure_is_told, set_up),
        cmocka_unit_test_setup(all_queues_are_made_known, set_up),
        cmocka_unit_test_setup(the_same_id_twice_in_a_call, set_up),
        cmocka_unit_test_setup(misuse, set_up),
        cmocka_unit_test_setup(the_largest_payload, set_up),
        cmocka_unit_test_setup(redis_has_no_memory_left, set_up),
        cmocka_unit_test_setup(each_allocation_may_fail, set_up),
    };
    return cmocka_run_group_tests_name("ct_enqueue", tests, test_place_start, test_place_stop);
}
