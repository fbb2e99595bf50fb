#include "web_track.h"

#include <string.h>

#define SLOTS (WEB_SPARKS + 1)
#define RISE_PART 15 /* slots: 75 seconds, as where there are many queues one is read once a minute */
#define RISE_PARTS 3
#define RISE_MIN_MS 30000
#define RISE_BY_MS 20000

/* The slots after that of the track, up to `slot`. What happened while nobody looked is spread over them evenly. */
static void note_total(const web_track *track, uint64_t *totals, int64_t slot, uint64_t total)
{
    uint64_t before = totals[track->slot % SLOTS];
    uint64_t more = track->slot >= track->first_slot && total > before ? total - before : 0;
    int64_t steps = slot - track->slot;

    for (int64_t at = track->slot + 1; at <= slot; at++)
        totals[at % SLOTS] = total - more + (uint64_t)((double)more * (double)(at - track->slot) / (double)steps);
}

void web_track_note(web_track *track, const reeve_queue_info *info, int64_t slot, int64_t age_ms, bool is_new)
{
    uint32_t waited_ms = age_ms <= 0 ? 0 : age_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)age_ms;

    if (is_new || slot - track->slot >= SLOTS) {
        track->first_slot = slot;
        track->slot = slot - 1;
    }
    if (slot == track->slot) {
        if (track->waited_ms[slot % SLOTS] == 0) track->waited_ms[slot % SLOTS] = waited_ms;
        return;
    }
    note_total(track, track->completed, slot, info->completed_total);
    note_total(track, track->failed, slot, info->failed_total);
    note_total(track, track->dead, slot, info->dead_total);
    for (int64_t at = track->slot + 1; at < slot; at++) track->waited_ms[at % SLOTS] = 0;
    track->waited_ms[slot % SLOTS] = waited_ms;
    track->slot = slot;
    if (track->slot - track->first_slot > WEB_SPARKS) track->first_slot = track->slot - WEB_SPARKS;
}

double web_track_rate(const web_track *track, const uint64_t *totals, unsigned slots)
{
    int64_t from = track->slot - slots < track->first_slot ? track->first_slot : track->slot - slots;

    if (from >= track->slot) return 0;
    uint64_t last = totals[track->slot % SLOTS], first = totals[from % SLOTS];
    return last > first ? (double)(last - first) / ((double)(track->slot - from) * WEB_SLOT_MS / 1000) : 0;
}

uint64_t web_track_step(const web_track *track, const uint64_t *totals, int64_t slot)
{
    uint64_t before = totals[(slot - 1) % SLOTS], now = totals[slot % SLOTS];

    (void)track;
    return now > before ? now - before : 0;
}

/* The longest wait in the part that ends `back` slots before the newest; 0: none is known. */
static uint32_t longest(const web_track *track, int back)
{
    uint32_t found = 0;

    for (int64_t at = track->slot - back - RISE_PART + 1; at <= track->slot - back; at++) {
        if (at < track->first_slot) continue;
        if (track->waited_ms[at % SLOTS] > found) found = track->waited_ms[at % SLOTS];
    }
    return found;
}

/* A queue that is drained in between has a part without a wait, or with a shorter one. */
bool web_track_rises(const web_track *track, int64_t *ret_before_ms)
{
    uint32_t last = longest(track, 0), later = last;

    if (last < RISE_MIN_MS) return false;
    for (int part = 1; part < RISE_PARTS; part++) {
        uint32_t before = longest(track, part * RISE_PART);
        if (before == 0 || before >= later) return false;
        later = before;
    }
    if (last < later + RISE_BY_MS || last < later + later / 2) return false;
    *ret_before_ms = later;
    return true;
}
