/*
 * chunks.h - blocks of memory that are freed together.
 */
#ifndef RV_BASE_CHUNKS_H
#define RV_BASE_CHUNKS_H

#include <stddef.h>

typedef struct rv_chunks rv_chunks;

/* Adds a block, aligned for any type, to a list that begins as NULL. NULL: no memory. */
void *rv_chunks_add(rv_chunks **list, size_t size);

/* The same with a copy of these bytes and a zero byte behind it. */
char *rv_chunks_add_copy(rv_chunks **list, const void *data, size_t length);

/* Frees all blocks; NULL is ignored. */
void rv_chunks_free(rv_chunks *list);

#endif
