#include "base/fork.h"

#include <pthread.h>
#include <unistd.h>

#include "base/lock.h"

_Atomic unsigned rv_fork_counted;
static pthread_once_t watching = PTHREAD_ONCE_INIT;

#define PRIVATE_MAX 16

static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER; /* guards `private`; held during a fork */
static int private[PRIVATE_MAX];
static unsigned private_count;

static void after_fork(void)
{
    for (unsigned i = 0; i < private_count; i++) close(private[i]);
    private_count = 0;
    rv_fork_release();
    atomic_fetch_add_explicit(&rv_fork_counted, 1, memory_order_relaxed);
}

void rv_fork_hold(void)
{
    rv_lock(&forking);
}

void rv_fork_release(void)
{
    rv_unlock(&forking);
}

void rv_fork_add_private(int fd)
{
    if (private_count < PRIVATE_MAX) private[private_count++] = fd;
}

void rv_fork_remove_private(int fd)
{
    for (unsigned i = 0; i < private_count; i++)
        if (private[i] == fd) private[i--] = private[--private_count];
}

static void watch_forks(void)
{
    if (pthread_atfork(rv_fork_hold, rv_fork_release, after_fork) == 0)
        atomic_store_explicit(&rv_fork_counted, 1, memory_order_relaxed);
}

unsigned rv_fork_generation(void)
{
    (void)pthread_once(&watching, watch_forks);
    return atomic_load_explicit(&rv_fork_counted, memory_order_relaxed);
}
