#include "crash_handler.h"

#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_SIZE ((size_t)64 * 1024)
#define WRITE_MAX_S 2 /* to find the frames may need a lock of the dynamic linker that is never released */

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static rv_flight_crash *record;
static pid_t process;
static struct sigaction before[FAULTS];
static pthread_key_t stacks;
static bool has_stacks;

/* ---- in the signal handler: nothing here allocates or takes a lock, but for backtrace() ------------------------- */

/* Returns its id, for stop_limit. */
static int start_limit(void)
{
    struct sigevent kill = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec limit = {.it_value = {.tv_sec = WRITE_MAX_S}};
    int id = -1;

    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &kill, &id) != 0) return -1;
    (void)syscall(SYS_timer_settime, id, 0, &limit, NULL);
    return id;
}

static void stop_limit(int id)
{
    if (id >= 0) (void)syscall(SYS_timer_delete, id);
}

static void note_registers(const ucontext_t *context)
{
#if defined(__x86_64__)
    record->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    record->sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    record->pc = context->uc_mcontext.pc;
    record->sp = context->uc_mcontext.sp;
#else
    (void)context;
#endif
}

static void note_signal(int signal_number, const siginfo_t *about, const ucontext_t *context)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    record->signal = signal_number;
    record->code = about->si_code;
    record->address = about->si_code > 0 ? (uint64_t)(uintptr_t)about->si_addr : 0;
    record->at_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    note_registers(context);
    rv_flight_note_crash(record);
    atomic_store(&record->stage, RV_CRASH_SIGNAL);
}

/* The frames of this handler are left out: those from the one on in which the signal came stay. */
static void note_frames(void)
{
    void *frames[RV_FLIGHT_FRAMES];
    int count = backtrace(frames, RV_FLIGHT_FRAMES), first = 0;

    while (first < count && (uint64_t)(uintptr_t)frames[first] != record->pc) first++;
    if (first == count) first = 0;
    for (int i = first; i < count; i++) record->frames[i - first] = (uint64_t)(uintptr_t)frames[i];
    record->frame_count = (uint32_t)(count - first);
    atomic_store(&record->stage, RV_CRASH_FRAMES);
}

/* "<from>-<to> r-xp ...": only what contains code. */
static void add_map(const char *line, size_t length)
{
    const char *blank = memchr(line, ' ', length);

    if (blank == NULL || (size_t)(blank - line) + 4 > length || blank[3] != 'x') return;
    if (length > RV_FLIGHT_MAPS_MAX - record->maps_length) return;
    memcpy(record->maps + record->maps_length, line, length);
    record->maps_length += (uint32_t)length;
}

/* The lines of a file; one that is longer than the buffer is cut. */
static void note_maps(void)
{
    char buffer[2048];
    size_t filled = 0;
    ssize_t got;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

    if (fd < 0) return;
    while ((got = read(fd, buffer + filled, sizeof(buffer) - filled)) > 0) {
        const char *line = buffer, *end;

        filled += (size_t)got;
        while ((end = memchr(line, '\n', filled - (size_t)(line - buffer))) != NULL) {
            add_map(line, (size_t)(end - line) + 1);
            line = end + 1;
        }
        filled -= (size_t)(line - buffer);
        memmove(buffer, line, filled);
        if (filled == sizeof(buffer)) filled = 0;
    }
    close(fd);
    atomic_store(&record->stage, RV_CRASH_MAPS);
}

/* A second thread that crashes waits for the first one to end the process. */
static void take_record(void)
{
    unsigned none = RV_CRASH_NONE;

    if (!atomic_compare_exchange_strong(&record->stage, &none, RV_CRASH_TAKEN)) {
        for (;;) pause();
    }
}

static void write_record(int signal_number, const siginfo_t *about, const ucontext_t *context)
{
    take_record();
    int limit = start_limit();
    note_signal(signal_number, about, context);
    note_frames();
    note_maps();
    stop_limit(limit);
}

/* A fault happens again when this returns; a signal that was sent is sent again. In a process that a handler forked,
 * nothing is recorded. */
static void on_fault(int signal_number, siginfo_t *about, void *context)
{
    if (getpid() == process) write_record(signal_number, about, context);
    for (size_t i = 0; i < FAULTS; i++) (void)sigaction(faults[i], &before[i], NULL);
    if (about->si_code <= 0) (void)raise(signal_number);
}

void host_crash_handler_note_exit(void)
{
    const siginfo_t none = {0};
    const ucontext_t nowhere = {0};

    if (record != NULL && getpid() == process) write_record(0, &none, &nowhere);
}

/* ---- setting up ------------------------------------------------------------------------------------------------ */

static void drop_stack(void *stack)
{
    const stack_t none = {.ss_flags = SS_DISABLE};

    (void)sigaltstack(&none, NULL);
    (void)munmap(stack, STACK_SIZE);
}

void host_crash_handler_on_thread(void)
{
    stack_t stack = {.ss_size = STACK_SIZE};

    if (!has_stacks) return;
    stack.ss_sp = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack.ss_sp == MAP_FAILED) return;
    if (sigaltstack(&stack, NULL) != 0 || pthread_setspecific(stacks, stack.ss_sp) != 0) drop_stack(stack.ss_sp);
}

void host_crash_handler_begin(rv_flight_crash *crash)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    void *warm[2];

    record = crash;
    process = getpid();
    (void)backtrace(warm, 2); /* the first call loads a library */
    has_stacks = pthread_key_create(&stacks, drop_stack) == 0;
    host_crash_handler_on_thread();
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < FAULTS; i++) (void)sigaddset(&action.sa_mask, faults[i]);
    for (size_t i = 0; i < FAULTS; i++) (void)sigaction(faults[i], &action, &before[i]);
}
