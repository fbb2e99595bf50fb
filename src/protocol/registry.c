/*
 * registry.c - a worker's record in the registry: renewed with its heartbeats, removed at its end.
 */
#include "protocol/registry.h"

#include <stdio.h>
#include <string.h>

#include "protocol/format.h"
#include "protocol/keys.h"

void rv_registry_arg_key(rv_conn *conn, const char *ns, const char *id)
{
    char key[RV_NS_MAX + 128];
    snprintf(key, sizeof(key), "%s:worker:%s", ns, id);
    rv_args(conn, key);
}

void rv_registry_renew(rv_conn *conn, const char *ns, const char *id, const char *json, size_t length, int64_t ttl_ms)
{
    rv_cmd(conn, 5);
    rv_args(conn, "SET");
    rv_registry_arg_key(conn, ns, id);
    rv_arg(conn, json, length);
    rv_args(conn, "PX");
    rv_argi(conn, ttl_ms);
    rv_cmd(conn, 3);
    rv_args(conn, "SADD");
    rv_arg2(conn, ns, strlen(ns), ":workers", 8);
    rv_args(conn, id);
    rv_format_note(conn, ns);
}

void rv_registry_remove(rv_conn *conn, const char *ns, const char *id)
{
    rv_cmd(conn, 2);
    rv_args(conn, "DEL");
    rv_registry_arg_key(conn, ns, id);
    rv_cmd(conn, 3);
    rv_args(conn, "SREM");
    rv_arg2(conn, ns, strlen(ns), ":workers", 8);
    rv_args(conn, id);
}
