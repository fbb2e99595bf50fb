#include "upkeep/upkeep_thread.h"

#include <stdio.h>

#include "base/lock.h"
#include "running/os_thread.h"
#include "running/worker_conn.h"

void rv_upkeep_thread_init(rv_upkeep_thread *thread)
{
    thread->waker.fd = -1;
    rv_lock_init(&thread->lock);
}

reeve_status rv_upkeep_thread_open(rv_upkeep_thread *thread, const reeve_worker *worker, const char *role,
                                   int64_t command_ms, rv_error *error)
{
    (void)snprintf(thread->name, sizeof(thread->name), "reeve-%.9s", role);
    reeve_status status = rv_waker_init(&thread->waker, error);
    if (status != REEVE_OK) return status;
    return rv_worker_conn_create(&thread->conn, worker, role, NULL, command_ms, error);
}

reeve_status rv_upkeep_thread_start(rv_upkeep_thread *thread, reeve_worker *worker, void *(*run)(void *),
                                    rv_error *error)
{
    reeve_status status = rv_os_thread_start(&thread->id, run, worker, thread->name, error);
    thread->started = status == REEVE_OK;
    return status;
}

void rv_upkeep_thread_join(rv_upkeep_thread *thread, const reeve_worker *worker)
{
    if (!thread->started) return;
    rv_waker_ring(&thread->waker);
    rv_os_thread_join(thread->id, &worker->quit);
    thread->started = false;
}

void rv_upkeep_thread_fini(rv_upkeep_thread *thread)
{
    rv_conn_destroy(thread->conn);
    if (thread->waker.fd >= 0) rv_waker_fini(&thread->waker);
    rv_lock_fini(&thread->lock);
}
