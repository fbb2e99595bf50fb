/*
 * fatal.c - types that end their process in several ways, and one that notes in a file that it ran: for tests of a
 * supervised worker. REEVE_TEST_NOTES names the file.
 */
#include <fcntl.h>
#include <limits.h>
#include <reeve/plugin.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line in one write, which is not torn. */
static reeve_outcome note(reeve_task *task, void *user)
{
    char line[REEVE_ID_MAX + 1];
    size_t length = strlen(reeve_task_id(task));
    int fd = open(getenv("REEVE_TEST_NOTES"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

    (void)user;
    if (fd < 0 || length >= sizeof(line)) return reeve_task_fail(task, "notes", "no file for notes");
    memcpy(line, reeve_task_id(task), length);
    line[length] = '\n';
    ssize_t written = write(fd, line, length + 1);
    close(fd);
    if (written < 0) return reeve_task_fail(task, "notes", "cannot write");
    return reeve_task_done(task, reeve_task_id(task), length);
}

static reeve_outcome fault(reeve_task *task, void *user)
{
    char *volatile nowhere = (char *)16;

    (void)user;
    *nowhere = 1;
    return reeve_task_done(task, NULL, 0);
}

static volatile int deep = 1; /* how far it goes: as far as there is stack */

static int use_stack(int depth)
{
    volatile char block[4096];

    block[0] = (char)depth;
    return depth == deep * INT_MAX ? 0 : use_stack(depth + 1) + block[0];
}

static reeve_outcome overflow(reeve_task *task, void *user)
{
    (void)user;
    return use_stack(0) > 0 ? reeve_task_done(task, NULL, 0) : reeve_task_fail(task, "k", "m");
}

static reeve_outcome end_process(reeve_task *task, void *user)
{
    (void)task;
    (void)user;
    _exit(3);
}

static reeve_outcome leave(reeve_task *task, void *user)
{
    (void)task;
    (void)user;
    exit(0);
}

static reeve_outcome give_up(reeve_task *task, void *user)
{
    (void)task;
    (void)user;
    abort();
}

/* Until the file that the payload names exists, whatever it is told. */
static reeve_outcome hold(reeve_task *task, void *user)
{
    char path[256] = "";
    reeve_bytes payload = reeve_task_payload(task);

    (void)user;
    if (payload.length >= sizeof(path)) return reeve_task_fail(task, "path", "too long");
    memcpy(path, payload.data, payload.length);
    while (access(path, F_OK) != 0) (void)usleep(10000);
    return reeve_task_done(task, NULL, 0);
}

static const reeve_handler handlers[] = {
    {REEVE_HANDLER, .type = "note", .run = note},         {REEVE_HANDLER, .type = "fault", .run = fault},
    {REEVE_HANDLER, .type = "overflow", .run = overflow}, {REEVE_HANDLER, .type = "end_process", .run = end_process},
    {REEVE_HANDLER, .type = "abort", .run = give_up},     {REEVE_HANDLER, .type = "hold", .run = hold},
    {REEVE_HANDLER, .type = "leave", .run = leave},
};

REEVE_PLUGIN(.name = "fatal", .version = "1", .handlers = handlers,
             .handler_count = sizeof(handlers) / sizeof(handlers[0]))
