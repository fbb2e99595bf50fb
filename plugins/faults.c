/*
 * faults.c - a layer that makes a share of the runs fail or start late, to try what becomes of them.
 *
 *     REEVE_FAULTS_FAIL       the share of runs that fail instead of running, 0 to 1 (0)
 *     REEVE_FAULTS_LOSE       the share whose outcome is thrown away after they ran: they fail, and run again (0)
 *     REEVE_FAULTS_DELAY      the share that is delayed before it runs (0)
 *     REEVE_FAULTS_DELAY_MS   by how many milliseconds (100)
 *     REEVE_FAULTS_TYPE       only runs of this type (all)
 *
 * A failure has the kind "fault" and is retried after the backoff, like any other.
 */
#include <errno.h>
#include <reeve/plugin.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "settings.h"

#define STEP_MS 10

static double fail_share, lose_share, delay_share, delay_ms;
static const char *only_type;
static _Atomic uint64_t chance; /* the state of the generator */

/* [0, 1): splitmix64 (S. Vigna, public domain algorithm). */
static double roll(void)
{
    uint64_t z = atomic_fetch_add(&chance, 0x9e3779b97f4a7c15u) + 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* In small steps: a worker that stops does not have to wait. */
static void delay(const reeve_task *task)
{
    double left = delay_ms;

    while (left > 0 && !reeve_task_should_stop(task)) {
        double step = left < STEP_MS ? left : STEP_MS;
        struct timespec time = {0, (long)(step * 1e6)};

        while (nanosleep(&time, &time) != 0 && errno == EINTR) {}
        left -= step;
    }
}

static reeve_outcome faults(reeve_task *task, reeve_next *next, void *user)
{
    reeve_outcome outcome;

    (void)user;
    if (only_type != NULL && strcmp(only_type, reeve_task_type(task)) != 0) return reeve_next_run(next, task);
    if (roll() < fail_share) return reeve_task_retry(task, -1, "fault", "failed on purpose, before it ran");
    if (roll() < delay_share) delay(task);
    outcome = reeve_next_run(next, task);
    if (roll() < lose_share) return reeve_task_retry(task, -1, "fault", "failed on purpose, after it ran");
    return outcome;
}

static int load(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail on Linux */
    atomic_store(&chance, (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec);
    only_type = setting_text("REEVE_FAULTS_TYPE");
    return setting_number(&fail_share, "REEVE_FAULTS_FAIL", 1, 0) &&
                   setting_number(&lose_share, "REEVE_FAULTS_LOSE", 1, 0) &&
                   setting_number(&delay_share, "REEVE_FAULTS_DELAY", 1, 0) &&
                   setting_number(&delay_ms, "REEVE_FAULTS_DELAY_MS", 1e12, 100)
               ? 0
               : 1;
}

static const reeve_layer layers[] = {
    {REEVE_LAYER, .name = "faults", .run = faults,
     .summary = "fails or delays the share of runs that REEVE_FAULTS_FAIL, _LOSE and _DELAY say"},
};

REEVE_PLUGIN(.name = "faults", .version = REEVE_VERSION, .summary = "makes runs fail or start late, for tests",
             .layers = layers, .layer_count = 1, .load = load)
