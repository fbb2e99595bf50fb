#include "web_audit.h"

#include <stdio.h>

#include "base/log.h"

void web_audit(const web_call *call)
{
    char status[16];

    (void)snprintf(status, sizeof(status), "%u", call->http->status);
    rv_log(REEVE_LOG_INFO, "web.action", "action", "user", call->who.name, "role", web_role_name(call->who.role),
           "peer", call->http->peer, "method", call->http->method, "path", call->http->path, "status", status, "error",
           call->http->status >= 400 ? call->message : "", NULL);
}

void web_audit_words(const char *user, const char *action, const char *what, const char *outcome)
{
    rv_log(REEVE_LOG_INFO, "web.action", "action", "user", user, "action", action, "what", what, "outcome", outcome,
           NULL);
}
