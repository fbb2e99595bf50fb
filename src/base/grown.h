/*
 * grown.h - a list of pointers that one thread at a time adds to while any number of threads read it without a lock.
 *
 * An array that is full is not moved: a larger copy takes its place, and the old one stays valid for those who still
 * read it until rv_grown_fini. The owner publishes the array first and the number of its elements second, in atomic
 * variables; a reader reads the number first. As the capacity doubles, all arrays together take at most twice the room
 * of the last one.
 */
#ifndef RV_BASE_GROWN_H
#define RV_BASE_GROWN_H

#include <stddef.h>

#define RV_GROWN_BLOCKS 40

/* Zeroed: an empty list. */
typedef struct rv_grown {
    void *blocks[RV_GROWN_BLOCKS]; /* the last one is in use */
    size_t block_count;
    size_t capacity;
} rv_grown;

/* Adds a pointer behind the first `count`. Returns the array to publish, of pointers of any type; NULL: no memory. */
void *rv_grown_add(rv_grown *grown, size_t count, const void *pointer);
void rv_grown_fini(rv_grown *grown);

#endif
