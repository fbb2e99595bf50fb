/*
 * error.h - a status with the words that explain it. Every handle keeps one; it is what reeve_..._error() returns.
 */
#ifndef RV_ERROR_H
#define RV_ERROR_H

#include <stdarg.h>
#include <stddef.h>

#include "reeve/status.h"

typedef struct rv_error {
    reeve_status status;
    char text[512];
} rv_error;

/* Records and returns status; words longer than the text are cut on a character. error may be NULL. */
reeve_status rv_fail(rv_error *error, reeve_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void rv_error_clear(rv_error *error);
/* For callers that bring their own memory: copies text (cut to size); target NULL or size 0 is fine. */
void rv_copy_text(char *target, size_t size, const char *text);

#endif
