#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define START_MS 10000
#define STOP_MS 5000

/* In the child: out of the terminal's signals, and gone when we are. */
static void become_server(const char *dir, pid_t parent)
{
    sigset_t none;
    int sink = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || sink < 0 || dup2(sink, 0) < 0 || dup2(sink, 1) < 0 || dup2(sink, 2) < 0) _exit(126);
    (void)execlp("redis-server", "redis-server", "--port", "0", "--dir", dir, "--unixsocket", "redis.sock", "--save",
                 "", "--appendonly", "no", "--daemonize", "no", "--logfile", "redis.log", (char *)NULL);
    _exit(127);
}

/* Whether it has ended; then *ret_status is how. */
static bool has_ended(bench_server *server, int *ret_status)
{
    if (waitpid(server->pid, ret_status, WNOHANG) != server->pid) return false;
    server->pid = 0;
    return true;
}

/* The socket is there a moment before anybody listens. */
static bool listens(const bench_server *server)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected;

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/redis.sock", server->dir);
    connected = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    if (fd >= 0) (void)close(fd);
    return connected;
}

static reeve_status await(bench_server *server, rv_error *error)
{
    int64_t deadline = rv_deadline(START_MS);
    int status;

    while (!listens(server)) {
        if (has_ended(server, &status)) {
            if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
                return rv_fail(error, REEVE_ESYSTEM,
                               "redis-server is not installed: install it (apt-get install redis-server), or give the "
                               "URL of a Redis with --redis");
            return rv_fail(error, REEVE_ESYSTEM, "redis-server ended at its start");
        }
        if (rv_now_ms() >= deadline) return rv_fail(error, REEVE_ETIMEOUT, "redis-server does not start");
        (void)poll(NULL, 0, 2);
    }
    return REEVE_OK;
}

reeve_status bench_server_start(bench_server *ret, rv_error *error)
{
    const char *top = getenv("TMPDIR");
    pid_t parent = getpid();
    reeve_status status;
    int length;

    memset(ret, 0, sizeof(*ret));
    length = snprintf(ret->dir, sizeof(ret->dir), "%s/reeve-bench.XXXXXX", top == NULL || top[0] != '/' ? "/tmp" : top);
    if (length >= (int)sizeof(ret->dir))
        (void)snprintf(ret->dir, sizeof(ret->dir), "/tmp/reeve-bench.XXXXXX"); /* too long for a socket's path */
    if (mkdtemp(ret->dir) == NULL) {
        status = rv_fail(error, REEVE_ESYSTEM, "%s cannot be made: %s", ret->dir, strerror(errno));
        ret->dir[0] = '\0';
        return status;
    }
    (void)snprintf(ret->url, sizeof(ret->url), "unix://%s/redis.sock", ret->dir);
    ret->pid = fork();
    if (ret->pid == 0) become_server(ret->dir, parent);
    status = ret->pid < 0 ? rv_fail(error, REEVE_ESYSTEM, "fork: %s", strerror(errno)) : await(ret, error);
    if (ret->pid < 0) ret->pid = 0;
    if (status != REEVE_OK) bench_server_stop(ret);
    return status;
}

static void end_process(bench_server *server)
{
    int64_t deadline = rv_deadline(STOP_MS);
    int status;

    (void)kill(server->pid, SIGTERM);
    while (!has_ended(server, &status)) {
        if (rv_now_ms() >= deadline) (void)kill(server->pid, SIGKILL);
        (void)poll(NULL, 0, 2);
    }
}

static void remove_dir(const char *dir)
{
    static const char *const names[] = {"redis.sock", "redis.log", "dump.rdb"};
    char path[BENCH_PATH_SIZE + 16];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(dir);
}

void bench_server_stop(bench_server *server)
{
    if (server->pid > 0) end_process(server);
    if (server->dir[0] != '\0') remove_dir(server->dir);
    server->dir[0] = '\0';
}
