/*
 * frozen.h - how long a worker gave no sign of life, as its supervisor sees it.
 *
 * A container that is paused, a virtual machine that is suspended and a machine that swaps stop both. The supervisor
 * may run first then, and finds an old sign of life: it cannot tell a frozen worker from one that had no time yet. So
 * it notes when it looks. If a look is late, it was stopped itself, and the worker gets the whole time from then on.
 */
#ifndef HOST_FROZEN_H
#define HOST_FROZEN_H

#include <stdint.h>

typedef struct host_frozen {
    int64_t looked_ms; /* the last look (monotonic); 0: none yet */
    int64_t since_ms;  /* silence before this time does not count */
} host_frozen;

/* How often the supervisor looks, at least. */
int64_t host_frozen_interval(int64_t frozen_ms);

/* The supervisor looks. */
void host_frozen_look(host_frozen *of, int64_t now_ms, int64_t frozen_ms);

/* There is no worker: the next look is the first one again. */
void host_frozen_rest(host_frozen *of);

/* The silence since the last sign of life; heard_ms: when that was. 0: there was none yet, and there is no silence. */
int64_t host_frozen_silence(const host_frozen *of, int64_t heard_ms, int64_t now_ms);

#endif
