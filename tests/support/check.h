/*
 * check.h - what reeve_check finds in a queue, and repairs.
 */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <stddef.h>

/* With REEVE_TEST_SHOW in the environment, all findings are printed. */

/* The findings are these: "kind subject, kind subject", sorted; "": none. */
void test_check_finds(const char *queue, const char *findings);
/* The same, with repair: all of them are repaired, and then nothing is found. */
void test_check_repairs(const char *queue, const char *findings);
/* All findings, at least one, are of one kind. */
void test_check_finds_kind(const char *queue, const char *kind);
void test_check_repairs_kind(const char *queue, const char *kind);
/* Something is found, all of it is repaired, and then nothing is found. */
void test_check_repairs_all(const char *queue);
/* The same where nothing may be found. */
void test_check_repairs_any(const char *queue);

/* The key of queue q for a session: "reeve:{q}:<family>:<session>". */
const char *test_check_key(const char *family, const char *session);

/* A thread leases and completes all that waits: so many tasks. Then nothing is found. */
void test_check_drains(const char *queue, size_t count);

#endif
