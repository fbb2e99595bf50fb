#include "upkeep/partition_watch.h"

#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "protocol/partition.h"
#include "running/pool_change.h"

void rv_partition_watch_build(rv_conn *conn, const char *ns)
{
    rv_cmd(conn, 2);
    rv_args(conn, "HGETALL");
    rv_arg2(conn, ns, strlen(ns), RV_PARTITION_KEY, strlen(RV_PARTITION_KEY));
}

/* Whether it is new. */
static bool take(reeve_worker *worker, const rv_reply *reply)
{
    rv_partition_map map = {0};
    if (!rv_partition_map_read(&map, reply)) return false;
    rv_lock(&worker->changing);
    bool changed = !rv_partition_map_is_same(&worker->partitions, &map);
    if (changed) {
        rv_partition_map old = worker->partitions;
        worker->partitions = map;
        map = old;
        atomic_store(&worker->has_partitions, worker->partitions.count > 0);
    }
    rv_unlock(&worker->changing);
    rv_partition_map_fini(&map);
    return changed;
}

void rv_partition_watch_note(reeve_worker *worker, const rv_reply *reply)
{
    if (!take(worker, reply) || worker->is_consumer) return;
    atomic_store(&worker->partitions_changed, true);
    rv_waker_ring(&worker->scheduler.thread.waker);
}

void rv_partition_watch_begin(reeve_worker *worker, rv_conn *conn, int64_t deadline)
{
    const rv_reply *reply;
    if (worker->is_consumer || !rv_conn_is_open(conn)) return;
    rv_conn_discard(conn);
    rv_partition_watch_build(conn, worker->ns);
    if (rv_conn_call(conn, deadline, &reply) == REEVE_OK && take(worker, reply))
        atomic_store(&worker->partitions_changed, true);
}

void rv_partition_watch_apply(reeve_worker *worker)
{
    rv_error error = {0};
    if (!atomic_exchange(&worker->partitions_changed, false)) return;
    if (rv_pool_change_partitions(worker, &error) == REEVE_OK || rv_worker_phase(worker) >= RV_PHASE_STOPPING) return;
    rv_log(REEVE_LOG_ERROR, "pool.partitions", "a pool does not serve all partitions of its queues", "error",
           error.text, NULL);
}
