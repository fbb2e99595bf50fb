#include "worker/spawn.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "worker/lock.h"

/* All signals, but those that a thread's own fault raises: blocked, they would end the process past any handler that
 * the host has for them. */
static void choose_blocked(sigset_t *set)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigfillset(set);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) sigdelset(set, faults[i]);
}

reeve_status rv_start_thread(pthread_t *ret, void *(*run)(void *), void *argument, const char *name, rv_error *error)
{
    sigset_t blocked, before;
    choose_blocked(&blocked);
    rv_lock_check(pthread_sigmask(SIG_SETMASK, &blocked, &before));
    int failed = pthread_create(ret, NULL, run, argument);
    rv_lock_check(pthread_sigmask(SIG_SETMASK, &before, NULL));
    if (failed != 0) return rv_fail(error, REEVE_ESYSTEM, "cannot start thread %s: %s", name, strerror(failed));
    (void)pthread_setname_np(*ret, name); /* (a name is a courtesy) */
    return REEVE_OK;
}

#define JOIN_MS 1000

void rv_join_thread(pthread_t id, const rv_waker *quit)
{
    int64_t deadline = rv_deadline(JOIN_MS);
    const struct timespec until = {.tv_sec = deadline / 1000, .tv_nsec = deadline % 1000 * 1000000};
    int failed = pthread_clockjoin_np(id, NULL, CLOCK_MONOTONIC, &until);
    if (failed == ETIMEDOUT) {
        rv_waker_ring(quit);
        failed = pthread_join(id, NULL);
    }
    rv_lock_check(failed);
}
