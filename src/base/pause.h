/*
 * pause.h - for how long the process did not run: it was stopped (SIGSTOP, a debugger, a container that is paused), or
 * the machine swaps. The monotonic clock goes on meanwhile.
 *
 * Threads that sleep until a known time say so. If one wakes up much later than it had planned, the process did not run.
 * When that began is not known: it was after a thread ran last. So twice the delay counts as a pause, but no more than the
 * time since then. All of that time would be too much: a busy machine wakes every thread late, and no limit would end.
 */
#ifndef RV_BASE_PAUSE_H
#define RV_BASE_PAUSE_H

#include <pthread.h>
#include <stdint.h>

#define RV_PAUSE_LATE_MS 250 /* a busy machine may wake a thread as late */
#define RV_PAUSE_SLEEPERS 2

typedef struct rv_pause {
    pthread_mutex_t lock;
    int64_t ran_ms;                    /* when one of them last ran; 0: none has */
    int64_t due_ms[RV_PAUSE_SLEEPERS]; /* when it wakes up; RV_FOREVER: it does not sleep */
    int64_t lost_ms;                   /* the time that was not taken yet */
} rv_pause;

void rv_pause_init(rv_pause *pause);
void rv_pause_fini(rv_pause *pause);

/* A thread is about to sleep until then (monotonic ms, or RV_FOREVER), and has slept. Any thread, each with a number of
 * its own. */
void rv_pause_sleep(rv_pause *pause, unsigned sleeper, int64_t now_ms, int64_t until_ms);
void rv_pause_wake(rv_pause *pause, unsigned sleeper, int64_t now_ms);

/* For how long the process did not run since the last call, in ms. Any thread. */
int64_t rv_pause_take(rv_pause *pause, int64_t now_ms);

#endif
