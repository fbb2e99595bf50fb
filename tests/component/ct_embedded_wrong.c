/* The embedded server when things go wrong: what cannot be had is named, what was killed or frozen is coped with. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/embedded.h"

/* ---- what cannot be had ---------------------------------------------------------------------------------------- */

static void a_missing_program_is_named(void **state)
{
    (void)state;
    char *path = strdup(getenv("PATH"));
    test_user who = {0};
    rv_error error = {0};
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    reeve_status status = test_try_join(&who, test_dir(), 0, &error);
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
    assert_int_equal(status, REEVE_ESYSTEM);
    assert_null(who.embedded);
    assert_non_null(strstr(error.text, "apt-get install redis-server"));
}

static void a_directory_that_cannot_be_is_named(void **state)
{
    (void)state;
    char path[4096];
    test_user who = {0};
    rv_error error = {0};
    (void)snprintf(path, sizeof(path), "%s/file", test_dir());
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(test_try_join(&who, path, 0, &error), REEVE_ESYSTEM);
    assert_non_null(strstr(error.text, path));
    (void)snprintf(path + strlen(path), 16, "/below");
    assert_int_equal(test_try_join(&who, path, 0, &error), REEVE_ESYSTEM);
    assert_non_null(strstr(error.text, path));
    assert_int_equal(test_try_join(&who, "/proc/none", 0, &error), REEVE_ESYSTEM);
    assert_non_null(strstr(error.text, "/proc/none"));
}

static void spoil_file(const char *dir, const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/appendonlydir/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("*1\r\n$9\r\nno\r\nsense\r\n*3\r\n", file);
    (void)fclose(file);
}

static void a_server_that_dies_says_why(void **state)
{
    (void)state;
    const char *dir = test_dir();
    test_user who;
    test_join(&who, dir);
    assert_string_equal(test_cmd(who.conn, "SET a b"), "OK");
    test_end_session(&who);
    spoil_file(dir, "appendonly.aof.1.incr.aof");
    rv_error error = {0};
    int64_t begun = rv_now_ms();
    assert_int_equal(test_try_join(&who, dir, 0, &error), REEVE_ESYSTEM);
    assert_non_null(strstr(error.text, "reading the append only file"));
    assert_non_null(strstr(error.text, "redis.log"));
    assert_true(rv_now_ms() - begun < TEST_JOIN_MS / 2);
}

/* ---- frozen, at it, killed ------------------------------------------------------------------------------------- */

/* A server that does not answer is still a server: there must not be a second one on its files. */
static void a_frozen_server_is_not_replaced(void **state)
{
    (void)state;
    const char *dir = test_dir();
    test_user host, who = {0};
    rv_error error = {0};
    test_join(&host, dir);
    pid_t pid = test_server_pid(&host);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    reeve_status status = test_try_join_for(&who, dir, 0, 300, &error);
    assert_int_equal(kill(pid, SIGCONT), 0);
    assert_int_equal(status, REEVE_ETIMEOUT);
    assert_non_null(strstr(error.text, dir));
    assert_int_equal(test_server_pid(&host), pid);
    test_join(&who, dir);
    assert_int_equal(test_server_pid(&who), pid);
    test_end_session(&who);
    test_end_session(&host);
}

static void joining_waits_for_those_at_it(void **state)
{
    (void)state;
    char path[4200];
    test_user who = {0};
    rv_error error = {0};
    const char *dir = test_dir();
    (void)snprintf(path, sizeof(path), "%s/start.lock", dir);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_int_equal(test_try_join_for(&who, dir, 0, 100, &error), REEVE_ETIMEOUT);
    assert_non_null(strstr(error.text, "starting or stopping"));
    close(lock);
    test_join(&who, dir);
    test_end_session(&who);
}

static void a_killed_server_is_revived(void **state)
{
    (void)state;
    test_user who;
    test_join(&who, test_dir());
    rv_error error = {0};
    assert_string_equal(test_cmd(who.conn, "SET kept 1"), "OK");
    assert_string_equal(test_cmd(who.conn, "CONFIG SET appendfsync always"), "OK");
    assert_string_equal(test_cmd(who.conn, "SET kept 2"), "OK");
    pid_t pid = test_server_pid(&who);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(strncmp(test_cmd(who.conn, "PING"), "(5)", 3), 0);
    assert_int_equal(rv_embedded_revive(who.embedded, rv_deadline(TEST_JOIN_MS), &error), REEVE_OK);
    assert_int_equal(rv_conn_open(who.conn, 0), REEVE_OK);
    assert_int_not_equal(test_server_pid(&who), pid);
    assert_string_equal(test_cmd(who.conn, "GET kept"), "2");
    pid = test_server_pid(&who);
    assert_int_equal(rv_embedded_revive(who.embedded, rv_deadline(TEST_JOIN_MS), &error), REEVE_OK);
    assert_int_equal(test_server_pid(&who), pid);
    test_end_session(&who);
    assert_false(test_is_alive(pid));
}

/* A user that is killed lets go of its lock, so that the next to leave is the last. */
static void a_killed_user_does_not_count(void **state)
{
    (void)state;
    const char *dir = test_dir();
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    test_user who;
    test_join(&who, dir);
    pid_t child = fork();
    if (child == 0) {
        test_user other;
        test_join(&other, dir);
        (void)!write(ready[1], "", other.embedded ? 1 : 0);
        for (;;) pause();
    }
    char byte;
    close(ready[1]); /* A child that could not join ends the wait, too. */
    assert_int_equal(read(ready[0], &byte, 1), 1);
    pid_t pid = test_server_pid(&who);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    test_end_session(&who);
    assert_false(test_is_alive(pid));
    close(ready[0]);
}

static void leaving_nothing_is_fine(void **state)
{
    (void)state;
    rv_embedded_leave(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_program_is_named),    cmocka_unit_test(a_directory_that_cannot_be_is_named),
        cmocka_unit_test(a_server_that_dies_says_why),   cmocka_unit_test(a_frozen_server_is_not_replaced),
        cmocka_unit_test(joining_waits_for_those_at_it), cmocka_unit_test(a_killed_server_is_revived),
        cmocka_unit_test(a_killed_user_does_not_count),  cmocka_unit_test(leaving_nothing_is_fine),
    };
    test_embedded_begin();
    return cmocka_run_group_tests_name("ct_embedded_wrong", tests, NULL, NULL);
}
