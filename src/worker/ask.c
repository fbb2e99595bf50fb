/*
 * ask.c - what a running task asks of Redis over its thread's connection.
 */
#include "base/clock.h"
#include "worker/thread.h"

#define OPEN_MS 1000

reeve_status rv_thread_ask(void (*build)(rv_conn *conn, const void *what), const void *what, const rv_reply **ret,
                           void *context)
{
    rv_thread *t = context;
    if (!rv_conn_is_open(t->conn) && rv_conn_open(t->conn, rv_deadline(OPEN_MS)) != REEVE_OK) return REEVE_ELOST;
    build(t->conn, what);
    reeve_status status = rv_conn_call(t->conn, 0, ret);
    return status == REEVE_OK || status == REEVE_EREDIS || status == REEVE_ENOMEM ? status : REEVE_ELOST;
}
