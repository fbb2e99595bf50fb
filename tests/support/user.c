#include "support/user.h"

#include <stdio.h>
#include <string.h>

#include "support/queue.h"

char test_user_url[512];

void test_user_set(const char *rights)
{
    (void)test_cmd(test_conn, "ACL DELUSER w");
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w %s", rights), "OK");
    (void)snprintf(test_user_url, sizeof(test_user_url), "unix://w:p@%s",
                   test_redis_url(test_redis) + strlen("unix://"));
}
