#include "support/dirs.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/cmocka.h"

#define DIRS_MAX 256

static char *left[DIRS_MAX];
static size_t left_count;
static pid_t owner;

char *test_make_dir(void)
{
    const char *above = getenv("TMPDIR");
    char path[512];
    int length = snprintf(path, sizeof(path), "%s/reeve-test-XXXXXX", above && *above ? above : "/tmp");
    assert_true(length > 0 && (size_t)length < sizeof(path));
    assert_non_null(mkdtemp(path));
    char *copy = strdup(path);
    assert_non_null(copy);
    return copy;
}

static void remove_left(void)
{
    if (getpid() != owner) return;
    while (left_count > 0) {
        test_remove_dir(left[--left_count]);
        free(left[left_count]);
    }
}

const char *test_dir(void)
{
    if (owner != getpid()) atexit(remove_left);
    owner = getpid();
    assert_true(left_count < DIRS_MAX);
    return left[left_count++] = test_make_dir();
}

static int remove_entry(const char *path, const struct stat *state, int kind, struct FTW *where)
{
    (void)state;
    (void)kind;
    (void)where;
    (void)remove(path);
    return 0;
}

void test_remove_dir(const char *path)
{
    (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
