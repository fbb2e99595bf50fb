/*
 * http_sent.c - what a client has sent before the body: headers, and the parameters of the query.
 */
#include "http_sent.h"

#include <string.h>
#include <strings.h>

#include "http_inside.h"

#define PARAMETERS_MAX 100
#define LINE_MAX_BYTES (16 * 1024)

static const char no_cookies[] = ""; /* its address tells it from what a client sent */

static bool is_overlong(const char *line)
{
    size_t parameters = 1;

    for (const char *at = line; *at != '\0'; at++) parameters += *at == '&';
    return parameters > PARAMETERS_MAX || strlen(line) > LINE_MAX_BYTES;
}

bool rv_http_sent_begin(struct MHD_Connection *connection, const char *line)
{
    char *query = strchr(line, '?');
    bool overlong = is_overlong(line);

    (void)rv_mhd.set_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_COOKIE, no_cookies);
    if (overlong && query != NULL) query[1] = '\0'; /* in the memory in which the library takes it apart */
    return !overlong;
}

struct each_sent {
    MHD_KeyValueIterator each;
    void *user;
};

static enum MHD_Result show_sent(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    const struct each_sent *to = context;

    return value == no_cookies ? MHD_YES : to->each(to->user, kind, name, value);
}

void rv_http_sent_each(struct MHD_Connection *connection, MHD_KeyValueIterator each, void *user)
{
    struct each_sent to = {each, user};

    (void)rv_mhd.get_connection_values(connection, MHD_HEADER_KIND, show_sent, &to);
}

/* ---- headers of a name ----------------------------------------------------------------------------------------- */

struct each_header {
    const char *name;
    bool (*each)(void *user, const char *value);
    void *user;
};

static enum MHD_Result show_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    const struct each_header *to = context;

    (void)kind;
    if (strcasecmp(name, to->name) != 0) return MHD_YES;
    return to->each(to->user, value == NULL ? "" : value) ? MHD_YES : MHD_NO;
}

void rv_http_server_each_header(const rv_http_request *request, const char *name,
                                bool (*each)(void *user, const char *value), void *user)
{
    struct each_header to = {name, each, user};

    rv_http_sent_each(request->inside->connection, show_header, &to);
}

static bool take_first(void *user, const char *value)
{
    const char **ret = user;

    *ret = value;
    return false;
}

const char *rv_http_server_header(const rv_http_request *request, const char *name)
{
    const char *value = NULL;

    rv_http_server_each_header(request, name, take_first, &value);
    return value;
}

static bool count_one(void *user, const char *value)
{
    unsigned *count = user;

    (void)value;
    ++*count;
    return true;
}

bool rv_http_server_header_repeats(const rv_http_request *request, const char *name)
{
    unsigned count = 0;

    rv_http_server_each_header(request, name, count_one, &count);
    return count > 1;
}

/* ---- the query ------------------------------------------------------------------------------------------------- */

const char *rv_http_server_query(const rv_http_request *request, const char *name)
{
    return rv_mhd.lookup_connection_value(request->inside->connection, MHD_GET_ARGUMENT_KIND, name);
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
