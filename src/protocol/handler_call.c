#include "protocol/handler_call.h"

#include <string.h>

#include "base/id.h"
#include "protocol/scripts.h"

void rv_handler_call_progress(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id, int percent,
                              const char *words)
{
    rv_cmd_script(conn, &rv_script_progress, 1, 4);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
    rv_args(conn, id);
    rv_argi(conn, percent);
    rv_args(conn, words != NULL ? words : "");
}

void rv_handler_call_heartbeat(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id)
{
    char key[RV_SESSION_LENGTH + 16] = "running:";
    strncat(key, session, sizeof(key) - strlen(key) - 1);
    rv_cmd(conn, 3);
    rv_args(conn, "HEXISTS");
    rv_arg2(conn, prefix->text, prefix->length, key, strlen(key));
    rv_args(conn, id);
}

void rv_handler_call_checkpoint(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id,
                                reeve_bytes data)
{
    rv_cmd_script(conn, &rv_script_checkpoint, 1, 3);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
    rv_args(conn, id);
    rv_arg(conn, data.data, data.length);
}

void rv_handler_call_last_checkpoint(rv_conn *conn, const rv_prefix *prefix, const char *id)
{
    char key[REEVE_ID_MAX + 8] = "info:";
    strncat(key, id, sizeof(key) - strlen(key) - 1);
    rv_cmd(conn, 3);
    rv_args(conn, "HGET");
    rv_arg2(conn, prefix->text, prefix->length, key, strlen(key));
    rv_args(conn, "checkpoint");
}

void rv_handler_call_log(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id, const char *lease,
                         unsigned number, const char *line)
{
    rv_cmd_script(conn, &rv_script_log, 1, 6);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, session);
    rv_args(conn, id);
    rv_args(conn, lease);
    rv_argi(conn, number);
    rv_args(conn, line);
    rv_argi(conn, REEVE_LOG_LINES);
}

void rv_handler_call_pause_for(rv_conn *conn, const rv_prefix *prefix, const char *group, int64_t delay_ms)
{
    rv_cmd_script(conn, &rv_script_pause_for, 1, 3);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, group != NULL ? group : "");
    rv_argi(conn, delay_ms);
    rv_args(conn, "1");
}
