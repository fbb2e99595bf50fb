/*
 * limited_user.h - a place (queue.h) with a connection of the user "w", who has no dangerous commands and so cannot
 * give itself rights: tests take commands from this user by ACL SETUSER.
 */
#ifndef TEST_LIMITED_USER_H
#define TEST_LIMITED_USER_H

#include "redis/conn.h"

extern rv_conn *test_user_conn;

/* For groups of tests, in place of test_place_start and test_place_stop. */
int test_user_start(void **state);
int test_user_stop(void **state);

#endif
