/* The embedded server: shared by name, gone with the last user, its data kept. */
#include "redis/embedded.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/redis.h"

#define JOIN_MS 30000
#define RACERS 8
#define ROUNDS 20

typedef struct user {
    rv_embedded *embedded;
    rv_url socket;
    rv_conn *conn;
} user;

static reeve_status try_join_for(user *who, const char *dir, int db, int64_t ms, rv_error *error)
{
    char text[4200];
    rv_url url;
    (void)snprintf(text, sizeof(text), "embedded:%s?db=%d", dir, db);
    assert_int_equal(rv_url_parse(&url, text, NULL), REEVE_OK);
    reeve_status status = rv_embedded_join(&who->embedded, &url, &who->socket, rv_deadline(ms), error);
    rv_url_fini(&url);
    return status;
}

static reeve_status try_join(user *who, const char *dir, int db, rv_error *error)
{
    return try_join_for(who, dir, db, JOIN_MS, error);
}

/* A zombie, which not every init takes away at once, has no program any more. */
static bool is_alive(pid_t pid)
{
    char path[64], program[4096];
    (void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = '\0';
    return strstr(program, "redis") != NULL;
}

/* A test that fails on its way leaves a server behind. */
static pid_t servers[64];
static size_t server_count;
static pid_t owner;

static void kill_left(void)
{
    for (size_t i = 0; i < server_count && getpid() == owner; i++)
        if (is_alive(servers[i])) kill(servers[i], SIGKILL);
}

/* Its process, from its own mouth: what the pid file says may be old. */
static pid_t server_pid(user *who)
{
    const char *info = test_cmd(who->conn, "INFO server");
    const char *at = strstr(info, "process_id:");
    assert_non_null(at);
    return (pid_t)atol(at + strlen("process_id:"));
}

static void join(user *who, const char *dir)
{
    rv_error error = {0};
    *who = (user){0};
    if (try_join(who, dir, 0, &error) != REEVE_OK) fail_msg("%s", error.text);
    const rv_conn_options options = {.url = &who->socket, .name = "test"};
    assert_int_equal(rv_conn_create(&who->conn, &options, NULL), REEVE_OK);
    if (rv_conn_open(who->conn, 0) != REEVE_OK) fail_msg("%s", rv_conn_error(who->conn)->text);
    if (server_count < sizeof(servers) / sizeof(servers[0])) servers[server_count++] = server_pid(who);
}

static void leave(user *who)
{
    rv_conn_destroy(who->conn);
    rv_embedded_leave(who->embedded);
    rv_url_fini(&who->socket);
}

static void two_users_share_and_the_last_one_stops_it(void **state)
{
    (void)state;
    const char *dir = test_dir();
    user first, second;
    join(&first, dir);
    join(&second, dir);
    pid_t pid = server_pid(&first);
    assert_int_equal(server_pid(&second), pid);
    assert_string_equal(test_cmd(first.conn, "SET seen yes"), "OK");
    assert_string_equal(test_cmd(second.conn, "GET seen"), "yes");
    leave(&first);
    assert_true(is_alive(pid));
    assert_string_equal(test_cmd(second.conn, "GET seen"), "yes");
    leave(&second);
    assert_false(is_alive(pid));
}

static void data_survive(void **state)
{
    (void)state;
    const char *dir = test_dir();
    user who;
    for (int round = 0; round < 10; round++) {
        char count[16];
        join(&who, dir);
        (void)snprintf(count, sizeof(count), "%d", round + 1);
        assert_string_equal(test_cmd(who.conn, "INCR kept"), count);
        pid_t pid = server_pid(&who);
        leave(&who);
        assert_false(is_alive(pid));
    }
}

static void is_as_promised(void **state)
{
    (void)state;
    struct stat mode;
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/made/deep", test_dir());
    user who;
    join(&who, path);
    assert_string_equal(test_cmd(who.conn, "CONFIG GET port"), "[port 0]");
    assert_string_equal(test_cmd(who.conn, "CONFIG GET appendonly"), "[appendonly yes]");
    assert_string_equal(test_cmd(who.conn, "CONFIG GET appendfsync"), "[appendfsync everysec]");
    assert_string_equal(test_cmd(who.conn, "CONFIG GET save"), "[save ]");
    assert_int_equal(stat(path, &mode), 0);
    assert_int_equal(mode.st_mode & 0777, 0700);
    pid_t pid = server_pid(&who);
    assert_int_not_equal(getsid(pid), getsid(0));
    leave(&who);
}

static void the_database_goes_along(void **state)
{
    (void)state;
    user who = {0};
    rv_error error = {0};
    assert_int_equal(try_join(&who, test_dir(), 3, &error), REEVE_OK);
    assert_int_equal(who.socket.kind, RV_URL_UNIX);
    assert_int_equal(who.socket.db, 3);
    leave(&who);
}

static void a_killed_server_is_revived(void **state)
{
    (void)state;
    user who;
    join(&who, test_dir());
    rv_error error = {0};
    assert_string_equal(test_cmd(who.conn, "SET kept 1"), "OK");
    assert_string_equal(test_cmd(who.conn, "CONFIG SET appendfsync always"), "OK");
    assert_string_equal(test_cmd(who.conn, "SET kept 2"), "OK");
    pid_t pid = server_pid(&who);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(strncmp(test_cmd(who.conn, "PING"), "(5)", 3), 0);
    assert_int_equal(rv_embedded_revive(who.embedded, rv_deadline(JOIN_MS), &error), REEVE_OK);
    assert_int_equal(rv_conn_open(who.conn, 0), REEVE_OK);
    assert_int_not_equal(server_pid(&who), pid);
    assert_string_equal(test_cmd(who.conn, "GET kept"), "2");
    pid = server_pid(&who);
    assert_int_equal(rv_embedded_revive(who.embedded, rv_deadline(JOIN_MS), &error), REEVE_OK);
    assert_int_equal(server_pid(&who), pid);
    leave(&who);
    assert_false(is_alive(pid));
}

/* A user that is killed lets go of its lock, so that the next to leave is the last. */
static void a_killed_user_does_not_count(void **state)
{
    (void)state;
    const char *dir = test_dir();
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    user who;
    join(&who, dir);
    pid_t child = fork();
    if (child == 0) {
        user other;
        join(&other, dir);
        (void)!write(ready[1], "", other.embedded ? 1 : 0);
        for (;;) pause();
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    pid_t pid = server_pid(&who);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    leave(&who);
    assert_false(is_alive(pid));
    close(ready[0]);
    close(ready[1]);
}

/* ---- many at once ---------------------------------------------------------------------------------------------- */

static void race(const char *dir, int gate, int out)
{
    char byte;
    (void)!read(gate, &byte, 1); /* returns at the end of file: all at once */
    user who;
    join(&who, dir);
    pid_t pid = server_pid(&who);
    /* Nobody leaves before all are in, or a second server would be right. */
    (void)test_cmd(who.conn, "INCR joined");
    while (atoi(test_cmd(who.conn, "GET joined")) < RACERS) usleep(2000);
    leave(&who);
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
    assert_false(is_alive(pids[0]));
    close(gate[0]);
    close(out[0]);
}

/* Whoever has joined has a server until it leaves, however many come and go around it. */
static int come_and_go(const char *dir)
{
    for (int round = 0; round < ROUNDS; round++) {
        user who;
        join(&who, dir);
        for (int i = 0; i < 10; i++)
            if (strcmp(test_cmd(who.conn, "PING"), "PONG") != 0) return 1;
        leave(&who);
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

/* ---- what can go wrong ----------------------------------------------------------------------------------------- */

static void a_missing_program_is_named(void **state)
{
    (void)state;
    char *path = strdup(getenv("PATH"));
    user who = {0};
    rv_error error = {0};
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    reeve_status status = try_join(&who, test_dir(), 0, &error);
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
    user who = {0};
    rv_error error = {0};
    (void)snprintf(path, sizeof(path), "%s/file", test_dir());
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(try_join(&who, path, 0, &error), REEVE_ESYSTEM);
    assert_non_null(strstr(error.text, path));
    (void)snprintf(path + strlen(path), 16, "/below");
    assert_int_equal(try_join(&who, path, 0, &error), REEVE_ESYSTEM);
    assert_non_null(strstr(error.text, path));
    assert_int_equal(try_join(&who, "/proc/none", 0, &error), REEVE_ESYSTEM);
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
    user who;
    join(&who, dir);
    assert_string_equal(test_cmd(who.conn, "SET a b"), "OK");
    leave(&who);
    spoil_file(dir, "appendonly.aof.1.incr.aof");
    rv_error error = {0};
    int64_t begun = rv_now_ms();
    assert_int_equal(try_join(&who, dir, 0, &error), REEVE_ESYSTEM);
    assert_non_null(strstr(error.text, "reading the append only file"));
    assert_non_null(strstr(error.text, "redis.log"));
    assert_true(rv_now_ms() - begun < JOIN_MS / 2);
}

/* A server that does not answer is still a server: there must not be a second one on its files. */
static void a_frozen_server_is_not_replaced(void **state)
{
    (void)state;
    const char *dir = test_dir();
    user host, who = {0};
    rv_error error = {0};
    join(&host, dir);
    pid_t pid = server_pid(&host);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    reeve_status status = try_join_for(&who, dir, 0, 300, &error);
    assert_int_equal(kill(pid, SIGCONT), 0);
    assert_int_equal(status, REEVE_ETIMEOUT);
    assert_non_null(strstr(error.text, dir));
    assert_int_equal(server_pid(&host), pid);
    join(&who, dir);
    assert_int_equal(server_pid(&who), pid);
    leave(&who);
    leave(&host);
}

static void joining_waits_for_those_at_it(void **state)
{
    (void)state;
    char path[4200];
    user who = {0};
    rv_error error = {0};
    const char *dir = test_dir();
    (void)snprintf(path, sizeof(path), "%s/start.lock", dir);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_int_equal(try_join_for(&who, dir, 0, 100, &error), REEVE_ETIMEOUT);
    assert_non_null(strstr(error.text, "starting or stopping"));
    close(lock);
    join(&who, dir);
    leave(&who);
}

static void a_long_directory_works(void **state)
{
    (void)state;
    char path[4096];
    int length = snprintf(path, sizeof(path), "%s/", test_dir());
    memset(path + length, 'd', 200);
    path[length + 200] = '\0';
    user first, second;
    join(&first, path);
    join(&second, path);
    assert_string_equal(test_cmd(first.conn, "SET seen yes"), "OK");
    assert_string_equal(test_cmd(second.conn, "GET seen"), "yes");
    pid_t pid = server_pid(&first);
    leave(&first);
    leave(&second);
    assert_false(is_alive(pid));
}

static void nothing_happens_twice(void **state)
{
    (void)state;
    rv_embedded_leave(NULL);
}

/* ---- the host -------------------------------------------------------------------------------------------------- */

static void on_child(int number)
{
    (void)number;
    int saved = errno;
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
    errno = saved;
}

static void join_under(void (*disposition)(int))
{
    struct sigaction now, before, after;
    memset(&now, 0, sizeof(now));
    now.sa_handler = disposition;
    now.sa_flags = SA_RESTART;
    assert_int_equal(sigaction(SIGCHLD, &now, &before), 0);
    user who;
    join(&who, test_dir());
    assert_int_equal(sigaction(SIGCHLD, &before, &after), 0);
    assert_true(after.sa_handler == disposition);
    leave(&who);
}

static void a_host_may_reap_or_ignore_its_children(void **state)
{
    (void)state;
    join_under(SIG_IGN);
    join_under(on_child);
}

/* The server must not keep the host's files open, nor its locks. */
static void the_server_inherits_nothing(void **state)
{
    (void)state;
    int leaked = open("/dev/null", O_RDONLY); /* not close-on-exec */
    int wanted = fcntl(leaked, F_DUPFD, 200);
    user who;
    join(&who, test_dir());
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)server_pid(&who), wanted);
    assert_int_not_equal(access(path, F_OK), 0);
    (void)snprintf(path, sizeof(path), "/proc/%d/fd/3", (int)server_pid(&who));
    char target[4096];
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    assert_true(length > 0);
    target[length] = '\0';
    assert_non_null(strstr(target, "server.lock"));
    leave(&who);
    close(leaked);
    close(wanted);
}

static unsigned long long signals(pid_t pid, const char *name)
{
    char path[64], line[256];
    unsigned long long mask = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0) mask = strtoull(line + strlen(name), NULL, 16);
    (void)fclose(file);
    return mask;
}

static void the_server_inherits_no_signals(void **state)
{
    (void)state;
    sigset_t blocked, before;
    user who;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
    void (*usual)(int) = signal(SIGUSR1, SIG_IGN);
    join(&who, test_dir());
    assert_int_equal(signals(server_pid(&who), "SigBlk:") >> (SIGUSR2 - 1) & 1, 0);
    assert_int_equal(signals(server_pid(&who), "SigIgn:") >> (SIGUSR1 - 1) & 1, 0);
    leave(&who);
    signal(SIGUSR1, usual);
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    const char *dir = test_dir();
    reeve_status status = REEVE_ENOMEM;
    unsigned long nth = 0, made = 0;
    user host;
    join(&host, dir);
    while (made >= nth) {
        user who = {0};
        rv_error error = {0};
        rv_url url;
        char text[4200];
        (void)snprintf(text, sizeof(text), "embedded:%s", dir);
        assert_int_equal(rv_url_parse(&url, text, NULL), REEVE_OK);
        (void)rv_mem_fail_at(++nth);
        status = rv_embedded_join(&who.embedded, &url, &who.socket, rv_deadline(JOIN_MS), &error);
        made = rv_mem_fail_at(0);
        if (status != REEVE_OK && status != REEVE_ENOMEM) fail_msg("allocation %lu: %s", nth, error.text);
        leave(&who);
        rv_url_fini(&url);
        assert_string_equal(test_cmd(host.conn, "PING"), "PONG");
    }
    assert_int_equal(status, REEVE_OK);
    assert_true(nth > 5);
    leave(&host);
}

static size_t open_files(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

static void no_descriptor_is_left(void **state)
{
    (void)state;
    const char *dir = test_dir();
    size_t before = open_files();
    user who;
    join(&who, dir);
    leave(&who);
    assert_int_equal(open_files(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_users_share_and_the_last_one_stops_it),
        cmocka_unit_test(data_survive),
        cmocka_unit_test(is_as_promised),
        cmocka_unit_test(the_database_goes_along),
        cmocka_unit_test(a_killed_server_is_revived),
        cmocka_unit_test(a_killed_user_does_not_count),
        cmocka_unit_test(racers_start_one_server),
        cmocka_unit_test(coming_and_going),
        cmocka_unit_test(a_missing_program_is_named),
        cmocka_unit_test(a_directory_that_cannot_be_is_named),
        cmocka_unit_test(a_server_that_dies_says_why),
        cmocka_unit_test(a_frozen_server_is_not_replaced),
        cmocka_unit_test(joining_waits_for_those_at_it),
        cmocka_unit_test(a_long_directory_works),
        cmocka_unit_test(nothing_happens_twice),
        cmocka_unit_test(a_host_may_reap_or_ignore_its_children),
        cmocka_unit_test(the_server_inherits_nothing),
        cmocka_unit_test(the_server_inherits_no_signals),
        cmocka_unit_test(no_descriptor_is_left),
        cmocka_unit_test(each_allocation_may_fail),
    };
    owner = getpid();
    atexit(kill_left);
    return cmocka_run_group_tests_name("ct_embedded", tests, NULL, NULL);
}
