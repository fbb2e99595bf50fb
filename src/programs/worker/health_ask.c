#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "health.h"

#define ANSWER_MS 3000

enum { READY = 0, NOT_READY = 1, NO_ANSWER = 3 };

static int fail(const char *path, const char *why)
{
    (void)fprintf(stderr, "reeve-worker: %s: %s\n", path, why);
    return NO_ANSWER;
}

static int fail_connect(const char *path, int error)
{
    char words[256];

    if (error != ENOENT && error != ECONNREFUSED) return fail(path, strerror(error));
    (void)snprintf(words, sizeof(words),
                   "%s: no worker serves it; check that the worker runs, and its setting worker.health",
                   strerror(error));
    return fail(path, words);
}

/* Reads to the end, or until the time is up. */
static size_t read_answer(int fd, char *ret, size_t size)
{
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    int64_t deadline = rv_now_ms() + ANSWER_MS;
    size_t length = 0;

    while (length < size - 1) {
        int64_t left = deadline - rv_now_ms();
        ssize_t got;

        if (left <= 0 || (poll(&poller, 1, (int)left) <= 0 && errno != EINTR)) break;
        got = recv(fd, ret + length, size - 1 - length, MSG_DONTWAIT);
        if (got == 0) break;
        if (got > 0) length += (size_t)got;
        if (got < 0 && errno != EINTR && errno != EAGAIN) break;
    }
    ret[length] = '\0';
    return length;
}

int host_health_ask(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char answer[512];
    int fd;

    if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path) >= sizeof(address.sun_path))
        return fail(path, strerror(ENAMETOOLONG));
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        int status = fail_connect(path, errno);

        if (fd >= 0) (void)close(fd);
        return status;
    }
    if (read_answer(fd, answer, sizeof(answer)) == 0) {
        (void)close(fd);
        return fail(path, "no answer");
    }
    (void)close(fd);
    if (fputs(answer, stdout) < 0 || fflush(stdout) != 0) return NOT_READY;
    return strstr(answer, "\"ready\":true") != NULL ? READY : NOT_READY;
}
