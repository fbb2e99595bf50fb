/*
 * script.h - scripts and commands with arguments of any bytes, on test_conn.
 *
 *     assert_string_equal(TEST_SCRIPT(end_session, "reeve:{q}:", session, "100"), "[1 0]");
 */
#ifndef TEST_SCRIPT_H
#define TEST_SCRIPT_H

#include "protocol/scripts.h"

/* args: the one key, then the arguments, ended by NULL. The reply as text, as test_cmd gives it. */
const char *test_script_text(const rv_script *script, const char *const *args);
#define TEST_SCRIPT(script, ...) test_script_text(&rv_script_##script, (const char *const[]){__VA_ARGS__, NULL})

/* A command; its words may have blanks. */
const char *test_words_text(const char *const *words);
#define TEST_WORDS(...) test_words_text((const char *const[]){__VA_ARGS__, NULL})

#endif
