/*
 * end_session_call.h - calls of end_session.lua: a session gives its tasks back and ends.
 */
#ifndef RV_PROTOCOL_END_SESSION_CALL_H
#define RV_PROTOCOL_END_SESSION_CALL_H

#include "protocol/keys.h"
#include "redis/conn.h"

/* What one call of end_session.lua hands to the next, so that groups take turns among the tasks of both; "" at
 * first. */
typedef char rv_end_session_turns[8192];

void rv_end_session_call_build(rv_conn *conn, const rv_prefix *prefix, const char *session, unsigned max);
bool rv_end_session_call_read(const rv_reply *reply, uint64_t *ret_given_back, bool *ret_more);
/* The same of calls that follow one another. */
void rv_end_session_call_build_next(rv_conn *conn, const rv_prefix *prefix, const char *session, unsigned max,
                                    const rv_end_session_turns turns);
void rv_end_session_call_read_turns(const rv_reply *reply, rv_end_session_turns ret);

#endif
