/*
 * http_inside.h - what the server keeps of a request besides what handlers see.
 */
#ifndef RV_WEB_HTTP_INSIDE_H
#define RV_WEB_HTTP_INSIDE_H

#include <netinet/in.h>

#include "base/buf.h"
#include "http_gone.h"
#include "http_server.h"

/* A request while it is read and answered. */
struct rv_http_inside {
    rv_http_request request;
    rv_http_server *server;
    struct MHD_Connection *connection;
    rv_buf body;
    char *answer;
    size_t answer_length;
    char peer[INET6_ADDRSTRLEN];
    rv_http_gone_watch watch;
    const char *line_end; /* of path and query, in the memory of the library, where the version follows */
    bool overlong;        /* the path and the query; the query was dropped */
    bool started;         /* its headers were read */
    bool begun;
    bool refused;
};

#endif
