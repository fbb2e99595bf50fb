#include "health.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "running/phase.h"
#include "worker/abandon.h"

static bool is_socket_of(const char *path, struct sockaddr_un *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->sun_family = AF_UNIX;
    return (size_t)snprintf(ret->sun_path, sizeof(ret->sun_path), "%s", path) < sizeof(ret->sun_path);
}

/* A socket that a worker left behind, on which nobody listens, makes way. */
static void remove_stale(const struct sockaddr_un *address)
{
    struct stat about;
    int fd;

    if (lstat(address->sun_path, &about) != 0 || !S_ISSOCK(about.st_mode)) return;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 && errno == ECONNREFUSED)
        (void)unlink(address->sun_path);
    (void)close(fd);
}

static bool listen_at(host_health *health, const char *path)
{
    struct sockaddr_un address;

    if (!is_socket_of(path, &address)) {
        errno = ENAMETOOLONG;
        return false;
    }
    remove_stale(&address);
    health->wake = eventfd(0, EFD_CLOEXEC);
    health->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return health->wake >= 0 && health->listener >= 0 &&
           bind(health->listener, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
           listen(health->listener, 16) == 0;
}

static atomic_bool exhausted;

void host_health_set_exhausted(bool is_exhausted)
{
    atomic_store(&exhausted, is_exhausted);
}

/* False: there was no descriptor or memory for it, and the connection still waits. */
static bool answer(host_health *health)
{
    int fd = accept4(health->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    reeve_worker_stats stats;
    char line[256];
    unsigned unspared;
    int length;

    if (fd < 0) return errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS;
    reeve_worker_get_stats(health->worker, &stats);
    length =
        snprintf(line, sizeof(line),
                 "{\"live\":true,\"ready\":%s,\"state\":\"%s\",\"connected\":%s,\"threads\":%u,\"busy\":%u,"
                 "\"stuck\":%u,\"refused\":%s}\n",
                 rv_phase_is_leasing(health->worker) && !atomic_load(&exhausted) ? "true" : "false",
                 rv_phase_word(health->worker), stats.connected ? "true" : "false", stats.threads, stats.busy,
                 rv_worker_stuck(health->worker, &unspared), atomic_load(&health->worker->refused) ? "true" : "false");
    /* The line fits the buffer of a new socket. */
    (void)send(fd, line, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)close(fd);
    return true;
}

#define AGAIN_MS 100 /* until a connection that could not be taken is tried again */

static void *serve(void *argument)
{
    host_health *health = argument;
    struct pollfd fds[] = {{.fd = health->listener, .events = POLLIN}, {.fd = health->wake, .events = POLLIN}};

    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR) return NULL;
        if (fds[1].revents == 0 && fds[0].revents != 0 && !answer(health)) (void)poll(&fds[1], 1, AGAIN_MS);
        if (fds[1].revents != 0) return NULL;
    }
}

static void close_all(host_health *health)
{
    if (health->listener >= 0) (void)close(health->listener);
    if (health->wake >= 0) (void)close(health->wake);
}

void host_health_start(host_health *health, reeve_worker *worker, const char *path)
{
    *health = (host_health){.worker = worker, .path = path, .listener = -1, .wake = -1};
    if (path == NULL) return;
    if (listen_at(health, path)) {
        errno = pthread_create(&health->thread, NULL, serve, health);
        health->started = errno == 0;
    }
    if (health->started) {
        (void)pthread_setname_np(health->thread, "reeve-health");
        return;
    }
    rv_log(REEVE_LOG_ERROR, "program.health",
           "the socket of worker.health cannot be served; the worker runs without it", "path", path, "error",
           strerror(errno), NULL);
    close_all(health);
}

void host_health_stop(host_health *health)
{
    if (!health->started) return;
    (void)eventfd_write(health->wake, 1);
    (void)pthread_join(health->thread, NULL);
    (void)unlink(health->path);
    close_all(health);
    health->started = false;
}
