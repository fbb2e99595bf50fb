/*
 * password.h - a password that is not in the URL: in a file, or told by a command. It is read for each connection, so
 * that it can change while a program runs.
 */
#ifndef RV_PASSWORD_H
#define RV_PASSWORD_H

#include "redis/url.h"

/* *ret is the caller's (rv_secret_free); NULL: the URL names neither. Runs the command until the deadline (monotonic ms) at
 * most. REEVE_OK, REEVE_ECONNECT with words, which never show a password, REEVE_ENOMEM. */
reeve_status rv_password_read(char **ret, const rv_url *url, int64_t deadline, rv_error *error);

#endif
