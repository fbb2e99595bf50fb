/*
 * web_asked.h - a change of many tasks that a request asks for, or asks to be counted: an action, and a filter.
 */
#ifndef WEB_ASKED_H
#define WEB_ASKED_H

#include "web.h"
#include "web_filter.h"

typedef struct web_asked {
    reeve_action action;
    reeve_state state;
    web_filter *filter;
    char *request;   /* the filter, as it came */
    double expected; /* the number of tasks; -1: not given */
} web_asked;

extern const char *const web_asked_actions[];

/* Reads the body of the call. False: it was refused. Then too, *ret is to be freed. */
bool web_asked_read(web_call *call, web_asked *ret);
void web_asked_free(web_asked *asked);

#endif
