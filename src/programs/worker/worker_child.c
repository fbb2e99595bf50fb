#include "worker_child.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "supervised.h"

static void drop(host_child *child)
{
    if (child->header != NULL) (void)munmap(child->header, sizeof(*child->header));
    if (child->flight_fd >= 0) (void)close(child->flight_fd);
    if (child->notify_fd >= 0) (void)close(child->notify_fd);
    *child = (host_child){.flight_fd = -1, .notify_fd = -1};
}

static bool make_memory(host_child *ret)
{
    ret->flight_fd = memfd_create("reeve-flight", MFD_CLOEXEC);
    if (ret->flight_fd < 0 || ftruncate(ret->flight_fd, sizeof(*ret->header)) != 0) return false;
    void *mapped = mmap(NULL, sizeof(*ret->header), PROT_READ | PROT_WRITE, MAP_SHARED, ret->flight_fd, 0);
    if (mapped == MAP_FAILED) return false;
    ret->header = mapped;
    atomic_store(&ret->header->ended, 1); /* until it works */
    return true;
}

/* A group of its own: what a terminal sends to the group of its foreground reaches the supervisor alone. */
static void become_worker(host_child *child, pid_t supervisor, int notify_fd, const sigset_t *mask, int64_t frozen_ms)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != supervisor) _exit(0);
    (void)close(child->notify_fd);
    child->notify_fd = -1;
    host_supervised_begin(supervisor, child->flight_fd, child->header, notify_fd, frozen_ms);
    /* What the supervisor passes on stays blocked: the worker takes it as soon as it can (signals.h). */
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
}

bool host_child_start(host_child *ret, const sigset_t *mask, int64_t frozen_ms, rv_error *error)
{
    int pair[2];
    pid_t supervisor = getpid();

    *ret = (host_child){.flight_fd = -1, .notify_fd = -1, .started_ms = rv_now_ms()};
    if (!make_memory(ret) || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
        (void)rv_fail(error, REEVE_ESYSTEM, "no memory or descriptors for a worker: %s", strerror(errno));
        drop(ret);
        return false;
    }
    ret->notify_fd = pair[0];
    pid_t pid = fork();
    if (pid == 0) {
        become_worker(ret, supervisor, pair[1], mask, frozen_ms);
        return true;
    }
    (void)close(pair[1]);
    ret->pid = pid;
    if (pid > 0) return true;
    (void)rv_fail(error, REEVE_ESYSTEM, "cannot start a process: %s", strerror(errno));
    drop(ret);
    return false;
}

bool host_child_end(host_child *child, host_wreck *ret)
{
    struct stat about;
    void *mapped = MAP_FAILED;

    if (fstat(child->flight_fd, &about) == 0 && about.st_size >= (off_t)sizeof(*child->header))
        mapped = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, child->flight_fd, 0);
    drop(child);
    if (mapped == MAP_FAILED) return false;
    *ret = (host_wreck){.header = mapped, .size = (size_t)about.st_size};
    return true;
}

void host_wreck_drop(host_wreck *wreck)
{
    if (wreck->header != NULL) (void)munmap((void *)(uintptr_t)wreck->header, wreck->size);
    *wreck = (host_wreck){0};
}

const char *host_child_message(const host_child *child, char *buffer, size_t size)
{
    ssize_t got = child->notify_fd < 0 ? -1 : recv(child->notify_fd, buffer, size - 1, MSG_DONTWAIT);

    if (got <= 0) return NULL;
    buffer[got] = '\0';
    return buffer;
}
