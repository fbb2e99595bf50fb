/*
 * confined.c - a handler that tries what its payload says ("read PATH", "socket", ...), for tests of sandboxes: its result is
 * "ok", or the name of the error.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <reeve/plugin.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

static int try_open(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    (void)close(fd);
    return 0;
}

static int try_list(const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL) return errno;
    (void)closedir(dir);
    return 0;
}

/* Nobody listens: refused is as good as connected. */
static int try_socket(int connects)
{
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return errno;
    int failed = connects && connect(fd, (const struct sockaddr *)&to, sizeof(to)) != 0 ? errno : 0;
    (void)close(fd);
    return failed == ECONNREFUSED ? 0 : failed;
}

static int try_what(const char *what)
{
    if (strncmp(what, "read ", 5) == 0) return try_open(what + 5, O_RDONLY);
    if (strncmp(what, "write ", 6) == 0) return try_open(what + 6, O_WRONLY | O_CREAT);
    if (strncmp(what, "list ", 5) == 0) return try_list(what + 5);
    if (strcmp(what, "socket") == 0) return try_socket(0);
    if (strcmp(what, "connect") == 0) return try_socket(1);
    if (strcmp(what, "unshare") == 0) return unshare(CLONE_NEWUTS) != 0 ? errno : 0;
    if (strcmp(what, "ptrace") == 0) return ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 ? errno : 0;
    return EINVAL;
}

static reeve_outcome try(reeve_task *task, void *user)
{
    const char *what = reeve_task_payload(task).data;
    char result[80] = "ok";
    char *volatile nowhere = (char *)16;
    (void)user;
    if (strcmp(what, "crash") == 0) *nowhere = 1;
    if (strcmp(what, "progress") == 0) {
        if (reeve_task_progress(task, 50, "half") != REEVE_OK) return reeve_task_fail(task, "call", "progress");
    } else if (strcmp(what, "id") == 0) {
        (void)snprintf(result, sizeof(result), "%d %d %d groups", (int)getuid(), (int)getgid(), getgroups(0, NULL));
    } else {
        int failed = try_what(what);
        if (failed != 0) (void)snprintf(result, sizeof(result), "%s", strerrorname_np(failed));
    }
    return reeve_task_done(task, result, strlen(result));
}

static const reeve_handler handlers[] = {{REEVE_HANDLER, .type = "try", .run = try}};

REEVE_PLUGIN(.name = "confined", .version = "1", .handlers = handlers, .handler_count = 1)
