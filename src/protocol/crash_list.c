#include "protocol/crash_list.h"

#include <string.h>

#include "base/buf.h"

#define ENTRY_MAX ((size_t)64 * 1024)

static void add_key(rv_conn *conn, const char *ns)
{
    rv_arg2(conn, ns, strlen(ns), ":crashes", 8);
}

static void add_member(rv_buf *json, const char *name, const char *text)
{
    rv_buf_addf(json, ",\"%s\":", name);
    rv_buf_add_json(json, text, strlen(text));
}

static void add_entry(rv_buf *json, const rv_crash_entry *entry)
{
    rv_buf_addf(json, "{\"at\":%lld", (long long)entry->at_ms);
    add_member(json, "worker", entry->worker);
    add_member(json, "thread", entry->thread);
    add_member(json, "task", entry->task);
    add_member(json, "type", entry->type);
    add_member(json, "message", entry->message);
    add_member(json, "backtrace", entry->backtrace);
    rv_buf_addf(json, ",\"crashed\":%u,\"settled\":%u,\"given_back\":%llu}", entry->crashed, entry->settled,
                (unsigned long long)entry->given_back);
}

static void push(rv_conn *conn, const char *ns, const rv_buf *json)
{
    rv_cmd(conn, 3);
    rv_args(conn, "LPUSH");
    add_key(conn, ns);
    rv_arg(conn, json->data, json->length);
    rv_cmd(conn, 4);
    rv_args(conn, "LTRIM");
    add_key(conn, ns);
    rv_argi(conn, 0);
    rv_argi(conn, RV_CRASH_LIST_MAX - 1);
}

void rv_crash_list_add(rv_conn *conn, const char *ns, const rv_crash_entry *entry)
{
    rv_buf json;
    rv_buf_init(&json, ENTRY_MAX);
    add_entry(&json, entry);
    if (!json.failed) push(conn, ns, &json);
    rv_buf_fini(&json);
}

void rv_crash_list_read(rv_conn *conn, const char *ns)
{
    rv_cmd(conn, 4);
    rv_args(conn, "LRANGE");
    add_key(conn, ns);
    rv_argi(conn, 0);
    rv_argi(conn, -1);
}
