/*
 * layout.h - reads public structs in the layout of the reeve that a program or plugin was compiled with.
 *
 * Such a struct begins with its size. Fields are only appended, so a smaller struct is that of an older version: the
 * fields that it lacks are zero. A larger one is that of a later version: it is read when the fields that are unknown
 * here are zero, that is, not used, and refused otherwise.
 */
#ifndef RV_BASE_LAYOUT_H
#define RV_BASE_LAYOUT_H

#include <stdbool.h>

#include "base/error.h"

/* More is a number that was never meant as a size. */
#define RV_LAYOUT_MAX ((size_t)65536)

/* The size that a struct declares; known where it declares 0. */
size_t rv_layout_size(const void *theirs, size_t known);

/* True when size bytes of theirs hold no field that is set behind the first our_size bytes. */
bool rv_layout_fits(const void *theirs, size_t size, size_t our_size);

/*
 * Copies theirs to ours, our_size bytes, whose size field becomes our_size. theirs may be NULL: ours is zeroed. known
 * is what the caller's compiler took for its size, for a struct that declares 0. what ("the filter") is for the error.
 * REEVE_EINVAL: a size that cannot be, or an unknown field is set; ours is undefined then.
 */
reeve_status rv_layout_read(void *ours, size_t our_size, const void *theirs, size_t known, const char *what,
                            rv_error *error);

#define RV_LAYOUT_READ(ours, theirs, known, what, error) \
    rv_layout_read((ours), sizeof(*(ours)), (theirs), (known), (what), (error))

#endif
