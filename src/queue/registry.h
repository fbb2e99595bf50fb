/*
 * registry.h - the workers of a namespace: <ns>:workers (id to expiry) and <ns>:worker:<id> (JSON, with an expiry).
 */
#ifndef RV_REGISTRY_H
#define RV_REGISTRY_H

#include "redis/conn.h"

/* Adds the commands that renew a worker's entry for ttl_ms, or remove it. */
void rv_registry_renew(rv_conn *conn, const char *ns, const char *id, const char *json, size_t length, int64_t ttl_ms);
void rv_registry_remove(rv_conn *conn, const char *ns, const char *id);

#endif
