#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rv_parse_int(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    if (text == NULL) return false;
    bool negative = *text == '-';
    if (negative) text++;
    if (*text == '\0') return false;

    int64_t number = 0; /* built on its own side of zero, so that INT64_MIN can be read */
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9') return false;
        int digit = *text - '0';
        if (__builtin_mul_overflow(number, 10, &number)) return false;
        if (__builtin_add_overflow(number, negative ? -digit : digit, &number)) return false;
    }
    if (number < min || number > max) return false;
    *ret = number;
    return true;
}

int64_t rv_parse_before_blank(const char *text, size_t length, int64_t max)
{
    char figures[24];
    int64_t number;
    const char *blank = memchr(text, ' ', length);
    if (blank == NULL || (size_t)(blank - text) >= sizeof(figures)) return -1;
    memcpy(figures, text, (size_t)(blank - text));
    figures[blank - text] = '\0';
    return rv_parse_int(figures, 0, max, &number) ? number : -1;
}

bool rv_parse_numbers(const char *text, long long *ret, size_t count, const char **ret_rest)
{
    for (size_t i = 0; i < count; i++) {
        char *end;
        errno = 0;
        ret[i] = strtoll(text, &end, 10);
        if (end == text || errno == ERANGE) return false;
        text = end;
    }
    if (ret_rest != NULL) *ret_rest = text;
    return true;
}

bool rv_parse_size(const char *text, int64_t *ret)
{
    static const char units[] = "KMG";
    char digits[24];
    size_t length = text != NULL ? strnlen(text, sizeof(digits)) : 0;
    const char *unit = length > 0 ? strchr(units, text[length - 1]) : NULL;
    int64_t number, factor = unit != NULL ? INT64_C(1024) << (10 * (unit - units)) : 1;
    if (length == 0 || length == sizeof(digits)) return false;
    if (unit != NULL) length--;
    memcpy(digits, text, length);
    digits[length] = '\0';
    return rv_parse_int(digits, 0, INT64_MAX, &number) && !__builtin_mul_overflow(number, factor, ret);
}

size_t rv_utf8_cut(const char *text, size_t length, size_t max)
{
    if (length <= max) return length;
    for (size_t back = 0; back < 4 && back <= max; back++) {
        unsigned char next = (unsigned char)text[max - back];
        if ((next & 0xc0) != 0x80) return max - back;
    }
    return max; /* no UTF-8: nothing to spare */
}

/* How many bytes the character at text has, 0 when there is none: RFC 3629, no overlong forms, no surrogates. */
static size_t utf8_length(const unsigned char *text, size_t left)
{
    unsigned char first = text[0];
    if (first < 0x80) return 1;
    if (first < 0xc2 || first > 0xf4) return 0;

    size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (left < length) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
    }
    if (first == 0xe0 && text[1] < 0xa0) return 0;
    if (first == 0xed && text[1] > 0x9f) return 0;
    if (first == 0xf0 && text[1] < 0x90) return 0;
    if (first == 0xf4 && text[1] > 0x8f) return 0;
    return length;
}

void rv_utf8_clean(char *text, size_t length)
{
    size_t i = 0;
    while (i < length) {
        size_t step = utf8_length((const unsigned char *)text + i, length - i);
        if (step == 0) {
            text[i] = '?';
            step = 1;
        }
        i += step;
    }
}

bool rv_utf8_is_valid(const char *text, size_t length)
{
    size_t i = 0, step;
    while (i < length && (step = utf8_length((const unsigned char *)text + i, length - i)) > 0) i += step;
    return i == length;
}

const char *rv_number_text(char ret[RV_NUMBER_TEXT], uint64_t number)
{
    snprintf(ret, RV_NUMBER_TEXT, "%llu", (unsigned long long)number);
    return ret;
}
