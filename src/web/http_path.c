#include "http_path.h"

#include <string.h>

static int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool rv_http_path_decode(char *ret, size_t size, const char *text, size_t length)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        int c = (unsigned char)text[i];

        if (c == '%') {
            int high = length - i > 2 ? digit(text[i + 1]) : -1, low = length - i > 2 ? digit(text[i + 2]) : -1;
            if (high < 0 || low < 0) return false;
            c = high * 16 + low;
            i += 2;
        }
        if (c == 0 || used + 1 >= size) return false;
        ret[used++] = (char)c;
    }
    ret[used] = '\0';
    return true;
}

bool rv_http_path_match(const char *pattern, const char *path, rv_http_params *ret)
{
    ret->count = 0;
    for (;;) {
        size_t length = strcspn(pattern, "/"), given = strcspn(path, "/");

        if (pattern[0] == '{') {
            if (given == 0 || ret->count == RV_HTTP_PARAMS) return false;
            if (!rv_http_path_decode(ret->value[ret->count++], RV_HTTP_PARAM_SIZE, path, given)) return false;
        } else if (length != given || memcmp(pattern, path, length) != 0) {
            return false;
        }
        pattern += length;
        path += given;
        if (*pattern == '\0' || *path == '\0') return *pattern == *path;
        pattern++;
        path++;
    }
}
