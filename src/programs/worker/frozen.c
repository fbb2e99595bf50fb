#include "frozen.h"

#define LATE 8 /* a part of the time for which the supervisor waits for a sign of life */

int64_t host_frozen_interval(int64_t frozen_ms)
{
    return frozen_ms / 2;
}

void host_frozen_look(host_frozen *of, int64_t now_ms, int64_t frozen_ms)
{
    int64_t latest_ms = of->looked_ms + host_frozen_interval(frozen_ms) + frozen_ms / LATE;

    if (of->looked_ms != 0 && now_ms > latest_ms) of->since_ms = now_ms;
    of->looked_ms = now_ms;
}

void host_frozen_rest(host_frozen *of)
{
    of->looked_ms = 0;
}

int64_t host_frozen_silence(const host_frozen *of, int64_t heard_ms, int64_t now_ms)
{
    int64_t from_ms = heard_ms > of->since_ms ? heard_ms : of->since_ms;

    return heard_ms == 0 ? 0 : now_ms - from_ms;
}
