/*
 * registry.h - the workers of a namespace: <ns>:workers (id to expiry) and <ns>:worker:<id> (JSON, with an expiry).
 */
#ifndef RV_PROTOCOL_REGISTRY_H
#define RV_PROTOCOL_REGISTRY_H

#include "redis/conn.h"

/* Of the commands that rv_registry_renew adds, the one whose reply is 1 when the id was not there yet. */
#define RV_REGISTRY_ADDED 1
/* And the one whose reply is that of rv_format_note. */
#define RV_REGISTRY_FORMAT 2
#define RV_REGISTRY_COMMANDS 3

/* Adds the commands that renew a worker's entry for ttl_ms, or remove it. */
void rv_registry_renew(rv_conn *conn, const char *ns, const char *id, const char *json, size_t length, int64_t ttl_ms);
void rv_registry_remove(rv_conn *conn, const char *ns, const char *id);

/* Adds the name of a worker's record as an argument. */
void rv_registry_arg_key(rv_conn *conn, const char *ns, const char *id);

#endif
