/* ct_consumer_layers.c - the layers of a consumer: before the program gets a task, and when it settles it. */
#include <stdio.h>
#include <string.h>

#include "reeve/depend.h"
#include "support/consumer.h"
#include "support/limits.h"

static reeve_consumer *c;
static char seen[256];
static unsigned freed;

#define Q "reeve:{q}:"

static void note(const char *text)
{
    size_t used = strlen(seen);
    (void)snprintf(seen + used, sizeof(seen) - used, "%s ", text);
}

/* ---- layers ---------------------------------------------------------------------------------------------------- */

/* The user is a letter: it is the last of the payload, in which the layers put it, and of the result. */
static reeve_status seal(reeve_outgoing *task, reeve_task_spec *spec, void *user)
{
    char text[64];
    int length = snprintf(text, sizeof(text), "%.*s%s", (int)spec->payload.length,
                          spec->payload.length > 0 ? (const char *)spec->payload.data : "", (const char *)user);
    return reeve_outgoing_set_payload(task, text, (size_t)length);
}

static void open_payload(reeve_task *task, void *user)
{
    reeve_bytes in = reeve_task_payload(task);
    const char *text = in.data;
    note(user);
    if (in.length == 0 || text[in.length - 1] != *(const char *)user)
        (void)reeve_task_fail(task, "seal", "no %s", (const char *)user);
    else
        assert_int_equal(reeve_task_set_payload(task, text, in.length - 1), REEVE_OK);
}

static void seal_result(reeve_task *task, void *user)
{
    char text[64];
    reeve_bytes result = reeve_task_result(task);
    note(user);
    if (reeve_task_outcome(task) != REEVE_OUTCOME_DONE) return;
    int length = snprintf(text, sizeof(text), "%.*s%s", (int)result.length,
                          result.length > 0 ? (const char *)result.data : "", (const char *)user);
    (void)reeve_task_done(task, text, (size_t)length);
}

static void count_free(void *user)
{
    (void)user;
    freed++;
}

static const reeve_layer outer = {
    REEVE_LAYER,          .name = "outer",     .enqueue = seal,        .before = open_payload,
    .after = seal_result, .user = (void *)"a", .free_user = count_free};
static const reeve_layer inner = {
    REEVE_LAYER,          .name = "inner",     .enqueue = seal,        .before = open_payload,
    .after = seal_result, .user = (void *)"b", .free_user = count_free};

static int set_up(void **state)
{
    seen[0] = '\0';
    freed = 0;
    return test_place_empty(state);
}

static void open_with_layers(void)
{
    c = test_consumer_open("q", NULL);
    test_good(c, reeve_consumer_add_layer(c, &outer));
    test_good(c, reeve_consumer_add_layer(c, &inner));
}

static void put(const char *id, const char *payload)
{
    test_put_spec((reeve_task_spec){.queue = "q", .type = "mail.x", .id = id, .payload = {payload, strlen(payload)}});
}

static const char *payload(unsigned i)
{
    return reeve_task_payload(test_pulled[i]).data;
}

/* ---- tests ----------------------------------------------------------------------------------------------------- */

static void the_program_gets_what_was_enqueued(void **state)
{
    (void)state;
    open_with_layers();
    put("x", "1ba");
    put("y", "2ba");
    assert_string_equal(test_pull(c, 8, true), "x y");
    assert_string_equal(payload(0), "1");
    assert_string_equal(payload(1), "2");
    assert_string_equal(seen, "a b a b ");
    test_good(c, test_settle_done(c, 0, "r"));
    assert_string_equal(test_cmd(test_conn, "HGET " Q "results x"), "rba");
    test_good(c, reeve_consumer_settle_later(c, test_pulled[1], reeve_task_done(test_pulled[1], "s", 1)));
    test_good(c, reeve_consumer_flush(c));
    assert_string_equal(test_cmd(test_conn, "HGET " Q "results y"), "sba");
    assert_string_equal(seen, "a b a b b a b a ");
    test_good(c, reeve_consumer_close(c));
    assert_int_equal(freed, 2);
}

static void chained_tasks_pass_them(void **state)
{
    (void)state;
    open_with_layers();
    put("x", "1ba");
    assert_string_equal(test_pull(c, 8, true), "x");
    const reeve_task_spec next = {.queue = "q", .type = "t", .id = "next", .payload = {"2", 1}};
    assert_int_equal(reeve_task_chain(test_pulled[0], &next, NULL), REEVE_OK);
    test_good(c, test_settle_done(c, 0, ""));
    assert_string_equal(test_pull(c, 8, true), "next");
    assert_string_equal(payload(0), "2");
    test_good(c, reeve_consumer_close(c));
}

/* Those that a layer ends are not the program's: the call goes on to wait for others. */
static void a_layer_ends_tasks(void **state)
{
    (void)state;
    open_with_layers();
    put("plain", "1");
    put("half", "1xa");
    put("good", "1ba");
    assert_string_equal(test_pull(c, 8, true), "good");
    assert_string_equal(test_state("q", "plain"), "dead");
    assert_string_equal(test_state("q", "half"), "dead");
    assert_string_equal(seen, "a a b a a b ");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "info:half message"), "no b");
    test_good(c, test_settle_done(c, 0, ""));
    put("plain2", "1");
    assert_string_equal(test_pull(c, 8, false), "");
    assert_string_equal(test_state("q", "plain2"), "dead");
    put("plain3", "1");
    put("good2", "1ba");
    assert_string_equal(test_pull(c, 1, true), "good2");
    assert_string_equal(test_state("q", "plain3"), "dead");
    test_good(c, reeve_consumer_close(c));
    assert_int_equal(test_count("q", "running"), 0);
}

static void one_task_by_its_id(void **state)
{
    reeve_task *task;
    (void)state;
    open_with_layers();
    put("bad", "1");
    put("good", "1ba");
    assert_int_equal(reeve_consumer_lease_id(c, "q", "bad", &task), REEVE_EREFUSED);
    assert_non_null(strstr(reeve_consumer_error(c), "layer"));
    assert_string_equal(test_state("q", "bad"), "dead");
    test_good(c, reeve_consumer_lease_id(c, "q", "good", &task));
    assert_string_equal((const char *)reeve_task_payload(task).data, "1");
    test_good(c, reeve_consumer_settle(c, task, reeve_task_done(task, "r", 1)));
    test_good(c, reeve_consumer_close(c));
}

/* A layer may use the functions of task.h, which go to Redis, on both sides. */
static void log_both(reeve_task *task, void *user)
{
    (void)user;
    assert_int_equal(reeve_task_log(task, "seen %s", reeve_outcome_name(reeve_task_outcome(task))), REEVE_OK);
}

static void layers_call_redis(void **state)
{
    const reeve_layer log = {REEVE_LAYER, .name = "log", .type = "mail.*", .before = log_both, .after = log_both};
    (void)state;
    c = test_consumer_open("q", NULL);
    test_good(c, reeve_consumer_add_layer(c, &log));
    put("x", "1");
    test_put("q", "other");
    assert_string_equal(test_pull(c, 8, true), "x other");
    test_good(c, test_settle_done(c, 0, NULL));
    test_good(c, test_settle_done(c, 1, NULL));
    assert_non_null(strstr(test_cmd(test_conn, "HGET " Q "info:x log:0"), "seen none"));
    assert_non_null(strstr(test_cmd(test_conn, "HGET " Q "info:x log:1"), "seen done"));
    assert_int_equal(test_number("HEXISTS " Q "info:other log:0"), 0);
    test_good(c, reeve_consumer_close(c));
}

/* Its outcome is the program's only if the program says so; `after` is called once. */
static void a_wrong_outcome_is_no_settlement(void **state)
{
    (void)state;
    open_with_layers();
    put("x", "1ba");
    assert_string_equal(test_pull(c, 8, true), "x");
    (void)reeve_task_done(test_pulled[0], "r", 1);
    assert_int_equal(reeve_consumer_settle(c, test_pulled[0], REEVE_OUTCOME_FAIL), REEVE_EINVAL);
    assert_string_equal(seen, "a b ");
    test_good(c, reeve_consumer_settle(c, test_pulled[0], REEVE_OUTCOME_DONE));
    assert_string_equal(seen, "a b b a ");
    test_good(c, reeve_consumer_close(c));
}

static void replace(reeve_task *task, void *user)
{
    (void)user;
    (void)reeve_task_retry(task, 60000, "again", "%s", reeve_task_error_message(task));
}

static void an_outcome_is_replaced(void **state)
{
    const reeve_layer again = {REEVE_LAYER, .name = "again", .after = replace};
    (void)state;
    c = test_consumer_open("q", NULL);
    test_good(c, reeve_consumer_add_layer(c, &again));
    put("x", "1");
    assert_string_equal(test_pull(c, 8, true), "x");
    test_good(c, reeve_consumer_settle(c, test_pulled[0], reeve_task_fail(test_pulled[0], "k", "broken")));
    assert_string_equal(test_state("q", "x"), "scheduled");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "info:x message"), "broken");
    test_good(c, reeve_consumer_close(c));
}

/* Tasks that are given back at the end pass no layer. */
static void the_end_calls_none(void **state)
{
    (void)state;
    open_with_layers();
    put("x", "1ba");
    assert_string_equal(test_pull(c, 8, true), "x");
    test_good(c, reeve_consumer_close(c));
    assert_string_equal(seen, "a b ");
    assert_string_equal(test_state("q", "x"), "ready");
}

static void odd_layers_are_refused(void **state)
{
    const reeve_layer none = {REEVE_LAYER, .name = "none"};
    (void)state;
    c = test_consumer_open("q", NULL);
    assert_int_equal(reeve_consumer_add_layer(c, &none), REEVE_EINVAL);
    assert_non_null(strstr(reeve_consumer_error(c), "no function"));
    assert_int_equal(reeve_consumer_add_layer(c, NULL), REEVE_EINVAL);
    assert_int_equal(reeve_consumer_add_layer(NULL, &outer), REEVE_EINVAL);
    test_good(c, reeve_consumer_close(c));
    assert_int_equal(freed, 0);
}

/* A lease that a client settles by its token: `after` sees the task as it is in Redis. */
static void a_token_settles_through_layers(void **state)
{
    char token[REEVE_TOKEN_MAX];
    reeve_client *client;
    (void)state;
    c = test_consumer_open("q", &(reeve_consumer_options){.session_ms = 60000});
    put("x", "1ba");
    assert_string_equal(test_pull(c, 8, true), "x");
    test_good(c, reeve_consumer_token(c, test_pulled[0], token));
    test_good(c, reeve_consumer_detach(c));
    assert_int_equal(reeve_client_open(&client, &(reeve_client_options){.redis = test_redis_url(test_redis)}),
                     REEVE_OK);
    assert_int_equal(reeve_client_add_layer(client, &outer), REEVE_OK);
    assert_int_equal(reeve_client_add_layer(client, &inner), REEVE_OK);
    const reeve_lease_outcome outcome = {.outcome = REEVE_OUTCOME_DONE, .result = {"r", 1}};
    assert_int_equal(reeve_lease_settle(client, "q", "x", token, &outcome), REEVE_OK);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "results x"), "rba");
    assert_string_equal(seen, "b a ");
    reeve_client_close(client);
    assert_int_equal(freed, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_program_gets_what_was_enqueued, set_up),
        cmocka_unit_test_setup(chained_tasks_pass_them, set_up),
        cmocka_unit_test_setup(a_layer_ends_tasks, set_up),
        cmocka_unit_test_setup(one_task_by_its_id, set_up),
        cmocka_unit_test_setup(layers_call_redis, set_up),
        cmocka_unit_test_setup(a_wrong_outcome_is_no_settlement, set_up),
        cmocka_unit_test_setup(an_outcome_is_replaced, set_up),
        cmocka_unit_test_setup(the_end_calls_none, set_up),
        cmocka_unit_test_setup(odd_layers_are_refused, set_up),
        cmocka_unit_test_setup(a_token_settles_through_layers, set_up),
    };
    return cmocka_run_group_tests_name("ct_consumer_layers", tests, test_place_start, test_place_stop);
}
