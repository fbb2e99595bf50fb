/*
 * http_sent.h - what a client has sent before the body, as the server itself sees it.
 */
#ifndef RV_WEB_HTTP_SENT_H
#define RV_WEB_HTTP_SENT_H

#include <stdbool.h>

#include "mhd.h"

/*
 * Once the request line was read, before its query and the headers are taken apart: keeps them from filling the
 * connection's memory, which would end the request without an answer. The library needs 56 bytes for each parameter and
 * each cookie. False: the query was dropped, because it is too long, or has too many parameters. Cookies are not taken
 * apart: the library looks at the first header "Cookie" only, which becomes an empty one of the server's own; no function
 * of this header or of http_server.h shows that one.
 */
bool rv_http_sent_begin(struct MHD_Connection *connection, const char *line);

/* Calls `each` for all headers, until it returns MHD_NO. */
void rv_http_sent_each(struct MHD_Connection *connection, MHD_KeyValueIterator each, void *user);

#endif
