/*
 * repeated.h - which failures of an action that is tried again and again are to be logged: not each of them.
 */
#ifndef RV_BASE_REPEATED_H
#define RV_BASE_REPEATED_H

#include <stdbool.h>
#include <stdint.h>

/* How long the same failure is not logged again. */
#define RV_REPEATED_MS 60000

/* Zero at first. Not for several threads at once. */
typedef struct rv_repeated {
    char text[256]; /* the beginning of the last failure's text that was logged */
    int64_t logged_ms;
} rv_repeated;

/* Whether a failure is to be logged now: it is the first one, has another text than the last one that was logged, or
 * that was a minute ago. now_ms: monotonic. The caller logs it then. */
bool rv_repeated_is_new(rv_repeated *repeated, const char *text, int64_t now_ms);

#endif
