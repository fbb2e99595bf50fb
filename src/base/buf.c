#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define FIRST_CAPACITY 64

void rv_buf_init(rv_buf *buf, size_t max)
{
    *buf = (rv_buf){.max = max};
}

void rv_buf_fini(rv_buf *buf)
{
    rv_free(buf->data);
    rv_buf_init(buf, buf->max);
}

void rv_buf_clear(rv_buf *buf)
{
    buf->length = 0;
    buf->failed = false;
    if (buf->data != NULL) buf->data[0] = '\0';
}

void rv_buf_trim(rv_buf *buf, size_t keep)
{
    if (buf->length > 0 || buf->capacity <= keep) return;
    if (keep == 0) {
        rv_buf_fini(buf);
        return;
    }
    char *smaller = rv_realloc(buf->data, keep);
    if (smaller == NULL) return;
    buf->data = smaller;
    buf->capacity = keep;
    buf->data[0] = '\0';
}

static size_t grown(const rv_buf *buf, size_t needed)
{
    size_t capacity = buf->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : buf->capacity;
    while (capacity < needed) {
        if (capacity > SIZE_MAX / 2) return needed;
        capacity *= 2;
    }
    bool past_max = buf->max < SIZE_MAX && capacity > buf->max + 1;
    return past_max ? buf->max + 1 : capacity;
}

bool rv_buf_reserve(rv_buf *buf, size_t more)
{
    if (buf->failed) return false;
    if (buf->length > buf->max || more > buf->max - buf->length || more >= SIZE_MAX - buf->length) goto fail;

    size_t needed = buf->length + more + 1;
    if (needed <= buf->capacity) return true;

    size_t capacity = grown(buf, needed);
    char *data = rv_realloc(buf->data, capacity);
    if (data == NULL) goto fail;
    data[buf->length] = '\0';
    buf->data = data;
    buf->capacity = capacity;
    return true;

fail:
    buf->failed = true;
    return false;
}

void rv_buf_add(rv_buf *buf, const void *data, size_t length)
{
    if (!rv_buf_reserve(buf, length)) return;
    if (length > 0) memcpy(buf->data + buf->length, data, length);
    buf->length += length;
    buf->data[buf->length] = '\0';
}

void rv_buf_adds(rv_buf *buf, const char *text)
{
    rv_buf_add(buf, text, strlen(text));
}

void rv_buf_addc(rv_buf *buf, char c)
{
    rv_buf_add(buf, &c, 1);
}

void rv_buf_addi(rv_buf *buf, int64_t number)
{
    char digits[20]; /* INT64_MIN has a sign and 19 digits */
    size_t at = sizeof(digits);
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0) digits[--at] = '-';
    rv_buf_add(buf, digits + at, sizeof(digits) - at);
}

void rv_buf_addf(rv_buf *buf, const char *format, ...)
{
    va_list args;
    char small[256];

    va_start(args, format);
    int length = vsnprintf(small, sizeof(small), format, args);
    va_end(args);
    if (length < 0) {
        buf->failed = true;
    } else if ((size_t)length < sizeof(small)) {
        rv_buf_add(buf, small, (size_t)length);
    } else if (rv_buf_reserve(buf, (size_t)length)) {
        va_start(args, format);
        vsnprintf(buf->data + buf->length, (size_t)length + 1, format, args);
        va_end(args);
        buf->length += (size_t)length;
    }
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f;
}

static void add_escaped(rv_buf *buf, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char from[] = "\"\\\b\f\n\r\t";
    static const char to[] = "\"\\bfnrt";

    const char *known = memchr(from, c, sizeof(from) - 1);
    if (known != NULL) {
        const char pair[2] = {'\\', to[known - from]};
        rv_buf_add(buf, pair, sizeof(pair));
    } else {
        const char code[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        rv_buf_add(buf, code, sizeof(code));
    }
}

size_t rv_buf_hidden_control(const char *text, size_t length, unsigned *ret)
{
    const unsigned char *c = (const unsigned char *)text;
    if (length < 2 || c[0] < 0xc2) return 0;
    *ret = (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu);
    if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f) return 2;
    if (c[0] == 0xd8 && c[1] == 0x9c) return 2;
    if (length < 3 || c[0] != 0xe2) return 0;
    *ret = 0x2000u | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
    bool reorders =
        *ret == 0x200e || *ret == 0x200f || (*ret >= 0x202a && *ret <= 0x202e) || (*ret >= 0x2066 && *ret <= 0x2069);
    return reorders && c[1] >> 6 == 2 && c[2] >> 6 == 2 ? 3 : 0;
}

void rv_buf_add_json(rv_buf *buf, const char *text, size_t length)
{
    size_t start = 0;

    rv_buf_addc(buf, '"');
    for (size_t i = 0; i < length && !buf->failed; i++) {
        unsigned char c = (unsigned char)text[i];
        unsigned code;
        size_t hidden = c < 0xc2 ? 0 : rv_buf_hidden_control(text + i, length - i, &code);
        if (is_plain(c) && hidden == 0) continue;
        rv_buf_add(buf, text + start, i - start);
        if (hidden > 0)
            rv_buf_addf(buf, "\\u%04x", code);
        else
            add_escaped(buf, c);
        if (hidden > 0) i += hidden - 1;
        start = i + 1;
    }
    if (start < length) rv_buf_add(buf, text + start, length - start);
    rv_buf_addc(buf, '"');
}

const char *rv_buf_text(const rv_buf *buf)
{
    return buf->data == NULL ? "" : buf->data;
}
