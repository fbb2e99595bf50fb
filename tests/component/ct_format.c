/* The version of the data in Redis: a namespace that a newer release has changed is left alone, and an older one is
 * read. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "protocol/definition.h"
#include "support/worker.h"

static atomic_uint told; /* that the version is newer */

static void on_log(const reeve_log_record *record, void *user)
{
    (void)user;
    if (strcmp(record->event, "format.newer") == 0) atomic_fetch_add(&told, 1);
}

static int begin(void **state)
{
    test_close_gate();
    atomic_store(&told, 0);
    return test_place_empty(state);
}

static reeve_status open_client(reeve_client **ret, char words[512])
{
    const reeve_client_options options = {.redis = test_redis_url(test_redis)};
    return reeve_client_open_with_error(ret, &options, words, 512);
}

static void set_newer(void)
{
    assert_string_equal(test_cmd(test_conn, "SET reeve:format %d", RV_FORMAT + 1), "OK");
}

static void expect_words(const char *words)
{
    if (!strstr(words, "the data of namespace reeve have format 2 (reeve:format)") ||
        !strstr(words, "reads formats up to 1: use a newer release, or another namespace"))
        fail_msg("%s", words);
}

static void a_client_notes_the_version_with_its_first_task(void **state)
{
    (void)state;
    char words[512];
    reeve_client *client = NULL;
    assert_int_equal(open_client(&client, words), REEVE_OK);
    assert_int_equal(test_number("EXISTS reeve:format"), 0);
    test_ok(client, reeve_enqueue(client, &(reeve_task_spec){.queue = "q", .type = "t", .id = "a"}, NULL));
    assert_int_equal(test_number("GET reeve:format"), RV_FORMAT);
    reeve_client_close(client);
}

static void a_worker_notes_the_version(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    TEST_AWAIT(test_number("EXISTS reeve:format") == 1);
    assert_int_equal(test_number("GET reeve:format"), RV_FORMAT);
    test_worker_end(worker);
}

static void a_lower_version_and_none_are_read(void **state)
{
    (void)state;
    char words[512];
    reeve_client *client = NULL;
    assert_string_equal(test_cmd(test_conn, "SET reeve:format 0"), "OK");
    assert_int_equal(open_client(&client, words), REEVE_OK);
    test_ok(client, reeve_enqueue(client, &(reeve_task_spec){.queue = "q", .type = "t", .id = "a"}, NULL));
    assert_int_equal(test_number("GET reeve:format"), 0);
    reeve_client_close(client);
}

/* Another program's key does no harm. */
static void a_key_of_another_type_is_no_version(void **state)
{
    (void)state;
    char words[512];
    reeve_client *client = NULL;
    assert_string_equal(test_cmd(test_conn, "SADD reeve:format x"), "1");
    assert_int_equal(open_client(&client, words), REEVE_OK);
    test_ok(client, reeve_enqueue(client, &(reeve_task_spec){.queue = "q", .type = "t", .id = "a"}, NULL));
    reeve_client_close(client);
}

static void a_client_refuses_a_higher_version(void **state)
{
    (void)state;
    char words[512], before[4096];
    reeve_client *client = NULL;
    set_newer();
    rv_copy_text(before, sizeof(before), test_digest());
    assert_int_equal(open_client(&client, words), REEVE_ECONNECT);
    expect_words(words);
    assert_string_equal(test_digest(), before);
    /* Another namespace has a version of its own. */
    const reeve_client_options other = {.redis = test_redis_url(test_redis), .ns = "other"};
    assert_int_equal(reeve_client_open(&client, &other), REEVE_OK);
    reeve_client_close(client);
}

static void a_client_refuses_it_when_it_connects_again(void **state)
{
    (void)state;
    char words[512];
    reeve_client *client = NULL;
    const reeve_client_options options = {.redis = test_redis_url(test_redis), .timeout_ms = 300};
    assert_int_equal(reeve_client_open_with_error(&client, &options, words, sizeof(words)), REEVE_OK);
    set_newer();
    (void)test_cmd(test_conn, "CLIENT KILL TYPE normal SKIPME yes");
    assert_int_not_equal(reeve_enqueue(client, &(reeve_task_spec){.queue = "q", .type = "t", .id = "a"}, NULL),
                         REEVE_OK);
    expect_words(reeve_client_error(client));
    assert_int_equal(test_number("EXISTS reeve:{q}:tasks"), 0);
    reeve_client_close(client);
}

static void a_worker_refuses_a_higher_version(void **state)
{
    (void)state;
    char before[4096];
    set_newer();
    rv_copy_text(before, sizeof(before), test_digest());
    reeve_worker *worker = test_worker_new(NULL);
    test_worker_pool(worker, "q", 1, 0);
    assert_int_equal(reeve_worker_start(worker), REEVE_ECONNECT);
    expect_words(reeve_worker_error(worker));
    test_worker_end(worker);
    assert_string_equal(test_digest(), before);
}

/* A newer release comes while it runs. */
static void a_running_worker_takes_no_more_tasks(void **state)
{
    (void)state;
    const reeve_worker_options options = {.redis = test_redis_url(test_redis), .session_ms = 600};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_put("q", "a");
    TEST_AWAIT_STATE("a", "completed");
    reeve_log_set(on_log, NULL, REEVE_LOG_ERROR);
    set_newer();
    TEST_AWAIT(atomic_load(&told) == 1);
    TEST_AWAIT(test_number("LLEN reeve:{q}:idle") == 0); /* the thread is handed nothing any more */
    test_put("q", "b");
    /* Two heartbeats later it is still there. */
    for (int i = 0; i < 2; i++) {
        (void)test_cmd(test_conn, "DEL reeve:workers");
        TEST_AWAIT(test_number("EXISTS reeve:workers") == 1);
    }
    assert_string_equal(test_state("q", "b"), "ready");
    assert_int_equal(atomic_load(&told), 1);
    test_worker_end(worker);
    reeve_log_set(NULL, NULL, REEVE_LOG_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_client_notes_the_version_with_its_first_task, begin),
        cmocka_unit_test_setup(a_worker_notes_the_version, begin),
        cmocka_unit_test_setup(a_lower_version_and_none_are_read, begin),
        cmocka_unit_test_setup(a_key_of_another_type_is_no_version, begin),
        cmocka_unit_test_setup(a_client_refuses_a_higher_version, begin),
        cmocka_unit_test_setup(a_client_refuses_it_when_it_connects_again, begin),
        cmocka_unit_test_setup(a_worker_refuses_a_higher_version, begin),
        cmocka_unit_test_setup(a_running_worker_takes_no_more_tasks, begin),
    };
    return cmocka_run_group_tests_name("ct_format", tests, test_place_start, test_place_stop);
}
