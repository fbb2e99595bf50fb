#include "base/grown.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

#define CAPACITY_MIN 4

static bool grow(rv_grown *grown, size_t count)
{
    size_t capacity = grown->capacity == 0 ? CAPACITY_MIN : 2 * grown->capacity;
    if (grown->block_count == RV_GROWN_BLOCKS) return false;
    void *block = rv_zalloc_array(capacity, sizeof(void *));
    if (block == NULL) return false;
    if (count > 0) memcpy(block, grown->blocks[grown->block_count - 1], count * sizeof(void *));
    grown->blocks[grown->block_count++] = block;
    grown->capacity = capacity;
    return true;
}

void *rv_grown_add(rv_grown *grown, size_t count, const void *pointer)
{
    if (count == grown->capacity && !grow(grown, count)) return NULL;
    unsigned char *block = grown->blocks[grown->block_count - 1];
    memcpy(block + count * sizeof(void *), &pointer, sizeof(void *));
    return block;
}

void rv_grown_fini(rv_grown *grown)
{
    for (size_t i = 0; i < grown->block_count; i++) rv_free(grown->blocks[i]);
    memset(grown, 0, sizeof(*grown));
}
