#include "running/begin_session.h"

#include "protocol/begin_session_call.h"
#include "running/turn_call.h"

/* From now on the heartbeats renew the session, although it may not have begun: the reply may be lost or late. */
static void note_asked(rv_thread *t)
{
    if (!t->asks) atomic_fetch_add(&t->worker->asking, 1);
    t->asks = true;
}

void rv_begin_session_answered(rv_thread *t)
{
    if (t->asks) atomic_fetch_sub(&t->worker->asking, 1);
    t->asks = false;
}

static void build(rv_thread *t, size_t queue)
{
    rv_queue_session *queue_session = t->pool->queue_sessions[queue];
    (void)rv_queue_session_get(queue_session, t->sessions[queue]);
    rv_begin_session_call_build(t->conn, &queue_session->prefix, t->sessions[queue], t->worker->session_ms,
                                t->worker->about);
}

void rv_begin_session_build(rv_begins *ret, rv_thread *t)
{
    *ret = (rv_begins){.thread = t};
    for (size_t nth = 0; nth < t->place_count && ret->count < RV_BEGINS_MAX; nth++) {
        size_t queue = rv_turn_call_queue_at(t, nth);
        if (!rv_queue_session_is_wanted(t->pool->queue_sessions[queue])) continue;
        ret->queues[ret->count++] = queue;
        build(t, queue);
    }
    if (ret->count > 0) note_asked(t);
}

/* Later changes of the policy reach the scheduler. */
static void note_begun(rv_queue_session *queue_session, const char *session, const rv_begin_session_reply *reply)
{
    rv_queue_session_begin(queue_session, session);
    rv_queue_session_set_policy(queue_session, reply->policy->text, reply->policy->length);
    atomic_store_explicit(&queue_session->result_max, reply->result_max, memory_order_relaxed);
    atomic_store_explicit(&queue_session->payload_max, reply->payload_max, memory_order_relaxed);
}

static void on_reply(size_t index, const rv_reply *reply, void *context)
{
    rv_begins *begins = context;
    rv_begin_session_reply begun;
    size_t queue = begins->queues[index];
    const char *session = begins->thread->sessions[queue];
    rv_queue_session *queue_session = begins->thread->pool->queue_sessions[queue];
    if (!rv_begin_session_call_read(&begun, reply))
        begins->odd = true;
    else if (begun.alive)
        note_begun(queue_session, session, &begun);
    else
        (void)rv_queue_session_lose(queue_session, session);
}

reeve_status rv_begin_session_call(rv_begins *begins, const rv_reply **ret)
{
    reeve_status status = rv_conn_call_last(begins->thread->conn, 0, on_reply, begins, ret);
    return status == REEVE_OK && begins->odd ? REEVE_EPROTO : status;
}
