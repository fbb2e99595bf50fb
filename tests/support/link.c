#include "support/link.h"

#include "support/cmocka.h"

void test_link_begin(test_link *at, const char *url, const char *name, int64_t command_ms)
{
    rv_error error;
    if (rv_url_parse(&at->url, url, &error) != REEVE_OK) fail_msg("%s", error.text);
    assert_int_equal(rv_waker_init(&at->waker, NULL), REEVE_OK);
    const rv_conn_options options = {.url = &at->url, .name = name, .waker = &at->waker, .command_ms = command_ms};
    assert_int_equal(rv_conn_create(&at->conn, &options, NULL), REEVE_OK);
}

void test_link_end(test_link *at)
{
    rv_conn_destroy(at->conn);
    rv_waker_fini(&at->waker);
    rv_url_fini(&at->url);
}

void test_link_open(test_link *at)
{
    if (rv_conn_open(at->conn, 0) != REEVE_OK) fail_msg("%s", test_link_error(at));
}

const char *test_link_error(const test_link *at)
{
    return rv_conn_error(at->conn)->text;
}
