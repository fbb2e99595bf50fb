#include "protocol/format.h"

#include <string.h>

void rv_format_note(rv_conn *conn, const char *ns)
{
    rv_cmd(conn, 5);
    rv_args(conn, "SET");
    rv_arg2(conn, ns, strlen(ns), ":format", 7);
    rv_argi(conn, RV_FORMAT);
    rv_args(conn, "NX");
    rv_args(conn, "GET");
}
