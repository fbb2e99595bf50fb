/* The embedded server: shared by name, started once, gone with the last user, its data kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/embedded.h"

#define RACERS 8
#define ROUNDS 20

static void two_users_share_and_the_last_one_stops_it(void **state)
{
    (void)state;
    const char *dir = test_dir();
    test_user first, second;
    test_join(&first, dir);
    test_join(&second, dir);
    pid_t pid = test_server_pid(&first);
    assert_int_equal(test_server_pid(&second), pid);
    assert_string_equal(test_cmd(first.conn, "SET seen yes"), "OK");
    assert_string_equal(test_cmd(second.conn, "GET seen"), "yes");
    test_end_session(&first);
    assert_true(test_is_alive(pid));
    assert_string_equal(test_cmd(second.conn, "GET seen"), "yes");
    test_end_session(&second);
    assert_false(test_is_alive(pid));
}

static void data_survive(void **state)
{
    (void)state;
    const char *dir = test_dir();
    test_user who;
    for (int round = 0; round < 10; round++) {
        char count[16];
        test_join(&who, dir);
        (void)snprintf(count, sizeof(count), "%d", round + 1);
        assert_string_equal(test_cmd(who.conn, "INCR kept"), count);
        pid_t pid = test_server_pid(&who);
        test_end_session(&who);
        assert_false(test_is_alive(pid));
    }
}

static void is_as_promised(void **state)
{
    (void)state;
    struct stat mode;
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/made/deep", test_dir());
    test_user who;
    test_join(&who, path);
    assert_string_equal(test_cmd(who.conn, "CONFIG GET port"), "[port 0]");
    assert_string_equal(test_cmd(who.conn, "CONFIG GET appendonly"), "[appendonly yes]");
    assert_string_equal(test_cmd(who.conn, "CONFIG GET appendfsync"), "[appendfsync everysec]");
    assert_string_equal(test_cmd(who.conn, "CONFIG GET save"), "[save ]");
    assert_int_equal(stat(path, &mode), 0);
    assert_int_equal(mode.st_mode & 0777, 0700);
    pid_t pid = test_server_pid(&who);
    assert_int_not_equal(getsid(pid), getsid(0));
    test_end_session(&who);
}

static void the_database_goes_along(void **state)
{
    (void)state;
    test_user who = {0};
    rv_error error = {0};
    assert_int_equal(test_try_join(&who, test_dir(), 3, &error), REEVE_OK);
    assert_int_equal(who.socket.kind, RV_URL_UNIX);
    assert_int_equal(who.socket.db, 3);
    test_end_session(&who);
}

static void a_long_directory_works(void **state)
{
    (void)state;
    char path[4096];
    int length = snprintf(path, sizeof(path), "%s/", test_dir());
    memset(path + length, 'd', 200);
    path[length + 200] = '\0';
    test_user first, second;
    test_join(&first, path);
    test_join(&second, path);
    assert_string_equal(test_cmd(first.conn, "SET seen yes"), "OK");
    assert_string_equal(test_cmd(second.conn, "GET seen"), "yes");
    pid_t pid = test_server_pid(&first);
    test_end_session(&first);
    test_end_session(&second);
    assert_false(test_is_alive(pid));
}

/* ---- many at once ---------------------------------------------------------------------------------------------- */

static void race(const char *dir, int gate, int out)
{
    char byte;
    (void)!read(gate, &byte, 1); /* returns at the end of file: all at once */
    test_user who;
    test_join(&who, dir);
    pid_t pid = test_server_pid(&who);
    /* Nobody leaves before all are in, or a second server would be right. */
    (void)test_cmd(who.conn, "INCR joined");
    while (atoi(test_cmd(who.conn, "GET joined")) < RACERS) usleep(2000);
    test_end_session(&who);
    (void)!write(out, &pid, sizeof(pid));
    _exit(0);
}

static void racers_start_one_server(void **state)
{
    (void)state;
    const char *dir = test_dir();
    int gate[2], out[2];
    pid_t children[RACERS], pids[RACERS];
    assert_int_equal(pipe(gate), 0);
    assert_int_equal(pipe(out), 0);
    for (int i = 0; i < RACERS; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            close(gate[1]);
            race(dir, gate[0], out[1]);
        }
    }
    close(gate[1]);
    close(out[1]);
    for (int i = 0; i < RACERS; i++) assert_int_equal(read(out[0], &pids[i], sizeof(pid_t)), sizeof(pid_t));
    for (int i = 0; i < RACERS; i++) assert_int_equal(waitpid(children[i], NULL, 0), children[i]);
    for (int i = 0; i < RACERS; i++) assert_int_equal(pids[i], pids[0]);
    assert_false(test_is_alive(pids[0]));
    close(gate[0]);
    close(out[0]);
}

/* Whoever has joined has a server until it leaves, however many come and go around it. */
static int come_and_go(const char *dir)
{
    for (int round = 0; round < ROUNDS; round++) {
        test_user who;
        test_join(&who, dir);
        for (int i = 0; i < 10; i++)
            if (strcmp(test_cmd(who.conn, "PING"), "PONG") != 0) return 1;
        test_end_session(&who);
    }
    return 0;
}

static void coming_and_going(void **state)
{
    (void)state;
    const char *dir = test_dir();
    pid_t children[3];
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        if (children[i] == 0) _exit(come_and_go(dir));
    }
    for (int i = 0; i < 3; i++) {
        int outcome;
        assert_int_equal(waitpid(children[i], &outcome, 0), children[i]);
        assert_int_equal(outcome, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_users_share_and_the_last_one_stops_it),
        cmocka_unit_test(data_survive),
        cmocka_unit_test(is_as_promised),
        cmocka_unit_test(the_database_goes_along),
        cmocka_unit_test(a_long_directory_works),
        cmocka_unit_test(racers_start_one_server),
        cmocka_unit_test(coming_and_going),
    };
    test_embedded_begin();
    return cmocka_run_group_tests_name("ct_embedded", tests, NULL, NULL);
}
