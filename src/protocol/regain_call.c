#include "protocol/regain_call.h"

#include <stdio.h>

#include "protocol/scripts.h"

void rv_regain_call_build(rv_conn *conn, const rv_prefix *prefix, const char *session, size_t count)
{
    rv_cmd_script(conn, &rv_script_regain, 1, 1 + 2 * count);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
}

void rv_regain_call_add(rv_conn *conn, const char *id, int64_t since_ms, const char *thread)
{
    char lease[64];
    (void)snprintf(lease, sizeof(lease), "%lld %s", (long long)since_ms, thread);
    rv_args(conn, id);
    rv_args(conn, lease);
}
