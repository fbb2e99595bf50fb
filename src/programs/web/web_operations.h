/*
 * web_operations.h - changes of everything that a filter selects: they run in this server, not in the browser that began
 * them. The list has the last ones, with who began them.
 */
#ifndef WEB_OPERATIONS_H
#define WEB_OPERATIONS_H

#include "web.h"

struct web_operations *web_operations_open(web_server *web);
/* Cancels those that run, and waits for them. NULL is ignored. */
void web_operations_close(struct web_operations *operations);

#endif
