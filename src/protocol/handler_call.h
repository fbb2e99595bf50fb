/*
 * handler_call.h - calls that a running handler makes for its task: progress, heartbeat, checkpoints, log, pause.
 */
#ifndef RV_PROTOCOL_HANDLER_CALL_H
#define RV_PROTOCOL_HANDLER_CALL_H

#include "base/id.h"
#include "protocol/keys.h"
#include "redis/conn.h"
#include "reeve/task.h"

/* words may be NULL. */
void rv_handler_call_progress(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id, int percent,
                              const char *words);

/* Answers 1 when the session holds the task, else 0. */
void rv_handler_call_heartbeat(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id);

void rv_handler_call_checkpoint(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id,
                                reeve_bytes data);

/* Answers the bytes, or nil. */
void rv_handler_call_last_checkpoint(rv_conn *conn, const rv_prefix *prefix, const char *id);

/* number: of the line in its lease, "<since ms> <thread>", from 1. */
void rv_handler_call_log(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *id, const char *lease,
                         unsigned number, const char *line);

/* Pauses the queue, or a group in it (NULL: the queue), for a time; never shortens a pause. */
void rv_handler_call_pause_for(rv_conn *conn, const rv_prefix *prefix, const char *group, int64_t delay_ms);

#endif
