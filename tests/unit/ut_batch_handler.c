/* Handlers of many tasks: what such a handler may say, when a group is ripe and who is in a call, how many tasks to
 * lease. */
#include "running/batch_handler.h"

#include <string.h>

#include "base/mem.h"
#include "running/batch_handler_run.h"
#include "support/cmocka.h"

static rv_thread thread;
static rv_handler three, pair;

static void run_batch(reeve_task *const *tasks, size_t count, void *user)
{
    for (size_t i = 0; i < count && user == NULL; i++) (void)reeve_task_done(tasks[i], "x", 1);
}

static reeve_outcome run(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, NULL, 0);
}

static int set_up(void **state)
{
    (void)state;
    memset(&thread, 0, sizeof(thread));
    three = (rv_handler){.handler = {.type = "three", .run_batch = run_batch, .batch_size = 3, .batch_wait_ms = 100}};
    pair = (rv_handler){.handler = {.type = "pair", .run_batch = run_batch, .batch_size = 2}};
    thread.gathers = true;
    thread.want = 1;
    thread.picked = rv_zalloc_array(16, sizeof(rv_item *));
    return thread.picked != NULL && rv_batch_init(&thread.batch, 8, 3, NULL) == REEVE_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rv_batch_fini(&thread.batch);
    rv_batch_handler_run_fini(&thread);
    return 0;
}

/* A letter each: p, a plain task; t and T of the handler three in two queues, 2 of pair, s a suspect of three. All were
 * leased at 1000; their ids are that letter. */
static void fill(const char *letters)
{
    static char ids[32];
    thread.batch.count = strlen(letters);
    for (size_t i = 0; i < thread.batch.count; i++) {
        rv_item *item = &thread.batch.items[i];
        ids[2 * i] = letters[i];
        ids[2 * i + 1] = '\0';
        *item = (rv_item){.leased_ms = 1000, .lease = {.id = &ids[2 * i]}};
        if (letters[i] == 't' || letters[i] == 'T' || letters[i] == 's') item->batch_handler = &three;
        if (letters[i] == '2') item->batch_handler = &pair;
        item->lease.queue = letters[i] == 'T';
        item->lease.crashes = letters[i] == 's';
    }
}

/* A + for each item that may run. */
static const char *ripe(int64_t now)
{
    static char text[32];
    memset(text, 0, sizeof(text));
    for (size_t i = 0; i < thread.batch.count; i++)
        text[i] = rv_batch_handler_is_ripe(&thread, &thread.batch.items[i], now) ? '+' : '-';
    return text;
}

static void what_a_handler_may_say(void **state)
{
    (void)state;
    static const struct {
        reeve_handler handler;
        const char *words;
    } cases[] = {
        {{.run = run}, NULL},
        {{.run_batch = run_batch}, NULL},
        {{.run_batch = run_batch, .batch_size = 256, .batch_wait_ms = 1}, NULL},
        {{.type = "x"}, "it has no function to run"},
        {{.run = run, .run_batch = run_batch}, "it has both run and run_batch: it can have one of them"},
        {{.run = run, .batch_size = 2}, "it takes one task at a time: batch_size is for batch handlers (run_batch)"},
        {{.run = run, .batch_wait_ms = 2}, "it takes one task at a time: batch_size is for batch handlers (run_batch)"},
        {{.run_batch = run_batch, .batch_size = 257}, "it: batch_size is 257: at most 256"},
        {{.run_batch = run_batch, .batch_wait_ms = -1}, "it: batch_wait_ms is negative"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        rv_error error = {0};
        reeve_status status = rv_handler_check(&cases[i].handler, "it", &error);
        assert_int_equal(status, cases[i].words == NULL ? REEVE_OK : REEVE_EINVAL);
        if (cases[i].words != NULL) assert_string_equal(error.text, cases[i].words);
    }
    assert_int_equal(rv_batch_handler_max(&(reeve_handler){.batch_size = 7}), 7);
    assert_int_equal(rv_batch_handler_max(&(reeve_handler){0}), REEVE_BATCH_SIZE_DEFAULT);
}

static void ripe_by_number_or_age(void **state)
{
    (void)state;
    fill("tpt");
    assert_string_equal(ripe(1000), "-+-");
    assert_string_equal(ripe(1099), "-+-");
    assert_string_equal(ripe(1100), "+++"); /* the wait is over */
    fill("tptt");
    assert_string_equal(ripe(1000), "++++");
    fill("ttT"); /* another queue */
    assert_string_equal(ripe(1000), "---");
    fill("tt2"); /* another type, which does not wait */
    assert_string_equal(ripe(1000), "--+");
    fill("ttt");
    thread.batch.items[0].state = RV_ITEM_OFFLOADED;
    assert_string_equal(ripe(1000) + 1, "--");
    fill("tt");
    thread.batch.items[1].leased_ms = 900; /* the oldest counts */
    assert_string_equal(ripe(1000), "++");
}

static void no_wait_asks_once_more_when_there_may_be_more(void **state)
{
    (void)state;
    fill("2");
    thread.full = true;
    assert_string_equal(ripe(1000), "-");
    thread.batch.items[0].held = rv_alloc(1);
    assert_string_equal(ripe(1000), "+");
    rv_free(thread.batch.items[0].held);
    thread.batch.items[0].held = NULL;
    fill("22");
    assert_string_equal(ripe(1000), "++");
}

static void too_much_is_kept_no_longer(void **state)
{
    (void)state;
    fill("tt");
    thread.kept_bytes = (size_t)40 * 1024 * 1024;
    assert_string_equal(ripe(1000), "++");
    thread.kept_bytes = 0;
    fill("tTtTpppp"); /* half of the room */
    assert_string_equal(ripe(1000), "++++++++");
}

static void a_suspect_is_alone(void **state)
{
    (void)state;
    fill("tts");
    assert_string_equal(ripe(1000), "++-"); /* the others first, at once, without it */
    assert_int_equal(rv_batch_handler_pick(&thread, 0), 2);
    fill("s");
    assert_string_equal(ripe(1000), "+");
    assert_int_equal(rv_batch_handler_pick(&thread, 0), 1);
    fill("sp");
    thread.batch.items[0].batch_handler = NULL; /* also one of another type */
    assert_string_equal(ripe(1000), "-+");
    assert_int_equal(rv_batch_handler_want(&thread), 0);
}

static void who_is_in_a_call(void **state)
{
    (void)state;
    fill("pt2tTtt");
    thread.batch.items[3].state = RV_ITEM_OFFLOADED;
    assert_int_equal(rv_batch_handler_pick(&thread, 1), 3);
    static const size_t expected[] = {1, 5, 6};
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(thread.picked[i], &thread.batch.items[expected[i]]);
        assert_int_equal(thread.picked[i]->state, RV_ITEM_RUNNING);
        assert_int_equal(thread.picked[i]->until_ms, RV_FOREVER);
    }
    assert_int_equal(rv_batch_count(&thread.batch, RV_ITEM_RUNNING), 3);
    fill("2222"); /* no more than it takes */
    assert_int_equal(rv_batch_handler_pick(&thread, 1), 2);
    assert_int_equal(thread.batch.items[0].state, RV_ITEM_WAITING);
    assert_int_equal(thread.batch.items[3].state, RV_ITEM_WAITING);
}

static void how_many_to_lease(void **state)
{
    (void)state;
    fill("");
    assert_int_equal(rv_batch_handler_want(&thread), 1);
    fill("t");
    assert_int_equal(rv_batch_handler_want(&thread), 2);
    fill("tt");
    assert_int_equal(rv_batch_handler_want(&thread), 1);
    thread.want = 6;
    assert_int_equal(rv_batch_handler_want(&thread), 6);
    thread.want = 8; /* what it has room for */
    assert_int_equal(rv_batch_handler_want(&thread), 8);
    fill("tttttttttt");
    assert_int_equal(rv_batch_handler_want(&thread), 6);
    thread.want = 1;
    fill("");
    rv_batch_handler_learn(&thread, 1, 8, false);
    assert_int_equal(rv_batch_handler_want(&thread), 4);
    rv_batch_handler_learn(&thread, 4, 8, false);
    assert_int_equal(rv_batch_handler_want(&thread), 8);
    rv_batch_handler_learn(&thread, 0, 0, false); /* nothing ran */
    assert_int_equal(rv_batch_handler_want(&thread), 8);
    rv_batch_handler_learn(&thread, 3, 8, true); /* with others among them, these say how many */
    assert_int_equal(rv_batch_handler_want(&thread), 1);
    fill("t");
    assert_int_equal(rv_batch_handler_want(&thread), 1);
    rv_batch_handler_learn(&thread, 0, 0, false); /* nothing came */
    assert_int_equal(rv_batch_handler_want(&thread), 1);
    thread.fresh = 1; /* and only those of many */
    rv_batch_handler_learn(&thread, 0, 0, false);
    assert_int_equal(rv_batch_handler_want(&thread), 8);
    fill("s"); /* nothing with a suspect */
    assert_int_equal(rv_batch_handler_want(&thread), 0);
}

static void until_when_to_wait(void **state)
{
    (void)state;
    fill("pp");
    assert_int_equal(rv_batch_handler_until(&thread), RV_FOREVER);
    fill("ptt");
    thread.batch.items[2].leased_ms = 950;
    assert_int_equal(rv_batch_handler_until(&thread), 1050);
    thread.batch.items[2].state = RV_ITEM_OFFLOADED;
    assert_int_equal(rv_batch_handler_until(&thread), 1100);
    three.handler.batch_wait_ms = INT64_MAX;
    assert_int_equal(rv_batch_handler_until(&thread), RV_FOREVER);
}

/* What waits lies in memory of its own from then on, with all bytes. */
static void kept_over_a_turn(void **state)
{
    (void)state;
    char id[] = "n1", text[] = "{\"at\":5,\"type\":\"three\"}\npay\0load";
    fill("t2");
    rv_item *item = &thread.batch.items[0];
    item->lease.id = id;
    assert_true(rv_envelope_read(&item->lease.envelope, text, sizeof(text) - 1));
    thread.batch.items[1].state = RV_ITEM_FINISHED;
    rv_batch_handler_keep(&thread);
    memset(id, 'z', sizeof(id) - 1);
    memset(text, 'z', sizeof(text) - 1);
    assert_true(thread.batch.resting);
    assert_int_equal(thread.kept_bytes, 8);
    assert_null(thread.batch.items[1].held);
    rv_batch_settle(&thread.batch);
    assert_int_equal(thread.batch.count, 1);
    assert_string_equal(item->lease.id, "n1");
    assert_memory_equal(item->lease.envelope.payload.data, "pay\0load", 9);
    assert_int_equal(item->lease.envelope.payload.length, 8);
    assert_memory_equal(item->lease.envelope.type, "three", 5);
    assert_int_equal(item->lease.envelope.at_ms, 5);
}

static void a_run_of_one(void **state)
{
    (void)state;
    reeve_task task;
    rv_task_init(&task);
    assert_int_equal(rv_task_run(&task, &three.handler), REEVE_OUTCOME_DONE);
    assert_memory_equal(task.result.data, "x", 1);
    rv_task_begin(&task);
    three.handler.user = &task; /* it does nothing then */
    assert_int_equal(rv_task_run(&task, &three.handler), REEVE_OUTCOME_RETRY);
    assert_string_equal(task.kind, "handler");
    assert_string_equal(
        task.message, "the handler of \"three\" called no outcome function (reeve_task_done and so on) for this task");
    rv_task_fini(&task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_handler_may_say),
        cmocka_unit_test_setup_teardown(ripe_by_number_or_age, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_wait_asks_once_more_when_there_may_be_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_much_is_kept_no_longer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_suspect_is_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_is_in_a_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(how_many_to_lease, set_up, tear_down),
        cmocka_unit_test_setup_teardown(until_when_to_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kept_over_a_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_of_one, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
