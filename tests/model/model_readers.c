/*
 * Who may read the records of completed tasks, which are kept until then (lib/readers.lua, lib/reads.lua). A number
 * is that of the message that registered the edge, 0 in the same queue; it is completed_extra as one more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_dependencies.h"
#include "model/model_look.h"

static model_parent *parent_of(int handle)
{
    return &model.queues[QUEUE_OF(handle)].parents[ID_OF(handle)];
}

static model_task *task_of(int handle)
{
    return model_task_of(QUEUE_OF(handle), ID_OF(handle));
}

/* ---- what happens ---------------------------------------------------------------------------------------------- */

void model_read(int child, int parent, int64_t number)
{
    task_of(child)->reads[parent] = 1 + number;
    COVER(READ_EDGE);
}

void model_add_reader(int parent, int child, int64_t number)
{
    model_parent *p = parent_of(parent);
    if (p->readers[child] < 1 + number) p->readers[child] = 1 + number;
    p->read = true;
}

bool model_is_to_be_read(int queue, int id)
{
    return id < IDS && (model.queues[queue].parents[id].read || model.queues[queue].parents[id].linked);
}

void model_retain(int queue, model_task *task)
{
    int id = model_slot(queue, task);
    task->counted = 0;
    model_enter(task, RETAINED);
    model.queues[queue].parents[id].read = true;
    COVER(READ_RETAINED);
}

static bool has_others(const model_parent *p)
{
    for (int child = 0; child < HANDLES; child++)
        if (p->readers[child]) return true;
    return p->guards > 0;
}

static bool has_readers(const model_parent *p)
{
    return p->own_ms || p->own || has_others(p);
}

bool model_has_readers(int queue, int id)
{
    return id < IDS && has_others(&model.queues[queue].parents[id]);
}

void model_keep_own(int queue, int id, int64_t keep_ms)
{
    if (id >= IDS) return;
    model.queues[queue].parents[id].own_ms = model.now_ms + keep_ms;
    model.queues[queue].parents[id].read = true;
    COVER(KEEP_OWN);
}

/* The first whose own time is over; -1: none. */
static int first_own(int queue)
{
    int first = -1;
    for (int id = 0; id < IDS; id++) {
        int64_t own_ms = model.queues[queue].parents[id].own_ms;
        if (!own_ms || own_ms > model.now_ms) continue;
        int64_t min = first < 0 ? LATEST : model.queues[queue].parents[first].own_ms;
        if (own_ms < min || (own_ms == min && model_is_before(id, first))) first = id;
    }
    return first;
}

int model_drop_own(int queue, int max, bool *ret_more)
{
    enum { HELD_MAX = 8 };
    int count = 0, limit = max < HELD_MAX ? max : HELD_MAX;
    for (int id; count < limit && (id = first_own(queue)) >= 0; count++) {
        model_parent *p = &model.queues[queue].parents[id];
        model_task *task = model_task_of(queue, id);
        p->own_ms = 0;
        if (!has_readers(p)) p->read = false;
        if (task->state == COMPLETED) COVER(KEEP_OWN_SHORT);
        if (task->state == RETAINED && !p->read) COVER(KEEP_OWN_LONG);
        if (task->state == COMPLETED && task->at_ms > model.queues[queue].unrecorded_ms)
            model.queues[queue].unrecorded_ms = task->at_ms;
        if (task->state == COMPLETED) model_drop_early(queue, task);
        if (task->state == RETAINED && !p->read) model_forget(task);
    }
    if (count == limit) *ret_more = true;
    return count;
}

void model_let_go(int parent)
{
    model_parent *p = parent_of(parent);
    if (has_readers(p)) return;
    p->read = false;
    if (task_of(parent)->state != RETAINED) return;
    model_forget(task_of(parent));
    COVER(READ_LET_GO);
}

void model_drop_readers(int queue, int id)
{
    if (id >= IDS || !model.queues[queue].parents[id].read) return;
    model_parent *p = &model.queues[queue].parents[id];
    memset(p->readers, 0, sizeof(p->readers));
    p->guards = 0;
    p->own_ms = 0;
    p->read = false;
    for (int i = 0; i < model.queues[queue].fan_count; i++)
        if (model.queues[queue].fans[i].id == id) model.queues[queue].fans[i].guards = false;
    COVER(READ_DROPPED);
}

static void leave(int child, int parent, int64_t number)
{
    if (QUEUE_OF(parent) != QUEUE_OF(child)) {
        model_send(QUEUE_OF(child), 'D', "%s %s %lld", model_handle(child), model_handle(parent), (long long)number);
    } else if (parent_of(parent)->readers[child]) {
        parent_of(parent)->readers[child] = 0;
        model_let_go(parent);
    }
}

void model_unread(int child, int parent)
{
    int64_t number = task_of(child)->reads[parent] - 1;
    if (number < 0) return;
    task_of(child)->reads[parent] = 0;
    leave(child, parent, number);
}

void model_release(int queue, int id)
{
    for (int parent = 0; parent < OPEN && id < IDS; parent++) model_unread(HANDLE(queue, id), parent);
}

void model_heard(int child, int parent, int64_t number)
{
    if (number <= 0 || task_of(child)->reads[parent] == 1 + number) return;
    leave(child, parent, number);
    COVER(READ_NOT);
}

void model_reader_leaves(int parent, int child, int64_t number)
{
    model_parent *p = parent_of(parent);
    if (!p->readers[child] || p->readers[child] > 1 + number) return;
    p->readers[child] = 0;
    model_let_go(parent);
    COVER(READ_LEFT);
}

/* ---- Redis as it is -------------------------------------------------------------------------------------------- */

/* With HANDLES: "#<n>" of a fan. */
static void read_numbers(int queue, const char *key, const rv_reply *found, int64_t numbers[HANDLES], int *ret_guards,
                         bool *ret_own)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        const char *name = found->items[i]->text;
        int handle = model_handle_of(name);
        if (handle >= 0 && handle < HANDLES)
            numbers[handle] = 1 + (int64_t)strtod(found->items[i + 1]->text, NULL);
        else if (ret_guards && *name == '#')
            ++*ret_guards;
        else if (ret_guards && *name == '@')
            *ret_own = true;
        else
            model_stray(queue, key, name);
    }
}

void model_read_reads_of(int queue, const char *rest, const rv_reply *found)
{
    int id = model_id_of(rest);
    if (id < 0 || id >= IDS) model_stray(queue, "reads:", rest);
    if (id >= 0 && id < IDS) read_numbers(queue, rest, found, model_now_seen.queues[queue].tasks[id].reads, NULL, NULL);
}

void model_read_readers_of(int queue, const char *rest, const rv_reply *found)
{
    int id = model_id_of(rest);
    if (id < 0 || id >= IDS) model_stray(queue, "readers:", rest);
    if (id < 0 || id >= IDS) return;
    model_parent *p = &model_now_seen.queues[queue].parents[id];
    read_numbers(queue, rest, found, p->readers, &p->guards, &p->own);
}

void model_read_keep_until(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0 || id >= IDS) model_stray(queue, rest, found->items[i]->text);
        if (id >= 0 && id < IDS)
            model_now_seen.queues[queue].parents[id].own_ms = (int64_t)strtod(found->items[i + 1]->text, NULL);
    }
}

void model_read_read(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i < found->count; i++) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0 || id >= IDS) model_stray(queue, rest, found->items[i]->text);
        if (id >= 0 && id < IDS) model_now_seen.queues[queue].parents[id].read = true;
    }
}

/* Returns how many it reads. */
static int check_reads(int queue, int id, const model_seen_task *seen)
{
    const model_task *task = model_task_of(queue, id);
    int count = 0;
    for (int parent = 0; parent < HANDLES; parent++) {
        count += seen->reads[parent] != 0;
        if (seen->reads[parent] != task->reads[parent])
            model_differ("%s reads %s by %lld, not %lld", model_handle(HANDLE(queue, id)), model_handle(parent),
                         (long long)seen->reads[parent], (long long)task->reads[parent]);
        if (task->reads[parent] && (task->state == NONE || task->state >= COMPLETED))
            model_differ("%s has ended, and reads %s", model_handle(HANDLE(queue, id)), model_handle(parent));
    }
    return count;
}

static void check_readers(int queue, int id, const model_parent *seen)
{
    const model_parent *parent = &model.queues[queue].parents[id];
    const model_task *task = model_task_of(queue, id);
    const char *name = model_handle(HANDLE(queue, id));
    for (int child = 0; child < HANDLES; child++) {
        if (seen->readers[child] != parent->readers[child])
            model_differ("%s is read by %s by %lld, not %lld", name, model_handle(child),
                         (long long)seen->readers[child], (long long)parent->readers[child]);
        if (parent->readers[child] && QUEUE_OF(child) == queue && !task_of(child)->reads[HANDLE(queue, id)])
            model_differ("%s is read by %s, which does not", name, model_handle(child));
    }
    if (seen->own_ms != parent->own_ms)
        model_differ("%s is kept until %lld, not %lld", name, (long long)seen->own_ms, (long long)parent->own_ms);
    if (seen->own != (seen->own_ms > 0)) model_differ("%s is kept for its own time, or is not", name);
    if (seen->guards != parent->guards) model_differ("%s has %d fans, not %d", name, seen->guards, parent->guards);
    if (seen->read != parent->read || seen->read != has_readers(seen)) model_differ("%s is read, or is not", name);
    if (seen->read && task->state != COMPLETED && task->state != RETAINED)
        model_differ("%s is read, and not completed", name);
    if (task->state == RETAINED && !seen->read) model_differ("%s is retained, and not read", name);
}

void model_check_readers(int queue, const model_seen_queue *seen)
{
    int count = 0;
    for (int id = 0; id < IDS; id++) {
        count += check_reads(queue, id, &seen->tasks[id]);
        check_readers(queue, id, &seen->parents[id]);
    }
    if (seen->reads != count)
        model_differ("queue %d has %d edges that are read, and says %d", queue, count, seen->reads);
}

bool model_is_read_any(int queue)
{
    for (int id = 0; id < IDS; id++) {
        const model_parent *p = &model.queues[queue].parents[id];
        bool kept = p->read || model_task_of(queue, id)->state == RETAINED;
        if (kept && (!p->own_ms || has_others(p))) return true;
        for (int parent = 0; parent < HANDLES; parent++)
            if (model_task_of(queue, id)->reads[parent]) return true;
    }
    return false;
}
