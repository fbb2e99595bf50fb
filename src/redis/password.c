#include "redis/password.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "redis/secret.h"

#define LINE_MAX_BYTES 4096

static reeve_status failed(rv_error *error, const char *reason)
{
    return rv_fail(error, REEVE_ECONNECT, "password_command: %s", reason);
}

/* Starts the command; its output goes to out. */
static int start(const char *command, int out, pid_t *ret)
{
    char shell[] = "sh", flag[] = "-c";
    char *copy = rv_strdup(command);
    char *const arguments[] = {shell, flag, copy, NULL};
    posix_spawn_file_actions_t actions;
    if (copy == NULL || posix_spawn_file_actions_init(&actions) != 0) {
        rv_free(copy);
        return ENOMEM;
    }
    int problem = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (problem == 0) problem = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (problem == 0) problem = posix_spawn(ret, "/bin/sh", &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    rv_free(copy);
    return problem;
}

/* Up to the end of the output. */
static reeve_status read_output(int fd, char line[LINE_MAX_BYTES + 1], int64_t deadline, rv_error *error)
{
    for (size_t length = 0; length < LINE_MAX_BYTES;) {
        struct pollfd output = {.fd = fd, .events = POLLIN};
        int ready = poll(&output, 1, rv_poll_timeout(deadline));
        if (ready == 0) return failed(error, "it did not end in time");
        ssize_t got = ready > 0 ? read(fd, line + length, LINE_MAX_BYTES - length) : -1;
        if (got < 0 && errno != EINTR) return failed(error, "its output cannot be read");
        if (got > 0) length += (size_t)got;
        line[length] = '\0';
        if (got == 0) return REEVE_OK;
    }
    return failed(error, "its output has more than 4096 bytes");
}

static bool ended_well(pid_t pid)
{
    int outcome = 0;
    pid_t ended;
    do ended = waitpid(pid, &outcome, 0);
    while (ended < 0 && errno == EINTR);
    /* A program that ignores SIGCHLD learns of no outcome. */
    return ended < 0 || (WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
}

static reeve_status run(const char *command, char line[LINE_MAX_BYTES + 1], int64_t deadline, rv_error *error)
{
    int ends[2];
    pid_t pid = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return failed(error, strerror(errno));
    int problem = start(command, ends[1], &pid);
    (void)close(ends[1]);
    reeve_status status = problem == 0 ? read_output(ends[0], line, deadline, error) : failed(error, strerror(problem));
    (void)close(ends[0]);
    if (problem == 0 && status != REEVE_OK) (void)kill(pid, SIGKILL);
    if (problem == 0 && !ended_well(pid) && status == REEVE_OK) status = failed(error, "it failed");
    return status;
}

static reeve_status ask_command(char **ret, const char *command, int64_t deadline, rv_error *error)
{
    char line[LINE_MAX_BYTES + 1] = "";
    reeve_status status = run(command, line, deadline, error);
    line[strcspn(line, "\r\n")] = '\0';
    if (status == REEVE_OK && line[0] == '\0') status = failed(error, "its output begins with an empty line");
    if (status == REEVE_OK && (*ret = rv_strdup(line)) == NULL)
        status = rv_fail(error, REEVE_ENOMEM, "out of memory for a password");
    explicit_bzero(line, sizeof(line));
    return status;
}

reeve_status rv_password_read(char **ret, const rv_url *url, int64_t deadline, rv_error *error)
{
    rv_error reason = {0};
    *ret = NULL;
    if (url->password_command != NULL) return ask_command(ret, url->password_command, deadline, error);
    if (url->password_file == NULL) return REEVE_OK;
    reeve_status status = rv_secret_read(ret, url->password_file, &reason);
    if (status == REEVE_OK) return status;
    return rv_fail(error, status == REEVE_ENOMEM ? status : REEVE_ECONNECT, "password_file: %s", reason.text);
}
