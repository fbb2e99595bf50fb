#include "utf8.h"

#include <locale.h>
#include <stdatomic.h>
#include <string.h>
#include <wchar.h>

typedef struct range {
    uint32_t first, last;
} range;

/* Bidirectional controls: they reorder what stands beside them. */
static const range reordering[] = {{0x061c, 0x061c}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}};

#define IN(ranges, character) in_ranges(ranges, sizeof(ranges) / sizeof((ranges)[0]), character)

static bool in_ranges(const range *ranges, size_t count, uint32_t character)
{
    for (size_t i = 0; i < count && ranges[i].first <= character; i++)
        if (character <= ranges[i].last) return true;
    return false;
}

size_t cli_utf8_next(const char *text, size_t length, uint32_t *ret)
{
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    uint32_t character = bytes[0];
    size_t size = character < 0x80       ? 1
                  : character >> 5 == 6  ? 2
                  : character >> 4 == 14 ? 3
                  : character >> 3 == 30 ? 4
                                         : 0;

    if (size == 0 || size > length) return 0;
    if (size > 1) character &= 0x7fu >> size;
    for (size_t i = 1; i < size; i++) {
        if (bytes[i] >> 6 != 2) return 0;
        character = character << 6 | (bytes[i] & 0x3fu);
    }
    if (character < min[size] || character > 0x10ffff || (character >= 0xd800 && character <= 0xdfff)) return 0;
    *ret = character;
    return size;
}

bool cli_utf8_valid(const char *text, size_t length)
{
    uint32_t character;

    for (size_t at = 0, step; at < length; at += step)
        if ((step = cli_utf8_next(text + at, length - at, &character)) == 0) return false;
    return true;
}

bool cli_utf8_unsafe(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) || IN(reordering, character);
}

bool cli_utf8_is_text(const char *text, size_t length)
{
    uint32_t character;

    for (size_t at = 0, step; at < length; at += step) {
        if ((step = cli_utf8_next(text + at, length - at, &character)) == 0) return false;
        if (character != '\n' && character != '\t' && cli_utf8_unsafe(character)) return false;
    }
    return true;
}

/* The locale in which the C library tells widths; C.UTF-8 is part of glibc. */
static locale_t utf8_locale(void)
{
    static _Atomic(locale_t) made;
    locale_t locale = atomic_load(&made), none = (locale_t)0;

    if (locale != none) return locale;
    locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", none);
    if (locale != none && !atomic_compare_exchange_strong(&made, &none, locale)) {
        freelocale(locale);
        locale = none;
    }
    return locale;
}

/* As wcwidth says; what it does not know takes one column. */
static size_t columns_of(uint32_t character)
{
    int width = character < 0x300 ? 1 : wcwidth((wchar_t)character);

    return width < 0 ? 1 : (size_t)width;
}

size_t cli_utf8_columns(const char *text, size_t length)
{
    size_t columns = 0;
    uint32_t character;
    locale_t locale = utf8_locale(), before = uselocale(locale);

    for (size_t at = 0, step; at < length; at += step) {
        step = cli_utf8_next(text + at, length - at, &character);
        columns += step == 0 ? 1 : columns_of(character);
        if (step == 0) step = 1;
    }
    (void)uselocale(before);
    return columns;
}

static void add_escape(rv_buf *buf, uint32_t character)
{
    static const char letters[] = "abtnvfr"; /* 7 to 13 */

    if (character >= 7 && character <= 13) {
        rv_buf_addc(buf, '\\');
        rv_buf_addc(buf, letters[character - 7]);
    } else {
        rv_buf_addf(buf, character < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)character);
    }
}

void cli_utf8_add_safe(rv_buf *buf, const char *text, size_t length, bool keep_lines)
{
    uint32_t character;

    for (size_t at = 0, step; at < length; at += step) {
        step = cli_utf8_next(text + at, length - at, &character);
        if (step == 0) {
            step = 1;
            rv_buf_addf(buf, "\\x%02x", (unsigned)(unsigned char)text[at]);
        } else if (cli_utf8_unsafe(character) && !(keep_lines && (character == '\n' || character == '\t'))) {
            add_escape(buf, character);
        } else {
            rv_buf_add(buf, text + at, step);
        }
    }
}

void cli_utf8_cut(rv_buf *buf, size_t columns)
{
    size_t used = 0, keep = 0, at = 0;
    uint32_t character;
    locale_t before;

    if (buf->failed || columns == 0 || cli_utf8_columns(rv_buf_text(buf), buf->length) <= columns) return;
    before = uselocale(utf8_locale());
    while (at < buf->length) {
        size_t step = cli_utf8_next(buf->data + at, buf->length - at, &character);
        used += step == 0 ? 1 : columns_of(character);
        if (used >= columns) break;
        at += step == 0 ? 1 : step;
        keep = at;
    }
    (void)uselocale(before);
    buf->length = keep;
    rv_buf_adds(buf, "…");
}
