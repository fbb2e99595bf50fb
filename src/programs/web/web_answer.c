/*
 * web_answer.c - what the functions of routes share: errors, parameters of queries.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/text.h"
#include "cli/cli.h"
#include "web.h"

bool web_is_queue(const char *text)
{
    return rv_valid_queue(text, strlen(text));
}

static void refuse(web_call *call, unsigned status, const char *code)
{
    cli_json json;

    if (call->out == NULL) return;
    call->http->status = status;
    rewind(call->out); /* what was written before the failure */
    cli_json_begin(&json, call->out);
    cli_json_text(&json, "error", code);
    cli_json_text(&json, "message", call->message);
    cli_json_end(&json);
}

void web_refuse(web_call *call, unsigned status, const char *code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(call->message, sizeof(call->message), format, arguments);
    va_end(arguments);
    refuse(call, status, code);
}

static unsigned status_of(reeve_status status)
{
    switch (status) {
    case REEVE_EINVAL:
    case REEVE_EUNSUPPORTED:
        return 400;
    case REEVE_ENOTFOUND:
        return 404;
    case REEVE_ETOOBIG:
        return 413;
    case REEVE_ECONNECT:
    case REEVE_ELOST:
    case REEVE_ENOMEM:
        return 503;
    case REEVE_ETIMEOUT:
        return 504;
    case REEVE_EREDIS:
    case REEVE_EPROTO:
        return 502;
    default:
        return 409;
    }
}

void web_refuse_words(web_call *call, reeve_status status, const char *words)
{
    web_refuse(call, status_of(status), cli_code_of(status), "%s",
               words == NULL || words[0] == '\0' ? reeve_status_text(status) : words);
}

void web_refuse_status(web_call *call, reeve_status status)
{
    web_refuse_words(call, status, call->client == NULL ? NULL : reeve_client_error(call->client));
}

void web_done(web_call *call)
{
    cli_json json;

    cli_json_begin(&json, call->out);
    cli_json_bool(&json, "done", true);
    cli_json_end(&json);
}

const char *web_query(web_call *call, const char *name, char *ret, size_t size)
{
    const char *value = rv_http_server_query(call->http, name);

    return value != NULL && rv_http_path_decode(ret, size, value, strlen(value)) ? ret : NULL;
}

bool web_query_number(web_call *call, const char *name, int64_t min, int64_t max, int64_t fallback, int64_t *ret)
{
    char text[32];

    *ret = fallback;
    if (rv_http_server_query(call->http, name) == NULL) return true;
    if (web_query(call, name, text, sizeof(text)) != NULL && rv_parse_int(text, min, max, ret)) return true;
    web_refuse(call, 400, "invalid", "%s: expected a whole number from %lld to %lld", name, (long long)min,
               (long long)max);
    return false;
}

bool web_query_duration(web_call *call, const char *name, int64_t fallback, int64_t *ret_ms)
{
    char text[32];

    *ret_ms = fallback;
    if (rv_http_server_query(call->http, name) == NULL) return true;
    if (web_query(call, name, text, sizeof(text)) != NULL && rv_parse_duration(text, ret_ms)) return true;
    web_refuse(call, 400, "invalid", "%s: expected a duration, %s", name, RV_DURATION_EXAMPLES);
    return false;
}
