/*
 * nearest.h - the known name that is most similar to a misspelt one.
 */
#ifndef RV_NEAREST_H
#define RV_NEAREST_H

#include <stddef.h>

/*
 * A search among names, fed one by one:
 *     rv_nearest nearest;
 *     rv_nearest_init(&nearest, "thread");
 *     for (each name) rv_nearest_try(&nearest, name);
 *     nearest.name ...                                 NULL: nothing is near
 * Near is: few letters differ, or one begins with the other; of two as near, the one of more equal length. Names are
 * borrowed.
 */
typedef struct rv_nearest {
    const char *wanted;
    const char *name;
    size_t score;
} rv_nearest;

void rv_nearest_init(rv_nearest *nearest, const char *wanted);
void rv_nearest_try(rv_nearest *nearest, const char *name);

#endif
