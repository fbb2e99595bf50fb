/*
 * regain_call.h - calls of regain.lua: leases that a turn lost when it failed half way.
 */
#ifndef RV_PROTOCOL_REGAIN_CALL_H
#define RV_PROTOCOL_REGAIN_CALL_H

#include "protocol/keys.h"
#include "protocol/lease.h"
#include "redis/conn.h"

/* Before rv_regain_call_add for each of `count` tasks. */
void rv_regain_call_build(rv_conn *conn, const rv_prefix *prefix, const char *session, size_t count);
void rv_regain_call_add(rv_conn *conn, const rv_lease *lease, const char *thread);

#endif
