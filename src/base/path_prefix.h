/*
 * path_prefix.h - the beginning of all paths of a server behind a proxy, such as "/reeve". No I/O.
 */
#ifndef RV_BASE_PATH_PREFIX_H
#define RV_BASE_PATH_PREFIX_H

#include <stdbool.h>

#define RV_PATH_PREFIX_MAX 100
#define RV_PATH_PREFIX_EXPECTED "a path such as /reeve, of at most 100 characters A-Z a-z 0-9 . _ ~ - /"

/* Whether the text consists of parts of A-Z a-z 0-9 . _ ~ -, which an address, a header and a cookie take as they are, each
 * with a slash before it, and none of them of dots alone. */
bool rv_path_prefix_is_valid(const char *prefix);

#endif
