/*
 * buffer_file.h - the file of a client's buffer (reeve/buffer.h): a first line with the namespace, then records.
 *
 * A record is its length and its CRC-32, both 32 bits, least significant byte first, and its bytes, of which the first
 * is its kind. The highest bit of the length is a flag, which can be set later. Records are only appended. Each append
 * begins with a record 'A', which has its place in the file, and is on the disk before the next one begins. So damage
 * behind the last 'A' is what a crash left of the last append. When nothing waits any more, the file is cut behind its
 * first line. When most of it has been delivered, it is written anew, with an 'A' at its end, and takes the place of the
 * old one (rename).
 */
#ifndef RV_CLIENT_BUFFER_FILE_H
#define RV_CLIENT_BUFFER_FILE_H

#include "base/buf.h"
#include "base/error.h"

typedef struct rv_buffer_file rv_buffer_file;

/* Takes the record of a file that is opened. False: it is not understood. */
typedef bool (*rv_buffer_file_fn)(const char *data, size_t length, bool flagged, void *context);

/* Opens or makes a file, locks it and reads its records. REEVE_ESTATE: another client has it, or it is of another
 * namespace. REEVE_ESYSTEM: it cannot be read or written, or is damaged. REEVE_ENOMEM. */
reeve_status rv_buffer_file_open(rv_buffer_file **ret, const char *path, const char *ns, rv_buffer_file_fn take,
                                 void *context, rv_error *error);

/* NULL is ignored. */
void rv_buffer_file_close(rv_buffer_file *file);

/* Adds a record to what is to be appended. */
void rv_buffer_file_add(rv_buf *out, const char *data, size_t length);

/* Appends records, and waits until they are on the disk. On failure the file is as before. */
reeve_status rv_buffer_file_append(rv_buffer_file *file, const rv_buf *records, rv_error *error);

/* Sets the flag of `count` records of a kind, behind the first `skip` of that kind. This needs no space on the disk. */
reeve_status rv_buffer_file_flag(rv_buffer_file *file, char kind, size_t skip, size_t count, rv_error *error);

/* Leaves only these records. */
reeve_status rv_buffer_file_replace(rv_buffer_file *file, const rv_buf *records, rv_error *error);

int64_t rv_buffer_file_size(const rv_buffer_file *file);
/* Whether it has no records. Also after a call that failed: the file may have been cut all the same. */
bool rv_buffer_file_is_empty(const rv_buffer_file *file);

#endif
