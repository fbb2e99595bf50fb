#include "web_audit.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

/* Record of the library's log, as a line. */
static void write_line(const reeve_log_field *fields, size_t count)
{
    const reeve_log_record record = {.level = REEVE_LOG_INFO,
                                     .time_ms = rv_wall_ms(),
                                     .event = "web.action",
                                     .message = "action",
                                     .fields = fields,
                                     .field_count = count};
    rv_buf line;

    rv_buf_init(&line, 8192);
    (void)fputs(rv_log_line(&line, &record, false), stderr);
    rv_buf_fini(&line);
}

void web_audit(const web_call *call)
{
    char status[16];

    (void)snprintf(status, sizeof(status), "%u", call->http->status);
    const reeve_log_field fields[] = {{"user", call->who.name},
                                      {"role", web_role_name(call->who.role)},
                                      {"peer", call->http->peer},
                                      {"method", call->http->method},
                                      {"path", call->http->path},
                                      {"status", status},
                                      {"error", call->http->status >= 400 ? call->message : ""}};
    write_line(fields, sizeof(fields) / sizeof(fields[0]));
}

void web_audit_words(const char *user, const char *action, const char *what, const char *outcome)
{
    const reeve_log_field fields[] = {{"user", user}, {"action", action}, {"what", what}, {"outcome", outcome}};

    write_line(fields, sizeof(fields) / sizeof(fields[0]));
}
