/* Edges are added to waiting tasks, and taken from them. */
#include <stdio.h>

#include "model/model_dependencies.h"
#include "support/queue.h"

enum { QUEUE, ID, EDGES, FLAGS, REMOVES };
enum { TWICE = 1, SIGNALS = 2 };

void model_depend_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[ID] = model_choose_id();
    for (int i = 0; i < IDS && model_chance(8) > 0; i++) {
        model_state state = model_task_of(arg[QUEUE], arg[ID])->state;
        if (model_waits(state)) break;
        arg[ID] = (arg[ID] + 1) % IDS;
    }
    arg[EDGES] = model_choose_edges();
    arg[FLAGS] = CHOOSE(0, 0, TWICE);
    arg[REMOVES] = model_chance(3) == 0;
    if (arg[REMOVES]) arg[FLAGS] |= CHOOSE(0, SIGNALS);
    if (!arg[REMOVES]) return;
    /* Some that are there. */
    const model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    for (int parent = 0, edges = 0; parent <= OPEN && edges < EDGE_BASE * EDGE_BASE; parent++) {
        if (!task->edges[parent].policy || model_chance(3) == 0) continue;
        edges = edges * EDGE_BASE + EDGE(0, parent);
        arg[EDGES] = edges;
    }
}

static bool waits(const model_task *task)
{
    return model_waits(task->state);
}

/* What it waited for before it was let go is forgotten, where that had not ended. */
void model_forget_open_edges(int queue, int id)
{
    model_task *task = model_task_of(queue, id);
    model_leave_parents(queue, task);
    for (int parent = 0; parent <= OPEN; parent++) {
        if (task->edges[parent].how == '-') COVER(DEPENDENCY_EDGE_FORGOTTEN);
        if (task->edges[parent].how == '-') task->edges[parent] = (model_edge){0};
    }
}

static void block(model_task *task)
{
    int64_t due = task->state == SCHEDULED ? task->at_ms : 0;
    model_move(task, BLOCKED, model.now_ms);
    model_note(task);
    task->due_ms = due;
    COVER(DEPENDENCY_BLOCKED_BY_HAND);
}

static void release(int queue, int id)
{
    COVER(DEPENDENCY_RELEASED);
    if (model_task_of(queue, id)->for_death)
        model_not_needed(queue, id);
    else
        model_unblock(queue, id);
}

static void add(int queue, int id, const model_edge_sent *edges, int count)
{
    model_states states = {0};
    model_task *task = model_task_of(queue, id);
    if (task->state != BLOCKED) model_forget_open_edges(queue, id);
    if (count > 0) task->flagged = true;
    model_attached now = model_attach(queue, id, edges, count, &states, false);
    if (now.pending > 0 && task->state != BLOCKED) block(task);
    if (now.pending > 0) task->waits = true;
    task->pending += now.pending;
    if (now.pending < 0 && task->pending == 0 && !now.died) release(queue, id);
    if (!now.died) return;
    if (now.decides == 'x') {
        model_unlink(queue, task);
        model_unblock(queue, id);
    } else {
        model_die_of(queue, id, now.died - 1, (int)now.how);
    }
}

static void remove_some(int queue, int id, const model_edge_sent *edges, int count)
{
    model_task *task = model_task_of(queue, id);
    int before = task->pending;
    for (int i = 0; i < count; i++) model_remove_edge(queue, id, edges[i].parent);
    if (task->pending > 0 || task->pending == before) return;
    release(queue, id);
}

static bool any_for_death(const model_edge_sent *edges, int count)
{
    for (int i = 0; i < count; i++)
        if (edges[i].policy == 'x') return true;
    return false;
}

static void depend(const int arg[ARGS], const model_edge_sent *edges, int count)
{
    model_begin(&rv_script_depend);
    model_key(arg[QUEUE]);
    model_arg_text(arg[REMOVES] ? "remove" : "add");
    model_arg_text(model_id(arg[ID]));
    for (int i = 0; i < count; i++) {
        model_arg_text(model_handle(edges[i].parent));
        if (!arg[REMOVES]) model_arg_text(model_edge_word(&edges[i]));
    }
    const rv_reply *reply = model_call();
    if (!reply) return;
    const model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    bool may = waits(task);
    char unknown[32];
    if (!arg[REMOVES] && task->state != BLOCKED && any_for_death(edges, count)) may = false;
    const char *expected = may ? "ok" : model_state_names[task->state];
    int missing = may && !arg[REMOVES] ? model_missing_parent(arg[QUEUE], edges, count, NULL) : -1;
    if (missing >= 0) {
        (void)snprintf(unknown, sizeof(unknown), "unknown %s", model_id(missing));
        expected = unknown;
        may = false;
        COVER(DEPENDENCY_MISSING);
    }
    if (!rv_reply_is_text(reply, expected))
        model_differ("depend says %s, not \"%s\"", test_reply_text(reply), expected);
    if (!may && missing < 0) COVER(DEPENDENCY_NOT_WAITING);
    if (may && !arg[REMOVES]) add(arg[QUEUE], arg[ID], edges, count);
    if (may && arg[REMOVES] && task->state == BLOCKED) remove_some(arg[QUEUE], arg[ID], edges, count);
}

/* The signal comes for which the task waits. */
static void send_signal(const int arg[ARGS])
{
    const model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    const model_edge_sent edge = {.parent = OPEN};
    if (waits(task) && (task->state != BLOCKED || !task->edges[OPEN].policy)) return;
    const rv_reply *reply = CALL(signal, arg[QUEUE], model_id(arg[ID]), "s", "data");
    if (!reply) return;
    const char *expected = waits(task) ? "ok" : model_state_names[task->state];
    if (!rv_reply_is_text(reply, expected))
        model_differ("signal says %s, not \"%s\"", test_reply_text(reply), expected);
    if (!waits(task)) return;
    COVER(DEPENDENCY_SIGNAL);
    remove_some(arg[QUEUE], arg[ID], &edge, 1);
}

void model_depend(const int arg[ARGS])
{
    if (arg[REMOVES] && arg[FLAGS] & SIGNALS) {
        for (int i = 0; i <= (arg[FLAGS] & TWICE); i++) send_signal(arg);
        return;
    }
    model_edge_sent edges[EDGES_SENT];
    int count = model_edges_of(arg[EDGES], HANDLE(arg[QUEUE], arg[ID]), edges);
    for (int i = 0; i <= (arg[FLAGS] & TWICE) && count > 0; i++) depend(arg, edges, count);
}
