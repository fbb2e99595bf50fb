#include "path_prefix.h"

#include <string.h>

static bool is_part(const char *part, size_t length)
{
    static const char taken[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-";

    return length > 0 && strspn(part, taken) >= length && strspn(part, ".") < length;
}

bool rv_path_prefix_is_valid(const char *prefix)
{
    if (prefix[0] == '\0' || strlen(prefix) > RV_PATH_PREFIX_MAX) return false;
    for (const char *at = prefix; *at != '\0';) {
        if (*at++ != '/') return false;
        size_t length = strcspn(at, "/");
        if (!is_part(at, length)) return false;
        at += length;
    }
    return true;
}
