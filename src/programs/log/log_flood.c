#include "log_flood.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

#define IDS 64 /* more at once are not limited */
#define SECOND_MS 1000

typedef struct limited {
    char event[64]; /* "": free */
    int64_t since_ms;
    int64_t lines;
    uint64_t held;
} limited;

static limited all[IDS];
static size_t holding; /* of all, those that hold lines back */
static _Atomic int64_t limit;

void host_log_flood_set(int64_t lines)
{
    atomic_store(&limit, lines);
}

static bool is_over(const limited *one, int64_t time_ms)
{
    return time_ms < one->since_ms || time_ms - one->since_ms >= SECOND_MS;
}

/* That of the id, or one whose second is over; NULL: there is none. */
static limited *find(const char *event, int64_t time_ms)
{
    limited *unused = NULL;

    for (size_t i = 0; i < IDS; i++) {
        if (strncmp(all[i].event, event, sizeof(all[i].event) - 1) == 0) return &all[i];
        if (unused == NULL && all[i].held == 0 && is_over(&all[i], time_ms)) unused = &all[i];
    }
    if (unused == NULL) return NULL;
    *unused = (limited){.since_ms = time_ms};
    rv_copy_text(unused->event, sizeof(unused->event), event);
    return unused;
}

bool host_log_flood_admits(const char *event, int64_t time_ms)
{
    int64_t most = atomic_load(&limit);
    limited *one = most > 0 ? find(event, time_ms) : NULL;

    if (one == NULL) return true;
    if (one->held == 0 && is_over(one, time_ms)) {
        one->since_ms = time_ms;
        one->lines = 0;
    }
    if (one->lines < most) {
        one->lines++;
        return true;
    }
    holding += one->held++ == 0;
    return false;
}

const char *host_log_flood_next(int64_t time_ms, bool at_end, uint64_t *ret_held)
{
    for (size_t i = 0; i < IDS && holding > 0; i++) {
        limited *one = &all[i];

        if (one->held == 0 || !(at_end || is_over(one, time_ms))) continue;
        *ret_held = one->held;
        one->held = 0;
        one->lines = 0;
        one->since_ms = time_ms;
        holding--;
        return one->event;
    }
    return NULL;
}
