/*
 * http_deadline.h - the time by which a request must be complete. libmicrohttpd ends connections that are silent; a
 * client that sends a byte now and then would hold one for ever.
 */
#ifndef RV_WEB_HTTP_DEADLINE_H
#define RV_WEB_HTTP_DEADLINE_H

struct MHD_Connection;
typedef struct rv_http_deadline rv_http_deadline;

/* Starts a thread. NULL: no memory, or no thread. */
rv_http_deadline *rv_http_deadline_open(unsigned seconds);
void rv_http_deadline_close(rv_http_deadline *deadline); /* NULL is ignored */

/* A connection waits for a request from now on; its request is complete; it is gone. */
void rv_http_deadline_begin(rv_http_deadline *deadline, struct MHD_Connection *connection);
void rv_http_deadline_met(rv_http_deadline *deadline, struct MHD_Connection *connection);
void rv_http_deadline_end(rv_http_deadline *deadline, struct MHD_Connection *connection);

/* Cuts all connections off. */
void rv_http_deadline_cut(rv_http_deadline *deadline);

#endif
