/*
 * say.c - words for people: standard error for what happens meanwhile, and text from outside made harmless.
 */
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "tree.h"

static bool in_place; /* the last line has no end yet */

void say(const char *format, ...)
{
    va_list arguments;

    if (in_place) fputs("\r\033[K", stderr);
    in_place = false;
    fputs("checksum-tree: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

void say_in_place(const char *format, ...)
{
    bool terminal = isatty(STDERR_FILENO) == 1;
    va_list arguments;

    if (terminal) fputs("\r\033[K", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (!terminal) fputc('\n', stderr);
    fflush(stderr);
    in_place = terminal;
}

void leave_place(void)
{
    if (in_place) fputc('\n', stderr);
    in_place = false;
}

/* 0x00 to 0x1f, 0x7f, and U+0080 to U+009f in UTF-8. */
static bool is_control(const char *at)
{
    unsigned char first = (unsigned char)at[0], second = (unsigned char)at[1];

    return first < 0x20 || first == 0x7f || (first == 0xc2 && second >= 0x80 && second < 0xa0);
}

void put_text(FILE *out, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\n') {
            fputs("\\n", out);
        } else if (is_control(at)) {
            fprintf(out, "\\x%02x", (unsigned char)*at);
        } else {
            fputc(*at, out);
        }
    }
}

const char *shown(char room[SHOWN_MAX], const char *text)
{
    FILE *memory = fmemopen(room, SHOWN_MAX, "w");

    room[0] = '\0';
    if (memory == NULL) return "?";
    put_text(memory, text);
    fclose(memory); /* what does not fit is cut; a zero byte ends it */
    room[SHOWN_MAX - 1] = '\0';
    return room;
}

const char *grouped(char room[NUMBER_MAX], uint64_t number)
{
    char *at = room + NUMBER_MAX - 1;
    int digits = 0;

    *at = '\0';
    do {
        if (digits > 0 && digits % 3 == 0) *--at = ',';
        *--at = (char)('0' + number % 10);
        number /= 10;
        digits++;
    } while (number > 0);
    return at;
}
