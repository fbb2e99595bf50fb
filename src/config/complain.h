/*
 * complain.h - errors in a file, each with its place. Private to this room.
 */
#ifndef RV_CONFIG_COMPLAIN_H
#define RV_CONFIG_COMPLAIN_H

#include <libconfig.h>

#include "config/setting_rows.h"

/*
 * Adds an error at a setting of the file; the message begins with its path, and below it with a name (may be NULL).
 * file is the one that was read first: libconfig names only those that it included.
 */
void rv_complain_at(rv_config_errors *errors, const char *file, const config_setting_t *at, const char *name,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
/* "expected a whole number from 1 to 1024, got "many"". */
void rv_complain_expected(rv_config_errors *errors, const char *file, const config_setting_t *at,
                          const rv_setting *setting);
/* The same for an element of a list of names. */
void rv_complain_expected_text(rv_config_errors *errors, const char *file, const config_setting_t *at,
                               const char *expected);
/* The name of an included file: includes are sought beside the file that was read first. */
void rv_complain_add_included(rv_buf *out, const char *file, const char *name, size_t length);
/* "FILE:LINE" of a setting. */
void rv_complain_add_where(rv_buf *out, const char *file, const config_setting_t *at);

#endif
