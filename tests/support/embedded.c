#include "support/embedded.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

reeve_status test_try_join_for(test_user *who, const char *dir, int db, int64_t ms, rv_error *error)
{
    char text[4200];
    rv_url url;
    (void)snprintf(text, sizeof(text), "embedded:%s?db=%d", dir, db);
    assert_int_equal(rv_url_parse(&url, text, NULL), REEVE_OK);
    reeve_status status = rv_embedded_join(&who->embedded, &url, &who->socket, rv_deadline(ms), error);
    rv_url_fini(&url);
    return status;
}

reeve_status test_try_join(test_user *who, const char *dir, int db, rv_error *error)
{
    return test_try_join_for(who, dir, db, TEST_JOIN_MS, error);
}

/* A zombie, which not every init takes away at once, has no program any more. */
bool test_is_alive(pid_t pid)
{
    char path[64], program[4096];
    (void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = '\0';
    return strstr(program, "redis") != NULL;
}

/* A test that fails on its way leaves a server behind. */
static pid_t servers[64];
static size_t server_count;
static pid_t owner;

static void kill_left(void)
{
    for (size_t i = 0; i < server_count && getpid() == owner; i++)
        if (test_is_alive(servers[i])) kill(servers[i], SIGKILL);
}

void test_embedded_begin(void)
{
    owner = getpid();
    (void)atexit(kill_left);
}

pid_t test_server_pid(test_user *who)
{
    const char *info = test_cmd(who->conn, "INFO server");
    const char *at = strstr(info, "process_id:");
    assert_non_null(at);
    return (pid_t)atol(at + strlen("process_id:"));
}

void test_join(test_user *who, const char *dir)
{
    rv_error error = {0};
    *who = (test_user){0};
    if (test_try_join(who, dir, 0, &error) != REEVE_OK) fail_msg("%s", error.text);
    const rv_conn_options options = {.url = &who->socket, .name = "test"};
    assert_int_equal(rv_conn_create(&who->conn, &options, NULL), REEVE_OK);
    if (rv_conn_open(who->conn, 0) != REEVE_OK) fail_msg("%s", rv_conn_error(who->conn)->text);
    if (server_count < sizeof(servers) / sizeof(servers[0])) servers[server_count++] = test_server_pid(who);
}

void test_end_session(test_user *who)
{
    rv_conn_destroy(who->conn);
    rv_embedded_leave(who->embedded);
    rv_url_fini(&who->socket);
}
