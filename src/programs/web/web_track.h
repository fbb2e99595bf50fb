/*
 * web_track.h - what snapshots remember of a queue for five minutes: its totals, and how long the task at its head had waited, in
 * slots of 5 seconds. No I/O.
 */
#ifndef WEB_TRACK_H
#define WEB_TRACK_H

#include "reeve/reeve.h"

#define WEB_SPARKS 60 /* slots that are kept */
#define WEB_SLOT_MS 5000

typedef struct web_track {
    char name[REEVE_QUEUE_MAX + 1];
    uint64_t completed[WEB_SPARKS + 1], failed[WEB_SPARKS + 1],
        dead[WEB_SPARKS + 1]; /* totals at the begin of a slot */
    uint32_t
        waited_ms[WEB_SPARKS + 1]; /* the age of the task at the head then; 0: no task was ready, or it is not known */
    int64_t first_slot, slot;      /* of the totals; the first is at slot % (WEB_SPARKS + 1) */
} web_track;

/* Notes the totals of now. What happened in slots in which nobody looked is spread over them evenly. is_new: forgets what was known. age_ms is
 * that of the task at the head; -1: none is ready, or it was not read now. */
void web_track_note(web_track *track, const reeve_queue_info *info, int64_t slot, int64_t age_ms, bool is_new);

/* How many a second of a queue's tasks completed, failed or died in the last slots; totals are one of the three. */
double web_track_rate(const web_track *track, const uint64_t *totals, unsigned slots);

/* Totals of a slot less those of the slot before; slot is from first_slot + 1 to slot. */
uint64_t web_track_step(const web_track *track, const uint64_t *totals, int64_t slot);

/* Whether the wait at the head grew over the last minutes: from one to the next of three parts of 75 seconds, to at least 30
 * seconds, and by half and 20 seconds at least. *ret_before_ms is that of the first part, about two and a half minutes ago. */
bool web_track_rises(const web_track *track, int64_t *ret_before_ms);

#endif
