/*
 * task_filter.h - filters (reeve/search.h): their checks, and their arguments of scripts (src/lua/lib/filter.lua).
 */
#ifndef RV_CLIENT_TASK_FILTER_H
#define RV_CLIENT_TASK_FILTER_H

#include "client/client.h"
#include "reeve/search.h"

#define RV_TASK_FILTER_NUMBERS 8

/* The numbers of a filter as text. */
typedef struct rv_task_filter_text {
    char age[24];
    char numbers[RV_TASK_FILTER_NUMBERS][24];
    size_t count;
} rv_task_filter_text;

/* Copies a program's filter, and checks all but its state. */
reeve_status rv_task_filter_read(reeve_client *client, reeve_filter *ret, const reeve_filter *given, size_t size);

/* Appends the arguments of a checked filter, from the kind on; they point to the filter and to `text`. limit: that of
 * the call; 0: none. */
void rv_task_filter_add(rv_simple_call *call, rv_task_filter_text *text, const reeve_filter *filter, uint64_t limit);

/* REEVE_EINVAL when it is no kind of error. */
reeve_status rv_task_filter_check_kind(reeve_client *client, const char *kind);

#endif
