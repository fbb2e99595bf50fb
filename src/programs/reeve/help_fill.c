#include "help_fill.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The length of the next word, which ends at a blank or line feed outside brackets. */
static size_t word_length(const char *text, size_t length)
{
    int depth = 0;

    for (size_t i = 0; i < length; i++) {
        if (text[i] == '[') depth++;
        if (text[i] == ']' && depth > 0) depth--;
        if (depth == 0 && (text[i] == ' ' || text[i] == '\n')) return i;
    }
    return length;
}

/* A bracket that is not closed does not hold words together. */
static size_t bounded_length(const char *text, size_t length)
{
    size_t whole = word_length(text, length);

    if (whole < CLI_HELP_WIDTH) return whole;
    for (size_t i = 0; i < whole; i++)
        if (text[i] == ' ' || text[i] == '\n') return i;
    return whole;
}

static void print_word(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) (void)putchar(text[i] == '\n' ? ' ' : text[i]);
}

void cli_help_fill(const char *text, size_t length, size_t column, size_t indent)
{
    const char *end = text + length;
    bool is_first = true;

    for (;;) {
        while (text < end && (*text == ' ' || *text == '\n')) text++;
        if (text == end) break;
        size_t word = bounded_length(text, (size_t)(end - text));
        if (!is_first && column + 1 + word > CLI_HELP_WIDTH) {
            (void)printf("\n%*s", (int)indent, "");
            column = indent;
        } else if (!is_first) {
            (void)putchar(' ');
            column++;
        }
        print_word(text, word);
        column += word;
        text += word;
        is_first = false;
    }
    (void)putchar('\n');
}

/* The length of the paragraph at `text`: its lines do not begin with a blank, and are not empty. */
static size_t paragraph_length(const char *text)
{
    const char *at = text;

    while (*at != '\0' && *at != ' ' && *at != '\n') {
        at += strcspn(at, "\n");
        if (*at == '\n') at++;
    }
    return (size_t)(at - text);
}

void cli_help_fill_notes(const char *text)
{
    while (*text != '\0') {
        size_t length = paragraph_length(text);

        if (length > 0) {
            cli_help_fill(text, length, 0, 0);
        } else {
            length = strcspn(text, "\n");
            (void)printf("%.*s\n", (int)length, text);
            if (text[length] == '\n') length++;
        }
        text += length;
    }
}
