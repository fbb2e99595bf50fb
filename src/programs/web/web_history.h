/*
 * web_history.h - what the busiest queues did in the last day and month, together. It is read when somebody asks for it, by one
 * request for all, and kept for some minutes.
 */
#ifndef WEB_HISTORY_H
#define WEB_HISTORY_H

#include "web.h"

#define WEB_HISTORY_QUEUES 50

/* NULL: no memory. */
struct web_history *web_history_open(void);
void web_history_close(struct web_history *history); /* NULL is ignored; nobody asks any more */

#endif
