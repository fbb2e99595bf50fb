/*
 * link.h - a connection with the URL and the waker that it borrows, for tests of the connection itself.
 */
#ifndef TEST_LINK_H
#define TEST_LINK_H

#include "redis/conn.h"

typedef struct test_link {
    rv_url url;
    rv_waker waker;
    rv_conn *conn;
} test_link;

/* Made, not opened. name may be NULL; command_ms as in rv_conn_options. */
void test_link_begin(test_link *at, const char *url, const char *name, int64_t command_ms);
void test_link_end(test_link *at);
/* Opens it, or the test fails with the words. */
void test_link_open(test_link *at);
const char *test_link_error(const test_link *at);

#endif
