#include "base/hide.h"

#include <stdlib.h>
#include <string.h>

/*
 * Finds the password of a URL; false: it has none. It ends at the last '@', as in redis/url.c: a password may
 * contain '@', '/' and '?' that should have been escaped. In the path of a unix socket too much may be hidden.
 */
static int find_password(char *argument, char **ret_begin, char **ret_end)
{
    char *authority = strstr(argument, "://"), *colon, *at;

    if (authority == NULL) return 0;
    authority += 3;
    at = strrchr(authority, '@');
    colon = at != NULL ? memchr(authority, ':', (size_t)(at - authority)) : NULL;
    if (colon == NULL) return 0;
    *ret_begin = colon + 1;
    *ret_end = at;
    return 1;
}

void rv_hide_passwords(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *begin, *end, *copy;

        if (!find_password(argv[i], &begin, &end)) continue;
        copy = strdup(argv[i]); /* kept until the program ends */
        if (copy == NULL) continue;
        memset(begin, '*', (size_t)(end - begin));
        argv[i] = copy;
    }
}
