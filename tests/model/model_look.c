/* Reads all that is in Redis, in one call, into what a queue's keys mean. A key that is not documented is a difference.
 */
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "support/queue.h"

/* ARGV: where envelopes are cut, then words and the types of their keys. (A call costs more than all else here, so
 * types are not asked for: a key of another type is an error.) */
static const char script[] =
    "local out, types, call = {}, {}, redis.call\n"
    "for i = 2, #ARGV, 2 do types[ARGV[i]] = ARGV[i + 1] end\n"
    "for i, key in ipairs(call('KEYS', '*')) do\n"
    "  local word = string.match(key, '^reeve:{%a}:(.+)$')\n"
    "  if not types[word] then word = string.match(word, '^%w+:') end\n"
    "  local kind, found = types[word], {}\n"
    "  if kind == 'hash' then found = call('HGETALL', key)\n"
    "  elseif kind == 'zset' then found = call('ZRANGE', key, 0, -1, 'WITHSCORES')\n"
    "  elseif kind == 'list' then found = call('LRANGE', key, 0, -1)\n"
    "  elseif kind == 'set' then found = call('SMEMBERS', key)\n"
    "  elseif kind == 'string' then found = {call('GET', key), tostring(call('PTTL', key))} end\n"
    "  if word == 'tasks' then\n"
    "    for j = 2, #found, 2 do found[j] = string.sub(found[j], 1, ARGV[1]) end\n"
    "  end\n"
    "  out[i] = {key, found}\n"
    "end\n"
    "return out\n";

static model_seen seen;
static bool is_fresh;

void model_look_again(void)
{
    is_fresh = false;
}

/* ---- tasks and where they stand -------------------------------------------------------------------------------- */

static void stray(int queue, const char *key, const char *member)
{
    model_differ("%s%s has %s, which is none of ours", model_prefix(queue), key, member);
}

static void read_tasks(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) {
            stray(queue, rest, found->items[i]->text);
            continue;
        }
        model_seen_task *task = &seen.queues[queue].tasks[id];
        task->exists = true;
        rv_copy_text(task->envelope, sizeof(task->envelope), found->items[i + 1]->text);
    }
}

static void stand(int queue, const char *name, model_state state, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) {
            stray(queue, name, found->items[i]->text);
            continue;
        }
        model_seen_task *task = &seen.queues[queue].tasks[id];
        task->places++;
        task->state = state;
        task->score = (int64_t)strtod(found->items[i + 1]->text, NULL);
    }
}

#define STANDING(name, state)                                                   \
    static void read_##name(int queue, const char *rest, const rv_reply *found) \
    {                                                                           \
        (void)rest;                                                             \
        stand(queue, #name, state, found);                                      \
    }
STANDING(ready, READY)
STANDING(parked, PARKED)
STANDING(scheduled, SCHEDULED)
STANDING(completed, COMPLETED)
STANDING(dead, DEAD)
STANDING(cancelled, CANCELLED)

static void read_waiters(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) stray(queue, rest, found->items[i]->text);
        if (id >= 0) seen.queues[queue].tasks[id].waited_ms = (int64_t)strtod(found->items[i + 1]->text, NULL);
    }
}

static int kind_of(const char *text)
{
    int kind = text[0] == 'k' ? atoi(text + 1) : 0;
    return kind >= 1 && kind <= KINDS_OF_ERRORS ? kind : -1;
}

static void read_kinds(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int kind = kind_of(found->items[i]->text);
        if (kind < 0) stray(queue, rest, found->items[i]->text);
        if (kind >= 0) seen.queues[queue].kinds_ms[kind] = (int64_t)strtod(found->items[i + 1]->text, NULL);
    }
}

static void read_failures(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) {
            stray(queue, "failures", found->items[i]->text);
            continue;
        }
        model_seen_task *task = &seen.queues[queue].tasks[id];
        task->indexed++;
        task->indexed_kind = kind_of(rest);
        task->indexed_ms = (int64_t)strtod(found->items[i + 1]->text, NULL);
    }
}

/* ---- hashes ---------------------------------------------------------------------------------------------------- */

static const char *field(const rv_reply *found, const char *name)
{
    for (size_t i = 0; i + 1 < found->count; i += 2)
        if (rv_reply_is_text(found->items[i], name)) return found->items[i + 1]->text;
    return "";
}

static void allow(int queue, const char *key, const rv_reply *found, const char *const *names)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        size_t j = 0;
        while (names[j] && !rv_reply_is_text(found->items[i], names[j])) j++;
        if (!names[j]) model_differ("%s%s has a field %s", model_prefix(queue), key, found->items[i]->text);
    }
}

static void read_info(int queue, const char *rest, const rv_reply *found)
{
    static const char *const names[] = {"failures", "crashes", "kind",   "message", "failed",
                                        "progress", "words",   "result", "place",   "history", NULL};
    int id = model_id_of(rest);
    if (id < 0) {
        stray(queue, "info", rest);
        return;
    }
    allow(queue, "info", found, names);
    model_seen_task *task = &seen.queues[queue].tasks[id];
    task->has_info = true;
    task->has_place = *field(found, "place");
    task->failures = atoi(field(found, "failures"));
    task->crashes = atoi(field(found, "crashes"));
    task->failed_ms = atoll(field(found, "failed"));
    task->progress = *field(found, "progress") ? 1 + atoi(field(found, "progress")) : 0;
    rv_copy_text(task->error, sizeof(task->error), field(found, "kind"));
    rv_copy_text(task->message, sizeof(task->message), field(found, "message"));
    rv_copy_text(task->words, sizeof(task->words), field(found, "words"));
    rv_copy_text(task->result, sizeof(task->result), field(found, "result"));
    const char *history = field(found, "history");
    task->history = *history != '\0';
    for (; *history; history++) task->history += *history == '\n';
}

static void read_leases(int queue, const char *rest, const rv_reply *found, bool lost)
{
    int session = model_session_of(rest);
    if (session < 0) {
        stray(queue, "running", rest);
        return;
    }
    model_seen_session *s = &seen.sessions[session];
    if (lost)
        s->lost = true;
    else
        s->running = true;
    rv_copy_text(s->totals, sizeof(s->totals), field(found, "#totals"));
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        const char *name = found->items[i]->text;
        int id = model_id_of(name);
        if (id < 0 && (name[0] != '#' || lost)) stray(queue, "running", name);
        if (id < 0) continue;
        model_seen_task *task = &seen.queues[queue].tasks[id];
        task->places++;
        task->state = RUNNING;
        task->session = session;
        task->lost = lost;
        rv_copy_text(task->lease, sizeof(task->lease), found->items[i + 1]->text);
    }
}

static void read_running(int queue, const char *rest, const rv_reply *found)
{
    read_leases(queue, rest, found, false);
}

static void read_lost(int queue, const char *rest, const rv_reply *found)
{
    read_leases(queue, rest, found, true);
}

static void read_sessions(int queue, const char *rest, const rv_reply *found)
{
    (void)rest;
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int session = model_session_of(found->items[i]->text);
        if (session < 0 || model.sessions[session].queue != queue) {
            stray(queue, "sessions", found->items[i]->text);
            continue;
        }
        seen.sessions[session].listed = true;
        seen.sessions[session].expiry_ms = (int64_t)strtod(found->items[i + 1]->text, NULL);
    }
}

#define COPY(target, found, name) rv_copy_text(target, sizeof(target), field(found, name))

static void read_settings(int queue, const char *rest, const rv_reply *found)
{
    static const char *const names[] = {"completed_age",
                                        "completed_count",
                                        "dead_age",
                                        "dead_count",
                                        "paused",
                                        "waiters",
                                        "large",
                                        "on_dead",
                                        "gate",
                                        "policy",
                                        "hold",
                                        "rate",
                                        "concurrency",
                                        "group_rate",
                                        "group_concurrency",
                                        NULL};
    model_seen_queue *q = &seen.queues[queue];
    allow(queue, rest, found, names);
    for (int i = 0; i < 4; i++) rv_copy_text(q->keep[i], sizeof(q->keep[i]), field(found, names[i]));
    q->paused = *field(found, "paused");
    q->waiters = *field(found, "waiters");
    q->large = *field(found, "large");
    q->on_dead = *field(found, "on_dead");
    q->policy = *field(found, "policy");
    COPY(q->gate, found, "gate");
    COPY(q->hold, found, "hold");
    COPY(q->rate, found, "rate");
    COPY(q->concurrency, found, "concurrency");
    COPY(q->group_rate, found, "group_rate");
    COPY(q->group_concurrency, found, "group_concurrency");
}

static void read_counters(int queue, const char *rest, const rv_reply *found)
{
    static const char *const names[] = {"completed", "failed", "dead", "crashed", NULL};
    allow(queue, rest, found, names);
    for (int i = 0; i < 4; i++) seen.queues[queue].counters[i] = atoi(field(found, names[i]));
}

static void read_unique(int queue, const char *rest, const rv_reply *found)
{
    int key = rest[0] == 'u' ? atoi(rest + 1) : 0, holder = model_id_of(rv_reply_at(found, 0)->text);
    if (key < 1 || key > UNIQUES || holder < 0) {
        stray(queue, "unique", rest);
        return;
    }
    seen.queues[queue].holders[key] = holder + 1;
    seen.queues[queue].left_ms[key] = atoll(rv_reply_at(found, 1)->text);
}

/* (What is in them is another matter.) */
static void read_stats(int queue, const char *rest, const rv_reply *found)
{
    (void)rest;
    seen.queues[queue].crashed += atoi(field(found, "crashed"));
}

static void read_order(int queue, const char *rest, const rv_reply *found)
{
    (void)rest;
    seen.queues[queue].grouped = *field(found, "groups");
}

static void read_groups(int queue, const char *rest, const rv_reply *found)
{
    (void)rest;
    seen.queues[queue].groups = (int)found->count / 2;
}

static void read_wake(int queue, const char *rest, const rv_reply *found)
{
    (void)rest;
    seen.queues[queue].tokens = (int)found->count;
}

/* ---- recurring entries --------------------------------------------------------------------------------------------
 */

#define BY_ENTRY(name, statement)                                                         \
    static void read_##name(int queue, const char *rest, const rv_reply *found)           \
    {                                                                                     \
        (void)rest;                                                                       \
        for (size_t i = 0; i + 1 < found->count; i += 2) {                                \
            const char *text = found->items[i]->text, *value = found->items[i + 1]->text; \
            int entry = text[0] == 'e' ? atoi(text + 1) : ENTRIES;                        \
            if (entry >= ENTRIES)                                                         \
                stray(queue, #name, text);                                                \
            else                                                                          \
                statement;                                                                \
        }                                                                                 \
    }
BY_ENTRY(cron, rv_copy_text(seen.queues[queue].entries[entry].definition, 512, value))
BY_ENTRY(cron_due, seen.queues[queue].entries[entry].due_ms = (int64_t)strtod(value, NULL))
BY_ENTRY(cron_last, seen.queues[queue].entries[entry].last = model_id_of(value) + 1)

/* ---- limits -------------------------------------------------------------------------------------------------------
 */

static int group_of(int queue, const char *key, const char *text)
{
    int group = text[0] == 'g' ? atoi(text + 1) : 0;
    if (group < 1 || group > GROUPS) stray(queue, key, text);
    return group >= 1 && group <= GROUPS ? group : 0;
}

static void read_members(int queue, const char *key, int group, const rv_reply *found, bool called)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) {
            stray(queue, key, found->items[i]->text);
            continue;
        }
        model_seen_task *task = &seen.queues[queue].tasks[id];
        if (called) {
            task->called = group;
        } else {
            task->parked = group;
            task->parked_at = (int64_t)strtod(found->items[i + 1]->text, NULL);
        }
    }
}

static void read_parked_of(int queue, const char *rest, const rv_reply *found)
{
    read_members(queue, "parked:", group_of(queue, "parked:", rest), found, false);
}

static void read_called_of(int queue, const char *rest, const rv_reply *found)
{
    read_members(queue, "called:", group_of(queue, "called:", rest), found, true);
}

#define BY_GROUP(name, statement)                                               \
    static void read_##name(int queue, const char *rest, const rv_reply *found) \
    {                                                                           \
        model_seen_queue *q = &seen.queues[queue];                              \
        (void)rest;                                                             \
        for (size_t i = 0; i + 1 < found->count; i += 2) {                      \
            int group = group_of(queue, #name, found->items[i]->text);          \
            double number = strtod(found->items[i + 1]->text, NULL);            \
            statement;                                                          \
        }                                                                       \
    }
BY_GROUP(opening, q->opening_ms[group] = (int64_t)number)
BY_GROUP(reopening, (void)number; q->reopening[group] = true)
BY_GROUP(rates, q->clocks[group] = number)
BY_GROUP(holds, q->holds_ms[group] = (int64_t)number)
BY_GROUP(taken, q->taken[group] = (int)number)

static void read_slots(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) stray(queue, rest, found->items[i]->text);
        if (id >= 0) seen.queues[queue].tasks[id].slot = group_of(queue, rest, found->items[i + 1]->text);
    }
}

static void read_limits(int queue, const char *rest, const rv_reply *found)
{
    model_seen_queue *q = &seen.queues[queue];
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        const char *name = found->items[i]->text, *value = found->items[i + 1]->text;
        int group = group_of(queue, rest, strlen(name) > 2 ? name + 2 : "");
        if (name[0] == 'c') rv_copy_text(q->own_concurrency[group], sizeof(q->own_concurrency[0]), value);
        if (name[0] == 'r') rv_copy_text(q->own_rate[group], sizeof(q->own_rate[0]), value);
        if (name[0] == 'r') q->has_own_rate[group] = true;
    }
}

static void read_gate(int queue, const char *rest, const rv_reply *found)
{
    static const char *const names[] = {"running", "tat", "opens", "counting", "again", NULL};
    model_seen_queue *q = &seen.queues[queue];
    allow(queue, rest, found, names);
    COPY(q->running, found, "running");
    q->clock = strtod(field(found, "tat"), NULL);
    q->opens_ms = atoll(field(found, "opens"));
    q->counting = *field(found, "counting");
    q->again = *field(found, "again");
}

/* ---- all keys -------------------------------------------------------------------------------------------------- */

/* A name that ends with a colon is followed by something. */
static const struct known {
    const char *name;
    const char *type;
    void (*read)(int queue, const char *rest, const rv_reply *found);
} known[] = {
    {"tasks", "hash", read_tasks},         {"ready", "zset", read_ready},         {"scheduled", "zset", read_scheduled},
    {"completed", "zset", read_completed}, {"dead", "zset", read_dead},           {"cancelled", "zset", read_cancelled},
    {"running:", "hash", read_running},    {"lost:", "hash", read_lost},          {"sessions", "zset", read_sessions},
    {"info:", "hash", read_info},          {"order", "hash", read_order},         {"groups", "zset", read_groups},
    {"wake", "list", read_wake},           {"settings", "hash", read_settings},   {"counters", "hash", read_counters},
    {"waiters", "zset", read_waiters},     {"failures", "zset", read_kinds},      {"failures:", "zset", read_failures},
    {"stats:", "hash", read_stats},        {"unique:", "string", read_unique},    {"parked", "zset", read_parked},
    {"parked:", "zset", read_parked_of},   {"called:", "zset", read_called_of},   {"opening", "zset", read_opening},
    {"reopening", "zset", read_reopening}, {"rates", "zset", read_rates},         {"holds", "zset", read_holds},
    {"taken", "hash", read_taken},         {"slots", "hash", read_slots},         {"cron", "hash", read_cron},
    {"cron:due", "zset", read_cron_due},   {"cron:last", "hash", read_cron_last}, {"limits", "hash", read_limits},
    {"gate", "hash", read_gate},
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

static bool read_key(int queue, const char *name, const rv_reply *found)
{
    for (size_t i = 0; i < KNOWN; i++) {
        size_t length = strlen(known[i].name);
        bool open = known[i].name[length - 1] == ':';
        if (open ? strncmp(name, known[i].name, length) != 0 : strcmp(name, known[i].name) != 0) continue;
        known[i].read(queue, open ? name + length : name, found);
        return true;
    }
    return false;
}

static void read_all(const rv_reply *reply)
{
    for (size_t i = 0; i < reply->count; i++) {
        const rv_reply *found = reply->items[i];
        const char *key = rv_reply_at(found, 0)->text;
        bool ours = false;
        for (int queue = 0; queue < QUEUES && !ours; queue++) {
            size_t length = strlen(model_prefix(queue));
            if (strncmp(key, model_prefix(queue), length) != 0) continue;
            ours = read_key(queue, key + length, rv_reply_at(found, 1));
        }
        if (!ours) model_differ("there is a key %s", key);
    }
}

const model_seen *model_look(void)
{
    const rv_reply *reply;
    if (is_fresh) return &seen;
    memset(&seen, 0, sizeof(seen));
    rv_cmd(test_conn, 4 + 2 * KNOWN);
    rv_args(test_conn, "EVAL");
    rv_args(test_conn, script);
    rv_args(test_conn, "0");
    rv_argi(test_conn, CUT);
    for (size_t i = 0; i < KNOWN; i++) {
        rv_args(test_conn, known[i].name);
        rv_args(test_conn, known[i].type);
    }
    if (rv_conn_call(test_conn, test_patience(), &reply) != REEVE_OK) {
        model_differ("looking: %s", rv_conn_error(test_conn)->text);
        return NULL;
    }
    read_all(reply);
    is_fresh = true;
    return &seen;
}
