/*
 * model_look.h - what the parts of looking share: model_look.c reads all keys in one call, and each of the others knows
 * what some of them mean (model_look_tasks.c, model_look_queue.c, model_look_gate.c, model_look_kin.c).
 */
#ifndef TEST_MODEL_LOOK_H
#define TEST_MODEL_LOOK_H

#include "model/model_seen.h"

extern model_seen model_now_seen;

/* What is in a key that belongs to none of ours is a difference. */
void model_stray(int queue, const char *key, const char *member);
/* Of a hash; "" when it has no such field. */
const char *model_field(const rv_reply *found, const char *name);
/* A packet's member of `ready`, behind its '+'. */
void model_see_packet(int queue, const char *p, int64_t score);
/* Other fields are a difference. */
void model_allow(int queue, const char *key, const rv_reply *found, const char *const *names);
#define COPY(target, found, name) rv_copy_text(target, sizeof(target), model_field(found, name))

/* A key's name, its type, and who reads it: rest is what follows a name that ends with a colon, else the name. */
#define MODEL_KEYS(X)                 \
    X("tasks", "hash", tasks)         \
    X("ready", "zset", ready)         \
    X("scheduled", "zset", scheduled) \
    X("deadlines", "zset", deadlines) \
    X("events", "stream", events)     \
    X("tags", "zset", tags)           \
    X("tag:", "zset", tag)            \
    X("blocked", "zset", blocked)     \
    X("parents:", "hash", parents)    \
    X("children:", "zset", children)  \
    X("patient:", "zset", patient)    \
    X("linked", "set", linked)        \
    X("reads:", "zset", reads)        \
    X("readers:", "zset", readers)    \
    X("read", "set", read)            \
    X("retained", "zset", retained)   \
    X("fanout", "list", fanout)       \
    X("fanout:", "zset", fanout_of)   \
    X("outbox", "list", outbox)       \
    X("unread", "list", unread)       \
    X("received:", "zset", received)  \
    X("completed", "zset", completed) \
    X("dead", "zset", dead)           \
    X("cancelled", "zset", cancelled) \
    X("running:", "hash", running)    \
    X("once:", "hash", once)          \
    X("lost:", "hash", lost)          \
    X("sessions", "zset", sessions)   \
    X("info:", "hash", info)          \
    X("order", "hash", order)         \
    X("packets", "set", packets)      \
    X("packet:", "list", packet_of)   \
    X("groups", "zset", groups)       \
    X("results", "hash", results)     \
    X("bundles", "zset", bundles)     \
    X("result_sizes", "hash", sizes)  \
    X("noted", "set", noted)          \
    X("wake", "list", wake)           \
    X("idle", "list", idle)           \
    X("hand:", "list", hand)          \
    X("woken:", "set", woken)         \
    X("settings", "hash", settings)   \
    X("counters", "hash", counters)   \
    X("waiters", "zset", waiters)     \
    X("failures", "zset", kinds)      \
    X("failures:", "zset", failures)  \
    X("stats:", "hash", stats)        \
    X("unique:", "string", unique)    \
    X("heir:", "string", heir)        \
    X("parked", "zset", parked)       \
    X("parked:", "zset", parked_of)   \
    X("called:", "zset", called_of)   \
    X("holders:", "zset", holders_of) \
    X("opening", "zset", opening)     \
    X("reopening", "zset", reopening) \
    X("rates", "zset", rates)         \
    X("holds", "zset", holds)         \
    X("taken", "hash", taken)         \
    X("slots", "hash", slots)         \
    X("cron", "hash", cron)           \
    X("cron:due", "zset", cron_due)   \
    X("cron:last", "hash", cron_last) \
    X("limits", "hash", limits)       \
    X("limited", "zset", limited)     \
    X("gate", "hash", gate)

#define MODEL_KEY(name, type, function) void model_read_##function(int queue, const char *rest, const rv_reply *found);
MODEL_KEYS(MODEL_KEY)
#undef MODEL_KEY

#endif
