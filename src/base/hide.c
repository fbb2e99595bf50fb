#include "base/hide.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Parameters of a URL whose values are no secrets (redis/url.c). Of all others the value is hidden. */
static const char *const harmless[] = {"db",          "ca",          "ca_dir",        "cert",         "key",
                                       "server_name", "min_version", "sentinel_user", "sentinel_tls", "password_file"};

static bool is_harmless(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        if (strlen(harmless[i]) == length && memcmp(harmless[i], name, length) == 0) return true;
    return false;
}

/* What a program reads, and the same bytes in the list of processes. */
typedef struct argument {
    const char *text;
    char *shown;
    bool hidden;
} argument;

static void hide(argument *a, const char *begin, const char *end)
{
    memset(a->shown + (begin - a->text), '*', (size_t)(end - begin));
    a->hidden = true;
}

/*
 * The password before the host. It ends at the last '@', as in redis/url.c: a password may contain '@', '/' and '?'
 * that should have been escaped. In the path of a unix socket, or with an '@' in a parameter, too much may be hidden.
 */
static void hide_password(argument *a, const char *authority)
{
    const char *at = strrchr(authority, '@');
    const char *colon = at != NULL ? memchr(authority, ':', (size_t)(at - authority)) : NULL;
    if (colon != NULL) hide(a, colon + 1, at);
}

/* "?name=value&name=value". A piece without '=' belongs to the value before it, whose '&' should have been escaped. */
static void hide_parameters(argument *a, const char *authority)
{
    bool secret = false;
    for (const char *before = strchr(authority, '?'); before != NULL && *before != '\0';) {
        const char *name = before + 1, *end = name + strcspn(name, "&");
        const char *equals = memchr(name, '=', (size_t)(end - name));
        if (equals != NULL) secret = !is_harmless(name, (size_t)(equals - name));
        if (secret) hide(a, equals != NULL ? equals + 1 : name, end);
        before = end;
    }
}

void rv_hide_passwords(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *scheme = strstr(argv[i], "://");
        if (scheme == NULL) continue;
        char *copy = strdup(argv[i]); /* kept until the program ends, if something is hidden */
        if (copy == NULL) continue;
        argument a = {.text = copy, .shown = argv[i]};
        const char *authority = copy + (scheme - argv[i]) + 3;
        hide_password(&a, authority);
        hide_parameters(&a, authority);
        if (a.hidden)
            argv[i] = copy;
        else
            free(copy);
    }
}
