#include "consumer/consumer_gate.h"

#include "base/lock.h"
#include "running/forked.h"

void rv_consumer_gate_init(reeve_consumer *c)
{
    rv_lock_init(&c->lock);
    rv_lock_check(pthread_cond_init(&c->passed, NULL));
}

void rv_consumer_gate_fini(reeve_consumer *c)
{
    rv_lock_fini(&c->lock);
    rv_lock_check(pthread_cond_destroy(&c->passed));
}

static void wait_for_turn(reeve_consumer *c)
{
    rv_lock(&c->lock);
    unsigned long mine = c->next++;
    if (c->waits) rv_waker_ring(&c->thread->waker);
    while (mine != c->served) rv_lock_check(pthread_cond_wait(&c->passed, &c->lock));
    rv_unlock(&c->lock);
}

reeve_status rv_consumer_gate_enter(reeve_consumer *c, int64_t wait_ms)
{
    /* Its locks belong to the parent: the error is not written. */
    if (rv_worker_is_forked(c->worker)) return REEVE_ESTATE;
    wait_for_turn(c);
    rv_error_clear(&c->error);
    int64_t command_ms = c->worker->command_ms;
    c->thread->until_ms = wait_ms < 0 ? 0 : rv_deadline(wait_ms > command_ms ? wait_ms : command_ms);
    return REEVE_OK;
}

void rv_consumer_gate_leave(reeve_consumer *c)
{
    rv_lock(&c->lock);
    c->served++;
    rv_lock_check(pthread_cond_broadcast(&c->passed));
    rv_unlock(&c->lock);
}

void rv_consumer_gate_yield(reeve_consumer *c)
{
    int64_t until_ms = c->thread->until_ms, wait_until_ms = c->thread->wait_until_ms;
    bool passes = c->thread->passes;
    rv_lock(&c->lock);
    bool others = c->next - c->served > 1;
    rv_unlock(&c->lock);
    if (!others) return;
    rv_consumer_gate_leave(c);
    wait_for_turn(c);
    c->thread->until_ms = until_ms;
    c->thread->wait_until_ms = wait_until_ms;
    c->thread->passes = passes;
}

bool rv_consumer_gate_begin_wait(reeve_consumer *c)
{
    rv_lock(&c->lock);
    c->waits = c->next - c->served == 1;
    bool waits = c->waits;
    rv_unlock(&c->lock);
    return waits;
}

void rv_consumer_gate_end_wait(reeve_consumer *c)
{
    rv_lock(&c->lock);
    c->waits = false;
    rv_unlock(&c->lock);
}

reeve_status rv_consumer_gate_gave_up(reeve_consumer *c)
{
    const rv_error *why = rv_conn_error(c->thread->conn);
    if (why->status == REEVE_OK || why->status == REEVE_EINTERRUPTED)
        return rv_fail(&c->error, REEVE_ETIMEOUT, "no answer from Redis in time");
    c->error = *why;
    return c->error.status;
}
