/*
 * why_facts.h - reads the reply of why.lua about a task or a queue.
 */
#ifndef RV_PROTOCOL_WHY_FACTS_H
#define RV_PROTOCOL_WHY_FACTS_H

#include "protocol/keys.h"
#include "redis/reply.h"
#include "reeve/client.h"

#define RV_WHY_PARENTS 10

typedef struct rv_why_parent {
    char handle[REEVE_HANDLE_MAX + 1];
    char state[16]; /* "": not known yet */
} rv_why_parent;

/* The members are those of why.lua's head. Absent numbers are -1, absent texts "", absent rates have a count of 0. */
typedef struct rv_why_facts {
    int64_t now, paused, hold, concurrency, counted, opens, live, expired;
    reeve_rate rate;
    int64_t ready, scheduled, due, blocked, parked, running;
    int64_t score, since, expires, failures, before, pending, outbox;
    bool more, is_paused;
    bool no_memory; /* something could not be read for want of it */
    int64_t group_concurrency, group_counted, group_opens, group_hold;
    reeve_rate group_rate;
    char state[16];
    char type[REEVE_TYPE_MAX + 1];
    char group[sizeof(RV_TYPE_GROUP) + REEVE_TYPE_MAX]; /* or "type:" and a type, or "key:" and a limit key */
    char head[REEVE_ID_MAX];
    char kind[REEVE_KIND_MAX + 1];
    char session[64];
    char breaker[REEVE_ID_MAX + 2], group_breaker[REEVE_ID_MAX + 2]; /* "o" or "t <id>"; "": closed */
    char worker[64];
    rv_why_parent parents[RV_WHY_PARENTS];
    size_t parent_count;
} rv_why_facts;

/* False: the reply is none of that script's. */
bool rv_why_facts_read(rv_why_facts *ret, const rv_reply *reply);

#endif
