#include "base/fork.h"

#include <pthread.h>

_Atomic unsigned rv_fork_counted;
static pthread_once_t watching = PTHREAD_ONCE_INIT;

static void after_fork(void)
{
    atomic_fetch_add_explicit(&rv_fork_counted, 1, memory_order_relaxed);
}

static void watch_forks(void)
{
    if (pthread_atfork(NULL, NULL, after_fork) == 0) atomic_store_explicit(&rv_fork_counted, 1, memory_order_relaxed);
}

unsigned rv_fork_generation(void)
{
    (void)pthread_once(&watching, watch_forks);
    return atomic_load_explicit(&rv_fork_counted, memory_order_relaxed);
}
