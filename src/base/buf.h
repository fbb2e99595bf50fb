/*
 * buf.h - a growing run of bytes with a declared maximum.
 *
 * A failed append (no memory, or past max) sets `failed` and every later append does nothing, so that a builder checks
 * once, at the end. data is always followed by a zero byte that is not counted, once anything was appended.
 */
#ifndef RV_BUF_H
#define RV_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rv_buf {
    char *data;
    size_t length;
    size_t capacity;
    size_t max;
    bool failed;
} rv_buf;

void rv_buf_init(rv_buf *buf, size_t max);
void rv_buf_fini(rv_buf *buf);                 /* frees; the buffer may be used again with the same max */
void rv_buf_clear(rv_buf *buf);                /* length 0, failed false; keeps the memory */
void rv_buf_trim(rv_buf *buf, size_t keep);    /* frees memory beyond keep bytes when the buffer is empty */
bool rv_buf_reserve(rv_buf *buf, size_t more); /* room for more bytes (and the zero byte) */
void rv_buf_add(rv_buf *buf, const void *data, size_t length);
void rv_buf_adds(rv_buf *buf, const char *text);
void rv_buf_addc(rv_buf *buf, char c);
void rv_buf_addi(rv_buf *buf, int64_t number); /* decimal; does not call printf */
void rv_buf_addf(rv_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string with its quotes. Bytes of 0x80 and above pass through unchanged, but for the characters that
 * rv_buf_hidden_control finds: these are escaped (\u009b). */
void rv_buf_add_json(rv_buf *buf, const char *text, size_t length);
/* Whether text, length bytes of UTF-8, begins with a character beyond ASCII that acts on a terminal: a C1 control
 * (U+0080 to U+009F) or one that changes the direction of text (U+202E and the like). Returns its bytes, and the
 * character in *ret; else 0. */
size_t rv_buf_hidden_control(const char *text, size_t length, unsigned *ret);
const char *rv_buf_text(const rv_buf *buf); /* "" when empty; never NULL */

#endif
