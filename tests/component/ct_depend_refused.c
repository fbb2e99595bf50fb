/* Messages to other queues that are not understood there, or refused: others go on. */
#include <stdio.h>

#include "client/outbox.h"
#include "support/depend.h"

/* ---- messages that do not go ----------------------------------------------------------------------------------- */

/* More than one round takes. */
static void messages_that_are_not_understood_are_set_aside(void **state)
{
    (void)state;
    static const char *const wrong[] = {"x", "Z 7 q/a q/b", "E 1 nowhere p/a completed", "T 3 q/n many {}",
                                        "R 9 q/a q"};
    for (int i = 0; i < 100; i++) {
        const rv_reply *reply;
        rv_cmd(test_conn, 3);
        rv_args(test_conn, "RPUSH");
        rv_args(test_conn, "reeve:{q}:outbox");
        rv_args(test_conn, wrong[i % 5]);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    }
    test_put("p", "a");
    test_put_after("q", "c", "f:p/a");
    test_settle_queues("p q");
    test_complete("p", "a");
    test_settle_queues("p q");
    test_state_is("q", "c", "ready");
    assert_int_equal(test_number("LLEN reeve:{q}:unread"), 100);
    assert_int_equal(test_number("EXISTS reeve:{q}:outbox"), 0);
    (void)test_cmd(test_conn, "DEL reeve:{q}:unread");
    test_settle_all();
}

/* One queue does not take messages (a key of it is of another type): those to others go on. */
static void messages_that_are_refused_hold_up_no_others(void **state)
{
    (void)state;
    rv_error error = {0};
    size_t carried;
    assert_string_equal(test_cmd(test_conn, "SET reeve:{r}:tasks no-hash"), "OK");
    for (int i = 1; i <= 100; i++) {
        const rv_reply *reply;
        char text[64];
        (void)snprintf(text, sizeof(text), "R %d q/c r/p%d f", i, i);
        rv_cmd(test_conn, 3);
        rv_args(test_conn, "RPUSH");
        rv_args(test_conn, "reeve:{q}:outbox");
        rv_args(test_conn, text);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    }
    (void)test_cmd(test_conn, "HSET reeve:{q}:settings serial 100");
    test_put("p", "a");
    test_put_after("q", "d", "f:p/a");
    (void)rv_outbox_carry(test_conn, "reeve", "q", 16, &carried, &error);
    assert_int_equal(error.status, REEVE_EREDIS);
    assert_int_equal(test_number("LLEN reeve:{q}:outbox"), 100);
    assert_int_equal(test_number("ZCARD reeve:{p}:children:a"), 1);
    (void)test_cmd(test_conn, "DEL reeve:{r}:tasks reeve:{q}:outbox");
}

/* ---- many messages that do not go ------------------------------------------------------------------------------ */

/* What is registered there for q/c is for nobody. */
static void empty_outbox(void)
{
    (void)test_cmd(test_conn, "DEL reeve:{r}:tasks");
    test_settle_queues("p q r");
}

static void maintain_all(const char *queue)
{
    for (int i = 0; i < 100 && test_maintain(queue, 100).more; i++) continue;
    assert_false(test_maintain(queue, 100).more);
}

static void they_hold_up_no_children_in_the_own_queue(void **state)
{
    (void)state;
    enum { NEAR = 20, FAR = 5 };
    test_put("q", "a b");
    for (int i = 0; i < NEAR; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%d", i);
        test_put_after("q", id, "f:q/a");
    }
    for (int i = 0; i < FAR; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "f%d", i);
        test_put_after("p", id, "f:q/a");
    }
    test_put_after("q", "late", "g:q/b");
    test_fill_outbox();
    test_complete("q", "a");
    test_ok(test_client, reeve_cancel_cascade(test_client, "q", "b"));
    maintain_all("q");
    assert_int_equal(test_count("q", "ready"), NEAR);
    test_state_is("q", "late", "cancelled");
    assert_int_equal(test_count("p", "blocked"), FAR);
    assert_int_equal(test_number("LLEN reeve:{q}:outbox"), 1001);
    empty_outbox();
    assert_int_equal(test_count("p", "ready"), FAR);
    test_settle_all();
}

static void they_hold_up_no_edges_in_the_own_queue(void **state)
{
    (void)state;
    enum { NEAR = 70, FAR = 5 };
    char handles[NEAR + FAR][24];
    reeve_parent parents[NEAR + FAR];
    for (int i = 0; i < NEAR + FAR; i++) {
        (void)snprintf(handles[i], sizeof(handles[i]), "%c/p%d", i < NEAR ? 'q' : 'p', i);
        parents[i] = (reeve_parent){.handle = handles[i]};
        test_put(i < NEAR ? "q" : "p", handles[i] + 2);
    }
    for (int i = 0; i < 2; i++)
        test_put_spec(
            (reeve_task_spec){.queue = "q", .id = i ? "other" : "kid", .after = parents, .after_count = NEAR + FAR});
    test_settle_queues("p q");
    test_fill_outbox();
    test_ok(test_client, reeve_cancel(test_client, "q", "kid"));
    test_ok(test_client, reeve_delete(test_client, "q", "other"));
    maintain_all("q");
    assert_int_equal(test_number("EXISTS reeve:{q}:children:p0"), 0);
    assert_int_equal(test_number("ZCARD reeve:{p}:children:p70"), 2);
    test_ok(test_client, reeve_retry(test_client, "q", "kid"));
    maintain_all("q");
    assert_int_equal(test_number("LLEN reeve:{q}:outbox"), 1001);
    assert_int_equal(test_number("ZCARD reeve:{q}:children:p0"), 1);
    assert_int_equal(test_number("HGET reeve:{q}:info:kid pending"), NEAR + 1);
    for (int i = 0; i < NEAR; i++) test_complete("q", handles[i] + 2);
    test_state_is("q", "kid", "blocked");
    empty_outbox();
    assert_int_equal(test_number("HGET reeve:{q}:info:kid pending"), FAR);
    for (int i = NEAR; i < NEAR + FAR; i++) test_complete("p", handles[i] + 2);
    test_settle_queues("p q");
    test_state_is("q", "kid", "ready");
    test_settle_all();
}

/* Those behind more of them than one call tries have their turn. */
static void messages_behind_many_refused_ones_go_on(void **state)
{
    (void)state;
    rv_error error = {0};
    size_t carried, skip = 0;
    assert_string_equal(test_cmd(test_conn, "SET reeve:{r}:tasks no-hash"), "OK");
    test_put("p", "a");
    for (int i = 1; i <= 151; i++) {
        const rv_reply *reply;
        char text[64];
        (void)snprintf(text, sizeof(text), i <= 150 ? "R %d q/c r/p f" : "R %d q/c p/a f", i);
        rv_cmd(test_conn, 3);
        rv_args(test_conn, "RPUSH");
        rv_args(test_conn, "reeve:{q}:outbox");
        rv_args(test_conn, text);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    }
    for (size_t times = 0; times < 2; times++) {
        (void)rv_outbox_carry_on(test_conn, "reeve", "q", 1, &skip, &carried, &error);
        assert_int_equal(carried, 0);
        assert_int_equal(skip, 64 * (times + 1));
    }
    (void)rv_outbox_carry_on(test_conn, "reeve", "q", 1, &skip, &carried, &error);
    assert_int_equal(carried, 1);
    assert_int_equal(skip, 0);
    assert_int_equal(test_number("ZCARD reeve:{p}:children:a"), 1);
    (void)rv_outbox_carry_on(test_conn, "reeve", "q", 1, &skip, &carried, &error);
    assert_int_equal(skip, 64);
    (void)test_cmd(test_conn, "DEL reeve:{r}:tasks reeve:{q}:outbox");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(messages_that_are_not_understood_are_set_aside, test_place_empty),
        cmocka_unit_test_setup(messages_that_are_refused_hold_up_no_others, test_place_empty),
        cmocka_unit_test_setup(messages_behind_many_refused_ones_go_on, test_place_empty),
        cmocka_unit_test_setup(they_hold_up_no_children_in_the_own_queue, test_place_empty),
        cmocka_unit_test_setup(they_hold_up_no_edges_in_the_own_queue, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_depend_refused", tests, test_place_start, test_place_stop);
}
