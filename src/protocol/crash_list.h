/*
 * crash_list.h - the list <ns>:crashes: the last crashes of supervised workers, JSON, the latest first.
 */
#ifndef RV_PROTOCOL_CRASH_LIST_H
#define RV_PROTOCOL_CRASH_LIST_H

#include "redis/conn.h"

#define RV_CRASH_LIST_MAX 100

/* Adds the commands that note a crash, and drop the oldest beyond the maximum. */
void rv_crash_list_add(rv_conn *conn, const char *ns, const char *json, size_t length);

/* Adds the command that returns the list. */
void rv_crash_list_read(rv_conn *conn, const char *ns);

#endif
