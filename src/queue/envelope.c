#include "queue/envelope.h"

#include <cjson/cJSON.h>
#include <string.h>

/* Moves *at past a literal, if it is next. */
static bool skip(const char **at, const char *end, const char *literal)
{
    size_t length = strlen(literal);
    if ((size_t)(end - *at) < length || memcmp(*at, literal, length) != 0) return false;
    *at += length;
    return true;
}

static bool read_number(const char **at, const char *end, int64_t *ret)
{
    const char *start = *at;
    int64_t number = 0;
    while (*at < end && **at >= '0' && **at <= '9' && number < INT64_MAX / 10 - 9)
        number = number * 10 + (*(*at)++ - '0');
    *ret = number;
    return *at > start;
}

/* A type has no character that JSON would escape. */
static bool read_type(const char **at, const char *end, rv_envelope *ret)
{
    const char *quote = memchr(*at, '"', (size_t)(end - *at));
    if (quote == NULL) return false;
    ret->type = *at;
    ret->type_length = (size_t)(quote - *at);
    *at = quote + 1;
    return true;
}

bool rv_envelope_read(rv_envelope *ret, const char *text, size_t length)
{
    const char *newline = memchr(text, '\n', length);
    if (newline == NULL) return false;
    const char *at = text;
    ret->marked = skip(&at, newline, "{\"info\":1,");
    if (!ret->marked && !skip(&at, newline, "{")) return false;
    if (!skip(&at, newline, "\"at\":") || !read_number(&at, newline, &ret->at_ms)) return false;
    if (!skip(&at, newline, ",\"type\":\"") || !read_type(&at, newline, ret)) return false;
    ret->plain = newline - at == 1 && *at == '}';
    ret->header = text;
    ret->header_length = (size_t)(newline - text);
    ret->payload.data = newline + 1;
    ret->payload.length = length - ret->header_length - 1;
    return true;
}

static double number_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static int64_t whole(double number)
{
    if (!(number > 0)) return 0;
    return number < 9e15 ? (int64_t)number : (int64_t)9e15;
}

static int small(double number)
{
    return number > 0 ? (int)(number < 1e9 ? number : 1e9) : 0;
}

bool rv_envelope_policy(rv_task_policy *ret, const char *header, size_t length)
{
    memset(ret, 0, sizeof(*ret));
    cJSON *json = cJSON_ParseWithLength(header, length);
    bool good = cJSON_IsObject(json);
    if (good) {
        ret->max_attempts = small(number_of(json, "attempts"));
        ret->max_crashes = small(number_of(json, "crashes"));
        ret->timeout_ms = whole(number_of(json, "timeout"));
        const cJSON *backoff = cJSON_GetObjectItemCaseSensitive(json, "backoff");
        ret->has_backoff = cJSON_IsObject(backoff);
        if (ret->has_backoff) {
            ret->backoff.shape = number_of(backoff, "shape") > 0 ? REEVE_BACKOFF_FIXED : REEVE_BACKOFF_EXPONENTIAL;
            ret->backoff.base_ms = whole(number_of(backoff, "base"));
            ret->backoff.cap_ms = whole(number_of(backoff, "cap"));
            ret->backoff.jitter = number_of(backoff, "jitter") / 1000;
        }
    }
    cJSON_Delete(json);
    return good;
}
