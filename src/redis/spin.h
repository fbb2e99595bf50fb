/*
 * spin.h - looking for a reply again and again, for a moment, before going to sleep for it.
 *
 * To be woken costs more than most calls take: a program that asks, one call right after the other, spends a third of
 * its time being put to sleep and fetched back. So whoever has just had a reply looks for the next one for a few
 * microseconds. Where that is in vain (Redis is far away, or has other things to do, or no processor is left for it)
 * it is tried ever more rarely; who calls now and then, and a machine with one processor, never do it.
 *
 * A spin belongs to one connection, and to its thread.
 */
#ifndef RV_SPIN_H
#define RV_SPIN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rv_spin {
    int64_t max_us;     /* how long to look; 0: never */
    int64_t replied_us; /* when the last reply came */
    int64_t until_us;   /* of the call under way; 0: it does not look */
    unsigned misses;    /* how often it was in vain, less how often it was not: 0 to 10 */
    unsigned rest;      /* how many more calls do not spin: 2 to the power of misses after each try */
} rv_spin;

/* No wait's deadline is looked at meanwhile: so it is never longer than this. */
#define RV_SPIN_MAX_US 1000

/* most_us: more than RV_SPIN_MAX_US is that. Where this thread has only one processor to run on it becomes 0. */
void rv_spin_init(rv_spin *spin, int64_t max_us);

/* A call is about to be sent. */
void rv_spin_begin(rv_spin *spin);
/* Whether to look once more. */
bool rv_spin_goes_on(const rv_spin *spin);
/* The reply came. */
void rv_spin_end(rv_spin *spin);

#endif
