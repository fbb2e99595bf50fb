/*
 * Circuit breakers (lib/breaker.lua): their states are taken over from Redis; the model knows when each may change, and
 * what then may start. Scope 0 is the queue, any other a group.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_limit_state.h"
#include "model/model_look.h"

/* "c <since> ...", "o <ends>" or "t <ends> <id>"; "": closed, and nothing failed. */
static int64_t ends_of(const char *state)
{
    return *state == 'o' || *state == 't' ? atoll(state + 2) : 0;
}

static const char *seen_state(int queue, int scope)
{
    const model_seen *seen = model_look();
    return seen && model.queues[queue].limits.breaks[scope > 0] ? seen->queues[queue].breakers[scope] : "";
}

static int64_t *hold_of(model_limits *l, int scope)
{
    return scope ? &l->holds_ms[scope] : &l->hold_ms;
}

/* Until when nothing starts, as the turn that is being looked at found it when it leased. */
int64_t model_hold_then(int queue, int scope)
{
    model_limits *l = &model.queues[queue].limits;
    const char *before = l->breakers[scope], *after = seen_state(queue, scope);
    int64_t hold_ms = *hold_of(l, scope);
    if (strcmp(before, after) == 0 || *after == 'c') return hold_ms;
    if (*after == 't') return 0;
    if (*after == 'o') return LATEST;
    return hold_ms == ends_of(before) ? 0 : hold_ms;
}

/* One task may start then, and no other. */
bool model_tries_then(int queue, int scope)
{
    return ends_of(seen_state(queue, scope)) > 0;
}

void model_note_attempt(int queue, const model_task *task, int id, bool failed)
{
    model_limits *l = &model.queues[queue].limits;
    if (failed)
        l->failed[0] = l->failed[task->group] = true;
    else
        l->done[id] = true;
}

static void opens(model_limits *l, int scope, const char *after)
{
    if (!l->failed[scope]) model_differ("breaker %d opens, and nothing failed", scope);
    if (scope)
        COVER(BREAKER_GROUP_OPENS);
    else
        COVER(BREAKER_OPENS);
    if (*hold_of(l, scope) < ends_of(after)) *hold_of(l, scope) = ends_of(after);
}

static void tries(model_limits *l, int scope, const char *before, const char *after)
{
    int64_t ends_ms = ends_of(before);
    if (ends_ms == 0 || ends_ms > model.now_ms) model_differ("a task tries, and breaker %d was %s", scope, before);
    COVER(BREAKER_TRIES);
    if (*hold_of(l, scope) < ends_of(after)) *hold_of(l, scope) = ends_of(after);
}

static void closes(model_limits *l, int scope, const char *before)
{
    const char *id = *before == 't' ? strrchr(before, ' ') + 1 : "";
    if (!*id || model_id_of(id) < 0 || !l->done[model_id_of(id)])
        model_differ("breaker %d closes, and was %s", scope, before);
    COVER(BREAKER_CLOSES);
    if (*hold_of(l, scope) == ends_of(before)) *hold_of(l, scope) = 0;
}

void model_take_over_breakers(int queue, const model_seen_queue *seen)
{
    model_limits *l = &model.queues[queue].limits;
    for (int scope = 0; scope <= GROUPS; scope++) {
        char *before = l->breakers[scope];
        const char *after = l->breaks[scope > 0] ? seen->breakers[scope] : "";
        if (!l->breaks[scope > 0] && *seen->breakers[scope]) model_differ("there is a breaker %d", scope);
        if (strcmp(before, after) == 0) continue;
        if (*after == 'o') opens(l, scope, after);
        if (*after == 't') tries(l, scope, before, after);
        if (!*after && ends_of(before) > 0) closes(l, scope, before);
        if (*after == 'c' && ends_of(before) > 0) model_differ("breaker %d is %s, and was %s", scope, after, before);
        rv_copy_text(before, sizeof(l->breakers[0]), after);
    }
    memset(l->failed, 0, sizeof(l->failed));
    memset(l->done, 0, sizeof(l->done));
}

void model_read_breakers(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        const char *name = found->items[i]->text;
        int scope = strcmp(name, "q") == 0 ? 0 : strncmp(name, "g:g", 3) == 0 ? atoi(name + 3) : -1;
        if (scope < 0 || scope > GROUPS)
            model_stray(queue, rest, name);
        else
            rv_copy_text(model_now_seen.queues[queue].breakers[scope], sizeof(model_now_seen.queues[queue].breakers[0]),
                         found->items[i + 1]->text);
    }
}
