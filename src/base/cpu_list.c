#include "base/cpu_list.h"

#include <stddef.h>

/* A number; NULL: there is none, or it is too large. */
static const char *read_number(const char *text, int *ret)
{
    int number = 0;
    if (*text < '0' || *text > '9') return NULL;
    for (; *text >= '0' && *text <= '9'; text++) {
        number = 10 * number + (*text - '0');
        if (number >= CPU_SETSIZE) return NULL;
    }
    *ret = number;
    return text;
}

bool rv_cpu_list_parse(const char *text, cpu_set_t *ret)
{
    int first = 0, last = 0;
    CPU_ZERO(ret);
    for (;; text++) {
        text = read_number(text, &first);
        if (text == NULL) return false;
        last = first;
        if (*text == '-') text = read_number(text + 1, &last);
        if (text == NULL || last < first) return false;
        for (int i = first; i <= last; i++) CPU_SET((size_t)i, ret);
        if (*text != ',') return *text == '\0';
    }
}
