/*
 * slots.h - the hash slot of a key in a Redis Cluster. No I/O; any thread.
 */
#ifndef RV_SLOTS_H
#define RV_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

#define RV_SLOTS 16384

/* The hash slot of a key, from 0: that of its hash tag (the bytes between the first '{' and the next '}'), or of the
 * whole key where it has none, or an empty one. */
unsigned rv_slots_of(const char *key, size_t length);
/* Whether the key has a hash tag that is not empty. */
bool rv_slots_has_tag(const char *key, size_t length);

#endif
