/*
 * source.h - the text of a configuration file, and checks that libconfig does not make. Private to this room.
 */
#ifndef RV_CONFIG_SOURCE_H
#define RV_CONFIG_SOURCE_H

#include "config/config.h"

/*
 * Reads a whole file into text (a pipe will do). REEVE_ESYSTEM: it cannot be read, or is a directory; REEVE_EINVAL: it
 * is larger than 1 MiB or has zero bytes; both with an error. REEVE_ENOMEM.
 */
reeve_status rv_source_read(const char *path, rv_buf *text, rv_config_errors *errors);

/*
 * Looks through a file's text, and through the files that it includes, for what libconfig would take in silence or die
 * of: a whole number that does not fit its int (it would wrap around), and an @include of a directory (its scanner
 * would end the program). Everything else that may be wrong is left to libconfig.
 */
void rv_source_check(const char *file, const char *text, rv_config_errors *errors);

#endif
