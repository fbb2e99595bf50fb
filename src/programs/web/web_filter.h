/*
 * web_filter.h - the filter of the command line (cli/filter.h) from a query or a JSON object: the same names and values,
 * "older-than" = "1h" for instance.
 */
#ifndef WEB_FILTER_H
#define WEB_FILTER_H

#include "cli/filter.h"
#include "web.h"

#define WEB_FILTER_TEXT 2048

typedef struct web_filter {
    cli_filter filter; /* points into text */
    char text[WEB_FILTER_TEXT];
    size_t used;
} web_filter;

/* Each reads all members, and refuses unknown names; a query may also have "limit" and "cursor". object: NULL for an empty
 * filter. False: the call was refused. */
bool web_filter_from_query(web_call *call, web_filter *ret);
bool web_filter_from_object(web_call *call, const cJSON *object, web_filter *ret);

/* Puts the id of a worker in the place of its name. False: the call was refused. */
bool web_filter_resolve(web_call *call, web_filter *filter);

#endif
