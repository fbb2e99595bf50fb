/*
 * cmd.h - plain commands and their replies as text, for tests.
 */
#ifndef TEST_CMD_H
#define TEST_CMD_H

#include "redis/conn.h"

/*
 * Runs a plain command, split at blanks, and returns its reply as text: "OK", "12", "(nil)", "(error) ERR ...",
 * "[a b [c d]]". When the call itself fails: "(5) words", with the status. Valid until the eighth call after this one
 * on the same thread.
 */
const char *test_cmd(rv_conn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A reply as such text. */
const char *test_reply_text(const rv_reply *reply);

#endif
