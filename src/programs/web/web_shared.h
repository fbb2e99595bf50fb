/*
 * web_shared.h - answers that viewers who look at the same page share. A request whose header Cache-Control has max-age
 * and max-stale takes an answer that was read for an earlier request; how old it may be follows from what all of them
 * cost (web_pace.h). Other requests read Redis, as always, and later ones do not get an older answer.
 */
#ifndef WEB_SHARED_H
#define WEB_SHARED_H

#include "web.h"

struct web_shared *web_shared_open(void);
void web_shared_close(struct web_shared *shared); /* NULL is ignored */

/* Answers a call: by `run`, or with an answer that there is. */
void web_shared_answer(web_call *call, void (*run)(web_call *call));

/* Reads the value of a header Cache-Control. False: it does not have both max-age and max-stale. */
bool web_shared_may_be_old(const char *cache_control, int64_t *ret_interval_ms);

#endif
