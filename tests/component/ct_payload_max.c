/* The queue's setting payload_max: a limit of payloads for all producers, whichever way their tasks come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "reeve/buffer.h"
#include "reeve/change.h"
#include "reeve/depend.h"
#include "reeve/transaction.h"
#include "support/worker.h"

#define MAX 100
#define WORDS "at most 100 bytes (payload_max of the queue q raises it)"

static char bytes[4096];

static int set_up(void **state)
{
    int64_t max = MAX;
    int failed = test_place_empty(state);
    memset(bytes, 'x', sizeof(bytes));
    if (failed == 0)
        failed = reeve_queue_set(test_client, "q", &(reeve_queue_settings){.payload_max = &max}) != REEVE_OK;
    return failed;
}

static void unset(void)
{
    int64_t none = 0;
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.payload_max = &none}));
}

static reeve_task_spec spec_of(size_t length)
{
    return (reeve_task_spec){.queue = "q", .type = "t", .payload = {bytes, length}};
}

static reeve_status put(reeve_task_spec spec)
{
    return reeve_enqueue(test_client, &spec, NULL);
}

static void one_task(void **state)
{
    static const char *const tags[] = {"x"};
    reeve_task_spec specs[] = {spec_of(0), spec_of(0), spec_of(0), spec_of(0), spec_of(0), spec_of(0)};
    (void)state;
    specs[1].group = "g";
    specs[2].in_ms = 60000;
    specs[3].tags = tags;
    specs[3].tag_count = 1;
    specs[4].priority = -5;
    specs[5].after = &(reeve_parent){.handle = "q/a"};
    specs[5].after_count = 1;
    test_put_spec((reeve_task_spec){.id = "a", .type = "t", .in_ms = 60000});
    for (size_t i = 0; i < 6; i++) {
        specs[i].payload = (reeve_bytes){bytes, MAX + 1};
        test_refused(test_client, put(specs[i]), REEVE_ETOOBIG, WORDS);
        specs[i].payload.length = MAX;
        test_ok(test_client, put(specs[i]));
    }
    assert_int_equal(test_number("HLEN reeve:{q}:tasks"), 7);
}

/* What a refused task names is not taken: its key is free, and the task that it would replace stays. */
static void nothing_is_taken(void **state)
{
    reeve_task_spec spec = spec_of(MAX + 1);
    (void)state;
    spec.unique = "u";
    test_refused(test_client, put(spec), REEVE_ETOOBIG, WORDS);
    assert_int_equal(test_number("EXISTS reeve:{q}:unique:u"), 0);
    spec.id = "first";
    spec.payload.length = 1;
    test_ok(test_client, put(spec));
    spec.id = "second";
    spec.payload.length = MAX + 1;
    spec.on_conflict = REEVE_CONFLICT_REPLACE;
    test_refused(test_client, put(spec), REEVE_ETOOBIG, WORDS);
    assert_string_equal(test_state("q", "first"), "ready");
}

/* Of many, also bulk-inserted ones, those that are short enough come. */
static void many_tasks(void **state)
{
    static reeve_task_spec specs[300];
    static reeve_enqueued results[300];
    (void)state;
    for (int round = 0; round < 3; round++) {
        char words[300];
        for (size_t i = 0; i < 300; i++) specs[i] = spec_of(i % 3 == 2 ? MAX + i : MAX - 1);
        assert_int_equal(reeve_enqueue_many(test_client, specs, 300, results), REEVE_ETOOBIG);
        for (size_t i = 0; i < 300; i++) assert_int_equal(results[i].status, i % 3 == 2 ? REEVE_ETOOBIG : REEVE_OK);
        reeve_enqueued_error(test_client, &specs[5], &results[5], words, sizeof(words));
        assert_non_null(strstr(words, WORDS));
        assert_int_equal(test_count("q", "ready"), 200 * (round + 1));
        if (round == 1) test_client->uncommon_calls = 0; /* then it tries a bulk insert */
    }
    unset();
    assert_int_equal(reeve_enqueue_many(test_client, specs, 300, results), REEVE_OK);
}

/* A thread that waits to be handed a task is not handed one that is too long. */
static void handed_over(void **state)
{
    (void)state;
    unset();
    reeve_worker *worker = test_worker_run(1, 0);
    test_put_spec(
        (reeve_task_spec){.id = "first", .type = "act", .payload = {"result one", 10}}); /* begins the session */
    TEST_AWAIT(test_threads_are_idle(1));
    int64_t max = MAX;
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.payload_max = &max}));
    test_refused(test_client, put(spec_of(MAX + 1)), REEVE_ETOOBIG, WORDS);
    reeve_task_spec spec = {.queue = "q", .type = "act", .id = "a", .payload = {"result one", 10}};
    test_ok(test_client, put(spec));
    test_ok(test_client, reeve_wait(test_client, "q", "a", 60000, NULL));
    test_worker_end(worker);
}

/* It stays when the queue is empty and maintained, and goes with the setting. */
static void kept_and_unset(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        (void)test_maintain("q", 100);
        test_refused(test_client, put(spec_of(MAX + 1)), REEVE_ETOOBIG, WORDS);
        test_ok(test_client, put(spec_of(MAX)));
        (void)test_cmd(test_conn, "DEL reeve:{q}:ready");
    }
    assert_int_equal(test_maintain("q", 100).reply.payload_max, MAX);
    unset();
    test_ok(test_client, put(spec_of(MAX + 1)));
    assert_int_equal(test_number("HEXISTS reeve:{q}:sequence payload_max"), 0);
    assert_int_equal(test_number("EXISTS reeve:{q}:payload_limited"), 0);
}

static void by_commands(void **state)
{
    (void)state;
    char words[300];
    reeve_commands *commands = NULL;
    reeve_task_spec specs[] = {spec_of(MAX), spec_of(MAX + 1)};
    const reeve_reply answers[] = {{.kind = REEVE_REPLY_INTEGER, .number = 1},
                                   {.kind = REEVE_REPLY_TEXT, .text = "large 100", .length = 9}};
    const reeve_reply reply = {.kind = REEVE_REPLY_ARRAY, .elements = answers, .count = 2};
    test_ok(test_client, reeve_enqueue_commands(&commands, NULL, specs, 2, words, sizeof(words)));
    assert_int_equal(reeve_commands_read(commands, commands->count - 1, &reply), REEVE_ETOOBIG);
    assert_int_equal(commands->tasks[0].status, REEVE_OK);
    assert_int_equal(commands->tasks[1].status, REEVE_ETOOBIG);
    assert_non_null(strstr(commands->error, "at most 100 bytes"));
    reeve_commands_free(commands);
}

static void edited(void **state)
{
    (void)state;
    reeve_task_edit edit = {.fields = REEVE_EDIT_PAYLOAD, .payload = {bytes, MAX + 1}};
    test_put_spec((reeve_task_spec){.id = "a", .type = "t", .in_ms = 60000});
    test_refused(test_client, reeve_edit(test_client, "q", "a", &edit), REEVE_ETOOBIG, WORDS);
    edit.payload.length = MAX;
    test_ok(test_client, reeve_edit(test_client, "q", "a", &edit));
    /* A task that came before the limit can be changed, as long as its payload does not become longer. */
    unset();
    edit.payload.length = 2 * MAX;
    test_ok(test_client, reeve_edit(test_client, "q", "a", &edit));
    assert_int_equal(set_up(NULL), 0);
}

static reeve_outcome chains(reeve_task *task, void *user)
{
    size_t length = strtoul(reeve_task_payload(task).data, NULL, 10);
    reeve_task_spec own = spec_of(length), other = spec_of(length);
    (void)user;
    other.queue = "r";
    reeve_status status = reeve_task_chain(task, &own, NULL);
    TEST_MUST(status == (length > MAX ? REEVE_ETOOBIG : REEVE_OK));
    TEST_MUST(status == REEVE_OK || strstr(reeve_task_call_error(task), "at most 100 (payload_max of the queue q"));
    TEST_MUST(reeve_task_chain(task, &other, NULL) == REEVE_OK);
    return reeve_task_done(task, NULL, 0);
}

static void chained(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){0});
    assert_int_equal(reeve_worker_handle(worker, "chains", chains, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "a", .type = "chains", .payload = {"101", 3}});
    test_put_spec((reeve_task_spec){.id = "b", .type = "chains", .payload = {"100", 3}});
    test_ok(test_client, reeve_wait(test_client, "q", "a", 60000, NULL));
    test_ok(test_client, reeve_wait(test_client, "q", "b", 60000, NULL));
    TEST_AWAIT(test_count("r", "ready") == 2);
    reeve_worker_destroy(worker);
}

/* A buffer delivers the others, and tells of the one that is too long. */
static char told[200];

static void note_refused(const char *handle, reeve_status status, const char *message, void *user)
{
    (void)user;
    (void)snprintf(told, sizeof(told), "%s %d %s", handle, (int)status, message);
}

static void buffered(void **state)
{
    (void)state;
    reeve_client *client;
    const reeve_client_options options = {.redis = test_redis_url(test_redis),
                                          .timeout_ms = 20000,
                                          .buffer_bytes = 100000,
                                          .buffer_wait_ms = 300,
                                          .buffer_refused = note_refused};
    assert_int_equal(reeve_client_open(&client, &options), REEVE_OK);
    reeve_task_spec spec = spec_of(MAX + 1);
    spec.id = "long";
    test_redis_kill(test_redis);
    assert_int_equal(reeve_enqueue(client, &spec, NULL), REEVE_BUFFERED);
    test_redis_launch(test_redis);
    test_conn_again();
    assert_int_equal(reeve_client_flush(client, 60000), REEVE_OK);
    assert_non_null(strstr(told, "q/long 13 "));
    assert_non_null(strstr(told, WORDS));
    reeve_client_close(client);
}

/* A task that has ended and comes again. */
static void again(void **state)
{
    (void)state;
    reeve_task_spec spec = spec_of(MAX + 1);
    spec.id = "a";
    spec.if_exists = REEVE_EXISTS_AGAIN;
    test_put_spec((reeve_task_spec){.id = "a", .type = "t"});
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
    test_refused(test_client, put(spec), REEVE_ETOOBIG, WORDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_task, set_up),       cmocka_unit_test_setup(nothing_is_taken, set_up),
        cmocka_unit_test_setup(many_tasks, set_up),     cmocka_unit_test_setup(handed_over, set_up),
        cmocka_unit_test_setup(kept_and_unset, set_up), cmocka_unit_test_setup(by_commands, set_up),
        cmocka_unit_test_setup(edited, set_up),         cmocka_unit_test_setup(chained, set_up),
        cmocka_unit_test_setup(buffered, set_up),       cmocka_unit_test_setup(again, set_up),
    };
    test_options.persist = true;
    return cmocka_run_group_tests_name("ct_payload_max", tests, test_place_start, test_place_stop);
}
