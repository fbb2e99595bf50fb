#include "support/limited_user.h"

#include <stdio.h>
#include <string.h>

#include "support/queue.h"

rv_conn *test_user_conn;

int test_user_start(void **state)
{
    if (test_place_start(state) != 0) return -1;
    static rv_url url;
    char text[512];
    rv_error error;
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w on >p ~reeve:* &* +@all -@dangerous +info"), "OK");
    (void)snprintf(text, sizeof(text), "unix://w:p@%s", test_redis_url(test_redis) + strlen("unix://"));
    assert_int_equal(rv_url_parse(&url, text, &error), REEVE_OK);
    const rv_conn_options options = {.url = &url, .name = "w", .command_ms = 60000};
    assert_int_equal(rv_conn_create(&test_user_conn, &options, &error), REEVE_OK);
    if (rv_conn_open(test_user_conn, test_patience()) != REEVE_OK) fail_msg("%s", rv_conn_error(test_user_conn)->text);
    return 0;
}

int test_user_stop(void **state)
{
    rv_conn_destroy(test_user_conn);
    return test_place_stop(state);
}
