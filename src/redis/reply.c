#include "redis/reply.h"

#include <limits.h>
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

static bool read_number(const rv_reply *reply, int64_t *ret)
{
    if (!reply) return false;
    if (reply->type == RV_INT) {
        *ret = (int64_t)reply->number;
        return true;
    }
    if (reply->type != RV_TEXT && reply->type != RV_STATUS) return false;
    return strlen(reply->text) == reply->length && rv_parse_int(reply->text, INT64_MIN, INT64_MAX, ret);
}

int64_t rv_reply_within(const rv_reply *reply, int64_t min, int64_t max, int64_t fallback)
{
    int64_t number;
    return read_number(reply, &number) && number >= min && number <= max ? number : fallback;
}

int64_t rv_reply_int(const rv_reply *reply, int64_t fallback)
{
    return rv_reply_within(reply, -RV_REPLY_NUMBER_MAX, RV_REPLY_NUMBER_MAX, fallback);
}

unsigned rv_reply_count(const rv_reply *reply)
{
    return (unsigned)rv_reply_within(reply, 0, INT_MAX, 0);
}

uint64_t rv_reply_sum(const rv_reply *reply)
{
    return (uint64_t)rv_reply_within(reply, 0, INT64_MAX, 0);
}

bool rv_reply_is_text(const rv_reply *reply, const char *text)
{
    if (!reply || (reply->type != RV_TEXT && reply->type != RV_STATUS)) return false;
    return reply->length == strlen(text) && memcmp(reply->text, text, reply->length) == 0;
}

bool rv_reply_has_error_code(const rv_reply *reply, const char *code)
{
    size_t length = strlen(code);
    if (!rv_reply_is(reply, RV_ERROR) || reply->length < length || memcmp(reply->text, code, length) != 0) return false;
    return reply->length == length || reply->text[length] == ' ';
}
