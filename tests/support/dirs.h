/*
 * dirs.h - directories that a test makes and that do not outlive it.
 */
#ifndef TEST_DIRS_H
#define TEST_DIRS_H

/* A fresh directory below ${TMPDIR:-/tmp}, for the caller to remove and its name to free. */
char *test_make_dir(void);
/* A fresh directory that is removed when the process exits. Valid until then. */
const char *test_dir(void);
/* Removes a directory with all that is in it. */
void test_remove_dir(const char *path);

#endif
