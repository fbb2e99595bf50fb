#include "protocol/partition_use.h"

#include <stdio.h>

#include "reeve/client.h"

/* What holds the key; the waiting tasks of the group, and those that run. */
enum { UNIQUE, GROUP_WAITS, GROUP_RUNS };

static void add(rv_conn *conn, const char *command, const rv_partition_use *use, const char *name, const char *rest,
                const char *member)
{
    char key[RV_PREFIX_MAX + REEVE_UNIQUE_MAX + 16];
    (void)snprintf(key, sizeof(key), "%s%s%s", use->prefix.text, name, rest);
    rv_cmd(conn, member != NULL ? 3 : 2);
    rv_args(conn, command);
    rv_args(conn, key);
    if (member != NULL) rv_args(conn, member);
}

bool rv_partition_use_matters(const rv_partition_use *use, unsigned question)
{
    return question == UNIQUE ? use->unique != NULL : use->group != NULL;
}

void rv_partition_use_build(rv_conn *conn, const rv_partition_use *use, unsigned question)
{
    char lane[REEVE_GROUP_MAX + 8];
    const char *group = use->group != NULL ? use->group : "";
    (void)snprintf(lane, sizeof(lane), "%d:%s", use->priority, group);
    switch (question) {
    case UNIQUE:
        add(conn, "EXISTS", use, "unique:", use->unique != NULL ? use->unique : "", NULL);
        break;
    case GROUP_WAITS:
        add(conn, "ZSCORE", use, "groups", "", lane);
        break;
    default:
        add(conn, "HGET", use, "group_running", "", group);
        break;
    }
}

bool rv_partition_use_read(unsigned question, const rv_reply *reply)
{
    return question == GROUP_WAITS ? rv_reply_is(reply, RV_TEXT) : rv_reply_int(reply, 0) > 0;
}
