/* Tasks that wait for others in other queues: messages, by client and worker, lost at each step and carried twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/outbox.h"
#include "protocol/scripts.h"
#include "support/depend.h"
#include "support/proxy.h"
#include "support/worker.h"

/* ---- the way there and back ------------------------------------------------------------------------------------ */

static void each_policy(void **state)
{
    (void)state;
    test_put("p", "a b");
    test_put_after("q", "f", "f:p/a");
    test_put_after("q", "g", "g:p/a");
    test_put_after("q", "w", "w:p/a");
    test_put_after("q", "x", "x:p/a x:p/b");
    /* The client has told the other queue at once. */
    assert_int_equal(test_number("ZCARD reeve:{p}:children:a"), 3);
    assert_int_equal(test_number("EXISTS reeve:{q}:outbox"), 0);
    test_kill("p", "a");
    test_state_is("q", "f", "blocked");
    test_settle_queues("p q");
    test_state_is("q", "f", "dead");
    test_state_is("q", "g", "ready");
    test_state_is("q", "w", "blocked");
    test_state_is("q", "x", "ready");
    test_ok(test_client, reeve_retry(test_client, "p", "a"));
    test_complete("p", "b");
    test_complete("p", "a");
    test_settle_queues("p q");
    test_state_is("q", "w", "ready");
    test_settle_all();
}

static void parents_that_have_ended(void **state)
{
    (void)state;
    test_put("p", "a b");
    test_complete("p", "a");
    test_kill("p", "b");
    test_put_after("q", "c", "f:p/a fg:p/never");
    test_put_after("q", "d", "f:p/b");
    test_put_after("q", "e", "w:p/b");
    test_put_after("q", "g", "g:p/b");
    test_settle_queues("p q");
    test_state_is("q", "c", "ready");
    test_state_is("q", "d", "dead");
    test_state_is("q", "e", "blocked");
    test_state_is("q", "g", "ready");
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "e", (const char *[]){"p/b"}, 1));
    test_state_is("q", "e", "ready");
    test_settle_all();
}

static void edges_by_hand_and_cancelling(void **state)
{
    (void)state;
    test_put("p", "a");
    test_put_after("q", "b", "f:p/a");
    test_put_after("q", "c", "f:p/a");
    test_put_after("p", "d", "f:q/c");
    test_refused(test_client, reeve_cancel(test_client, "p", "a"), REEVE_ESTATE, "others wait for it (2)");
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "b", (const char *[]){"p/a"}, 1));
    test_refused(test_client, reeve_cancel(test_client, "p", "a"), REEVE_ESTATE, "others wait for it (1)");
    test_ok(test_client, reeve_cancel_cascade(test_client, "p", "a"));
    test_settle_queues("p q");
    test_state_is("q", "b", "ready");
    test_state_is("q", "c", "cancelled");
    test_state_is("p", "d", "cancelled");
    test_settle_all();
}

/* Nobody serves these queues: whoever cancels does all of it. */
static void cancelling_without_a_worker(void **state)
{
    (void)state;
    enum { CHILDREN = 90 };
    char id[16], parent[32];
    test_put("p", "a");
    for (int i = 0; i < CHILDREN; i++) {
        (void)snprintf(id, sizeof(id), "c%02d", i);
        test_put_after(i % 2 ? "p" : "q", id, "f:p/a");
        (void)snprintf(parent, sizeof(parent), "f:%s/%s", i % 2 ? "p" : "q", id);
        (void)snprintf(id, sizeof(id), "d%02d", i);
        test_put_after(i % 4 ? "p" : "r", id, parent);
    }
    test_ok(test_client, reeve_cancel_cascade(test_client, "p", "a"));
    assert_int_equal(test_count("p", "blocked") + test_count("q", "blocked") + test_count("r", "blocked"), 0);
    assert_int_equal(test_count("p", "cancelled") + test_count("q", "cancelled") + test_count("r", "cancelled"),
                     1 + 2 * CHILDREN);
    /* What is cancelled does not hold up what it waited for. */
    test_put("p", "b");
    test_put_after("q", "e", "f:p/b");
    test_refused(test_client, reeve_cancel(test_client, "p", "b"), REEVE_ESTATE, "others wait for it (1)");
    test_ok(test_client, reeve_cancel(test_client, "q", "e"));
    test_ok(test_client, reeve_cancel(test_client, "p", "b"));
    test_put("p", "f");
    test_put_after("q", "g", "f:p/f");
    test_put_after("r", "h", "f:q/g");
    test_ok(test_client, reeve_delete_cascade(test_client, "p", "f"));
    test_state_is("q", "g", "cancelled");
    test_state_is("r", "h", "cancelled");
    test_settle_all();
}

/* ---- what is lost ---------------------------------------------------------------------------------------------- */

/* Puts the edge without a client that carries. */
static void put_quietly(const char *id, const char *parent)
{
    char option[200];
    const rv_reply *reply;
    (void)snprintf(option, sizeof(option), "{\"after\":[[\"%s\",\"f\"]]}", parent);
    rv_cmd_script(test_conn, &rv_script_enqueue, 1, 4);
    rv_args(test_conn, "reeve:{q}:");
    rv_args(test_conn, "0");
    rv_args(test_conn, id);
    rv_args(test_conn, option);
    rv_args(test_conn, "\"type\":\"t\"}\n");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
}

static reeve_status carry_over(rv_conn *conn, const char *queue)
{
    rv_error error = {0};
    return rv_outbox_carry(conn, "reeve", queue, 1, NULL, &error);
}

/* A connection that loses the reply to one call of a script, after it was carried out; the next try is a whole one. */
static void carry_and_lose(const char *queue, const rv_script *script)
{
    test_proxy *proxy = test_proxy_start(test_redis);
    rv_url url;
    rv_error error = {0};
    rv_conn *conn;
    assert_int_equal(rv_url_parse(&url, test_proxy_url(proxy), &error), REEVE_OK);
    assert_int_equal(rv_conn_create(&conn, &(rv_conn_options){.url = &url, .name = "t"}, &error), REEVE_OK);
    assert_int_equal(rv_conn_open(conn, test_patience()), REEVE_OK);
    test_proxy_lose(proxy, script->sha, 0);
    assert_int_equal(carry_over(conn, queue), REEVE_ELOST);
    TEST_AWAIT(test_proxy_lost(proxy) == 1);
    rv_conn_destroy(conn);
    rv_url_fini(&url);
    test_proxy_stop(proxy);
}

static const rv_script *const steps[] = {&rv_script_outbox, &rv_script_link, &rv_script_deliver};

static void lost_on_the_way_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        (void)test_place_empty(state);
        test_put("p", "a");
        put_quietly("c", "p/a");
        carry_and_lose("q", steps[i]);
        assert_int_equal(test_number("LLEN reeve:{q}:outbox"), 1);
        /* The parent ends before anybody hears of it. */
        test_complete("p", "a");
        test_settle_queues("p q");
        test_state_is("q", "c", "ready");
        test_settle_all();
    }
}

static void lost_with_the_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        (void)test_place_empty(state);
        test_put("p", "a");
        test_complete("p", "a");
        put_quietly("c", "p/a");
        put_quietly("d", "p/a");
        carry_and_lose("q", steps[i]);
        test_settle_queues("p q");
        test_state_is("q", "c", "ready");
        test_state_is("q", "d", "ready");
        assert_int_equal(test_count("q", "ready"), 2);
        test_settle_all();
    }
}

/* What was answered first holds, whatever becomes of the parent before the child hears of it. */
static void lost_with_an_answer_that_is_old_by_then(void **state)
{
    (void)state;
    put_quietly("c", "p/a");
    carry_and_lose("q", &rv_script_link);
    test_put("p", "a b");
    test_complete("p", "a");
    test_kill("p", "b");
    put_quietly("d", "p/b");
    carry_and_lose("q", &rv_script_link);
    test_ok(test_client, reeve_retry(test_client, "p", "b"));
    test_settle_queues("p q");
    test_state_is("q", "c", "dead");
    test_state_is("q", "d", "dead");
    test_settle_all();
}

static void lost_on_the_way_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i += 2) {
        (void)test_place_empty(state);
        test_put("p", "a b");
        test_put_after("q", "c", "f:p/a f:p/b");
        test_complete("p", "a");
        carry_and_lose("p", steps[i]);
        /* Told twice it counts once: the other parent has not ended. */
        test_settle_queues("p q");
        test_state_is("q", "c", "blocked");
        test_complete("p", "b");
        test_settle_queues("p q");
        test_state_is("q", "c", "ready");
        test_settle_all();
    }
}

static void an_old_message_comes_late(void **state)
{
    (void)state;
    test_put("p", "a b");
    test_put_after("q", "c", "f:p/a f:p/b");
    char late[256];
    test_complete("p", "a");
    rv_copy_text(late, sizeof(late), test_cmd(test_conn, "LINDEX reeve:{p}:outbox 0"));
    test_settle_queues("p q");
    const rv_reply *reply;
    rv_cmd(test_conn, 3);
    rv_args(test_conn, "RPUSH");
    rv_args(test_conn, "reeve:{p}:outbox");
    rv_args(test_conn, late);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    test_settle_queues("p q");
    test_state_is("q", "c", "blocked");
    test_complete("p", "b");
    test_settle_queues("p q");
    test_state_is("q", "c", "ready");
    test_settle_all();
}

static void what_nobody_understands_is_set_aside(void **state)
{
    (void)state;
    test_put("p", "a");
    (void)test_cmd(test_conn, "RPUSH reeve:{q}:outbox nonsense");
    put_quietly("c", "p/a");
    for (int i = 0; i < 3; i++) assert_int_equal(carry_over(test_conn, "q"), REEVE_OK);
    assert_int_equal(test_number("ZCARD reeve:{p}:children:a"), 1);
    assert_int_equal(test_number("EXISTS reeve:{q}:outbox"), 0);
    assert_string_equal(test_cmd(test_conn, "LRANGE reeve:{q}:unread 0 -1"), "[nonsense]");
    (void)test_cmd(test_conn, "DEL reeve:{q}:unread");
    test_complete("p", "a");
    test_settle_queues("p q");
    test_state_is("q", "c", "ready");
}

/* ---- workers --------------------------------------------------------------------------------------------------- */

static void workers_carry(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    test_worker_pool(worker, "p q", 2, 16);
    test_worker_start(worker);
    test_put("p", "a");
    put_quietly("c", "p/a");
    test_put_after("p", "d", "f:q/c");
    TEST_AWAIT(strcmp(test_state("p", "d"), "completed") == 0);
    test_state_is("q", "c", "completed");
    TEST_AWAIT(test_number("EXISTS reeve:{p}:outbox reeve:{q}:outbox") == 0);
    reeve_worker_destroy(worker);
    test_no_edges_left("p");
    test_no_edges_left("q");
}

static void workers_whose_connections_die(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    test_worker_pool(worker, "p q", 2, 16);
    test_worker_start(worker);
    char parent[2][64], id[32];
    (void)snprintf(parent[0], sizeof(parent[0]), "p/n0");
    test_put_spec((reeve_task_spec){.queue = "p", .type = "nap", .id = "n0", .payload = {"20", 2}});
    for (int i = 1; i < 200; i++) {
        const reeve_parent after = {.handle = parent[(i + 1) % 2]};
        (void)snprintf(id, sizeof(id), "n%d", i);
        test_put_spec((reeve_task_spec){.queue = i % 2 ? "q" : "p", .id = id, .after = &after, .after_count = 1});
        (void)snprintf(parent[i % 2], sizeof(parent[0]), "%s/n%d", i % 2 ? "q" : "p", i);
        if (i % 10 == 0) test_kill_connections();
    }
    for (int i = 0; i < 20; i++) {
        test_kill_connections();
        test_pause();
    }
    TEST_AWAIT(strcmp(test_state("q", "n199"), "completed") == 0);
    for (int i = 0; i < 200; i++) assert_true(test_runs[i] >= 1);
    reeve_worker_destroy(worker);
    test_settle_all();
}

static int closed(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_policy, test_place_empty),
        cmocka_unit_test_setup(parents_that_have_ended, test_place_empty),
        cmocka_unit_test_setup(edges_by_hand_and_cancelling, test_place_empty),
        cmocka_unit_test_setup(cancelling_without_a_worker, test_place_empty),
        cmocka_unit_test_setup(lost_on_the_way_there, test_place_empty),
        cmocka_unit_test_setup(lost_with_the_answer, test_place_empty),
        cmocka_unit_test_setup(lost_with_an_answer_that_is_old_by_then, test_place_empty),
        cmocka_unit_test_setup(lost_on_the_way_back, test_place_empty),
        cmocka_unit_test_setup(an_old_message_comes_late, test_place_empty),
        cmocka_unit_test_setup(what_nobody_understands_is_set_aside, test_place_empty),
        cmocka_unit_test_setup(workers_carry, closed),
        cmocka_unit_test_setup(workers_whose_connections_die, closed),
    };
    return cmocka_run_group_tests_name("ct_depend_across", tests, test_place_start, test_place_stop);
}
