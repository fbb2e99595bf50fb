#include "redis/embedded_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fork.h"

#define LOG_NAME "redis.log"
#define LOG_MAX (1024 * 1024)
#define TAIL_SIZE 240
#define SERVER_LOCK_FD 3 /* the number of lock_fd in the server */

/* A server that comes and goes for years would fill its log for ever. */
static int open_log(const rv_embedded_dir *dir)
{
    struct stat state;
    int fd = openat(dir->fd, LOG_NAME, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && fstat(fd, &state) == 0 && state.st_size > LOG_MAX && ftruncate(fd, 0) != 0) errno = 0;
    return fd;
}

static reeve_status failed(const char *what, int reason, rv_error *error)
{
    char words[128];
    if (reason == ENOENT)
        return rv_fail(error, REEVE_ESYSTEM,
                       "redis-server is not installed: install it (apt-get install redis-server), or give the URL of a "
                       "Redis that runs");
    return rv_fail(error, REEVE_ESYSTEM, "%s: %s", what, strerror_r(reason, words, sizeof(words)));
}

/* Out of the host's signals: none blocked, none ignored, and not in its terminal's group. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int outcome = posix_spawnattr_setsigmask(attributes, &none);
    if (outcome == 0) outcome = posix_spawnattr_setsigdefault(attributes, &all);
    if (outcome != 0) return outcome;
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
}

/* What the server has to say before it knows its log goes there too. */
static int set_files(posix_spawn_file_actions_t *actions, int log_fd, int lock_fd)
{
    int outcome = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (outcome == 0) outcome = posix_spawn_file_actions_adddup2(actions, log_fd, 1);
    if (outcome == 0) outcome = posix_spawn_file_actions_adddup2(actions, log_fd, 2);
    if (outcome == 0) outcome = posix_spawn_file_actions_adddup2(actions, lock_fd, SERVER_LOCK_FD);
#if __GLIBC_PREREQ(2, 34)
    /* The server outlives the host, and must not hold open what the host forgot to mark. */
    if (outcome == 0) outcome = posix_spawn_file_actions_addclosefrom_np(actions, SERVER_LOCK_FD + 1);
#endif
    return outcome;
}

static int spawn(const rv_embedded_dir *dir, int log_fd, int lock_fd, pid_t *ret)
{
    /* The server steps into its directory before it opens anything, so short names do for paths of any length. */
    const char *const args[] = {"redis-server",
                                "--daemonize",
                                "yes",
                                "--port",
                                "0",
                                "--dir",
                                dir->path,
                                "--unixsocket",
                                "redis.sock",
                                "--unixsocketperm",
                                "700",
                                "--appendonly",
                                "yes",
                                "--appendfsync",
                                "everysec",
                                "--save",
                                "",
                                "--pidfile",
                                "redis.pid",
                                "--logfile",
                                LOG_NAME,
                                NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int outcome = posix_spawn_file_actions_init(&actions);
    if (outcome != 0) return outcome;
    outcome = posix_spawnattr_init(&attributes);
    if (outcome != 0) goto no_attributes;
    outcome = set_files(&actions, log_fd, lock_fd);
    if (outcome == 0) outcome = set_attributes(&attributes);
    if (outcome == 0)
        outcome = posix_spawnp(ret, args[0], &actions, &attributes, (char *const *)(uintptr_t)args, environ);
    posix_spawnattr_destroy(&attributes);
no_attributes:
    posix_spawn_file_actions_destroy(&actions);
    return outcome;
}

/* If the host reaps every child or ignores SIGCHLD, there is nothing to wait for; then the deadline decides. */
static reeve_status await_launcher(const rv_embedded_dir *dir, pid_t pid, rv_error *error)
{
    int state;
    pid_t ended;
    do {
        ended = waitpid(pid, &state, 0);
    } while (ended < 0 && errno == EINTR);
    if (ended < 0 || (WIFEXITED(state) && WEXITSTATUS(state) == 0)) return REEVE_OK;
    /* Reports a missing program where posix_spawn could not. */
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127) return failed("redis-server", ENOENT, error);
    return rv_embedded_launch_failed(dir, error);
}

reeve_status rv_embedded_launch(const rv_embedded_dir *dir, int lock_fd, rv_error *error)
{
    pid_t pid;
    int log_fd = open_log(dir);
    if (log_fd < 0)
        return failed("the log of the embedded Redis cannot be opened", errno == ENOENT ? EIO : errno, error);
    /* Descriptors that stand where the file actions write would be overwritten before they are copied. */
    int high_log = fcntl(log_fd, F_DUPFD_CLOEXEC, SERVER_LOCK_FD + 1);
    rv_fork_hold();
    int high_lock = fcntl(lock_fd, F_DUPFD_CLOEXEC, SERVER_LOCK_FD + 1);
    if (high_lock >= 0) rv_fork_add_private(high_lock);
    rv_fork_release();
    int outcome = high_log < 0 || high_lock < 0 ? errno : spawn(dir, high_log, high_lock, &pid);
    rv_fork_hold();
    rv_fork_remove_private(high_lock);
    if (high_lock >= 0) close(high_lock);
    rv_fork_release();
    if (high_log >= 0) close(high_log);
    close(log_fd);
    if (outcome != 0) return failed("redis-server cannot be started", outcome, error);
    return await_launcher(dir, pid, error);
}

/* The last whole lines of the log, with blanks for what would break a line. */
static void read_tail(const rv_embedded_dir *dir, char tail[TAIL_SIZE])
{
    struct stat state;
    ssize_t got = 0;
    int fd = openat(dir->fd, LOG_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && fstat(fd, &state) == 0) {
        off_t from = state.st_size > TAIL_SIZE - 1 ? state.st_size - (TAIL_SIZE - 1) : 0;
        got = pread(fd, tail, TAIL_SIZE - 1, from);
    }
    if (fd >= 0) close(fd);
    tail[got > 0 ? got : 0] = '\0';
    const char *line = strchr(tail, '\n');
    if (got == TAIL_SIZE - 1 && line && line[1]) memmove(tail, line + 1, strlen(line + 1) + 1);
    for (char *at = tail; *at; at++)
        if ((unsigned char)*at < ' ') *at = ' ';
}

reeve_status rv_embedded_launch_failed(const rv_embedded_dir *dir, rv_error *error)
{
    char tail[TAIL_SIZE];
    read_tail(dir, tail);
    return rv_fail(error, REEVE_ESYSTEM, "redis-server ended at its start; its log (%s/%s) says: %s", dir->path,
                   LOG_NAME, *tail ? tail : "nothing");
}
