#include "worker/spawn.h"

#include <signal.h>
#include <string.h>

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
