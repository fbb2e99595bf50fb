#include "support/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "support/clock_page.h"
#include "support/cmocka.h"
#include "support/dirs.h"

static test_clock_page *page;
static char file_variable[600], preload_variable[600];

static int64_t real_us(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void put_into(char *variable, size_t size, const char *name, const char *value)
{
    int length = snprintf(variable, size, "%s=%s", name, value);
    assert_true(length > 0 && (size_t)length < size);
}

static void make(void)
{
    char path[512];
    if (page) return;
    int length = snprintf(path, sizeof(path), "%s/clock", test_dir());
    assert_true(length > 0 && (size_t)length < sizeof(path));
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, sizeof(*page)), 0);
    void *mapped = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(mapped != MAP_FAILED);
    close(fd);
    page = mapped;
    put_into(file_variable, sizeof(file_variable), TEST_CLOCK_VARIABLE, path);
    put_into(preload_variable, sizeof(preload_variable), "LD_PRELOAD", TEST_CLOCK_SHIM);
    if (access(TEST_CLOCK_SHIM, R_OK) != 0) fail_msg("no %s: it is built with the tests", TEST_CLOCK_SHIM);
}

const char *test_clock_preload(void)
{
    make();
    return preload_variable;
}

const char *test_clock_file(void)
{
    make();
    return file_variable;
}

static int64_t now_us(void)
{
    make();
    return atomic_load(&page->frozen) ? atomic_load(&page->frozen_us) : real_us() + atomic_load(&page->offset_us);
}

void test_clock_set(int64_t ms)
{
    make();
    atomic_store(&page->frozen_us, 1000 * ms);
    atomic_store(&page->frozen, true);
}

void test_clock_advance(int64_t ms)
{
    make();
    if (atomic_load(&page->frozen)) {
        atomic_fetch_add(&page->frozen_us, 1000 * ms);
    } else {
        atomic_fetch_add(&page->offset_us, 1000 * ms);
    }
}

void test_clock_run(void)
{
    make();
    atomic_store(&page->offset_us, now_us() - real_us());
    atomic_store(&page->frozen, false);
}

int64_t test_clock_now(void)
{
    return now_us() / 1000;
}
