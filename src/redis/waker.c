#include "redis/waker.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

reeve_status rv_waker_init(rv_waker *waker, rv_error *error)
{
    struct stat about = {0};
    waker->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (waker->fd >= 0) {
        (void)fstat(waker->fd, &about);
        waker->device = about.st_dev;
        waker->node = about.st_ino;
        return REEVE_OK;
    }
    char words[128];
    return rv_fail(error, REEVE_ESYSTEM, "eventfd: %s", strerror_r(errno, words, sizeof(words)));
}

void rv_waker_fini(rv_waker *waker)
{
    if (waker->fd >= 0) close(waker->fd);
    waker->fd = -1;
}

void rv_waker_ring(const rv_waker *waker)
{
    int saved = errno; /* we may be inside a signal handler */
    const uint64_t one = 1;
    /* EAGAIN: it has been rung 2^64 - 2 times and is still rung. */
    ssize_t put;
    do {
        put = write(waker->fd, &one, sizeof(one));
    } while (put < 0 && errno == EINTR);
    errno = saved;
}

void rv_waker_silence(const rv_waker *waker)
{
    uint64_t rings;
    ssize_t got;
    do {
        got = read(waker->fd, &rings, sizeof(rings)); /* EAGAIN: it was silent */
    } while (got < 0 && errno == EINTR);
}

bool rv_waker_wait(const rv_waker *waker, int64_t deadline)
{
    struct pollfd bell = {.fd = waker->fd, .events = POLLIN};
    for (;;) {
        if (poll(&bell, 1, rv_poll_timeout(deadline)) > 0) return true;
        if (rv_now_ms() >= deadline) return false;
    }
}

bool rv_waker_is_whole(const rv_waker *waker)
{
    struct stat now;
    return fstat(waker->fd, &now) == 0 && now.st_dev == waker->device && now.st_ino == waker->node;
}
