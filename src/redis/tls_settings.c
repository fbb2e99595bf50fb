#include <stdlib.h>
#include <string.h>

#include "base/layout.h"
#include "base/mem.h"
#include "redis/tls.h"

typedef struct field {
    const char *name;        /* of the URL parameter */
    const char *environment; /* the variable */
    size_t at;               /* in rv_tls_settings */
    size_t option_at;        /* in reeve_tls */
} field;

#define FIELD(member, variable)                                                           \
    {                                                                                     \
#member, variable, offsetof(rv_tls_settings, member), offsetof(reeve_tls, member) \
    }

static const field fields[] = {
    FIELD(ca, "REEVE_TLS_CA"),
    FIELD(ca_dir, "REEVE_TLS_CA_DIR"),
    FIELD(cert, "REEVE_TLS_CERT"),
    FIELD(key, "REEVE_TLS_KEY"),
    FIELD(server_name, "REEVE_TLS_SERVER_NAME"),
    FIELD(min_version, "REEVE_TLS_MIN_VERSION"),
};
#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

static char **place_of(rv_tls_settings *settings, const field *which)
{
    return (char **)(void *)((char *)settings + which->at);
}

static reeve_status fill_field(rv_tls_settings *settings, const field *which, const char *value, rv_error *error)
{
    char **place = place_of(settings, which);
    if (value == NULL || *value == '\0' || *place != NULL) return REEVE_OK;
    *place = rv_strdup(value);
    return *place != NULL ? REEVE_OK : rv_fail(error, REEVE_ENOMEM, "out of memory for the settings of TLS");
}

reeve_status rv_tls_set(rv_tls_settings *settings, const char *name, const char *value, rv_error *error)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (strcmp(fields[i].name, name) == 0) return fill_field(settings, &fields[i], value, error);
    return rv_fail(error, REEVE_EURL,
                   "the Redis URL has an unknown parameter; known are ca, ca_dir, cert, key, server_name and "
                   "min_version");
}

static const char *option_of(const reeve_tls *options, const field *which)
{
    return *(const char *const *)(const void *)((const char *)options + which->option_at);
}

reeve_status rv_tls_fill(rv_tls_settings *settings, const reeve_tls *options, rv_error *error)
{
    reeve_tls known;
    reeve_status status = RV_LAYOUT_READ(&known, options, sizeof(known), "the TLS options", error);
    if (status != REEVE_OK) return status;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        status = fill_field(settings, &fields[i], option_of(&known, &fields[i]), error);
        if (status == REEVE_OK) status = fill_field(settings, &fields[i], getenv(fields[i].environment), error);
        if (status != REEVE_OK) return status;
    }
    return REEVE_OK;
}

reeve_status rv_tls_read_required(const reeve_tls *options, bool *ret, rv_error *error)
{
    const char *variable = getenv("REEVE_TLS");
    bool is_set = variable != NULL && *variable != '\0', is_required = is_set && strcmp(variable, "required") == 0;
    if (is_set && !is_required)
        return rv_fail(error, REEVE_EINVAL, "REEVE_TLS is \"%s\"; it can be \"required\", or not set", variable);
    *ret = is_required || (options != NULL && options->required);
    return REEVE_OK;
}

void rv_tls_settings_fini(rv_tls_settings *settings)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) rv_free(*place_of(settings, &fields[i]));
    *settings = (rv_tls_settings){0};
}
