/*
 * decimal.c - the C library converts, and the decimal point of its locale is replaced. Switching the locale of the thread
 * for each number would cost more, and needs memory.
 */
#include "base/decimal.h"

#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 17
#define FIXED_MAX 9
#define FIXED_BELOW 1e15
#define READ_MAX 512

/* Never empty. */
static const char *point(void)
{
    return nl_langinfo(RADIXCHAR);
}

static void use_point(char *text)
{
    const char *mark = point();
    char *at = strstr(text, mark);
    if (at == NULL || strcmp(mark, ".") == 0) return;
    size_t length = strlen(mark);
    *at = '.';
    memmove(at + 1, at + length, strlen(at + length) + 1);
}

void rv_decimal_write(char ret[RV_DECIMAL_TEXT], double number, unsigned digits)
{
    (void)snprintf(ret, RV_DECIMAL_TEXT, "%.*g", (int)(digits < DIGITS_MAX ? digits : DIGITS_MAX), number);
    use_point(ret);
}

void rv_decimal_write_fixed(char ret[RV_DECIMAL_TEXT], double number, unsigned digits)
{
    if (!(fabs(number) < FIXED_BELOW)) {
        rv_decimal_write(ret, number, DIGITS_MAX);
        return;
    }
    (void)snprintf(ret, RV_DECIMAL_TEXT, "%.*f", (int)(digits < FIXED_MAX ? digits : FIXED_MAX), number);
    use_point(ret);
}

void rv_decimal_add(rv_buf *out, double number, unsigned digits)
{
    char text[RV_DECIMAL_TEXT];
    rv_decimal_write(text, number, digits);
    rv_buf_adds(out, text);
}

void rv_decimal_add_fixed(rv_buf *out, double number, unsigned digits)
{
    char text[RV_DECIMAL_TEXT];
    rv_decimal_write_fixed(text, number, digits);
    rv_buf_adds(out, text);
}

bool rv_decimal_read(const char *text, double *ret)
{
    char copy[READ_MAX], *end;
    const char *mark = point(), *at = strchr(text, '.');
    /* No blanks, no hexadecimal digits, no "inf"; and no point but ".". */
    if (*text == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0') return false;
    size_t before = at != NULL ? (size_t)(at - text) : strlen(text);
    int length =
        snprintf(copy, sizeof(copy), "%.*s%s%s", (int)before, text, at != NULL ? mark : "", at != NULL ? at + 1 : "");
    if (length < 0 || (size_t)length >= sizeof(copy)) return false;
    errno = 0;
    *ret = strtod(copy, &end);
    return *end == '\0' && end != copy && errno == 0 && isfinite(*ret);
}
