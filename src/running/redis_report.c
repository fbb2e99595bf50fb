#include "running/redis_report.h"

#include <string.h>

#include "base/log.h"
#include "redis/refusal.h"
#include "running/wakeup.h"

unsigned rv_redis_report_try(const reeve_worker *worker)
{
    return atomic_load(&worker->reached);
}

void rv_redis_report_down(reeve_worker *worker, unsigned tried, const char *words)
{
    if (atomic_load(&worker->reached) != tried || atomic_exchange(&worker->down, true)) return;
    rv_log(REEVE_LOG_WARN, "redis.down", "Redis cannot be reached: the worker tries again until it is back", "url",
           worker->target->redacted, "error", words, NULL);
    /* The scheduler restarts an embedded server. It may be asleep. */
    if (worker->embedded != NULL) rv_wakeup_all_queues(worker);
}

void rv_redis_report_up(reeve_worker *worker, const rv_conn *conn)
{
    if (conn != NULL && rv_conn_epoch(conn) > 1) (void)atomic_fetch_add(&worker->stats.reconnects, 1);
    atomic_fetch_add(&worker->reached, 1);
    rv_wakeup_moved(worker);
    /* A connection to a cluster is open while one of its nodes cannot be reached. */
    if (worker->target->cluster != NULL && !rv_cluster_is_whole(worker->target->cluster)) return;
    if (!atomic_load_explicit(&worker->down, memory_order_relaxed) || !atomic_exchange(&worker->down, false)) return;
    rv_log(REEVE_LOG_INFO, "redis.up", "Redis is back", "url", worker->target->redacted, NULL);
}

void rv_redis_report_lost(reeve_worker *worker, const char *words)
{
    if (atomic_exchange(&worker->loses, true)) return;
    rv_log(REEVE_LOG_WARN, "redis.lost",
           "Redis closes connections as soon as they are used: the worker pauses before each new one", "url",
           worker->target->redacted, "error", words, NULL);
}

void rv_redis_report_used(reeve_worker *worker)
{
    atomic_store(&worker->loses, false);
}

void rv_redis_report_refusal(reeve_worker *worker, const char *message, const char *words)
{
    (void)atomic_fetch_add(&worker->stats.redis_errors, 1);
    if (atomic_exchange(&worker->refused, true)) return;
    const char *advice = rv_refusal_advice(words);
    advice += strspn(advice, "; ");
    rv_log(REEVE_LOG_ERROR, "redis.error", message, "url", worker->target->redacted, "error", words,
           advice[0] != '\0' ? "advice" : NULL, advice, NULL);
}

void rv_redis_report_acceptance(reeve_worker *worker)
{
    if (!atomic_load_explicit(&worker->refused, memory_order_relaxed) || !atomic_exchange(&worker->refused, false))
        return;
    rv_log(REEVE_LOG_INFO, "redis.accepts", "Redis accepts heartbeats again", "url", worker->target->redacted, NULL);
}

void rv_redis_report_session_lost(reeve_worker *worker)
{
    (void)atomic_fetch_add(&worker->stats.sessions_lost, 1);
}
