#include "http_origin.h"

#include <string.h>
#include <strings.h>

/* The name in "name:port" or "[::1]:port". */
static size_t name_length(const char *host)
{
    const char *end = host[0] == '[' ? strchr(host, ']') : NULL;

    return end != NULL ? (size_t)(end - host) + 1 : strcspn(host, ":");
}

static bool is_name(const char *host, const char *name)
{
    size_t length = name_length(host);
    const char *rest = host + length;

    if (rest[0] == ':') rest += 1 + strspn(rest + 1, "0123456789");
    return rest[0] == '\0' && strlen(name) == length && strncasecmp(host, name, length) == 0;
}

static bool is_own(const rv_http_origin *request)
{
    static const char *const local[] = {"localhost", "127.0.0.1", "[::1]"};

    for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
        if (is_name(request->host, local[i])) return true;
    return request->own_host != NULL && is_name(request->host, request->own_host);
}

/* "https://host:port" names the host of the request. */
static bool same_origin(const char *origin, const char *host)
{
    const char *at = strstr(origin, "://");

    return at != NULL && strcasecmp(at + 3, host) == 0;
}

const char *rv_http_origin_refusal(const rv_http_origin *request)
{
    if (request->host == NULL) return "the header Host is missing";
    if (!request->any_host && !is_own(request)) return "the header Host has another name; see reeve web --host";
    if (!request->changes) return NULL;
    if (request->fetch_site != NULL && strcasecmp(request->fetch_site, "same-origin") != 0 &&
        strcasecmp(request->fetch_site, "none") != 0)
        return "the request comes from a page of another site";
    if (request->origin != NULL && !same_origin(request->origin, request->host))
        return "the request comes from another origin";
    return NULL;
}
