/*
 * id.h - UUIDv7 ids (RFC 9562, section 5.7), random session ids, and the rules for names.
 */
#ifndef RV_ID_H
#define RV_ID_H

#include <stdbool.h>
#include <stddef.h>

#define RV_UUID_LENGTH 36
#define RV_RANDOM_LENGTH 16
#define RV_SESSION_LENGTH (RV_RANDOM_LENGTH + 9)

/*
 * A UUIDv7 as text with its zero byte. Ids of one thread ascend, also within a millisecond and when the clock is set
 * back (the 12 bits after the version count, RFC 9562 section 6.2 method 1). Random bits come from getrandom in blocks;
 * a fork makes new ones. Any thread.
 */
void rv_uuid7(char ret[RV_UUID_LENGTH + 1]);

/* 64 random bits as 16 hex digits: a worker's id. */
void rv_random_id(char ret[RV_RANDOM_LENGTH + 1]);

/* A session's id: its worker's, '-', and 8 random hex digits. */
void rv_session_id(char ret[RV_SESSION_LENGTH + 1], const char *worker);

/* Uniform in [0, 1); for jitter. Any thread. */
double rv_random_unit(void);

/* The rules of task.h. text need not end in a zero byte. */
/* Of a queue, or of a partition of one: "mail~3" (protocol/partition.h). */
bool rv_valid_queue(const char *text, size_t length);
/* Of a queue, and not of a partition. */
bool rv_valid_whole_queue(const char *text, size_t length);
bool rv_valid_type(const char *text, size_t length);

/* A type, or the beginning of types with a star behind it, "mail.*", or the star alone. */
bool rv_valid_type_pattern(const char *text, size_t length);

/* How well a pattern fits a type: 0: not at all; SIZE_MAX: it is this type; else the longer the pattern, the better. */
size_t rv_type_fit(const char *pattern, const char *type, size_t length);
bool rv_valid_id(const char *text, size_t length);
bool rv_valid_ns(const char *text, size_t length); /* [A-Za-z0-9._:-]{1,64} */

#endif
