/*
 * log_file.h - the file in place of standard error (worker.log.file): the log, and what handlers print there.
 *
 * The file takes the place of descriptor 2, so that a reload or a rotation exchanges it in one step, and no line is lost
 * or goes elsewhere. Main thread.
 */
#ifndef HOST_LOG_FILE_H
#define HOST_LOG_FILE_H

#include <stdbool.h>

#include "base/error.h"

/* Opens the file for appending, in place of standard error or of the file before. It is created with mode 0640. NULL:
 * standard error as it was. REEVE_ESYSTEM: all stays as it was, and the error says why. */
reeve_status host_log_file_set(const char *path, rv_error *error);

/* Opens it again, by its name: a rotation has moved it. REEVE_ENOTFOUND: the log goes to standard error. */
reeve_status host_log_file_reopen(rv_error *error);

/* The path, or NULL. */
const char *host_log_file_path(void);

#endif
