/*
 * attacks.c - handlers, layers and hooks that do what ends or breaks a process, on a thread as in a runner: for tests of
 * what is blamed then, and of what works on. The payload says what a handler does; REEVE_TEST_ATTACK_HOOK says in which
 * hook the plugin faults.
 */
#include <pthread.h>
#include <reeve/depend.h>
#include <reeve/plugin.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where no memory is. */
static const char *volatile nowhere = (const char *)16;

static void fault(void)
{
    *(volatile char *)nowhere = 1;
}

/* ---- through calls of reeve ------------------------------------------------------------------------------------ */

static reeve_outcome call(reeve_task *task, const char *what)
{
    if (strcmp(what, "progress") == 0) (void)reeve_task_progress(task, 1, nowhere);
    if (strcmp(what, "log") == 0) (void)reeve_task_log(task, "%s", nowhere);
    if (strcmp(what, "checkpoint") == 0) (void)reeve_task_checkpoint(task, nowhere, 100);
    if (strcmp(what, "result") == 0) return reeve_task_done(task, nowhere, 100);
    if (strcmp(what, "chain") == 0 || strcmp(what, "chain into a layer") == 0) {
        const reeve_task_spec spec = {.size = sizeof(spec),
                                      .queue = reeve_task_queue(task),
                                      .type = what[5] == '\0' ? nowhere : "attack.outgoing"};
        (void)reeve_task_chain(task, &spec, NULL);
    }
    return reeve_task_done(task, NULL, 0);
}

/* ---- signals --------------------------------------------------------------------------------------------------- */

static void send_signals(const char *what)
{
    sigset_t all;
    (void)sigfillset(&all);
    if (strcmp(what, "block") == 0) (void)pthread_sigmask(SIG_BLOCK, &all, NULL), fault();
    if (strcmp(what, "block and return") == 0) (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
    if (strcmp(what, "ignore") == 0) (void)signal(SIGSEGV, SIG_IGN), fault();
    if (strcmp(what, "default") == 0) (void)signal(SIGSEGV, SIG_DFL), fault();
    if (strcmp(what, "kill") == 0) (void)kill(getpid(), SIGKILL), pause();
    if (strcmp(what, "stop") == 0) (void)raise(SIGSTOP), pause();
    if (strcmp(what, "terminate the group") == 0) (void)kill(0, SIGTERM);
    if (strcmp(what, "kill the group") == 0) (void)kill(0, SIGKILL), pause();
    if (strcmp(what, "terminate the parent") == 0) (void)kill(getppid(), SIGTERM);
    if (strcmp(what, "kill the parent") == 0) (void)kill(getppid(), SIGKILL);
    if (strcmp(what, "stop the parent") == 0) (void)kill(getppid(), SIGSTOP), pause();
}

/* ---- the process ----------------------------------------------------------------------------------------------- */

static void end_process(const char *what)
{
    if (strcmp(what, "_exit") == 0) _exit(0);
    if (strcmp(what, "exit") == 0) exit(0);
    if (strcmp(what, "quick_exit") == 0) quick_exit(3);
    if (strcmp(what, "abort") == 0) abort();
}

static jmp_buf left;

__attribute__((noinline)) static int mark(void)
{
    return setjmp(left);
}

/* Into a function that has returned. */
static void jump(void)
{
    static volatile int jumped;
    if (mark() != 0 || jumped++ > 0) abort();
    longjmp(left, 1);
}

static volatile int endless = 1;

/* NOLINTNEXTLINE(misc-no-recursion) */
static int use_stack(int depth)
{
    volatile char block[4096];
    block[0] = (char)depth;
    return endless == 0 ? 0 : use_stack(depth + 1) + block[0];
}

/* What lies before and behind small blocks. */
static void break_heap(void)
{
    char *blocks[64];
    for (int i = 0; i < 64; i++) blocks[i] = malloc(40);
    for (int i = 0; i < 64; i++) {
        volatile char *block = blocks[i];
        for (int at = -16; block != NULL && at < 64; at++) block[at] = 'x';
    }
    for (int i = 0; i < 64; i++) free(blocks[i]);
    free(malloc(100000));
    abort();
}

static void *fault_there(void *unused)
{
    (void)unused;
    fault();
    return NULL;
}

static void fault_in_thread(void)
{
    pthread_t other;
    if (pthread_create(&other, NULL, fault_there, NULL) == 0) (void)pthread_join(other, NULL);
}

/* Each child, too. */
static void fork_without_end(void)
{
    for (;;) (void)fork();
}

/* A child in the group of its process, which outlives the handler, and one in a session of its own. */
static void leave_children(void)
{
    char *const arguments[] = {(char *)"sleep", (char *)"3600", NULL};
    for (int own = 0; own < 2; own++) {
        if (fork() != 0) continue;
        (void)signal(SIGTERM, own ? SIG_DFL : SIG_IGN); /* the first one must be killed */
        if (own) (void)setsid();
        (void)execvp(arguments[0], arguments);
        _exit(1);
    }
}

static void break_process(const char *what)
{
    const struct rlimit few = {4, 4};
    if (strcmp(what, "close") == 0) closefrom(3);
    if (strcmp(what, "dup2") == 0)
        for (int fd = 3; fd < 40; fd++) (void)dup2(0, fd);
    if (strcmp(what, "few descriptors") == 0) (void)setrlimit(RLIMIT_NOFILE, &few);
    if (strcmp(what, "setsid") == 0) (void)setsid();
    if (strcmp(what, "jump") == 0) jump();
    if (strcmp(what, "stack") == 0) (void)use_stack(0);
    if (strcmp(what, "heap") == 0) break_heap();
    if (strcmp(what, "thread") == 0) fault_in_thread();
    if (strcmp(what, "fork") == 0) fork_without_end();
    if (strcmp(what, "children") == 0) leave_children();
    if (strcmp(what, "children and abort") == 0) leave_children(), abort();
    if (strcmp(what, "alarm") == 0) (void)alarm(1), (void)usleep(1500000);
}

static reeve_outcome attack(reeve_task *task, void *user)
{
    const char *what = reeve_task_payload(task).data;
    (void)user;
    send_signals(what);
    end_process(what);
    break_process(what);
    return call(task, what);
}

/* ---- a batch handler ------------------------------------------------------------------------------------------- */

/* The guilty one is that whose payload is "guilty". */
static void attack_many(reeve_task *const *tasks, size_t count, void *user)
{
    (void)user;
    for (size_t i = 0; i < count; i++)
        if (strcmp(reeve_task_payload(tasks[i]).data, "guilty") == 0) fault();
    for (size_t i = 0; i < count; i++) (void)reeve_task_done(tasks[i], NULL, 0);
}

/* ---- layers ---------------------------------------------------------------------------------------------------- */

static reeve_outcome fault_before(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    if (strcmp(reeve_task_payload(task).data, "layer") == 0) fault();
    return reeve_next_run(next, task);
}

static void fault_after(reeve_task *task, void *user)
{
    (void)user;
    if (strcmp(reeve_task_payload(task).data, "after") == 0) fault();
}

static reeve_status fault_outgoing(reeve_outgoing *task, reeve_task_spec *spec, void *user)
{
    (void)task;
    (void)user;
    if (strcmp(spec->type, "attack.outgoing") == 0) fault();
    return REEVE_OK;
}

/* ---- hooks ----------------------------------------------------------------------------------------------------- */

static void fault_in(const char *hook)
{
    const char *asked = getenv("REEVE_TEST_ATTACK_HOOK");
    if (asked != NULL && strcmp(asked, hook) == 0) fault();
}

static int load(void)
{
    fault_in("load");
    return 0;
}

/* When the file that REEVE_TEST_ATTACK_GATE names is there. */
static void unload(void)
{
    const char *gate = getenv("REEVE_TEST_ATTACK_GATE");
    while (gate != NULL && access(gate, F_OK) != 0) (void)usleep(10000);
    fault_in("unload");
}

static int thread_start(void *user, void **ret_state)
{
    (void)user;
    (void)ret_state;
    fault_in("thread_start");
    return 0;
}

static void thread_stop(void *user, void *state)
{
    (void)user;
    (void)state;
    fault_in("thread_stop");
}

static const reeve_handler handlers[] = {
    {REEVE_HANDLER, .type = "attack", .run = attack, .thread_start = thread_start, .thread_stop = thread_stop},
    {REEVE_HANDLER, .type = "attack.many", .run_batch = attack_many, .batch_size = 10},
};

static const reeve_layer layers[] = {
    {REEVE_LAYER, .name = "attacker", .run = fault_before, .after = fault_after, .enqueue = fault_outgoing},
};

REEVE_PLUGIN(.name = "attacks", .version = "1", .handlers = handlers, .handler_count = 2, .layers = layers,
             .layer_count = 1, .load = load, .unload = unload)
