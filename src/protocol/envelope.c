#include "protocol/envelope.h"

#include <string.h>

/* Moves *at past a literal, if it is next. */
static bool skip(const char **at, const char *end, const char *literal)
{
    size_t length = strlen(literal);
    if ((size_t)(end - *at) < length || memcmp(*at, literal, length) != 0) return false;
    *at += length;
    return true;
}

/* Numbers with so many digits always fit. */
#define FIGURES_SAFE 18

static bool read_long_number(const char **at, int64_t *ret)
{
    int64_t number = 0;
    while (**at >= '0' && **at <= '9' && number < INT64_MAX / 10 - 9) number = number * 10 + (*(*at)++ - '0');
    *ret = number;
    return true;
}

/* Behind the header is a newline, which ends any number. */
static bool read_number(const char **at, int64_t *ret)
{
    const char *next = *at;
    uint64_t number = 0;
    for (unsigned figure; (figure = (unsigned char)*next - (unsigned)'0') <= 9; next++) number = number * 10 + figure;
    if (next - *at > FIGURES_SAFE) return read_long_number(at, ret);
    bool good = next > *at;
    *ret = (int64_t)number;
    *at = next;
    return good;
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

/* Beyond what a number can be it is no number, and what follows no header that is plain. */
static void read_due(const char **at, const char *end, rv_envelope *ret)
{
    int64_t number;
    ret->ready_ms = ret->at_ms;
    if (skip(at, end, ",\"due\":") && read_number(at, &number)) {
        ret->ready_ms = number == 0 ? -1 : number > ret->at_ms ? number : ret->at_ms;
    } else if (skip(at, end, ",\"delay\":") && read_number(at, &number)) {
        ret->ready_ms = number < INT64_MAX - ret->at_ms ? ret->at_ms + number : INT64_MAX;
    }
}

bool rv_envelope_read(rv_envelope *ret, const char *text, size_t length)
{
    const char *newline = memchr(text, '\n', length);
    if (newline == NULL) return false;
    const char *at = text;
    ret->flagged = skip(&at, newline, "{\"info\":1,");
    if (!ret->flagged && !skip(&at, newline, "{")) return false;
    ret->cancelled = ret->flagged && skip(&at, newline, "\"cancel\":1,");
    if (!skip(&at, newline, "\"at\":") || !read_number(&at, &ret->at_ms)) return false;
    int64_t segment; /* read, and not used here */
    if (skip(&at, newline, ",\"p\":") && !read_number(&at, &segment)) return false;
    ret->deadline_ms = 0;
    if (skip(&at, newline, ",\"deadline\":") && !read_number(&at, &ret->deadline_ms)) return false;
    if (!skip(&at, newline, ",\"type\":\"") || !read_type(&at, newline, ret)) return false;
    read_due(&at, newline, ret);
    ret->plain = newline - at == 1 && *at == '}';
    ret->header = text;
    ret->header_length = (size_t)(newline - text);
    ret->payload.data = newline + 1;
    ret->payload.length = length - ret->header_length - 1;
    ret->malformed = NULL;
    return true;
}

void rv_envelope_take(rv_envelope *ret, const char *text, size_t length)
{
    if (rv_envelope_read(ret, text, length)) return;
    memset(ret, 0, sizeof(*ret));
    ret->type = "";
    ret->header = text;
    ret->header_length = length;
    ret->ready_ms = -1;
    ret->plain = true;
    ret->malformed = memchr(text, '\n', length) == NULL
                         ? "no line of it ends, so it has no header"
                         : "its header does not begin with {\"at\":<ms>,\"type\":\"<type>\"";
}

size_t rv_envelope_length(const rv_envelope *envelope)
{
    return envelope->header_length + (envelope->malformed != NULL ? 0 : 1 + envelope->payload.length);
}
