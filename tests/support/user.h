/*
 * user.h - a user of Redis, "w", whose rights a test chooses.
 */
#ifndef TEST_USER_H
#define TEST_USER_H

/* As Redis 7 makes a new user: without channels, so that no notice of its reaches anybody. */
#define TEST_USER_NO_CHANNELS "on >p ~* +@all -@dangerous resetchannels"

/* From now on it has these rights, and no others; its connections so far are closed. The password is "p". */
void test_user_set(const char *rights);
/* Where it connects. */
extern char test_user_url[512];

#endif
