/*
 * consumer.c - a consumer's life: open, heartbeat, close.
 */
#include "reeve/consumer.h"

#include <string.h>

#include "base/layout.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "client/partitions.h"
#include "consumer/consumer.h"
#include "consumer/consumer_gate.h"
#include "consumer/consumer_watch.h"
#include "consumer/pulled.h"
#include "running/forked.h"
#include "running/task_host.h"
#include "running/turn.h"
#include "upkeep/heartbeat.h"

#define LEARN_MS 2000

/* ---- open ------------------------------------------------------------------------------------------------------ */

static reeve_status fail_as_worker(reeve_consumer *c, reeve_status status)
{
    c->error = (rv_error){.status = status};
    rv_copy_text(c->error.text, sizeof(c->error.text), reeve_worker_error(c->worker));
    return status;
}

/* Queues that are divided into partitions are served with all that they have now. A Redis that is away is met when tasks are
 * leased. The client stays open until the worker has started: with it an embedded server would end. */
static void learn_partitions(reeve_consumer *c, const reeve_consumer_options *o)
{
    const reeve_client_options options = {.size = sizeof(options),
                                          .redis = o->redis,
                                          .ns = o->ns,
                                          .timeout_ms =
                                              o->command_ms > 0 && o->command_ms < LEARN_MS ? o->command_ms : LEARN_MS,
                                          .tls = o->tls};
    if (reeve_client_open(&c->learner, &options) != REEVE_OK) return;
    if (c->learner->partitions.count == 0 && rv_partitions_renew(c->learner) != REEVE_OK) return;
    c->worker->partitions = c->learner->partitions;
    c->learner->partitions = (rv_partition_map){0};
    atomic_store(&c->worker->has_partitions, c->worker->partitions.count > 0);
}

static reeve_status make_worker(reeve_consumer *c, const reeve_consumer_options *o)
{
    const reeve_worker_options options = {.size = sizeof(options),
                                          .redis = o->redis,
                                          .ns = o->ns,
                                          .name = o->name,
                                          .session_ms = o->session_ms,
                                          .command_ms = o->command_ms,
                                          .size_limits = o->size_limits,
                                          .tls = o->tls};
    reeve_status status = reeve_worker_create(&c->worker, &options, c->error.text, sizeof(c->error.text));
    if (status != REEVE_OK) return status;
    c->worker->is_consumer = true;
    c->worker->is_manual = o->manual_heartbeat;
    learn_partitions(c, o);
    const reeve_pool_options pool = {.size = sizeof(pool),
                                     .name = "consumer",
                                     .queues = o->queues,
                                     .queue_count = o->queue_count,
                                     .order = o->order,
                                     .weights = o->weights,
                                     .threads = 1,
                                     .batch = c->max};
    status = reeve_worker_add_pool(c->worker, &pool);
    return status == REEVE_OK ? REEVE_OK : fail_as_worker(c, status);
}

static reeve_status start(reeve_consumer *c)
{
    reeve_status status = reeve_worker_start(c->worker);
    reeve_client_close(c->learner);
    c->learner = NULL;
    if (status != REEVE_OK) return fail_as_worker(c, status);
    c->thread = rv_worker_pool_thread(rv_worker_pool(c->worker, 0), 0);
    c->thread->batch.pulled = true;
    c->thread->batch.left = rv_pulled_note_left;
    c->host = rv_task_host_make(c->thread);
    return REEVE_OK;
}

static reeve_status open_consumer(reeve_consumer *c, const reeve_consumer_options *given, size_t options_size)
{
    reeve_consumer_options options;
    reeve_status status = RV_LAYOUT_READ(&options, given, options_size, "the consumer's options", &c->error);
    if (status != REEVE_OK) return status;
    c->max = options.max == 0 ? REEVE_CONSUMER_MAX : options.max;
    if (c->max > REEVE_CONSUMER_MAX)
        return rv_fail(&c->error, REEVE_EINVAL, "max is %u: at most %d", c->max, REEVE_CONSUMER_MAX);
    status = make_worker(c, &options);
    return status == REEVE_OK ? start(c) : status;
}

static void free_consumer(reeve_consumer *c)
{
    rv_consumer_watch_end(c);
    reeve_client_close(c->learner);
    reeve_worker_destroy(c->worker);
    rv_pulled_free_all(c);
    rv_consumer_gate_fini(c);
    rv_free(c);
}

reeve_status reeve_consumer_open_sized(reeve_consumer **ret, const reeve_consumer_options *options, char *ret_error,
                                       size_t size, size_t options_size)
{
    if (ret == NULL) return REEVE_EINVAL;
    *ret = NULL;
    reeve_consumer *c = rv_zalloc(sizeof(*c));
    if (c == NULL) {
        rv_copy_text(ret_error, size, reeve_status_text(REEVE_ENOMEM));
        return REEVE_ENOMEM;
    }
    rv_consumer_gate_init(c);
    c->watch.notice.fd = c->watch.waker.fd = -1;
    reeve_status status = open_consumer(c, options, options_size);
    if (status != REEVE_OK) {
        rv_copy_text(ret_error, size, c->error.text);
        free_consumer(c);
        return status;
    }
    *ret = c;
    return REEVE_OK;
}

const char *reeve_consumer_error(const reeve_consumer *c)
{
    return c != NULL ? c->error.text : "";
}

const char *reeve_consumer_id(const reeve_consumer *c)
{
    return c != NULL ? reeve_worker_id(c->worker) : "";
}

void reeve_consumer_get_stats(reeve_consumer *c, reeve_worker_stats *ret)
{
    reeve_worker_get_stats(c != NULL ? c->worker : NULL, ret);
}

/* ---- heartbeat ------------------------------------------------------------------------------------------------- */

reeve_status rv_consumer_heartbeat(reeve_consumer *c)
{
    reeve_worker *worker = c->worker;
    int64_t deadline = c->thread->until_ms > 0 ? c->thread->until_ms : rv_deadline(worker->command_ms);
    if (!worker->is_manual) return REEVE_OK;
    if (rv_heartbeat_connect(worker, deadline) && rv_heartbeat_send(worker, deadline)) {
        c->beaten_ms = rv_now_ms();
        atomic_store(&worker->heart.beaten_at_ms, c->beaten_ms);
        atomic_fetch_add(&worker->heart.heartbeats, 1);
        return REEVE_OK;
    }
    const rv_error *why = rv_conn_error(worker->heart.thread.conn);
    if (why->status == REEVE_OK) return rv_fail(&c->error, REEVE_EREDIS, "Redis refused a heartbeat");
    c->error = *why;
    return c->error.status;
}

reeve_status rv_consumer_heartbeat_when_due(reeve_consumer *c)
{
    if (c->beaten_ms > 0 && rv_now_ms() - c->beaten_ms < rv_heartbeat_interval_ms(c->worker)) return REEVE_OK;
    return rv_consumer_heartbeat(c);
}

reeve_status reeve_consumer_heartbeat(reeve_consumer *c)
{
    if (c == NULL) return REEVE_EINVAL;
    reeve_status status = rv_consumer_gate_enter(c, 0);
    if (status != REEVE_OK) return status;
    status = rv_consumer_heartbeat(c);
    rv_consumer_gate_leave(c);
    return status;
}

/* ---- close ----------------------------------------------------------------------------------------------------- */

static reeve_status end(reeve_consumer *c, bool keeps_leases)
{
    if (c == NULL) return REEVE_OK;
    reeve_status status = rv_consumer_gate_enter(c, 0);
    if (status != REEVE_OK) return status;
    if (rv_pulled_any_finished(c) && !rv_turn_run(c->thread, 0)) status = REEVE_ETIMEOUT;
    c->worker->keeps_leases = keeps_leases;
    free_consumer(c);
    return status;
}

reeve_status reeve_consumer_close(reeve_consumer *c)
{
    return end(c, false);
}

reeve_status reeve_consumer_detach(reeve_consumer *c)
{
    return end(c, true);
}
