/*
 * web_users.h - who may do what: the users of a file with hashes of their passwords, bearer tokens, and sessions of
 * browsers. Sessions are in memory, and end with the server.
 */
#ifndef WEB_USERS_H
#define WEB_USERS_H

#include "base/error.h"
#include "web.h"

#define WEB_TOKEN_SIZE 65 /* of a session: 32 random bytes in hexadecimal */

/* Reads the files that the options name. A line of the first is "NAME:ROLE:HASH" (crypt(5)), of the second
 * "NAME:ROLE:TOKEN"; empty lines and those that begin with # are left out. Others than the owner may not read the
 * second. NULL: *error says why. */
struct web_users *web_users_open(const web_options *options, rv_error *error);
void web_users_close(struct web_users *users);

/* Reads the files again. Sessions of users who have another password now, or are not in the file any more, end; the others
 * get the role that the file has now. After an error everything stays. */
reeve_status web_users_renew(struct web_users *users, rv_error *error);

/* Checks a password. It takes as long for an unknown name. *ret_reading: for web_users_begin. The next functions return
 * false: not known. */
bool web_users_check(struct web_users *users, const char *name, const char *password, web_who *ret,
                     unsigned *ret_reading);
bool web_users_token(struct web_users *users, const char *token, web_who *ret);
bool web_users_named(struct web_users *users, const char *name, web_who *ret);

/* Whether a login from this address may be tried now: at most 10 a minute each, and 60 altogether. */
bool web_users_may_try(struct web_users *users, const char *peer);

/* Begins a session; false: no random numbers, or the files were read again since the password was checked. */
bool web_users_begin(struct web_users *users, const web_who *who, unsigned reading, char ret_token[WEB_TOKEN_SIZE]);
bool web_users_session(struct web_users *users, const char *token, web_who *ret);
void web_users_end(struct web_users *users, const char *token);

/* The token of a session in the cookies of a request; false: there is none (web_session.c). */
bool web_session_cookie(web_call *call, char ret_token[WEB_TOKEN_SIZE]);

/* --hash-password: reads a password from standard input and prints its hash. The exit status. */
int web_users_hash(void);

#endif
