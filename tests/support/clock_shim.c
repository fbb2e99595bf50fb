/*
 * clock_shim.c - a wall clock that a test moves, preloaded into the redis-server of a test (see clock.h). Built by
 * itself, without sanitizers, and linked into nothing.
 *
 * The time stands in a file that the test and the server both map; REEVE_TEST_CLOCK names it. Without the variable, or
 * when the file cannot be mapped, time is real. The monotonic clock is always real: the server's event loop lives by
 * it.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "support/clock_page.h"

typedef int clock_function(clockid_t, struct timespec *);

static clock_function *real;
static const test_clock_page *page;

static void look(void) __attribute__((constructor));

static void look(void)
{
    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv(TEST_CLOCK_VARIABLE);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *mapped = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);
    if (mapped != MAP_FAILED) page = mapped;
    close(fd);
}

/* Others' constructors may ask for the time before ours has run. */
static int real_time(clockid_t clock, struct timespec *ret)
{
    return real ? real(clock, ret) : (int)syscall(SYS_clock_gettime, clock, ret);
}

static int shown_time(clockid_t clock, struct timespec *ret)
{
    if (page && atomic_load(&page->frozen)) {
        int64_t us = atomic_load(&page->frozen_us);
        *ret = (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
        return 0;
    }
    int status = real_time(clock, ret);
    if (status != 0 || !page) return status;
    int64_t us = (int64_t)ret->tv_sec * 1000000 + ret->tv_nsec / 1000 + atomic_load(&page->offset_us);
    *ret = (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 + ret->tv_nsec % 1000};
    return 0;
}

#define SHOWN __attribute__((visibility("default")))

SHOWN int clock_gettime(clockid_t clock, struct timespec *ret)
{
    bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    return wall ? shown_time(clock, ret) : real_time(clock, ret);
}

SHOWN int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    int status = shown_time(CLOCK_REALTIME, &now);
    if (status == 0) *ret = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return status;
}

SHOWN time_t time(time_t *ret)
{
    struct timespec now;
    if (shown_time(CLOCK_REALTIME, &now) != 0) return -1;
    if (ret) *ret = now.tv_sec;
    return now.tv_sec;
}
