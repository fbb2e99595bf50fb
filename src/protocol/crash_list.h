/*
 * crash_list.h - the list <ns>:crashes: the last crashes of supervised workers and of runners, JSON, the latest first.
 */
#ifndef RV_PROTOCOL_CRASH_LIST_H
#define RV_PROTOCOL_CRASH_LIST_H

#include "redis/conn.h"

#define RV_CRASH_LIST_MAX 100

/* A crash; texts may be "". */
typedef struct rv_crash_entry {
    int64_t at_ms; /* on the wall clock */
    const char *worker;
    const char *thread;
    const char *task; /* its handle */
    const char *type;
    const char *message;
    const char *backtrace;
    unsigned crashed; /* numbers of tasks */
    unsigned settled;
    uint64_t given_back;
} rv_crash_entry;

/* Adds the commands that note a crash, and drop the oldest beyond the maximum. Without memory it adds none. */
void rv_crash_list_add(rv_conn *conn, const char *ns, const rv_crash_entry *entry);

/* Adds the command that returns the list. */
void rv_crash_list_read(rv_conn *conn, const char *ns);

#endif
