/*
 * decimal.h - numbers with a fraction, as text with a point in every locale. The functions of the C library write and
 * expect the point of the program's locale, which may be a comma.
 */
#ifndef RV_BASE_DECIMAL_H
#define RV_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* The longest text, with its zero byte. */
#define RV_DECIMAL_TEXT 48

/* As "%.<digits>f", with at most 9 digits; beyond 1e15, and if it is no number, as rv_decimal_write. */
void rv_decimal_write_fixed(char ret[RV_DECIMAL_TEXT], double number, unsigned digits);
/* As "%.<digits>g", with at most 17 digits. */
void rv_decimal_write(char ret[RV_DECIMAL_TEXT], double number, unsigned digits);

/* The same, appended. */
void rv_decimal_add_fixed(rv_buf *out, double number, unsigned digits);
void rv_decimal_add(rv_buf *out, double number, unsigned digits);

/* Reads what strtod reads in the C locale: the whole text must be a finite number of decimal digits. */
bool rv_decimal_read(const char *text, double *ret);

#endif
