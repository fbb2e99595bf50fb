#include "utf8.h"

#include <string.h>

typedef struct range {
    uint32_t first, last;
} range;

/* Unicode 15, coarse: whole blocks of marks and of East Asian wide characters, so that common text lines up. */
static const range zero_width[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},   {0x0900, 0x0902},
    {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},   {0x20d0, 0x20ff},
    {0x2060, 0x2064}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0x1f3fb, 0x1f3ff}, {0xe0100, 0xe01ef},
};
static const range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
    {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
    {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};
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

static size_t columns_of(uint32_t character)
{
    if (character < 0x300) return 1;
    return IN(zero_width, character) ? 0 : IN(wide, character) ? 2 : 1;
}

size_t cli_utf8_columns(const char *text, size_t length)
{
    size_t columns = 0;
    uint32_t character;

    for (size_t at = 0, step; at < length; at += step) {
        step = cli_utf8_next(text + at, length - at, &character);
        columns += step == 0 ? 1 : columns_of(character);
        if (step == 0) step = 1;
    }
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

    if (buf->failed || columns == 0 || cli_utf8_columns(rv_buf_text(buf), buf->length) <= columns) return;
    while (at < buf->length) {
        size_t step = cli_utf8_next(buf->data + at, buf->length - at, &character);
        used += step == 0 ? 1 : columns_of(character);
        if (used >= columns) break;
        at += step == 0 ? 1 : step;
        keep = at;
    }
    buf->length = keep;
    rv_buf_adds(buf, "…");
}
