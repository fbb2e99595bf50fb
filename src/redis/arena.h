/*
 * arena.h - memory for one reply: handed out by moving a pointer, given back all at once.
 *
 * Blocks come from base/mem.h and are kept over a rewind, so that a steady load allocates nothing. One thread at a
 * time.
 */
#ifndef RV_ARENA_H
#define RV_ARENA_H

#include <stddef.h>

struct rv_arena_block;

typedef struct rv_arena {
    struct rv_arena_block *first;
    struct rv_arena_block *current;
    size_t held; /* bytes in all blocks */
    size_t used; /* bytes handed out since the last rewind */
} rv_arena;

void rv_arena_init(rv_arena *arena);
void rv_arena_fini(rv_arena *arena); /* frees; the arena may be used again */
/* Aligned for pointers and long long; NULL when there is no memory. Lives until rewind, trim or fini. */
void *rv_arena_alloc(rv_arena *arena, size_t size);
void rv_arena_rewind(rv_arena *arena);
void rv_arena_trim(rv_arena *arena, size_t keep); /* rewinds, and frees blocks until at most keep bytes are held */

#endif
