#include "base/layout.h"

#include <string.h>

#include "reeve/version.h"

size_t rv_layout_size(const void *theirs, size_t known)
{
    size_t size;
    memcpy(&size, theirs, sizeof(size));
    return size != 0 ? size : known;
}

bool rv_layout_fits(const void *theirs, size_t size, size_t our_size)
{
    const unsigned char *bytes = theirs;
    for (size_t i = our_size; i < size; i++) {
        if (bytes[i] != 0) return false;
    }
    return true;
}

reeve_status rv_layout_read(void *ours, size_t our_size, const void *theirs, size_t known, const char *what,
                            rv_error *error)
{
    memset(ours, 0, our_size);
    if (theirs != NULL) {
        size_t size = rv_layout_size(theirs, known);
        if (size < sizeof(size) || size > RV_LAYOUT_MAX)
            return rv_fail(error, REEVE_EINVAL, "%s: size %zu cannot be: set it to the sizeof, or to 0", what, size);
        if (!rv_layout_fits(theirs, size, our_size)) {
            return rv_fail(error, REEVE_EINVAL,
                           "%s: has %zu bytes and sets fields behind the %zu that libreeve " REEVE_VERSION
                           " knows: the program was compiled for a later version",
                           what, size, our_size);
        }
        memcpy(ours, theirs, size < our_size ? size : our_size);
    }
    memcpy(ours, &our_size, sizeof(our_size));
    return REEVE_OK;
}
