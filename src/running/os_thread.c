#include "running/os_thread.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/text.h"

static atomic_int left_open; /* 0: none */

void rv_os_thread_leave_open(int signal_number)
{
    atomic_store(&left_open, signal_number);
}

/* All signals, but those that a thread's own fault raises: blocked, they would end the process past any handler that
 * the host has for them. */
static void choose_blocked(sigset_t *set)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigfillset(set);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) sigdelset(set, faults[i]);
    if (atomic_load(&left_open) != 0) sigdelset(set, atomic_load(&left_open));
}

typedef struct thread_start {
    void *(*run)(void *);
    void *argument;
    char name[16];
} thread_start;

/* The thread names itself: messages that it logs from its beginning on have its name. */
static void *begin(void *given)
{
    thread_start start = *(thread_start *)given;
    rv_free(given);
    (void)pthread_setname_np(pthread_self(), start.name);
    return start.run(start.argument);
}

reeve_status rv_os_thread_start(pthread_t *ret, void *(*run)(void *), void *argument, const char *name, rv_error *error)
{
    sigset_t blocked, before;
    thread_start *start = rv_alloc(sizeof(*start));
    if (start == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for thread %s", name);
    start->run = run;
    start->argument = argument;
    rv_copy_text(start->name, sizeof(start->name), name);
    choose_blocked(&blocked);
    rv_lock_check(pthread_sigmask(SIG_SETMASK, &blocked, &before));
    int failed = pthread_create(ret, NULL, begin, start);
    rv_lock_check(pthread_sigmask(SIG_SETMASK, &before, NULL));
    if (failed == 0) return REEVE_OK;
    rv_free(start);
    return rv_fail(error, REEVE_ESYSTEM, "cannot start thread %s: %s", name, strerror(failed));
}

#define JOIN_S 1

/* The thread sanitizer of GCC 12 does not know pthread_clockjoin_np, and would take what follows for races. */
#ifdef __SANITIZE_THREAD__
#define JOIN_CLOCK CLOCK_REALTIME
#define join_until(id, until) pthread_timedjoin_np(id, NULL, until)
#else
#define JOIN_CLOCK CLOCK_MONOTONIC
#define join_until(id, until) pthread_clockjoin_np(id, NULL, JOIN_CLOCK, until)
#endif

void rv_os_thread_join(pthread_t id, const rv_waker *quit)
{
    struct timespec until;
    rv_lock_check(clock_gettime(JOIN_CLOCK, &until));
    until.tv_sec += JOIN_S;
    int failed = join_until(id, &until);
    if (failed == ETIMEDOUT) {
        rv_waker_ring(quit);
        failed = pthread_join(id, NULL);
    }
    rv_lock_check(failed);
}
