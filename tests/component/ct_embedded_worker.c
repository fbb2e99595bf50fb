/* An idle worker brings its embedded server back at once when that is killed. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "support/embedded.h"
#include "support/worker.h"

enum { AT_ONCE_MS = 5000 }; /* (a second, and what a busy machine adds; a session has 60) */

static void a_killed_server_is_back_at_once(void **state)
{
    (void)state;
    const char *dir = test_dir();
    char url[4200], words[512] = "";
    test_user who;
    (void)snprintf(url, sizeof(url), "embedded:%s", dir);
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.redis = url, .session_ms = 60000});
    test_worker_pool(worker, "q", 2, 1);
    test_worker_start(worker);
    test_join(&who, dir);
    TEST_AWAIT(strcmp(test_cmd(who.conn, "PUBSUB NUMSUB reeve:control"), "[reeve:control 1]") == 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kill(test_server_pid(&who), SIGKILL), 0);
        int64_t killed = rv_now_ms();
        rv_conn_close(who.conn);
        TEST_AWAIT(rv_conn_open(who.conn, rv_deadline(1000)) == REEVE_OK);
        int64_t took = rv_now_ms() - killed;
        if (took > AT_ONCE_MS) fail_msg("after %lld ms", (long long)took);
        TEST_AWAIT(strcmp(test_cmd(who.conn, "PUBSUB NUMSUB reeve:control"), "[reeve:control 1]") == 0);
    }
    reeve_client *client;
    const reeve_client_options options = {.redis = url};
    if (reeve_client_open_with_error(&client, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    test_ok(client, reeve_enqueue(client, &(reeve_task_spec){.queue = "q", .id = "a", .type = "t"}, NULL));
    test_ok(client, reeve_wait(client, "q", "a", 60000, NULL));
    reeve_client_close(client);
    test_worker_end(worker);
    test_end_session(&who);
}

static atomic_bool down;

static void note_down(const reeve_log_record *record, void *user)
{
    (void)user;
    if (strcmp(record->event, "redis.down") == 0) atomic_store(&down, true);
}

enum { LONG_MS = 120000, STOP_MS = 20000 }; /* some seconds, and what a busy machine adds */

/* Another process is at it, for longer than anybody waits. */
static void a_server_that_does_not_come_back_holds_up_no_stop(void **state)
{
    (void)state;
    const char *dir = test_dir();
    char url[4200], path[4200];
    test_user who;
    (void)snprintf(url, sizeof(url), "embedded:%s", dir);
    (void)snprintf(path, sizeof(path), "%s/start.lock", dir);
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.redis = url, .command_ms = LONG_MS});
    test_worker_pool(worker, "q", 1, 1);
    test_worker_start(worker);
    test_join(&who, dir);
    int lock = open(path, O_RDWR | O_CLOEXEC);
    assert_true(lock >= 0);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    reeve_log_set(note_down, NULL, REEVE_LOG_WARN);
    assert_int_equal(kill(test_server_pid(&who), SIGKILL), 0);
    TEST_AWAIT(atomic_load(&down));
    int64_t begin = rv_now_ms();
    reeve_status status = reeve_worker_stop(worker, 0);
    int64_t took = rv_now_ms() - begin;
    reeve_log_set(NULL, NULL, REEVE_LOG_OFF);
    close(lock);
    assert_int_equal(status, REEVE_OK);
    if (took > STOP_MS) fail_msg("stopped after %lld ms", (long long)took);
    reeve_worker_destroy(worker);
    test_end_session(&who);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_killed_server_is_back_at_once),
                                       cmocka_unit_test(a_server_that_does_not_come_back_holds_up_no_stop)};
    test_embedded_begin();
    return cmocka_run_group_tests_name("ct_embedded_worker", tests, NULL, NULL);
}
