/* Enqueues as commands that a program sends by itself: in a transaction, in a pipeline, twice, and what their replies
 * mean. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reeve/hiredis.h"
#include "reeve/partition.h"
#include "support/queue.h"
#include "support/worker.h"

static redisContext *redis;
static char words[512];

static int set_up(void **state)
{
    int failed = test_place_empty(state);
    redis = redisConnectUnix(strstr(test_redis_url(test_redis), "://") + 3);
    return failed != 0 || redis == NULL || redis->err != 0;
}

static int tear_down(void **state)
{
    (void)state;
    redisFree(redis);
    return 0;
}

static reeve_commands *make(const reeve_task_spec *specs, size_t count, bool loaded)
{
    const reeve_commands_options options = {.loaded = loaded};
    reeve_commands *made = NULL;
    if (reeve_enqueue_commands(&made, &options, specs, count, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    return made;
}

static redisReply *receive(void)
{
    redisReply *reply = NULL;
    assert_int_equal(redisGetReply(redis, (void **)&reply), REDIS_OK);
    return reply;
}

static void skip_replies(size_t count)
{
    while (count-- > 0) freeReplyObject(receive());
}

/* In a pipeline. Returns the first failure. */
static reeve_status send_all(reeve_commands *commands)
{
    reeve_status first = REEVE_OK;
    assert_int_equal(reeve_hiredis_append(redis, commands), REDIS_OK);
    for (size_t i = 0; i < commands->count; i++) {
        redisReply *reply = receive();
        reeve_status status = reeve_hiredis_read(commands, i, reply);
        if (first == REEVE_OK) first = status;
        freeReplyObject(reply);
    }
    return first;
}

/* With one write of the program in front. Returns EXEC's reply. */
static redisReply *send_transaction(const reeve_commands *commands)
{
    assert_int_equal(redisAppendCommand(redis, "MULTI"), REDIS_OK);
    assert_int_equal(redisAppendCommand(redis, "HSET order state paid"), REDIS_OK);
    assert_int_equal(reeve_hiredis_append(redis, commands), REDIS_OK);
    assert_int_equal(redisAppendCommand(redis, "EXEC"), REDIS_OK);
    skip_replies(2 + commands->count);
    return receive();
}

static reeve_status read_transaction(reeve_commands *commands, redisReply *exec)
{
    reeve_status first = REEVE_OK;
    assert_int_equal(exec->type, REDIS_REPLY_ARRAY);
    for (size_t i = 0; i < commands->count; i++) {
        reeve_status status = reeve_hiredis_read(commands, i, exec->element[i + 1]);
        if (first == REEVE_OK) first = status;
    }
    freeReplyObject(exec);
    return first;
}

static const reeve_task_spec plain = {.queue = "q", .type = "t", .payload = {"a\0b", 3}};

static void a_transaction_writes_both(void **state)
{
    (void)state;
    reeve_commands *commands = make(&plain, 1, false);
    assert_int_equal(commands->tasks[0].status, REEVE_ELOST);
    assert_int_equal(strlen(commands->tasks[0].id), 36);
    assert_int_equal(read_transaction(commands, send_transaction(commands)), REEVE_OK);
    assert_int_equal(commands->tasks[0].status, REEVE_OK);
    assert_string_equal(commands->error, "");
    assert_string_equal(test_cmd(test_conn, "HGET order state"), "paid");
    reeve_task_info *info = test_show("q", commands->tasks[0].id);
    assert_int_equal(info->payload.length, 3);
    assert_memory_equal(info->payload.data, "a\0b", 3);
    reeve_task_info_free(info);
    assert_int_equal(test_number("SISMEMBER reeve:queues q"), 1);
    assert_int_equal(test_number("EXISTS reeve:format"), 1);
    reeve_commands_free(commands);
}

static void a_discarded_transaction_writes_neither(void **state)
{
    (void)state;
    reeve_commands *commands = make(&plain, 1, false);
    freeReplyObject(redisCommand(redis, "WATCH order"));
    (void)test_cmd(test_conn, "HSET order state open");
    redisReply *exec = send_transaction(commands);
    assert_int_equal(exec->type, REDIS_REPLY_NIL);
    assert_int_equal(reeve_hiredis_read(commands, commands->count - 1, exec), REEVE_EPROTO);
    freeReplyObject(exec);
    assert_string_equal(test_state("q", commands->tasks[0].id), "");
    assert_int_equal(test_number("EXISTS reeve:queues"), 0);
    reeve_commands_free(commands);
}

static void tasks_of_several_queues_with_options(void **state)
{
    (void)state;
    static const char *const tags[] = {"x"};
    const reeve_parent after = {.handle = "q/a"};
    const reeve_task_spec specs[] = {
        {.queue = "q", .type = "t", .id = "a", .in_ms = 60000},
        {.queue = "q", .type = "t", .id = "b", .after = &after, .after_count = 1},
        {.queue = "r", .type = "t", .id = "c", .group = "g", .tags = tags, .tag_count = 1},
        {.queue = "r", .type = "t", .id = "d", .unique = "u"},
        {.queue = "r", .type = "t", .id = "e", .unique = "u"},
        {.queue = "r", .type = "t", .id = "f", .after = &(reeve_parent){.handle = "r/none"}, .after_count = 1},
    };
    reeve_commands *commands = make(specs, 6, false);
    assert_int_equal(commands->count, 4);
    assert_int_equal(read_transaction(commands, send_transaction(commands)), REEVE_EUNIQUE);
    assert_string_equal(test_state("q", "a"), "scheduled");
    assert_string_equal(test_state("q", "b"), "blocked");
    assert_string_equal(test_state("r", "c"), "ready");
    assert_string_equal(test_state("r", "d"), "ready");
    assert_int_equal(commands->tasks[3].status, REEVE_OK);
    assert_int_equal(commands->tasks[4].status, REEVE_EUNIQUE);
    assert_string_equal(commands->tasks[4].id, "d");
    assert_int_equal(commands->tasks[5].status, REEVE_ENOTFOUND);
    assert_string_equal(commands->tasks[5].id, "none");
    assert_non_null(strstr(commands->error, "held by the task d"));
    reeve_commands_free(commands);
}

static void many_tasks_come_in_commands_of_250(void **state)
{
    (void)state;
    static reeve_task_spec specs[601];
    for (size_t i = 0; i < 601; i++) specs[i] = plain;
    reeve_commands *commands = make(specs, 601, false);
    assert_int_equal(commands->count, 2 + 3);
    assert_int_equal(send_all(commands), REEVE_OK);
    for (size_t i = 0; i < 601; i++) assert_int_equal(commands->tasks[i].status, REEVE_OK);
    assert_int_equal(test_count("q", "ready"), 601);
    reeve_commands_free(commands);
}

/* All of them, and those whose ids are the program's. */
static void what_is_sent_twice_is_enqueued_once(void **state)
{
    (void)state;
    const reeve_task_spec specs[] = {plain, {.queue = "q", .type = "t", .id = "own"}};
    reeve_commands *commands = make(specs, 2, false);
    assert_int_equal(send_all(commands), REEVE_OK);
    assert_int_equal(send_all(commands), REEVE_EEXISTS);
    assert_int_equal(commands->tasks[0].status, REEVE_OK);
    assert_int_equal(commands->tasks[1].status, REEVE_EEXISTS);
    assert_int_equal(reeve_commands_repeat(commands), REEVE_OK);
    assert_int_equal(send_all(commands), REEVE_OK);
    assert_int_equal(commands->tasks[1].status, REEVE_OK);
    assert_int_equal(test_count("q", "ready"), 2);
    /* It may have run, and its record is gone. */
    (void)test_cmd(test_conn, "HSET reeve:{q}:settings completed_count 0");
    test_ok(test_client, reeve_delete(test_client, "q", "own"));
    assert_int_equal(send_all(commands), REEVE_ELOST);
    assert_string_equal(test_state("q", "own"), "");
    reeve_commands_free(commands);
}

static void a_repeat_of_what_never_came_enqueues_it(void **state)
{
    (void)state;
    reeve_commands *commands = make(&plain, 1, false);
    assert_int_equal(reeve_commands_repeat(commands), REEVE_OK);
    assert_int_equal(read_transaction(commands, send_transaction(commands)), REEVE_OK);
    assert_string_equal(test_state("q", commands->tasks[0].id), "ready");
    reeve_commands_free(commands);
}

static void an_unknown_script_is_reported(void **state)
{
    (void)state;
    reeve_commands *commands = make(&plain, 1, true);
    (void)test_cmd(test_conn, "SCRIPT FLUSH");
    assert_int_equal(send_all(commands), REEVE_EREDIS);
    assert_true(commands->not_loaded);
    assert_non_null(strstr(commands->error, "reeve_commands_load"));
    const reeve_command *load = reeve_commands_load();
    freeReplyObject(redisCommandArgv(redis, load->argc, load->argv, load->lengths));
    assert_int_equal(send_all(commands), REEVE_OK);
    assert_false(commands->not_loaded);
    assert_string_equal(test_state("q", commands->tasks[0].id), "ready");
    reeve_commands_free(commands);
}

/* Its thread sleeps until the transaction wakes it. */
static void a_waiting_worker_runs_it(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 1);
    TEST_AWAIT(strstr(test_cmd(test_conn, "INFO clients"), "blocked_clients:1") != NULL);
    reeve_commands *commands = make(&plain, 1, false);
    assert_int_equal(read_transaction(commands, send_transaction(commands)), REEVE_OK);
    assert_int_equal(reeve_wait(test_client, "q", commands->tasks[0].id, 60000, NULL), REEVE_OK);
    reeve_commands_free(commands);
    test_worker_end(worker);
}

static void refuse(const reeve_task_spec *specs, size_t count, reeve_status status, const char *part)
{
    reeve_commands *commands = (reeve_commands *)words;
    assert_int_equal(reeve_enqueue_commands(&commands, NULL, specs, count, words, sizeof(words)), status);
    assert_null(commands);
    if (strstr(words, part) == NULL) fail_msg("%s", words);
}

static void what_cannot_be_enqueued_makes_no_commands(void **state)
{
    (void)state;
    const reeve_task_spec specs[] = {plain, {.queue = "q", .type = "t", .priority = 1000}};
    refuse(specs, 2, REEVE_EINVAL, "priority 1000");
    refuse(NULL, 1, REEVE_EINVAL, "no task");
    refuse(specs, 0, REEVE_EINVAL, "no task");
    const reeve_commands_options small = {.size_limits = {.batch = 1}};
    reeve_commands *commands = NULL;
    assert_int_equal(reeve_enqueue_commands(&commands, &small, specs, 2, words, sizeof(words)), REEVE_ETOOBIG);
    const reeve_commands_options odd = {.ns = "a b"};
    assert_int_equal(reeve_enqueue_commands(&commands, &odd, specs, 1, NULL, 0), REEVE_EINVAL);
    assert_int_equal(reeve_enqueue_commands(NULL, NULL, specs, 1, NULL, 0), REEVE_EINVAL);
    assert_int_equal(reeve_commands_repeat(NULL), REEVE_EINVAL);
    assert_int_equal(reeve_commands_read(NULL, 0, NULL), REEVE_EINVAL);
    reeve_commands_free(NULL);
}

static void odd_replies_are_refused(void **state)
{
    (void)state;
    const reeve_task_spec specs[] = {plain, plain};
    const reeve_reply element = {.kind = REEVE_REPLY_NIL};
    const reeve_reply odd[] = {
        {.kind = REEVE_REPLY_NIL},
        {.kind = REEVE_REPLY_TEXT, .text = "QUEUED", .length = 6},
        {.kind = REEVE_REPLY_ARRAY, .count = 2},
        {.kind = REEVE_REPLY_ARRAY, .count = 1, .elements = &element},
        {.kind = REEVE_REPLY_ARRAY, .count = 2, .elements = (const reeve_reply[]){element, element}},
    };
    reeve_commands *commands = make(specs, 2, false);
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        assert_int_equal(reeve_commands_read(commands, 2, &odd[i]), REEVE_EPROTO);
        assert_int_equal(commands->tasks[1].status, REEVE_EPROTO);
    }
    assert_int_equal(reeve_commands_read(commands, 3, &odd[0]), REEVE_EINVAL);
    const reeve_reply error = {.kind = REEVE_REPLY_ERROR, .text = "NOPERM no", .length = 9};
    assert_int_equal(reeve_commands_read(commands, 0, &error), REEVE_EREDIS);
    assert_int_equal(reeve_commands_read(commands, 2, &error), REEVE_EREDIS);
    assert_int_equal(commands->tasks[0].status, REEVE_EREDIS);
    reeve_commands_free(commands);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    reeve_status status = REEVE_ENOMEM;
    unsigned long nth = 0;
    const reeve_task_spec specs[] = {plain, {.queue = "r", .type = "t", .priority = 1}};
    while (status != REEVE_OK) {
        reeve_commands *commands = NULL;
        (void)rv_mem_fail_at(++nth);
        status = reeve_enqueue_commands(&commands, NULL, specs, 2, words, sizeof(words));
        (void)rv_mem_fail_at(0);
        if (status != REEVE_OK) assert_int_equal(status, REEVE_ENOMEM);
        reeve_commands_free(commands);
        assert_true(nth < 1000);
    }
    assert_true(nth > 5);
}

/* A program names the partition, which it gets from a client; its keys hold beside those of other producers. */
static void a_partition_is_named(void **state)
{
    char partition[REEVE_PARTITION_NAME_MAX], key[16];
    reeve_client *client = test_client;
    bool divided = false;
    (void)state;
    assert_int_equal(reeve_partition_set(client, "mail", 4), REEVE_OK);
    for (int i = 0; i < 10; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        reeve_task_spec spec = {.queue = "mail", .type = "t", .unique = key};
        assert_int_equal(reeve_partition_of_task(client, &spec, partition), REEVE_OK);
        divided = divided || strchr(partition, '~') != NULL;
        spec.queue = partition;
        reeve_commands *made = make(&spec, 1, false);
        send_all(made);
        reeve_commands_free(made);
        spec.queue = "mail";
        assert_int_equal(reeve_enqueue(client, &spec, NULL), REEVE_EUNIQUE);
    }
    assert_true(divided);
    const reeve_task_spec other = {.queue = "whole", .type = "t"};
    assert_int_equal(reeve_partition_of_task(client, &other, partition), REEVE_OK);
    assert_string_equal(partition, "whole");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_transaction_writes_both, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_discarded_transaction_writes_neither, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tasks_of_several_queues_with_options, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_tasks_come_in_commands_of_250, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_sent_twice_is_enqueued_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_repeat_of_what_never_came_enqueues_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unknown_script_is_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_waiting_worker_runs_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_enqueued_makes_no_commands, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_partition_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(odd_replies_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("ct_transaction", tests, test_place_start, test_place_stop);
}
