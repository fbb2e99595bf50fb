#include "base/error.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

reeve_status rv_fail(rv_error *error, reeve_status status, const char *format, ...)
{
    /* Longer than the text, so that the cut can see whether it splits a character; apart from it, so that the words may
     * quote the error that was there. */
    char words[sizeof(error->text) + 8];
    va_list args;

    if (error == NULL) return status;
    va_start(args, format);
    int length = vsnprintf(words, sizeof(words), format, args);
    va_end(args);
    rv_copy_text(error->text, sizeof(error->text), length < 0 ? reeve_status_text(status) : words);
    error->status = status;
    return status;
}

void rv_error_clear(rv_error *error)
{
    if (error == NULL) return;
    error->status = REEVE_OK;
    error->text[0] = '\0';
}

void rv_copy_text(char *target, size_t size, const char *text)
{
    if (target == NULL || size == 0) return;
    if (text == NULL) text = "";
    size_t length = rv_utf8_cut(text, strlen(text), size - 1);
    memmove(target, text, length);
    target[length] = '\0';
}
