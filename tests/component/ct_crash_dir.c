/*
 * ct_crash_dir - a program with a worker and without a supervisor dies by SIGSEGV and by SIGKILL, and is started again: what
 * had finished is settled from the file in its crash_dir, what had only been leased runs without blame, and what was running
 * has crashed. The session is so long that nothing else can bring the tasks back.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reeve/worker.h"
#include "support/cmocka.h"
#include "support/dirs.h"
#include "support/queue.h"
#include "support/redis.h"

enum { TASKS = 400 };

static char crash_dir[300], notes[300];

/* ---- the program that dies ------------------------------------------------------------------------------------- */

static reeve_outcome note(reeve_task *task, void *user)
{
    char line[REEVE_ID_MAX + 1];
    int fd = open(notes, O_WRONLY | O_APPEND | O_CREAT, 0600);
    int length = snprintf(line, sizeof(line), "%s\n", reeve_task_id(task));
    (void)user;
    if (fd < 0 || write(fd, line, (size_t)length) != length) _exit(9);
    (void)close(fd);
    return reeve_task_done(task, reeve_task_id(task), strlen(reeve_task_id(task)));
}

static reeve_outcome fault(reeve_task *task, void *user)
{
    (void)user;
    (void)note(task, NULL);
    (void)raise(SIGSEGV);
    return reeve_task_done(task, NULL, 0);
}

/* Leaves a child, whose process id is the first line of the notes. */
static reeve_outcome leave_child(reeve_task *task, void *user)
{
    char line[20];
    pid_t child = fork();
    if (child == 0) (void)alarm(60); /* should the test not end it */
    if (child == 0)
        for (;;) (void)pause();
    int fd = open(notes, O_WRONLY | O_APPEND | O_CREAT, 0600);
    int length = snprintf(line, sizeof(line), "%d\n", (int)child);
    (void)user;
    if (fd < 0 || write(fd, line, (size_t)length) != length) _exit(9);
    (void)raise(SIGKILL);
    return reeve_task_done(task, NULL, 0);
}

/* Runs until it is killed; in the second process it ends at once. */
static reeve_outcome hold(reeve_task *task, void *user)
{
    (void)note(task, NULL);
    while (user == NULL && !reeve_task_should_stop(task)) (void)usleep(10000);
    return reeve_task_done(task, NULL, 0);
}

static void work(bool is_second)
{
    const struct rlimit no_core = {0, 0};
    const reeve_worker_options options = {
        .size = sizeof(options), .redis = test_redis_url(test_redis), .session_ms = 60000, .crash_dir = crash_dir};
    const char *const queues[] = {"q"};
    const reeve_pool_options pool = {.size = sizeof(pool), .queues = queues, .queue_count = 1, .threads = 2};
    reeve_worker *worker;
    char error[300];
    sigset_t set;
    int number;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGSEGV, SIG_DFL); /* cmocka has taken it */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setrlimit(RLIMIT_CORE, &no_core);
    if (reeve_worker_create(&worker, &options, error, sizeof(error)) != REEVE_OK) _exit(8);
    (void)reeve_worker_register(worker, &(reeve_handler){REEVE_HANDLER, .type = "t", .run = note});
    (void)reeve_worker_register(worker,
                                &(reeve_handler){REEVE_HANDLER, .type = "fault", .run = fault, .max_crashes = 1});
    (void)reeve_worker_register(
        worker, &(reeve_handler){REEVE_HANDLER, .type = "leave_child", .run = leave_child, .max_crashes = 1});
    (void)reeve_worker_register(
        worker, &(reeve_handler){REEVE_HANDLER, .type = "hold", .run = hold, .user = is_second ? worker : NULL});
    (void)reeve_worker_add_pool(worker, &pool);
    if (reeve_worker_start(worker) != REEVE_OK) {
        (void)fprintf(stderr, "%s\n", reeve_worker_error(worker));
        _exit(7);
    }
    (void)sigwait(&set, &number);
    (void)reeve_worker_stop(worker, 5000);
    reeve_worker_destroy(worker);
    _exit(0);
}

static pid_t start(bool is_second)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) work(is_second);
    return pid;
}

static int wait_for(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void end(pid_t pid)
{
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(wait_for(pid), 0);
}

/* ---- what is seen of it ---------------------------------------------------------------------------------------- */

static int count_files(void)
{
    DIR *dir = opendir(crash_dir);
    const struct dirent *entry;
    int count = 0;
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) count += entry->d_name[0] != '.';
    (void)closedir(dir);
    return count;
}

/* How often a task was begun. */
static int runs_of(const char *id)
{
    char line[REEVE_ID_MAX + 2];
    FILE *file = fopen(notes, "re");
    int count = 0;
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        count += strcmp(line, id) == 0;
    }
    if (file != NULL) (void)fclose(file);
    return count;
}

static void enqueue(const char *id, const char *type)
{
    const reeve_task_spec spec = {.size = sizeof(spec), .queue = "q", .type = type, .id = id};
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
}

static void expect_task(const char *id, reeve_state state, unsigned crashes)
{
    reeve_task_info *info = NULL;
    test_ok(test_client, reeve_show(test_client, "q", id, &info));
    assert_int_equal(info->state, state);
    assert_int_equal(info->crashes, crashes);
    if (crashes > 0 && state == REEVE_STATE_DEAD) {
        assert_string_equal(info->error_kind, "crash");
        assert_non_null(strstr(info->error_message, "died while"));
    }
    reeve_task_info_free(info);
}

static int set_up(void **state)
{
    char *dir = test_make_dir();
    (void)snprintf(crash_dir, sizeof(crash_dir), "%s", dir);
    (void)snprintf(notes, sizeof(notes), "%s/.notes", dir);
    free(dir);
    return test_place_empty(state);
}

static int tear_down(void **state)
{
    (void)state;
    test_remove_dir(crash_dir);
    return 0;
}

/* ---- the tests ------------------------------------------------------------------------------------------------- */

/* One of many quick tasks crashes: those that had finished are settled, and no other is blamed. */
static void a_fault_costs_one_task(void **state)
{
    char id[20];
    (void)state;
    for (int i = 0; i < TASKS; i++) {
        (void)snprintf(id, sizeof(id), "t%d", i);
        enqueue(id, "t");
        if (i == TASKS / 2) enqueue("bad", "fault");
    }
    assert_int_equal(wait_for(start(false)), -SIGSEGV);
    assert_int_equal(count_files(), 1);
    assert_true(test_count("q", "running") > 0);
    pid_t second = start(true);
    TEST_AWAIT(test_count("q", "completed") == TASKS);
    expect_task("bad", REEVE_STATE_DEAD, 1);
    assert_int_equal(runs_of("bad"), 1);
    int again = 0;
    for (int i = 0; i < TASKS; i++) {
        (void)snprintf(id, sizeof(id), "t%d", i);
        again += runs_of(id) - 1;
        reeve_task_info *info = NULL;
        test_ok(test_client, reeve_show(test_client, "q", id, &info));
        again += (int)info->crashes; /* of the other thread, which ran one just then */
        reeve_task_info_free(info);
    }
    assert_true(again <= 2);
    assert_int_equal(count_files(), 1);
    end(second);
    assert_int_equal(count_files(), 0);
}

/* Two running tasks crash, both without being the cause; those that wait are not touched. */
static void a_kill_brings_running_tasks_back(void **state)
{
    (void)state;
    enqueue("a", "hold");
    enqueue("b", "hold");
    pid_t first = start(false);
    TEST_AWAIT(runs_of("a") == 1 && runs_of("b") == 1);
    enqueue("waits", "t");
    assert_int_equal(kill(first, SIGKILL), 0);
    assert_int_equal(wait_for(first), -SIGKILL);
    pid_t second = start(true);
    TEST_AWAIT_STATE("a", "completed");
    TEST_AWAIT_STATE("b", "completed");
    TEST_AWAIT_STATE("waits", "completed");
    expect_task("a", REEVE_STATE_COMPLETED, 1);
    expect_task("waits", REEVE_STATE_COMPLETED, 0);
    assert_int_equal(test_number("LLEN reeve:crashes"), 1);
    end(second);
    assert_int_equal(count_files(), 0);
}

/* Also one of the same process: its lock says that it lives. */
static void a_living_worker_is_left_alone(void **state)
{
    (void)state;
    enqueue("a", "hold");
    pid_t first = start(false);
    TEST_AWAIT(runs_of("a") == 1);
    pid_t second = start(true);
    enqueue("b", "t");
    TEST_AWAIT_STATE("b", "completed");
    TEST_AWAIT(count_files() == 2); /* the first one may have run it while the second one starts */
    assert_string_equal(test_state("q", "a"), "running");
    end(second);
    assert_int_equal(count_files(), 1);
    assert_int_equal(kill(first, SIGKILL), 0);
    assert_int_equal(wait_for(first), -SIGKILL);
    second = start(true);
    TEST_AWAIT_STATE("a", "completed");
    end(second);
}

/* A child that the program has forked, and that outlives it, does not stand for it. */
static void a_child_that_is_left_does_not_count(void **state)
{
    int child = 0;
    (void)state;
    enqueue("bad", "leave_child");
    assert_int_equal(wait_for(start(false)), -SIGKILL);
    FILE *file = fopen(notes, "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &child), 1);
    (void)fclose(file);
    assert_int_equal(kill(child, 0), 0);
    pid_t second = start(true);
    TEST_AWAIT_STATE("bad", "dead");
    expect_task("bad", REEVE_STATE_DEAD, 1);
    TEST_AWAIT(count_files() == 1);
    end(second);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(count_files(), 0);
}

static void put_file(const char *name, const void *data, size_t length)
{
    char path[600];
    (void)snprintf(path, sizeof(path), "%s/%s", crash_dir, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, length, file), length);
    (void)fclose(file);
}

/* Of an earlier boot, of another build, cut, or of somebody else. */
static void other_files_do_no_harm(void **state)
{
    static char zeros[2000000];
    char boot[37] = "", name[120];
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    (void)state;
    assert_non_null(file);
    assert_non_null(fgets(boot, sizeof(boot), file));
    (void)fclose(file);
    put_file("0011223344556677.00000000-0000-0000-0000-000000000000.flight", "x", 1);
    (void)snprintf(name, sizeof(name), "0011223344556677.%s.flight", boot);
    put_file(name, "x", 1);
    (void)snprintf(name, sizeof(name), "0011223344556600.%s.flight", boot);
    put_file(name, zeros, sizeof(zeros));
    put_file("notes.flight", "x", 1);
    pid_t only = start(true);
    enqueue("b", "t");
    TEST_AWAIT_STATE("b", "completed");
    TEST_AWAIT(count_files() == 2);
    /* the first one may have run it while the second one starts */ /* its own, and notes.flight */
    end(only);
    assert_int_equal(count_files(), 1);
}

static void a_missing_directory_is_an_error(void **state)
{
    const reeve_worker_options options = {
        .size = sizeof(options), .redis = test_redis_url(test_redis), .crash_dir = "/nowhere/at/all"};
    const char *const queues[] = {"q"};
    const reeve_pool_options pool = {.size = sizeof(pool), .queues = queues, .queue_count = 1, .threads = 1};
    reeve_worker *worker;
    (void)state;
    assert_int_equal(reeve_worker_create(&worker, &options, NULL, 0), REEVE_OK);
    assert_int_equal(reeve_worker_add_pool(worker, &pool), REEVE_OK);
    assert_int_equal(reeve_worker_start(worker), REEVE_ESYSTEM);
    assert_string_equal(reeve_worker_error(worker), "crash_dir /nowhere/at/all: No such file or directory");
    reeve_worker_destroy(worker);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_fault_costs_one_task),        TEST(a_kill_brings_running_tasks_back),
        TEST(a_living_worker_is_left_alone), TEST(a_child_that_is_left_does_not_count),
        TEST(other_files_do_no_harm),        TEST(a_missing_directory_is_an_error),
    };
    return cmocka_run_group_tests(tests, test_place_start, test_place_stop);
}
