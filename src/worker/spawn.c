#include "worker/spawn.h"

#include <signal.h>
#include <string.h>

#include "worker/lock.h"

reeve_status rv_start_thread(pthread_t *ret, void *(*run)(void *), void *argument, const char *name, rv_error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    rv_lock_check(pthread_sigmask(SIG_SETMASK, &all, &before));
    int failed = pthread_create(ret, NULL, run, argument);
    rv_lock_check(pthread_sigmask(SIG_SETMASK, &before, NULL));
    if (failed != 0) return rv_fail(error, REEVE_ESYSTEM, "cannot start thread %s: %s", name, strerror(failed));
    (void)pthread_setname_np(*ret, name); /* (a name is a courtesy) */
    return REEVE_OK;
}
