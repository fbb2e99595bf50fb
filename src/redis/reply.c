#include "redis/reply.h"

#include <string.h>

#include "base/text.h"

const rv_reply *rv_reply_at(const rv_reply *reply, size_t index)
{
    if (!rv_reply_is(reply, RV_ARRAY) || index >= reply->count) return NULL;
    return reply->items[index];
}

bool rv_reply_is(const rv_reply *reply, rv_reply_type type)
{
    return reply && reply->type == type;
}

int64_t rv_reply_int(const rv_reply *reply, int64_t fallback)
{
    if (!reply) return fallback;
    if (reply->type == RV_INT) return (int64_t)reply->number;
    if (reply->type != RV_TEXT && reply->type != RV_STATUS) return fallback;
    if (strlen(reply->text) != reply->length) return fallback;
    int64_t number;
    return rv_parse_int(reply->text, INT64_MIN, INT64_MAX, &number) ? number : fallback;
}

bool rv_reply_is_text(const rv_reply *reply, const char *text)
{
    if (!reply || (reply->type != RV_TEXT && reply->type != RV_STATUS)) return false;
    return reply->length == strlen(text) && memcmp(reply->text, text, reply->length) == 0;
}

bool rv_error_reply_has_code(const rv_reply *reply, const char *code)
{
    size_t length = strlen(code);
    if (!rv_reply_is(reply, RV_ERROR) || reply->length < length || memcmp(reply->text, code, length) != 0) return false;
    return reply->length == length || reply->text[length] == ' ';
}
