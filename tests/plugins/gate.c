/*
 * gate.c - stands CONCURRENCY handlers at once and says so; a run fails when it sees more. The first runs wait for each
 * other until that many are inside, which proves that the gate lets them in.
 */
#include <reeve/plugin.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

static atomic_int inside;
static atomic_bool filled;

static bool wait_until_filled(void)
{
    time_t end = time(NULL) + 20;

    while (!atomic_load(&filled)) {
        if (atomic_load(&inside) == CONCURRENCY) atomic_store(&filled, true);
        if (time(NULL) > end) return false;
        sched_yield();
    }
    return true;
}

static reeve_outcome gate(reeve_task *task, void *user)
{
    const struct timespec nap = {0, 200000};
    int before = atomic_fetch_add(&inside, 1);
    bool alone = !wait_until_filled();

    (void)user;
    nanosleep(&nap, NULL);
    atomic_fetch_sub(&inside, 1);
    if (before >= CONCURRENCY) return reeve_task_fail(task, "overlap", "%d ran at once", before + 1);
    if (alone) return reeve_task_fail(task, "alone", "nobody else was let in");
    return reeve_task_done(task, NULL, 0);
}

static const reeve_handler handlers[] = {{REEVE_HANDLER, .type = "gate", .run = gate}};

REEVE_PLUGIN(.name = "gate", .handlers = handlers, .handler_count = 1, .concurrency = CONCURRENCY)
