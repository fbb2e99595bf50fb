#include "printable.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The length of the UTF-8 character that text begins with, 0 when it begins with none (RFC 3629). */
static size_t character_length(const unsigned char *text)
{
    size_t length = text[0] < 0x80   ? 1
                    : text[0] < 0xc2 ? 0
                    : text[0] < 0xe0 ? 2
                    : text[0] < 0xf0 ? 3
                    : text[0] < 0xf5 ? 4
                                     : 0;

    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
    }
    if (text[0] == 0xe0 && text[1] < 0xa0) return 0;  /* longer than need be */
    if (text[0] == 0xed && text[1] >= 0xa0) return 0; /* a surrogate */
    if (text[0] == 0xf0 && text[1] < 0x90) return 0;
    if (text[0] == 0xf4 && text[1] >= 0x90) return 0; /* past U+10FFFF */
    return length;
}

/* 0x00 to 0x1f, 0x7f, and U+0080 to U+009f. */
static bool is_control(const unsigned char *text)
{
    return text[0] < 0x20 || text[0] == 0x7f || (text[0] == 0xc2 && text[1] < 0xa0);
}

/* Writes what stands for the byte to piece (5 bytes). */
static size_t escape(char *piece, unsigned char byte)
{
    const char *short_form = byte == '\n' ? "\\n" : byte == '\r' ? "\\r" : byte == '\t' ? "\\t" : NULL;

    return (size_t)(short_form != NULL ? snprintf(piece, 5, "%s", short_form) : snprintf(piece, 5, "\\x%02x", byte));
}

void printable(char *target, size_t size, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t used = 0;

    while (*at != '\0') {
        char piece[5];
        size_t taken = character_length(at);
        size_t length = taken;

        if (taken == 0 || is_control(at)) {
            taken = 1;
            length = escape(piece, *at);
        } else {
            memcpy(piece, at, length);
        }
        if (used + length + 1 > size) break;
        memcpy(target + used, piece, length);
        used += length;
        at += taken;
    }
    if (size > 0) target[used] = '\0';
}
