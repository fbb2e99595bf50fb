/*
 * http_sent.c - what a client has sent before the body: headers, and the parameters of the query.
 */
#include <strings.h>

#include "http_inside.h"
#include "mhd.h"

const char *rv_http_server_header(const rv_http_request *request, const char *name)
{
    return rv_mhd.lookup_connection_value(request->inside->connection, MHD_HEADER_KIND, name);
}

const char *rv_http_server_query(const rv_http_request *request, const char *name)
{
    return rv_mhd.lookup_connection_value(request->inside->connection, MHD_GET_ARGUMENT_KIND, name);
}

struct header_count {
    const char *name;
    unsigned count;
};

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct header_count *to = context;

    (void)kind;
    (void)value;
    to->count += strcasecmp(name, to->name) == 0;
    return MHD_YES;
}

bool rv_http_server_header_repeats(const rv_http_request *request, const char *name)
{
    struct header_count to = {.name = name};

    (void)rv_mhd.get_connection_values(request->inside->connection, MHD_HEADER_KIND, count_header, &to);
    return to.count > 1;
}

struct each_query {
    void (*each)(void *user, const char *name, const char *value);
    void *user;
};

static enum MHD_Result show_query(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    const struct each_query *to = context;

    (void)kind;
    to->each(to->user, name, value == NULL ? "" : value);
    return MHD_YES;
}

void rv_http_server_each_query(const rv_http_request *request,
                               void (*each)(void *user, const char *name, const char *value), void *user)
{
    struct each_query to = {each, user};

    (void)rv_mhd.get_connection_values(request->inside->connection, MHD_GET_ARGUMENT_KIND, show_query, &to);
}
