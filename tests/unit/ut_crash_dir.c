/*
 * Programs of one crash_dir that start at the same moment: one of them takes the file that another one has made, and not
 * yet locked, for that of a dead worker. flock is replaced, so that this happens between the two.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "reeve/worker.h"
#include "running/flight.h"
#include "running/worker_state.h"
#include "support/cmocka.h"
#include "support/dirs.h"
#include "worker/crash_dir.h"

static char crash_dir[300];

/* What the other program does when the file is about to be locked. */
static void (*others_act)(const char *path);

/* The path of the only file of the directory. False: there is none. */
static bool find_file(char *ret, size_t size)
{
    bool found = false;
    const struct dirent *entry;
    DIR *dir = opendir(crash_dir);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        found = true;
        (void)snprintf(ret, size, "%.200s/%.200s", crash_dir, entry->d_name);
    }
    if (dir != NULL) (void)closedir(dir);
    return found;
}

int flock(int fd, int operation)
{
    char path[512];
    void (*act)(const char *) = others_act;
    others_act = NULL;
    if (act != NULL && find_file(path, sizeof(path))) act(path);
    return (int)syscall(SYS_flock, fd, operation);
}

static void remove_it(const char *path)
{
    assert_int_equal(unlink(path), 0);
}

static char held_path[512];
static int held = -1;
static pthread_t holder;

static void *remove_and_let_go(void *unused)
{
    (void)usleep(20000); /* the other one is to wait for the lock */
    (void)unlink(held_path);
    (void)close(held);
    return unused;
}

static void lock_and_remove_it(const char *path)
{
    (void)snprintf(held_path, sizeof(held_path), "%s", path);
    held = open(path, O_RDWR | O_CLOEXEC);
    assert_true(held >= 0);
    assert_int_equal(syscall(SYS_flock, held, LOCK_EX), 0);
    assert_int_equal(pthread_create(&holder, NULL, remove_and_let_go, NULL), 0);
}

static void expect_a_record(void (*act)(const char *path))
{
    char error[300], path[512];
    rv_error why = {0};
    struct stat of_name, of_file;
    reeve_worker *worker = NULL;
    const reeve_worker_options options = {.size = sizeof(options), .redis = "unix:///nowhere", .crash_dir = crash_dir};
    assert_int_equal(reeve_worker_create(&worker, &options, error, sizeof(error)), REEVE_OK);
    others_act = act;
    if (rv_crash_dir_begin(worker, &why) != REEVE_OK) fail_msg("%s", why.text);
    assert_true(find_file(path, sizeof(path)));
    assert_int_equal(stat(path, &of_name), 0);
    assert_int_equal(fstat(worker->flight->fd, &of_file), 0);
    assert_int_equal(of_name.st_ino, of_file.st_ino);
    reeve_worker_destroy(worker);
    assert_false(find_file(path, sizeof(path)));
}

static void a_file_that_was_removed_is_made_again(void **state)
{
    (void)state;
    expect_a_record(remove_it);
}

static void a_file_that_another_one_looks_at_is_waited_for(void **state)
{
    (void)state;
    expect_a_record(lock_and_remove_it);
    assert_int_equal(pthread_join(holder, NULL), 0);
}

static void alone_it_makes_one_file(void **state)
{
    (void)state;
    expect_a_record(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_it_makes_one_file),
        cmocka_unit_test(a_file_that_was_removed_is_made_again),
        cmocka_unit_test(a_file_that_another_one_looks_at_is_waited_for),
    };
    (void)snprintf(crash_dir, sizeof(crash_dir), "%s", test_dir());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
