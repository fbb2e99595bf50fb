#include "redis/refusal.h"

#include <string.h>

typedef struct code {
    const char *name;
    rv_refusal refusal;
    const char *advice;
} code;

/*
 * NODE leads to a new connection, and so to a new look-up of the endpoint: after a failover the URL's name may stand
 * for another server, while an open connection keeps the demoted one. UNBLOCKED ends a blocking command on a node that
 * is demoted, NOAUTH answers a connection that has lost its user.
 */
static const code codes[] = {
    {"READONLY", RV_REFUSAL_NODE, "; this server is a replica: the URL has to lead to the master"},
    {"MASTERDOWN", RV_REFUSAL_NODE, "; this server is a replica without its master: the URL has to lead to the master"},
    {"LOADING", RV_REFUSAL_NODE, "; Redis serves again when its data are loaded"},
    {"NOREPLICAS", RV_REFUSAL_NODE,
     "; fewer replicas are connected than min-replicas-to-write demands: connect them, or lower it"},
    {"CLUSTERDOWN", RV_REFUSAL_NODE, "; the cluster has lost nodes: see CLUSTER INFO"},
    {"MISCONF", RV_REFUSAL_NODE,
     "; Redis cannot write to its disk and takes nothing meanwhile: make room there, see its log and INFO persistence"},
    {"UNBLOCKED", RV_REFUSAL_NODE, ""},
    {"NOAUTH", RV_REFUSAL_NODE, "; put the password into the URL, as in redis://:password@host"},
    {"BUSY", RV_REFUSAL_BUSY, "; another script runs for too long: see SCRIPT KILL"},
    {"TRYAGAIN", RV_REFUSAL_BUSY, ""},
    {"MOVED", RV_REFUSAL_OTHER,
     "; this server is a node of a Redis Cluster: the URL has to begin with redis-cluster:// instead of redis://"},
    {"CROSSSLOT", RV_REFUSAL_OTHER,
     "; this is a node of a Redis Cluster, where one call cannot use queues of different hash slots: connect with a "
     "redis-cluster:// URL"},
    {"OOM", RV_REFUSAL_OTHER, "; Redis's memory is full: raise maxmemory, or keep fewer tasks"},
    {"WRONGTYPE", RV_REFUSAL_OTHER, "; another program wrote this key: move it away with RENAME"},
    {"WRONGPASS", RV_REFUSAL_DENIED, "; the URL has a wrong user or password"},
    {"NOPERM", RV_REFUSAL_DENIED, "; grant this user the command, reeve's keys and channels with ACL SETUSER"},
};

/* Redis 7 reports the error of a command inside a script with the code ERR. */
#define DENIED_IN_SCRIPT "ERR The user executing the script can't"

static const code *find(const char *text)
{
    static const code denied = {"", RV_REFUSAL_DENIED,
                                "; grant this user the command, reeve's keys and channels with ACL SETUSER"};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        size_t length = strlen(codes[i].name);
        if (strncmp(text, codes[i].name, length) == 0 && (text[length] == ' ' || text[length] == '\0'))
            return &codes[i];
    }
    return strncmp(text, DENIED_IN_SCRIPT, sizeof(DENIED_IN_SCRIPT) - 1) == 0 ? &denied : NULL;
}

rv_refusal rv_refusal_of_text(const char *text)
{
    const code *known = find(text);
    return known ? known->refusal : RV_REFUSAL_OTHER;
}

rv_refusal rv_refusal_of(const rv_reply *reply)
{
    return rv_reply_is(reply, RV_ERROR) ? rv_refusal_of_text(reply->text) : RV_REFUSAL_NONE;
}

bool rv_refusal_passes(rv_refusal refusal)
{
    return refusal == RV_REFUSAL_NODE || refusal == RV_REFUSAL_BUSY;
}

const char *rv_refusal_advice(const char *text)
{
    const code *known = find(text);
    return known ? known->advice : "";
}
