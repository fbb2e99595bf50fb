/* An enqueue of an id that the queue has: refused, ignored, or again (if_exists of reeve_task_spec). */
#include <stdio.h>
#include <string.h>

#include "reeve/depend.h"
#include "support/proxy.h"
#include "support/worker.h"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static reeve_status put_by(reeve_client *client, const char *id, reeve_if_exists rule, const char *payload)
{
    const reeve_task_spec spec = {
        .queue = "q", .type = "act", .id = id, .payload = {payload, strlen(payload)}, .if_exists = rule};
    return reeve_enqueue(client, &spec, NULL);
}

static reeve_status put(const char *id, reeve_if_exists rule, const char *payload)
{
    return put_by(test_client, id, rule, payload);
}

static void expect_payload(const char *id, const char *payload)
{
    reeve_task_info *info = test_show("q", id);
    assert_string_equal(info->payload.data, payload);
    reeve_task_info_free(info);
}

static void end_it(const char *id)
{
    reeve_worker *worker = test_worker_run(1, 1);
    reeve_status status = reeve_wait(test_client, "q", id, 60000, NULL);
    assert_true(status == REEVE_OK || status == REEVE_EDEAD);
    test_worker_end(worker);
}

static void a_waiting_task_is_not_replaced(void **state)
{
    (void)state;
    assert_int_equal(put("a", REEVE_EXISTS_AGAIN, "one"), REEVE_OK);
    assert_int_equal(put("a", REEVE_EXISTS_REFUSE, "two"), REEVE_EEXISTS);
    assert_int_equal(put("a", REEVE_EXISTS_AGAIN, "two"), REEVE_EEXISTS);
    assert_non_null(strstr(reeve_client_error(test_client), "q/a exists already"));
    assert_int_equal(put("a", REEVE_EXISTS_IGNORE, "two"), REEVE_OK);
    expect_payload("a", "one");
    assert_int_equal(test_count("q", "ready"), 1);
}

static void an_ended_task_comes_again(void **state)
{
    static const char *const ends[] = {"result one", "fail"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        (void)test_place_empty(NULL);
        assert_int_equal(put("a", REEVE_EXISTS_REFUSE, ends[i]), REEVE_OK);
        end_it("a");
        assert_int_equal(put("a", REEVE_EXISTS_REFUSE, "result two"), REEVE_EEXISTS);
        assert_int_equal(put("a", REEVE_EXISTS_IGNORE, "result two"), REEVE_OK);
        expect_payload("a", ends[i]);
        assert_int_equal(put("a", REEVE_EXISTS_AGAIN, "result two"), REEVE_OK);
        assert_string_equal(test_state("q", "a"), "ready");
        assert_int_equal(test_count("q", "completed") + test_count("q", "dead"), 0);
        end_it("a");
        reeve_task_info *info = test_show("q", "a");
        assert_string_equal(info->result.data, "two");
        assert_int_equal(info->failures, 0);
        reeve_task_info_free(info);
    }
    assert_int_equal(put("c", REEVE_EXISTS_REFUSE, ""), REEVE_OK);
    test_ok(test_client, reeve_cancel(test_client, "q", "c"));
    assert_int_equal(put("c", REEVE_EXISTS_AGAIN, ""), REEVE_OK);
    assert_string_equal(test_state("q", "c"), "ready");
}

static void a_call_of_many_follows_each_rule(void **state)
{
    (void)state;
    test_put("q", "a b c");
    test_ok(test_client, reeve_cancel(test_client, "q", "c"));
    const reeve_task_spec specs[] = {
        {.queue = "q", .type = "t", .id = "a", .if_exists = REEVE_EXISTS_IGNORE},
        {.queue = "q", .type = "t", .id = "b"},
        {.queue = "q", .type = "t", .id = "c", .if_exists = REEVE_EXISTS_AGAIN, .in_ms = 60000},
        {.queue = "q", .type = "t", .id = "d", .if_exists = REEVE_EXISTS_AGAIN}};
    reeve_enqueued results[4];
    assert_int_equal(reeve_enqueue_many(test_client, specs, 4, results), REEVE_EEXISTS);
    assert_string_equal(reeve_client_error(test_client), "a task q/b exists already");
    assert_int_equal(results[0].status, REEVE_OK);
    assert_int_equal(results[1].status, REEVE_EEXISTS);
    assert_int_equal(results[2].status, REEVE_OK);
    assert_int_equal(results[3].status, REEVE_OK);
    assert_string_equal(test_state("q", "c"), "scheduled");
}

/* One that others wait for stays; a new one that is refused takes the record along. */
static void what_stands_in_the_way_is_reported(void **state)
{
    (void)state;
    const reeve_parent wait = {.handle = "q/a", .on_death = REEVE_PARENT_WAIT};
    const reeve_task_spec child = {.queue = "q", .type = "t", .id = "child", .after = &wait, .after_count = 1};
    test_put("q", "a e");
    test_ok(test_client, reeve_enqueue(test_client, &child, NULL));
    test_ok(test_client, reeve_cancel_cascade(test_client, "q", "e"));
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "u", .unique = "k"});
    const reeve_task_spec again = {
        .queue = "q", .type = "t", .id = "e", .unique = "k", .if_exists = REEVE_EXISTS_AGAIN};
    char id[REEVE_ID_MAX];
    assert_int_equal(reeve_enqueue(test_client, &again, id), REEVE_EUNIQUE);
    assert_string_equal(id, "u");
    assert_int_equal(put("a", REEVE_EXISTS_AGAIN, ""), REEVE_EEXISTS);
    const reeve_task_spec odd = {.queue = "q", .type = "t", .if_exists = REEVE_EXISTS_AGAIN};
    assert_int_equal(reeve_enqueue(test_client, &odd, NULL), REEVE_EINVAL);
}

/* The reply is lost, and the task has run and ended before the call is repeated. */
static void a_repeated_call_does_not_bring_it_twice(void **state)
{
    (void)state;
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_client_options options = {.redis = test_proxy_url(proxy), .timeout_ms = 20000};
    reeve_client *client = NULL;
    assert_int_equal(reeve_client_open(&client, &options), REEVE_OK);
    assert_int_equal(put_by(client, "a", REEVE_EXISTS_REFUSE, "result one"), REEVE_OK);
    end_it("a");
    test_proxy_lose(proxy, "MULTI", 0);
    assert_int_equal(put_by(client, "a", REEVE_EXISTS_AGAIN, "result two"), REEVE_OK);
    assert_int_equal(test_proxy_lost(proxy), 1);
    assert_string_equal(test_state("q", "a"), "ready");
    end_it("a");
    assert_int_equal(test_count("q", "completed"), 1);
    reeve_client_close(client);
    test_proxy_stop(proxy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_waiting_task_is_not_replaced, set_up),
        cmocka_unit_test_setup(an_ended_task_comes_again, set_up),
        cmocka_unit_test_setup(a_call_of_many_follows_each_rule, set_up),
        cmocka_unit_test_setup(what_stands_in_the_way_is_reported, set_up),
        cmocka_unit_test_setup(a_repeated_call_does_not_bring_it_twice, set_up),
    };
    return cmocka_run_group_tests_name("ct_if_exists", tests, test_place_start, test_place_stop);
}
