/*
 * tree.h - replies made by hand, for what reads replies: T("text"), N(5), NIL, E("ERR x"), A(T("a"), A(N(1))).
 * They live until the test process ends.
 */
#ifndef TEST_TREE_H
#define TEST_TREE_H

#include "redis/reply.h"

rv_reply *test_reply(rv_reply_type type, const char *text, size_t length, long long number);
rv_reply *test_reply_array(size_t count, rv_reply *const *items);

#define T(text) test_reply(RV_TEXT, text, sizeof(text) - 1, 0)
#define E(text) test_reply(RV_ERROR, text, sizeof(text) - 1, 0)
#define N(number) test_reply(RV_INT, "", 0, number)
#define NIL test_reply(RV_NIL, "", 0, 0)
#define A(...)                                                                           \
    test_reply_array(sizeof((rv_reply *[]){NULL, __VA_ARGS__}) / sizeof(rv_reply *) - 1, \
                     (rv_reply *[]){NULL, __VA_ARGS__})

#endif
