#include "protocol/regain_call.h"

#include <stdio.h>

#include "protocol/scripts.h"

void rv_regain_call_build(rv_conn *conn, const rv_prefix *prefix, const char *session, size_t count)
{
    rv_cmd_script(conn, &rv_script_regain, 1, 1 + 2 * count);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
}

void rv_regain_call_add(rv_conn *conn, const rv_lease *lease, const char *thread)
{
    char value[64];
    (void)snprintf(value, sizeof(value), "%lld %s", (long long)lease->since_ms, thread);
    rv_arg(conn, lease->id, rv_lease_id_length(lease));
    rv_args(conn, value);
}
