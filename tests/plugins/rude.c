/*
 * rude.c - a plugin that does to its process what plugins must not do. REEVE_TEST_RUDE says what its constructor or
 * unload hook does.
 */
#include <reeve/plugin.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_told(const char *what)
{
    const char *told = getenv("REEVE_TEST_RUDE");
    return told != NULL && strcmp(told, what) == 0;
}

static void hang(void)
{
    for (;;) (void)pause();
}

static void unblock_all(void)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
}

__attribute__((constructor)) static void construct(void)
{
    if (is_told("abort")) abort();
    if (is_told("exit")) exit(0);
    if (is_told("hang")) hang();
    if (is_told("unblock")) unblock_all();
}

static void unload(void)
{
    if (is_told("hang at the end")) hang();
}

static reeve_outcome leave(reeve_task *task, void *user)
{
    (void)task;
    (void)user;
    exit(0);
}

/* 0: the child ended by exit(3) and, with all signals unblocked, by TERM. */
static int try_child(int status)
{
    int got = 0;
    pid_t child = fork();
    if (child == 0) {
        if (status != 0) exit(status);
        unblock_all();
        (void)raise(SIGTERM);
        _exit(1);
    }
    if (child < 0 || waitpid(child, &got, 0) != child) return -1;
    return status != 0 ? !(WIFEXITED(got) && WEXITSTATUS(got) == status)
                       : !(WIFSIGNALED(got) && WTERMSIG(got) == SIGTERM);
}

static reeve_outcome fork_children(reeve_task *task, void *user)
{
    (void)user;
    return try_child(3) == 0 && try_child(0) == 0 ? reeve_task_done(task, NULL, 0)
                                                  : reeve_task_fail(task, "child", "it ended otherwise");
}

/* Unblocks all signals of its thread, and waits until it should stop. */
static reeve_outcome unblock(reeve_task *task, void *user)
{
    (void)user;
    unblock_all();
    (void)reeve_task_progress(task, 1, "unblocked");
    while (!reeve_task_should_stop(task)) (void)usleep(1000);
    return reeve_task_give_back(task);
}

static reeve_outcome close_all(reeve_task *task, void *user)
{
    (void)user;
    for (int fd = 3; fd < 256; fd++) (void)close(fd);
    return reeve_task_done(task, NULL, 0);
}

static reeve_outcome close_all_and_hang(reeve_task *task, void *user)
{
    (void)close_all(task, user);
    (void)!write(STDERR_FILENO, "closed\n", 7);
    hang();
    return REEVE_OUTCOME_NONE;
}

/* What is printed from now on must not reach Redis. */
static reeve_outcome close_streams(reeve_task *task, void *user)
{
    (void)user;
    for (int fd = 0; fd < 3; fd++) (void)close(fd);
    return reeve_task_done(task, NULL, 0);
}

static const reeve_handler handlers[] = {{REEVE_HANDLER, .type = "leave", .run = leave},
                                         {REEVE_HANDLER, .type = "fork", .run = fork_children},
                                         {REEVE_HANDLER, .type = "unblock", .run = unblock},
                                         {REEVE_HANDLER, .type = "close", .run = close_all},
                                         {REEVE_HANDLER, .type = "close_hang", .run = close_all_and_hang},
                                         {REEVE_HANDLER, .type = "streams", .run = close_streams}};

REEVE_PLUGIN(.name = "rude", .version = "1.0", .handlers = handlers, .handler_count = 6, .unload = unload)
