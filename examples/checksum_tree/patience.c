/*
 * patience.c - Redis may be restarted under us. A call that failed for such a reason is made again for a minute.
 */
#include <time.h>

#include "tree.h"

#define PATIENCE_MS 60000
#define PAUSE_MS 250

int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void nap(int ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};

    (void)nanosleep(&time, NULL);
}

static bool may_pass(reeve_status status)
{
    switch (status) {
    case REEVE_ECONNECT:
    case REEVE_ELOST:
    case REEVE_ETIMEOUT:
    case REEVE_EREDIS:  /* it loads its data, has no memory left, ... */
    case REEVE_ESYSTEM: /* the embedded server could not be started again */
        return true;
    default:
        return false;
    }
}

bool patience_again(struct tree *tree, reeve_status status)
{
    struct patience *patience = &tree->patience;
    int64_t now = now_ms();

    if (status == REEVE_OK) {
        if (patience->since_ms != 0) say("Redis is back after %.1f s", (double)(now - patience->since_ms) / 1000);
        patience->since_ms = 0;
        return false;
    }
    if (stop_signal != 0) return false;
    if (!may_pass(status)) {
        say("%s", reeve_client_error(tree->client));
        return false;
    }
    if (patience->since_ms == 0) {
        patience->since_ms = now;
        say("%s; trying again for up to %d s", reeve_client_error(tree->client), PATIENCE_MS / 1000);
    }
    if (now - patience->since_ms > PATIENCE_MS) {
        say("%s; giving up after %d s", reeve_client_error(tree->client), PATIENCE_MS / 1000);
        return false;
    }
    nap(PAUSE_MS);
    return true;
}
