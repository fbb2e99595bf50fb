/* Messages between queues are carried by several at once, and late: each task of one is enqueued once, even where the
 * target keeps no record and the first copy has run and is gone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/outbox.h"
#include "protocol/scripts.h"
#include "protocol/settlement.h"
#include "support/depend.h"
#include "support/script.h"
#include "support/worker.h"

#define TASKS 200
#define WORKERS 4

static void keep_none(const char *queue)
{
    const reeve_keep none = {0, 0};
    test_ok(test_client, reeve_queue_set(test_client, queue, &(reeve_queue_settings){.completed = &none}));
}

/* ---- by hand --------------------------------------------------------------------------------------------------- */

/* Completes q/<id>, which hands on p/<next>. */
static void hand_on(const char *id, const char *next)
{
    rv_buf hands;
    test_hand hand;
    const reeve_task_spec spec = {.queue = "p", .type = "t", .id = next};
    rv_buf_init(&hands, 1 << 16);
    rv_settlement_chain(&hands, &spec, next);
    test_put("q", id);
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_lease(&hand, 1), 1);
    const test_outcome outcome = {
        0, {.id = id, .outcome = REEVE_OUTCOME_DONE, .chained = {hands.data, hands.length}, .chained_count = 1}};
    (void)test_turn(&hand, 0, &outcome, 1);
    rv_buf_fini(&hands);
}

/* The first message of the outbox, as a carrier has it that has just fetched it; it goes on when it is told to. */
typedef struct carrier {
    char message[512];
    long long floor;
} carrier;

static carrier fetch(void)
{
    carrier ret;
    rv_copy_text(ret.message, sizeof(ret.message), test_cmd(test_conn, "LINDEX reeve:{q}:outbox 0"));
    ret.floor = atoll(ret.message + 2);
    return ret;
}

static const char *carry(const carrier *one)
{
    static char said[64];
    char id[64], way[128];
    long long number = atoll(one->message + 2);
    int options, at = 0;
    const rv_reply *reply;
    assert_int_equal(sscanf(one->message, "T %*d p/%63s %d %n", id, &options, &at), 2);
    (void)snprintf(way, sizeof(way), "carried q %lld %lld", number, one->floor);
    rv_cmd_script(test_conn, &rv_script_enqueue, 1, 4);
    rv_args(test_conn, "reeve:{p}:");
    rv_args(test_conn, way);
    rv_args(test_conn, id);
    rv_arg(test_conn, one->message + at, (size_t)options);
    rv_args(test_conn, one->message + at + options);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    rv_copy_text(said, sizeof(said), test_reply_text(reply));
    return said;
}

static void take_out(const carrier *one)
{
    const rv_reply *reply;
    rv_cmd_script(test_conn, &rv_script_outbox, 1, 2);
    rv_args(test_conn, "reeve:{q}:");
    rv_args(test_conn, "1");
    rv_args(test_conn, one->message);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
}

static void carried_twice_after_the_first_has_gone(void **state)
{
    (void)state;
    keep_none("p");
    hand_on("a", "next");
    carrier one = fetch(), other = fetch();
    assert_string_equal(carry(&one), "[1]");
    test_complete("p", "next");
    assert_string_equal(test_state("p", "next"), "");
    assert_string_equal(carry(&other), "[1]");
    assert_string_equal(test_state("p", "next"), "");
    take_out(&one);
    /* One that was frozen for as long as others were carried. */
    hand_on("b", "more");
    carrier later = fetch();
    assert_string_equal(carry(&later), "[1]");
    test_complete("p", "more");
    take_out(&later);
    assert_string_equal(carry(&other), "[1]");
    assert_string_equal(carry(&later), "[1]");
    assert_int_equal(test_count("p", "ready"), 0);
}

/* What is known of a source is the numbers that it has not taken out yet: no more. */
static void the_fence_is_bounded(void **state)
{
    (void)state;
    keep_none("p");
    char id[16], next[16];
    for (int i = 0; i < 50; i++) {
        (void)snprintf(id, sizeof(id), "a%d", i);
        (void)snprintf(next, sizeof(next), "n%d", i);
        hand_on(id, next);
        carrier one = fetch();
        assert_string_equal(carry(&one), "[1]");
        take_out(&one);
    }
    assert_true(test_number("ZCARD reeve:{p}:received:q") <= 2);
    assert_true(test_number("TTL reeve:{p}:received:q") > 0);
    assert_int_equal(test_count("p", "ready"), 50);
    /* Behind a message that nobody can carry, which holds the floor. */
    (void)test_cmd(test_conn, "ZADD reeve:{p}:received:q 1 floor");
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "EVAL");
    rv_args(test_conn, "for i = 2, 10100 do redis.call('ZADD', KEYS[1], i, i) end");
    rv_args(test_conn, "1");
    rv_args(test_conn, "reeve:{p}:received:q");
    const rv_reply *reply;
    assert_int_equal(rv_conn_call(test_conn, test_patience(), &reply), REEVE_OK);
    hand_on("last", "last");
    carrier one = fetch();
    one.floor = 1;
    assert_string_equal(carry(&one), "[1]");
    assert_true(test_number("ZCARD reeve:{p}:received:q") <= 10000);
    assert_string_equal(carry(&one), "[1]");
    assert_int_equal(test_count("p", "ready"), 51);
}

/* Also where the message of the floor's own number was answered: its answer stands beside it. */
static void the_floor_stays_behind_an_answer(void **state)
{
    (void)state;
    const char *key = "reeve:{p}:received:q";
    test_put("p", "par");
    test_complete("p", "par");
    assert_string_equal(TEST_SCRIPT(link, "reeve:{p}:", "register", "par", "q/c", "f", "5", "5"), "completed");
    (void)TEST_WORDS("EVAL", "for i = 6, 10100 do redis.call('ZADD', KEYS[1], i, i) end", "1", key);
    assert_string_equal(TEST_SCRIPT(link, "reeve:{p}:", "unregister", "par", "q/z", "", "20000", "5"), "");
    assert_int_equal(test_number("ZSCORE %s floor", key), 5);
    assert_int_equal(test_number("ZCARD %s", key), 10001); /* and which edge it took away */
    assert_int_equal(test_number("ZSCORE %s 20000", key), 20000);
    assert_string_equal(TEST_SCRIPT(link, "reeve:{p}:", "register", "par", "q/c", "f", "5", "5"), "completed");
}

static void no_message_is_returned_where_none_is_asked_for(void **state)
{
    (void)state;
    hand_on("a", "next");
    assert_string_equal(TEST_SCRIPT(outbox, "reeve:{q}:", "0"), "[0]");
    assert_int_equal(test_number("LLEN reeve:{q}:outbox"), 1);
}

/* A queue that has lost all it knew does not begin again with numbers that the other has seen. */
static void a_source_that_begins_anew(void **state)
{
    (void)state;
    keep_none("p");
    keep_none("q");
    for (int i = 0; i < 3; i++) {
        hand_on("a", i == 0 ? "n0" : i == 1 ? "n1" : "n2");
        carrier one = fetch();
        assert_string_equal(carry(&one), "[1]");
        take_out(&one);
    }
    (void)test_cmd(test_conn, "DEL reeve:{q}:settings reeve:{q}:tasks reeve:{q}:completed reeve:{q}:outbox");
    hand_on("a", "again");
    carrier one = fetch();
    assert_string_equal(carry(&one), "[1]");
    assert_string_equal(test_state("p", "again"), "ready");
    assert_int_equal(test_count("p", "ready"), 4);
}

/* ---- set aside ------------------------------------------------------------------------------------------------- */

/* As a carrier that does not understand the message; back: how many are put back then. Returns the floor. */
static long long set_aside(const carrier *one, const char *back)
{
    const rv_reply *reply;
    char what[32];
    (void)snprintf(what, sizeof(what), "10 0 %d %s", one != NULL, back);
    rv_cmd_script(test_conn, &rv_script_outbox, 1, one ? 2 : 1);
    rv_args(test_conn, "reeve:{q}:");
    rv_args(test_conn, what);
    if (one) rv_args(test_conn, one->message);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    return atoll(rv_reply_at(reply, 0)->text);
}

static void carry_all(void)
{
    rv_error error = {0};
    if (rv_outbox_carry(test_conn, "reeve", "q", 10, NULL, &error) != REEVE_OK) fail_msg("%s", error.text);
}

/* Others that were carried meanwhile do not make a message count as received that was only set aside. */
static void one_that_was_set_aside_counts_when_it_is_put_back(void **state)
{
    (void)state;
    hand_on("a", "first");
    hand_on("b", "second");
    carrier first = fetch();
    (void)set_aside(&first, "0");
    carrier second = fetch();
    assert_true(second.floor > first.floor);
    /* In whichever order they were set aside. */
    (void)set_aside(&second, "0");
    assert_string_equal(test_cmd(test_conn, "LLEN reeve:{q}:unread"), "2");
    for (int i = 0; i < 3; i++) {
        char id[16], next[16];
        (void)snprintf(id, sizeof(id), "c%d", i);
        (void)snprintf(next, sizeof(next), "n%d", i);
        hand_on(id, next);
        carry_all();
    }
    assert_int_equal(test_count("p", "ready"), 3);
    assert_int_equal(set_aside(NULL, "1000"), first.floor);
    assert_int_equal(test_number("EXISTS reeve:{q}:unread"), 0);
    carry_all();
    assert_string_equal(test_state("p", "first"), "ready");
    assert_string_equal(test_state("p", "second"), "ready");
    assert_int_equal(test_count("p", "ready"), 5);
    assert_int_equal(test_number("EXISTS reeve:{q}:outbox"), 0);
    /* With nothing set aside any more the floor goes on. */
    hand_on("d", "last");
    carry_all();
    assert_int_equal(test_number("ZCARD reeve:{p}:received:q"), 2);
}

/* The last 1000 are kept: the floor passes those that go. What has no number is not put back, and goes last. */
static void what_is_set_aside_is_bounded(void **state)
{
    (void)state;
    carrier one;
    for (int i = 1; i <= 1002; i++) {
        (void)snprintf(one.message, sizeof(one.message), i == 1 ? "nonsense" : "Z %d q/a", i);
        const rv_reply *reply;
        rv_cmd(test_conn, 4);
        rv_args(test_conn, "RPUSH");
        rv_args(test_conn, "reeve:{q}:outbox");
        rv_args(test_conn, one.message);
        rv_args(test_conn, "Z 5000 q/a");
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_int_equal(set_aside(&one, "0"), i == 1 ? 5000 : i <= 1000 ? 2 : i - 998);
        (void)test_cmd(test_conn, "DEL reeve:{q}:outbox");
    }
    assert_int_equal(test_number("LLEN reeve:{q}:unread"), 1000);
    /* Put back in steps, behind those that are there: of a long outbox few at once. */
    const rv_reply *pushed;
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "RPUSH");
    rv_args(test_conn, "reeve:{q}:outbox");
    rv_args(test_conn, "Z 1 q/a");
    rv_args(test_conn, "Z 5000 q/a");
    assert_int_equal(rv_conn_call(test_conn, 0, &pushed), REEVE_OK);
    char next[32] = "0", back[64];
    int steps = 0;
    for (; *next; steps++) {
        const rv_reply *reply;
        (void)snprintf(back, sizeof(back), "10 0 0 100 %s", next);
        rv_cmd_script(test_conn, &rv_script_outbox, 1, 1);
        rv_args(test_conn, "reeve:{q}:");
        rv_args(test_conn, back);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_int_equal(atoll(rv_reply_at(reply, 0)->text), 1);
        const char *rest = strchr(rv_reply_at(reply, 0)->text, ' ');
        rv_copy_text(next, sizeof(next), rest ? rest + 1 : "");
    }
    assert_true(steps >= 10 && steps < 60);
    for (int i = 2; i <= 1000; i += 111)
        assert_int_equal(atoi(test_cmd(test_conn, "LINDEX reeve:{q}:outbox %d", i - 1) + 2), i + 2);
    assert_string_equal(test_cmd(test_conn, "LINDEX reeve:{q}:outbox -1"), "Z 5000 q/a");
    assert_string_equal(test_cmd(test_conn, "LRANGE reeve:{q}:unread 0 -1"), "[nonsense]");
    assert_int_equal(test_number("LLEN reeve:{q}:outbox"), 1001);
    (void)test_cmd(test_conn, "DEL reeve:{q}:outbox reeve:{q}:unread");
}

/* A worker that starts tries them again: an older one may not have understood them. */
static void a_worker_puts_them_back(void **state)
{
    (void)state;
    hand_on("a", "first");
    carrier first = fetch();
    (void)set_aside(&first, "0");
    hand_on("b", "second");
    carry_all();
    reeve_worker *worker = test_worker_new(NULL);
    test_worker_pool(worker, "p q", 1, 16);
    test_worker_start(worker);
    TEST_AWAIT(strcmp(test_state("p", "first"), "completed") == 0);
    assert_int_equal(test_number("EXISTS reeve:{q}:unread reeve:{q}:outbox"), 0);
    reeve_worker_destroy(worker);
}

/* ---- workers --------------------------------------------------------------------------------------------------- */

static reeve_outcome spread(reeve_task *task, void *user)
{
    char id[REEVE_ID_MAX];
    (void)user;
    rv_copy_text(id, sizeof(id), reeve_task_id(task) + 1);
    const reeve_task_spec spec = {.queue = "p", .type = "t", .id = id, .at_most_once = true};
    TEST_MUST(reeve_task_chain(task, &spec, NULL) == REEVE_OK);
    return reeve_task_done(task, NULL, 0);
}

static void at_most_once_by_several_workers(void **state)
{
    (void)state;
    static const reeve_handler handler = {REEVE_HANDLER, .type = "spread", .run = spread};
    reeve_worker *workers[WORKERS];
    keep_none("p");
    keep_none("q");
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = test_worker_new(NULL);
        assert_int_equal(reeve_worker_register(workers[i], &handler), REEVE_OK);
        test_worker_pool(workers[i], "p q", 2, 16);
        test_worker_start(workers[i]);
    }
    for (int i = 0; i < TASKS; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "sn%d", i);
        test_put_spec((reeve_task_spec){.id = id, .type = "spread"});
    }
    TEST_AWAIT(test_number("HLEN reeve:{q}:tasks") == 0 && test_number("LLEN reeve:{q}:outbox") == 0 &&
               test_number("HLEN reeve:{p}:tasks") == 0);
    for (int i = 0; i < WORKERS; i++) reeve_worker_destroy(workers[i]);
    for (int i = 0; i < TASKS; i++) assert_int_equal(test_runs[i], 1);
    assert_int_equal(atomic_load(&test_ran), TASKS);
}

static int closed(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(carried_twice_after_the_first_has_gone, test_place_empty),
        cmocka_unit_test_setup(the_fence_is_bounded, test_place_empty),
        cmocka_unit_test_setup(the_floor_stays_behind_an_answer, test_place_empty),
        cmocka_unit_test_setup(no_message_is_returned_where_none_is_asked_for, test_place_empty),
        cmocka_unit_test_setup(a_source_that_begins_anew, test_place_empty),
        cmocka_unit_test_setup(one_that_was_set_aside_counts_when_it_is_put_back, test_place_empty),
        cmocka_unit_test_setup(what_is_set_aside_is_bounded, test_place_empty),
        cmocka_unit_test_setup(a_worker_puts_them_back, closed),
        cmocka_unit_test_setup(at_most_once_by_several_workers, closed),
    };
    return cmocka_run_group_tests_name("ct_carried_once", tests, test_place_start, test_place_stop);
}
