/* What a task leaves for its next attempt. */
#include <stdio.h>
#include <string.h>

#include "protocol/handler_call.h"
#include "protocol/scripts.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

/* What the handler "steps" found, and what it is to do. */
static char found[8][64];
static atomic_uint attempts;
static atomic_int said[8]; /* statuses of its checkpoints */

/* Its payload says what each attempt does, a letter each: r leaves "<attempt>" and asks for another, s snoozes, d ends
 * well, f fails for good, e leaves nothing more, l leaves too much, h waits to be told. */
static reeve_outcome steps(reeve_task *task, void *user)
{
    const char *payload = reeve_task_payload(task).data;
    unsigned n = atomic_load(&attempts);
    reeve_bytes last = {"?", 1};
    char mine[16];
    (void)user;
    TEST_MUST(n < 8 && n < strlen(payload));
    if (reeve_task_last_checkpoint(task, &last) != REEVE_OK)
        (void)snprintf(found[n], sizeof(found[n]), "lost");
    else
        (void)snprintf(found[n], sizeof(found[n]), "%s", last.data ? (const char *)last.data : "none");
    (void)snprintf(mine, sizeof(mine), "at %u", n + 1);
    if (payload[n] == 'l') {
        static char much[REEVE_CHECKPOINT_MAX + 1];
        TEST_MUST(reeve_task_checkpoint(task, much, REEVE_CHECKPOINT_MAX + 1) == REEVE_ETOOBIG);
        TEST_MUST(reeve_task_checkpoint(task, NULL, 1) == REEVE_EINVAL);
        TEST_MUST(reeve_task_checkpoint(task, much, REEVE_CHECKPOINT_MAX) == REEVE_OK);
    }
    atomic_store(&said[n], reeve_task_checkpoint(task, mine, payload[n] == 'e' ? 0 : strlen(mine)));
    TEST_MUST(reeve_task_last_checkpoint(task, &last) == REEVE_OK);
    TEST_MUST(payload[n] == 'e' ? last.data == NULL && last.length == 0 : strcmp(last.data, mine) == 0);
    atomic_fetch_add(&attempts, 1);
    if (payload[n] == 'h')
        while (!reeve_task_should_stop(task)) test_pause();
    if (payload[n] == 'd' || payload[n] == 'l') return reeve_task_done(task, NULL, 0);
    if (payload[n] == 's') return reeve_task_snooze(task, 1);
    if (payload[n] == 'f') return reeve_task_fail(task, "bad", "for good");
    return reeve_task_retry(task, 0, "again", "not there yet");
}

static int set_up(void **state)
{
    atomic_store(&attempts, 0);
    return test_place_empty(state);
}

static reeve_worker *start(void)
{
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_handle(worker, "steps", steps, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    return worker;
}

static void put(const char *what)
{
    test_put_spec((reeve_task_spec){.id = "x", .type = "steps", .payload = {what, strlen(what)}});
}

/* ---- attempts -------------------------------------------------------------------------------------------------- */

static void each_attempt_reads_what_the_one_before_left(void **state)
{
    (void)state;
    reeve_worker *worker = start();
    put("rsrd");
    TEST_AWAIT_STATE("x", "completed");
    const char *const expected[] = {"none", "at 1", "at 2", "at 3"};
    for (size_t i = 0; i < 4; i++) assert_string_equal(found[i], expected[i]);
    for (size_t i = 0; i < 4; i++) assert_int_equal(said[i], REEVE_OK);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "info:x checkpoint"), "(nil)"); /* it has done its duty */
    test_worker_end(worker);
}

static void one_that_is_taken_back_is_none(void **state)
{
    (void)state;
    reeve_worker *worker = start();
    put("red");
    TEST_AWAIT_STATE("x", "completed");
    assert_string_equal(found[1], "at 1");
    assert_string_equal(found[2], "none");
    test_worker_end(worker);
}

static void the_dead_keep_it(void **state)
{
    (void)state;
    reeve_worker *worker = start();
    put("fd");
    TEST_AWAIT_STATE("x", "dead");
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->checkpoint_bytes, 4);
    reeve_task_info_free(info);
    test_ok(test_client, reeve_retry(test_client, "q", "x"));
    TEST_AWAIT_STATE("x", "completed");
    assert_string_equal(found[1], "at 1");
    test_worker_end(worker);
}

static void a_worker_that_stops_leaves_it(void **state)
{
    (void)state;
    reeve_worker *worker = start();
    put("hd");
    TEST_AWAIT(attempts == 1);
    (void)reeve_worker_stop(worker, 0);
    reeve_worker_destroy(worker);
    worker = start();
    TEST_AWAIT_STATE("x", "completed");
    assert_string_equal(found[1], "at 1");
    test_worker_end(worker);
}

static void as_much_as_there_may_be(void **state)
{
    (void)state;
    reeve_worker *worker = start();
    put("l");
    TEST_AWAIT_STATE("x", "completed");
    test_worker_end(worker);
}

/* ---- leases ---------------------------------------------------------------------------------------------------- */

static long long say(const test_hand *hand, const char *data)
{
    const rv_reply *reply;
    rv_handler_call_checkpoint(test_conn, &hand->prefixes[0], hand->sessions[0], "x",
                               (reeve_bytes){data, strlen(data)});
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    return (long long)rv_reply_int(reply, -1);
}

/* After a crash, too; and who lost the lease leaves nothing. */
static void after_a_crash(void **state)
{
    (void)state;
    test_hand first, second;
    test_hand_init(&first, "1", "q");
    test_hand_init(&second, "1", "q");
    test_put("q", "x");
    assert_int_equal(say(&first, "early"), 0);
    (void)test_lease(&first, 1);
    assert_int_equal(say(&first, "here"), 1);
    test_expire(&first);
    test_maintain_all("q");
    assert_int_equal(say(&first, "late"), 0);
    (void)test_lease(&second, 1);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "info:x checkpoint"), "here");
    reeve_worker *worker = start();
    (void)test_cmd(test_conn, "HSET " Q "info:x crashes 0");
    test_settle(&second, TEST_SNOOZE("x", 0));
    TEST_AWAIT_STATE("x", "completed");
    assert_int_equal(test_number("HEXISTS " Q "info:x checkpoint"), 0); /* (a handler that never asked) */
    test_worker_end(worker);
}

static void nothing_is_left_where_nothing_is_kept(void **state)
{
    (void)state;
    const reeve_keep none = {.age_ms = 0, .count = -1};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    reeve_worker *worker = start();
    put("srd");
    TEST_AWAIT_STATE("x", "");
    assert_int_equal(test_number("EXISTS " Q "info:x"), 0);
    test_worker_end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_attempt_reads_what_the_one_before_left, set_up),
        cmocka_unit_test_setup(one_that_is_taken_back_is_none, set_up),
        cmocka_unit_test_setup(the_dead_keep_it, set_up),
        cmocka_unit_test_setup(a_worker_that_stops_leaves_it, set_up),
        cmocka_unit_test_setup(as_much_as_there_may_be, set_up),
        cmocka_unit_test_setup(after_a_crash, set_up),
        cmocka_unit_test_setup(nothing_is_left_where_nothing_is_kept, set_up),
    };
    return cmocka_run_group_tests_name("ct_checkpoint", tests, test_place_start, test_place_stop);
}
