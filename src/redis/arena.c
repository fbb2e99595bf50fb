#include "redis/arena.h"

#include <stdint.h>

#include "base/mem.h"

#define ALIGNMENT 16u
#define BLOCK_MIN 2048u
#define BLOCK_USUAL_MAX (32u * 1024)

struct rv_arena_block {
    struct rv_arena_block *next;
    size_t size; /* of data */
    size_t used;
    size_t unused; /* keeps data aligned */
    char data[];
};

_Static_assert(sizeof(struct rv_arena_block) % ALIGNMENT == 0, "a block's data must be aligned");

void rv_arena_init(rv_arena *arena)
{
    *arena = (rv_arena){0};
}

void rv_arena_fini(rv_arena *arena)
{
    rv_arena_trim(arena, 0);
}

/* Blocks double with what is held, so that their number stays small. */
static size_t block_size(const rv_arena *arena, size_t needed)
{
    size_t size = arena->held < BLOCK_MIN ? BLOCK_MIN : arena->held;
    if (size > BLOCK_USUAL_MAX) size = BLOCK_USUAL_MAX;
    return size < needed ? needed : size;
}

/* Puts a new block behind the current one and makes it current. */
static struct rv_arena_block *add_block(rv_arena *arena, size_t needed)
{
    size_t size = block_size(arena, needed);
    struct rv_arena_block *block = rv_alloc(sizeof(*block) + size);
    if (!block) return NULL;
    struct rv_arena_block **link = arena->current ? &arena->current->next : &arena->first;
    block->next = *link;
    block->size = size;
    block->used = 0;
    *link = block;
    arena->current = block;
    arena->held += size;
    return block;
}

static struct rv_arena_block *block_with_room(rv_arena *arena, size_t size)
{
    struct rv_arena_block *block = arena->current;
    if (block && block->size - block->used >= size) return block;
    struct rv_arena_block *next = block ? block->next : NULL;
    if (!next || next->size < size) return add_block(arena, size);
    next->used = 0;
    arena->current = next;
    return next;
}

void *rv_arena_alloc(rv_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 4) return NULL;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct rv_arena_block *block = block_with_room(arena, size);
    if (!block) return NULL;
    void *memory = block->data + block->used;
    block->used += size;
    arena->used += size;
    return memory;
}

void rv_arena_rewind(rv_arena *arena)
{
    arena->current = arena->first;
    if (arena->first) arena->first->used = 0;
    arena->used = 0;
}

void rv_arena_trim(rv_arena *arena, size_t keep)
{
    size_t kept = 0;
    struct rv_arena_block **link = &arena->first;
    while (*link) {
        struct rv_arena_block *block = *link;
        if (block->size <= keep - kept) {
            kept += block->size;
            link = &block->next;
            continue;
        }
        *link = block->next;
        rv_free(block);
    }
    arena->held = kept;
    rv_arena_rewind(arena);
}
