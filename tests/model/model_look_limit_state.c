/* Limits: what is parked and called, and what is counted. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_limit_state.h"
#include "model/model_look.h"

static int group_of(int queue, const char *key, const char *text)
{
    int group = model_key_of(text);
    if (group == 0) model_stray(queue, key, text);
    return group;
}

static void read_members(int queue, const char *key, int group, const rv_reply *found, bool called)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) {
            model_stray(queue, key, found->items[i]->text);
            continue;
        }
        model_seen_task *task = &model_now_seen.queues[queue].tasks[id];
        if (called) {
            task->called = group;
        } else {
            task->parked = group;
            task->parked_at = (int64_t)strtod(found->items[i + 1]->text, NULL);
        }
    }
}

void model_read_parked_of(int queue, const char *rest, const rv_reply *found)
{
    read_members(queue, "parked:", group_of(queue, "parked:", rest), found, false);
}

void model_read_unparked_of(int queue, const char *rest, const rv_reply *found)
{
    read_members(queue, "unparked:", group_of(queue, "unparked:", rest), found, true);
}

/* Some of these need not be parked any more. */
void model_read_parked_first_of(int queue, const char *rest, const rv_reply *found)
{
    int group = group_of(queue, "parked_first:", rest);
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) model_stray(queue, "parked_first:", found->items[i]->text);
        if (id >= 0) model_now_seen.queues[queue].tasks[id].holder = group;
    }
    model_now_seen.queues[queue].holds_up[group] = true;
}

#define BY_GROUP(name, statement)                                              \
    void model_read_##name(int queue, const char *rest, const rv_reply *found) \
    {                                                                          \
        model_seen_queue *q = &model_now_seen.queues[queue];                   \
        (void)rest;                                                            \
        for (size_t i = 0; i + 1 < found->count; i += 2) {                     \
            int group = group_of(queue, #name, found->items[i]->text);         \
            double number = strtod(found->items[i + 1]->text, NULL);           \
            statement;                                                         \
        }                                                                      \
    }
BY_GROUP(limit_due, q->limit_due_ms[group] = (int64_t)number)
BY_GROUP(limit_dirty, (void)number; q->limit_dirty[group] = true)
BY_GROUP(rates, q->clocks[group] = number)
BY_GROUP(paused_groups, q->holds_ms[group] = (int64_t)number)
BY_GROUP(limited, (void)number; q->limited[group] = true)
BY_GROUP(group_running, q->taken[group] = (int)number)

void model_read_running_group(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) model_stray(queue, rest, found->items[i]->text);
        /* A zero byte is between two. */
        const char *record = found->items[i + 1]->text, *end = record + found->items[i + 1]->length;
        for (; id >= 0 && record < end; record += strlen(record) + 1) {
            model_seen_task *task = &model_now_seen.queues[queue].tasks[id];
            int key = group_of(queue, rest, record);
            if (model_is_limit_key(key))
                task->key_slots |= MODEL_KEY_BIT(key);
            else
                *(key > GROUPS ? &task->type_slot : &task->slot) = key;
        }
    }
}

void model_read_limits(int queue, const char *rest, const rv_reply *found)
{
    model_seen_queue *q = &model_now_seen.queues[queue];
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        const char *name = found->items[i]->text, *value = found->items[i + 1]->text;
        int group = group_of(queue, rest, strlen(name) > 2 ? name + 2 : "");
        if (name[0] == 'c') rv_copy_text(q->own_concurrency[group], sizeof(q->own_concurrency[0]), value);
        if (name[0] == 'r') rv_copy_text(q->own_rate[group], sizeof(q->own_rate[0]), value);
        if (name[0] == 's') rv_copy_text(q->own_strict[group], sizeof(q->own_strict[0]), value);
        if (name[0] == 'r') q->has_own_rate[group] = true;
    }
}

void model_read_limit_state(int queue, const char *rest, const rv_reply *found)
{
    static const char *const names[] = {"running", "tat", "opens", "counting", "again", "debt", NULL};
    model_seen_queue *q = &model_now_seen.queues[queue];
    model_allow(queue, rest, found, names);
    COPY(q->running, found, "running");
    COPY(q->debt, found, "debt");
    q->clock = strtod(model_field(found, "tat"), NULL);
    q->opens_ms = atoll(model_field(found, "opens"));
    q->counting = *model_field(found, "counting");
    q->again = *model_field(found, "again");
}
