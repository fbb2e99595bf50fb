#include "protocol/crash_list.h"

#include <string.h>

static void add_key(rv_conn *conn, const char *ns)
{
    rv_arg2(conn, ns, strlen(ns), ":crashes", 8);
}

void rv_crash_list_add(rv_conn *conn, const char *ns, const char *json, size_t length)
{
    rv_cmd(conn, 3);
    rv_args(conn, "LPUSH");
    add_key(conn, ns);
    rv_arg(conn, json, length);
    rv_cmd(conn, 4);
    rv_args(conn, "LTRIM");
    add_key(conn, ns);
    rv_argi(conn, 0);
    rv_argi(conn, RV_CRASH_LIST_MAX - 1);
}

void rv_crash_list_read(rv_conn *conn, const char *ns)
{
    rv_cmd(conn, 4);
    rv_args(conn, "LRANGE");
    add_key(conn, ns);
    rv_argi(conn, 0);
    rv_argi(conn, -1);
}
