#include "stacks.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "frames.h"
#include "running/isolated.h"
#include "running/os_thread.h"
#include "running/own_thread.h"
#include "stacks_each.h"

#define WAIT_MS 500
#define LOOK_MS 1
#define MAPS_MAX ((size_t)4 * 1024 * 1024)
#define FRAMES_TEXT_MAX ((size_t)32 * 1024)

/* A word of an entry's state: the number of the request, and how far it is. A late answer to an earlier request finds
 * another number. */
enum { STACK_FREE, STACK_ASKED, STACK_WRITING, STACK_DONE };
#define INDEX_BITS 10
#define ROUND_MASK 0xfffffu
_Static_assert(RV_FLIGHT_STACKS_MAX <= 1 << INDEX_BITS, "an index fits");

static unsigned word(unsigned round, unsigned state)
{
    return (round & ROUND_MASK) << 2 | state;
}

static rv_flight_stacks *own; /* NULL: there are none */
static pid_t process;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* one request at a time */

/* ---- in the signal handler: nothing here allocates or takes a lock, but for backtrace() ------------------------- */

static uint64_t interrupted_at(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

/* The frames of this handler are left out. */
static void write_frames(rv_flight_stack *stack, uint64_t pc)
{
    void *frames[RV_FLIGHT_FRAMES];
    int count = backtrace(frames, RV_FLIGHT_FRAMES), first = 0;

    while (first < count && (uint64_t)(uintptr_t)frames[first] != pc) first++;
    if (first == count) first = 0;
    for (int i = first; i < count; i++) stack->frames[i - first] = (uint64_t)(uintptr_t)frames[i];
    stack->frame_count = (uint32_t)(count - first);
}

static void write_task(rv_flight_stack *stack)
{
    static const char no_name[sizeof(stack->name)];
    const rv_thread *t = rv_own_thread_get();
    rv_own_task task;

    memcpy(stack->name, t != NULL ? t->name : no_name, sizeof(stack->name));
    rv_own_thread_task(&task);
    memcpy(stack->id, task.id, sizeof(stack->id));
    if (task.id[0] == '\0') return;
    memcpy(stack->queue, task.queue, sizeof(stack->queue));
    memcpy(stack->type, task.type, sizeof(stack->type));
    stack->since_ms = task.since_ms;
}

/* In a process that a handler forked, nobody asked. */
static void on_asked(int signal_number, siginfo_t *about, void *context)
{
    int saved = errno;
    unsigned value = (unsigned)about->si_value.sival_int, index = value & ((1u << INDEX_BITS) - 1);
    unsigned asked = word(value >> INDEX_BITS, STACK_ASKED);

    (void)signal_number;
    if (about->si_code != SI_QUEUE || getpid() != process || index >= RV_FLIGHT_STACKS_MAX) return;
    rv_flight_stack *stack = &own->list[index];
    if (!atomic_compare_exchange_strong(&stack->state, &asked, word(value >> INDEX_BITS, STACK_WRITING))) return;
    write_task(stack);
    write_frames(stack, interrupted_at(context));
    atomic_store(&stack->state, word(value >> INDEX_BITS, STACK_DONE));
    while (atomic_load(&own->last) != 0) (void)pause();
    errno = saved;
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

void host_stacks_begin(rv_flight_stacks *stacks)
{
    struct sigaction now, then = {.sa_sigaction = on_asked, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    void *warm[2];
    sigset_t set;

    if (stacks == NULL) {
        stacks = mmap(NULL, sizeof(*stacks), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stacks == MAP_FAILED) return;
    }
    own = stacks;
    process = getpid();
    (void)backtrace(warm, 2); /* the first call loads a library */
    (void)sigfillset(&then.sa_mask);
    for (int number = SIGRTMAX; number > SIGRTMIN; number--) {
        if (sigaction(number, NULL, &now) != 0 || now.sa_handler != SIG_DFL) continue;
        if (sigaction(number, &then, NULL) != 0) continue;
        (void)sigemptyset(&set);
        (void)sigaddset(&set, number);
        rv_lock_check(pthread_sigmask(SIG_UNBLOCK, &set, NULL));
        rv_os_thread_leave_open(number);
        atomic_store(&own->signal, number);
        return;
    }
}

static bool ask_thread(pid_t pid, pid_t thread, int signal_number, unsigned value)
{
    siginfo_t about;

    memset(&about, 0, sizeof(about));
    about.si_signo = signal_number;
    about.si_code = SI_QUEUE;
    about.si_pid = getpid();
    about.si_uid = getuid();
    about.si_value.sival_int = (int)value;
    return syscall(SYS_rt_tgsigqueueinfo, pid, thread, signal_number, &about) == 0;
}

/* An entry that a thread still writes for an earlier request is left alone. */
static rv_flight_stack *take_entry(rv_flight_stacks *stacks, size_t *next)
{
    while (*next < RV_FLIGHT_STACKS_MAX) {
        rv_flight_stack *stack = &stacks->list[(*next)++];

        if ((atomic_load(&stack->state) & 3) != STACK_WRITING) return stack;
    }
    return NULL;
}

typedef struct request {
    pid_t pid;
    const char *thread; /* NULL: all */
    rv_flight_stacks *stacks;
    unsigned round;
    size_t count;    /* entries in use */
    size_t left_out; /* threads without an entry */
    rv_flight_stack **list;
} request;

static void name_of(pid_t pid, pid_t thread, char ret[16])
{
    char path[64];
    FILE *file;

    ret[0] = '\0';
    (void)snprintf(path, sizeof(path), "/proc/%ld/task/%ld/comm", (long)pid, (long)thread);
    file = fopen(path, "re");
    if (file == NULL) return;
    if (fgets(ret, 16, file) != NULL) ret[strcspn(ret, "\n")] = '\0';
    (void)fclose(file);
}

static bool is_meant(const request *r, int64_t number)
{
    char name[16];
    int64_t asked;

    if (r->thread == NULL) return true;
    if (rv_parse_int(r->thread, 1, INT32_MAX, &asked) && asked == number) return true;
    name_of(r->pid, (pid_t)number, name);
    return strcmp(name, r->thread) == 0;
}

static void ask_all(request *r, DIR *tasks)
{
    const struct dirent *entry;
    int64_t number;
    size_t next = 0;

    while ((entry = readdir(tasks)) != NULL) {
        if (!rv_parse_int(entry->d_name, 1, INT32_MAX, &number) || !is_meant(r, number)) continue;
        rv_flight_stack *stack = take_entry(r->stacks, &next);
        if (stack == NULL) {
            r->left_out++;
            continue;
        }
        stack->thread = (int32_t)number;
        stack->name[0] = stack->id[0] = '\0';
        stack->frame_count = 0;
        atomic_store(&stack->state, word(r->round, STACK_ASKED));
        r->list[r->count++] = stack;
        unsigned value = (r->round & ROUND_MASK) << INDEX_BITS | (unsigned)(stack - r->stacks->list);
        (void)ask_thread(r->pid, (pid_t)number, atomic_load(&r->stacks->signal), value);
    }
}

static bool is_done(const request *r, const rv_flight_stack *stack)
{
    return atomic_load(&stack->state) == word(r->round, STACK_DONE);
}

/* A thread that has not begun to write does so no more. */
static void withdraw(const request *r)
{
    for (size_t i = 0; i < r->count; i++) {
        unsigned asked = word(r->round, STACK_ASKED);

        (void)atomic_compare_exchange_strong(&r->list[i]->state, &asked, word(r->round, STACK_FREE));
    }
}

static void wait_for_all(const request *r)
{
    const struct timespec moment = {.tv_nsec = LOOK_MS * 1000000L};
    int64_t deadline = rv_deadline(WAIT_MS);

    for (size_t done = 0; done < r->count && rv_now_ms() < deadline;) {
        if (is_done(r, r->list[done]))
            done++;
        else
            (void)nanosleep(&moment, NULL);
    }
    withdraw(r);
}

/* NULL: the caller frees r->list. */
static const char *ask(request *r)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%ld/task", (long)r->pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL) return "the threads of the process cannot be listed";
    r->list = rv_zalloc_array(RV_FLIGHT_STACKS_MAX, sizeof(rv_flight_stack *));
    r->round = atomic_fetch_add(&r->stacks->rounds, 1) + 1;
    if (r->list != NULL) ask_all(r, tasks);
    (void)closedir(tasks);
    if (r->list == NULL) return "no memory for the stacks";
    return r->count > 0 ? NULL : "no such thread";
}

/* ---- in words -------------------------------------------------------------------------------------------------- */

/* seen: the runner whose threads these are, or NULL. */
static void name_report(const request *r, const rv_isolated_seen *seen, rv_flight_stack *stack, host_stack *of)
{
    char own_name[16];

    name_of(r->pid, stack->thread, own_name);
    if (seen == NULL) {
        rv_copy_text(of->thread, sizeof(of->thread), own_name);
        return;
    }
    bool is_main = stack->thread == r->pid;

    (void)snprintf(of->thread, sizeof(of->thread), "%s (%s)", seen->thread, is_main ? "runner" : own_name);
    memcpy(stack->queue, seen->queue, sizeof(stack->queue));
    memcpy(stack->id, is_main ? seen->id : "", is_main ? sizeof(stack->id) : 1);
    memcpy(stack->type, seen->type, sizeof(stack->type));
    stack->since_ms = seen->since_ms;
}

/* A copy, as another process may go on writing. Of a thread that has not answered in time, its number. */
static void read_stack(const request *r, const rv_flight_stack *from, rv_flight_stack *ret)
{
    const size_t behind = offsetof(rv_flight_stack, thread);

    memset(ret, 0, sizeof(*ret));
    if (is_done(r, from))
        memcpy((char *)ret + behind, (const char *)from + behind, sizeof(*ret) - behind);
    else
        ret->thread = from->thread;
}

static void each_report(const request *r, const char *maps, const rv_isolated_seen *seen, host_stack_fn each,
                        void *user)
{
    rv_buf frames;

    rv_buf_init(&frames, FRAMES_TEXT_MAX);
    for (size_t i = 0; i < r->count; i++) {
        rv_flight_stack stack;
        read_stack(r, r->list[i], &stack);
        uint32_t count = stack.frame_count <= RV_FLIGHT_FRAMES ? stack.frame_count : 0;
        host_stack of = {.number = stack.thread, .stack = &stack};

        rv_buf_clear(&frames);
        host_frames_add(&frames, maps, stack.frames, count);
        of.frames = rv_buf_text(&frames);
        name_report(r, seen, &stack, &of);
        of.for_ms = stack.id[0] != '\0' ? rv_now_ms() - stack.since_ms : 0;
        each(&of, user);
    }
    rv_buf_fini(&frames);
}

static const char *check_signal(void)
{
    struct sigaction now;
    int number = own != NULL ? atomic_load(&own->signal) : 0;

    if (number == 0) return "this process has no free real-time signal, or no memory";
    if (sigaction(number, NULL, &now) == 0 && now.sa_sigaction == on_asked) return NULL;
    return "a plugin or handler has taken the real-time signal that asks for stacks";
}

static reeve_worker *watched; /* whose runners are asked, too; guarded by `lock` */

void host_stacks_watch(reeve_worker *worker)
{
    rv_lock(&lock);
    watched = worker;
    rv_unlock(&lock);
}

typedef struct runners {
    const char *thread; /* NULL: all */
    host_stack_fn each;
    void *user;
    size_t count; /* of those that were asked */
} runners;

/* Its process cannot end meanwhile. */
static void report_runner(const rv_isolated_seen *seen, void *user)
{
    runners *all = user;
    request r = {.pid = seen->pid, .stacks = seen->stacks};
    int64_t number = 0;
    rv_buf maps;

    if (all->thread != NULL && strcmp(all->thread, seen->thread) != 0 &&
        !(rv_parse_int(all->thread, 1, INT32_MAX, &number) && number == seen->pid))
        return;
    if (seen->stacks == NULL || atomic_load(&seen->stacks->signal) == 0) return;
    all->count++;
    rv_buf_init(&maps, MAPS_MAX);
    if (ask(&r) == NULL) {
        wait_for_all(&r);
        (void)host_frames_read_maps(&maps, r.pid);
        each_report(&r, rv_buf_text(&maps), seen, all->each, all->user);
    }
    rv_buf_fini(&maps);
    rv_free(r.list);
}

/* Returns why not; NULL: it was done. */
const char *host_stacks_each(const char *thread, host_stack_fn each, void *user, size_t *ret_left_out)
{
    request r = {.pid = getpid(), .thread = thread, .stacks = own};
    runners all = {.thread = thread, .each = each, .user = user};
    const char *why = check_signal();
    rv_buf maps;

    if (why != NULL) return why;
    rv_buf_init(&maps, MAPS_MAX);
    rv_lock(&lock);
    why = ask(&r);
    if (why == NULL) {
        wait_for_all(&r);
        (void)host_frames_read_maps(&maps, r.pid);
        each_report(&r, rv_buf_text(&maps), NULL, each, user);
    }
    if (watched != NULL) rv_isolated_visit(watched, report_runner, &all);
    if (all.count > 0) why = NULL;
    rv_unlock(&lock);
    *ret_left_out = r.left_out;
    rv_buf_fini(&maps);
    rv_free(r.list);
    return why;
}

/* ---- of another process ---------------------------------------------------------------------------------------- */

static void add_last(const host_stack *of, void *user)
{
    rv_buf *out = user;

    host_stacks_log_one(of, NULL);
    rv_buf_addf(out, "%sthread %s%s%s", out->length > 0 ? "\n" : "", of->thread,
                of->stack->id[0] != '\0' ? " runs " : "", of->stack->id[0] != '\0' ? of->stack->type : "");
    rv_buf_addf(out, "\n%s", of->frames[0] != '\0' ? of->frames : "no stack");
}

/* The process writes to the memory: texts get an end. */
static void end_texts(const request *r)
{
    for (size_t i = 0; i < r->count; i++) {
        rv_flight_stack *stack = r->list[i];

        stack->queue[sizeof(stack->queue) - 1] = '\0';
        stack->id[sizeof(stack->id) - 1] = '\0';
        stack->type[sizeof(stack->type) - 1] = '\0';
    }
}

void host_stacks_last(rv_buf *ret, pid_t pid, rv_flight_stacks *stacks)
{
    request r = {.pid = pid, .stacks = stacks};
    rv_buf maps;

    if (atomic_load(&stacks->signal) == 0) return;
    rv_buf_init(&maps, MAPS_MAX);
    (void)host_frames_read_maps(&maps, pid);
    atomic_store(&stacks->last, 1);
    if (ask(&r) == NULL) {
        (void)kill(pid, SIGCONT);
        wait_for_all(&r);
        end_texts(&r);
        each_report(&r, rv_buf_text(&maps), NULL, add_last, ret);
    }
    rv_buf_fini(&maps);
    rv_free(r.list);
}
