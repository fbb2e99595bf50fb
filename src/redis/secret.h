/*
 * secret.h - what only its owner is to read: a Redis URL or password in a file of its own.
 */
#ifndef RV_SECRET_H
#define RV_SECRET_H

#include "base/error.h"

/*
 * The first line of a file, without blanks around it. *ret is the caller's: rv_secret_free. A plain file that others
 * may read or write is refused; one of root's may be readable by its group, as containers and systemd hand out
 * secrets. A pipe is read to its first line. REEVE_EINVAL: it cannot be read, is refused, is empty or has more than
 * 4096 bytes before the line's end; the words name the file, and never what it says. REEVE_ENOMEM.
 */
reeve_status rv_secret_read(char **ret, const char *path, rv_error *error);
void rv_secret_free(char *secret); /* wipes it; NULL is fine */

/*
 * A URL (url.h) with this password, percent-encoded; *ret is the caller's: rv_secret_free. REEVE_EURL: it has a
 * password, or is none that takes one.
 */
reeve_status rv_secret_in_url(char **ret, const char *url, const char *password, rv_error *error);

#endif
