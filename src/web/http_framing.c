#include "http_framing.h"

#include <string.h>
#include <strings.h>

#define HEADERS_MAX 100

static uint64_t read_length(const char *text)
{
    uint64_t length = 0;

    if (text[0] == '\0') return UINT64_MAX;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at < '0' || *at > '9' || length > UINT64_MAX / 10 - 1) return UINT64_MAX;
        length = length * 10 + (uint64_t)(*at - '0');
    }
    return length;
}

/* A name that ends with blanks is read as another header here, and as this one elsewhere. */
static bool is_header(const char *name, const char *wanted)
{
    size_t length = strlen(wanted);

    return strncasecmp(name, wanted, length) == 0 && name[length + strspn(name + length, " \t")] == '\0';
}

void rv_http_framing_add(rv_http_framing *framing, const char *name, const char *value)
{
    framing->headers++;
    if (value == NULL) value = "";
    if (is_header(name, "Host")) {
        framing->hosts++;
    } else if (is_header(name, "Content-Length")) {
        framing->lengths++;
        framing->length = read_length(value);
    } else if (is_header(name, "Transfer-Encoding")) {
        framing->encodings++;
        framing->chunked = strcasecmp(value, "chunked") == 0;
    }
}

rv_http_framing_refusal rv_http_framing_check(const rv_http_framing *framing, size_t body_max)
{
    if (framing->headers > HEADERS_MAX) return (rv_http_framing_refusal){431, "too_big", "more than 100 headers"};
    if (framing->hosts > 1) return (rv_http_framing_refusal){400, "invalid", "more than one header Host"};
    if (framing->lengths + framing->encodings > 1)
        return (rv_http_framing_refusal){400, "invalid", "more than one length of the body"};
    if (framing->encodings > 0 && !framing->chunked)
        return (rv_http_framing_refusal){501, "invalid", "the only Transfer-Encoding is chunked"};
    if (framing->lengths > 0 && framing->length > body_max)
        return (rv_http_framing_refusal){413, "too_big", "the body is too large"};
    return (rv_http_framing_refusal){0};
}
