#include "base/pause.h"

#include "base/clock.h"
#include "base/lock.h"

void rv_pause_init(rv_pause *pause)
{
    *pause = (rv_pause){0};
    rv_lock_init(&pause->lock);
    for (unsigned i = 0; i < RV_PAUSE_SLEEPERS; i++) pause->due_ms[i] = RV_FOREVER;
}

void rv_pause_fini(rv_pause *pause)
{
    rv_lock_fini(&pause->lock);
}

/* A pause counts once: a thread that has not woken up yet is due from now on. */
static void look(rv_pause *pause, int64_t now_ms)
{
    int64_t due = RV_FOREVER;
    for (unsigned i = 0; i < RV_PAUSE_SLEEPERS; i++)
        if (pause->due_ms[i] < due) due = pause->due_ms[i];
    if (due != RV_FOREVER && now_ms > due + RV_PAUSE_LATE_MS) {
        int64_t most = now_ms - pause->ran_ms, late = now_ms - due;
        pause->lost_ms += most < 2 * late ? most : 2 * late;
        for (unsigned i = 0; i < RV_PAUSE_SLEEPERS; i++)
            if (pause->due_ms[i] < now_ms) pause->due_ms[i] = now_ms;
    }
    pause->ran_ms = now_ms;
}

void rv_pause_sleep(rv_pause *pause, unsigned sleeper, int64_t now_ms, int64_t until_ms)
{
    rv_lock(&pause->lock);
    look(pause, now_ms);
    pause->due_ms[sleeper] = until_ms > now_ms ? until_ms : now_ms;
    rv_unlock(&pause->lock);
}

void rv_pause_wake(rv_pause *pause, unsigned sleeper, int64_t now_ms)
{
    rv_lock(&pause->lock);
    look(pause, now_ms);
    pause->due_ms[sleeper] = RV_FOREVER;
    rv_unlock(&pause->lock);
}

int64_t rv_pause_take(rv_pause *pause, int64_t now_ms)
{
    rv_lock(&pause->lock);
    look(pause, now_ms);
    int64_t lost_ms = pause->lost_ms;
    pause->lost_ms = 0;
    rv_unlock(&pause->lock);
    return lost_ms;
}
