/* The embedded server and its host's process: its children, its descriptors, its signals, its memory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/embedded.h"

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
    test_user who;
    test_join(&who, test_dir());
    assert_int_equal(sigaction(SIGCHLD, &before, &after), 0);
    assert_true(after.sa_handler == disposition);
    test_end_session(&who);
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
    assert_true(leaked >= 0 && wanted >= 200);
    test_user who;
    test_join(&who, test_dir());
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)test_server_pid(&who), wanted);
    assert_int_not_equal(access(path, F_OK), 0);
    (void)snprintf(path, sizeof(path), "/proc/%d/fd/3", (int)test_server_pid(&who));
    char target[4096];
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    assert_true(length > 0);
    target[length] = '\0';
    assert_non_null(strstr(target, "server.lock"));
    test_end_session(&who);
    close(leaked);
    close(wanted);
}

static unsigned long long signals(pid_t pid, const char *name)
{
    char path[64], line[256];
    unsigned long long mask = 0;
    bool found = false;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (strncmp(line, name, strlen(name)) != 0) continue;
        mask = strtoull(line + strlen(name), NULL, 16);
        found = true;
    }
    (void)fclose(file);
    assert_true(found);
    return mask;
}

static void the_server_inherits_no_signals(void **state)
{
    (void)state;
    sigset_t blocked, before;
    test_user who;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
    void (*usual)(int) = signal(SIGUSR1, SIG_IGN);
    test_join(&who, test_dir());
    assert_int_equal(signals(test_server_pid(&who), "SigBlk:") >> (SIGUSR2 - 1) & 1, 0);
    assert_int_equal(signals(test_server_pid(&who), "SigIgn:") >> (SIGUSR1 - 1) & 1, 0);
    test_end_session(&who);
    signal(SIGUSR1, usual);
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

/* Like a process that a handler forks and that never calls exec. */
static pid_t fork_child(void)
{
    pid_t child = fork();
    assert_true(child >= 0);
    while (child == 0) (void)pause();
    return child;
}

static void end_child(pid_t child)
{
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void a_forked_child_is_no_user(void **state)
{
    (void)state;
    const char *dir = test_dir();
    rv_error error = {0};
    test_user first, second;
    test_join(&first, dir);
    test_join(&second, dir);
    pid_t server = test_server_pid(&first), child = fork_child(), other = fork_child();
    test_end_session(&first);
    assert_true(test_is_alive(server));
    test_end_session(&second);
    assert_false(test_is_alive(server)); /* the children did not keep it */
    first = (test_user){0};
    if (test_try_join_for(&first, dir, 0, 5000, &error) != REEVE_OK) fail_msg("%s", error.text);
    test_end_session(&first);
    end_child(child);
    end_child(other);
}

static void *join_in_thread(void *dir)
{
    static test_user who;
    test_join(&who, dir);
    return &who;
}

/* A child that is forked while the server is being started must not keep its lock, nor the next server from
 * starting. */
static void a_child_forked_during_the_launch_keeps_no_lock(void **state)
{
    (void)state;
    char *tools = strdup(test_dir()), *dir = strdup(test_dir());
    char *path = strdup(getenv("PATH")), text[8192];
    rv_error error = {0};
    pthread_t id;
    test_user *first, second = {0};
    (void)snprintf(text, sizeof(text), "%s/redis-server", tools);
    FILE *script = fopen(text, "w");
    assert_non_null(script);
    (void)fprintf(
        script,
        "#!/bin/sh\ntouch %s/starts\nuntil [ -e %s/go ]; do sleep 0.01; done\nPATH=%s\nexec redis-server \"$@\"\n",
        tools, tools, path);
    assert_int_equal(fchmod(fileno(script), 0700), 0);
    assert_int_equal(fclose(script), 0);
    (void)snprintf(text, sizeof(text), "%s:%s", tools, path);
    assert_int_equal(setenv("PATH", text, 1), 0);
    assert_int_equal(pthread_create(&id, NULL, join_in_thread, (void *)(uintptr_t)dir), 0);
    (void)snprintf(text, sizeof(text), "%s/starts", tools);
    for (int64_t end = rv_deadline(30000); access(text, F_OK) != 0 && rv_now_ms() < end;) (void)usleep(1000);
    assert_int_equal(access(text, F_OK), 0);
    pid_t child = fork_child();
    (void)snprintf(text, sizeof(text), "%s/go", tools);
    close(open(text, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    assert_int_equal(pthread_join(id, (void **)&first), 0);
    assert_int_equal(kill(test_server_pid(first), SIGKILL), 0);
    if (test_try_join_for(&second, dir, 0, 5000, &error) != REEVE_OK) fail_msg("%s", error.text);
    test_end_session(&second);
    test_end_session(first);
    end_child(child);
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
    free(dir);
    free(tools);
}

static void a_lock_that_another_process_keeps_is_waited_for_until_the_deadline(void **state)
{
    (void)state;
    const char *dir = test_dir();
    char path[4096];
    rv_error error = {0};
    test_user who;
    test_join(&who, dir);
    test_end_session(&who);
    (void)snprintf(path, sizeof(path), "%s/users.lock", dir);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(test_try_join_for(&who, dir, 0, 50, &error), REEVE_ETIMEOUT);
    assert_non_null(strstr(error.text, "users.lock"));
    close(fd);
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
    test_user who;
    test_join(&who, dir);
    test_end_session(&who);
    assert_int_equal(open_files(), before);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    const char *dir = test_dir();
    reeve_status status = REEVE_ENOMEM;
    unsigned long nth = 0, made = 0;
    test_user host;
    test_join(&host, dir);
    while (made >= nth) {
        test_user who = {0};
        rv_error error = {0};
        rv_url url;
        char text[4200];
        (void)snprintf(text, sizeof(text), "embedded:%s", dir);
        assert_int_equal(rv_url_parse(&url, text, NULL), REEVE_OK);
        (void)rv_mem_fail_at(++nth);
        status = rv_embedded_join(&who.embedded, &url, &who.socket, rv_deadline(TEST_JOIN_MS), &error);
        made = rv_mem_fail_at(0);
        if (status != REEVE_OK && status != REEVE_ENOMEM) fail_msg("allocation %lu: %s", nth, error.text);
        test_end_session(&who);
        rv_url_fini(&url);
        assert_string_equal(test_cmd(host.conn, "PING"), "PONG");
    }
    assert_int_equal(status, REEVE_OK);
    assert_true(nth > 5);
    test_end_session(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_may_reap_or_ignore_its_children),
        cmocka_unit_test(the_server_inherits_nothing),
        cmocka_unit_test(the_server_inherits_no_signals),
        cmocka_unit_test(a_forked_child_is_no_user),
        cmocka_unit_test(a_child_forked_during_the_launch_keeps_no_lock),
        cmocka_unit_test(a_lock_that_another_process_keeps_is_waited_for_until_the_deadline),
        cmocka_unit_test(no_descriptor_is_left),
        cmocka_unit_test(each_allocation_may_fail),
    };
    test_embedded_begin();
    return cmocka_run_group_tests_name("ct_embedded_host", tests, NULL, NULL);
}
