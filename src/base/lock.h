/*
 * lock.h - the one wrapper for locks: one that fails is a bug and stops loudly.
 *
 * Ranks, outer before inner; a thread that holds one takes only what stands below it:
 *     reeve_worker.lock  >  rv_scheduler.thread.lock  >  rv_alone.lock  >  rv_batch.lock  >
 *     rv_keeper.thread.lock  >  rv_queue_session.lock
 * None is held over I/O or while a handler runs. The locks of pause.c, plugin.c, plugin_gate.c and share.c stand alone:
 * nothing is locked while one of them is held, and they are taken with none of the others held. That of plugin.c is held
 * while a plugin's load and unload hooks run. That of runner_cgroup.c stands alone, too, and is held while a runner is
 * started.
 */
#ifndef RV_BASE_LOCK_H
#define RV_BASE_LOCK_H

#include <pthread.h>
#include <stdlib.h>

static inline void rv_lock_check(int failed)
{
    if (failed) abort();
}

static inline void rv_lock_init(pthread_mutex_t *lock)
{
    rv_lock_check(pthread_mutex_init(lock, NULL));
}

static inline void rv_lock_fini(pthread_mutex_t *lock)
{
    rv_lock_check(pthread_mutex_destroy(lock));
}

static inline void rv_lock(pthread_mutex_t *lock)
{
    rv_lock_check(pthread_mutex_lock(lock));
}

static inline void rv_unlock(pthread_mutex_t *lock)
{
    rv_lock_check(pthread_mutex_unlock(lock));
}

#endif
