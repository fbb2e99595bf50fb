/* A handler lets its task wait for others: those that it has just chained, or older ones. */
#include <stdio.h>
#include <string.h>

#include "model/model_enqueue.h"
#include "model/model_limit_state.h"
#include "model/model_turn.h"
#include "support/queue.h"

enum { HAND, BELIEF, EDGES, CHAINED /* + 1; 0: none */, FLAGS };
enum { TWICE = 1 };

void model_block_make(int arg[ARGS])
{
    arg[HAND] = model_choose_hand(0);
    arg[BELIEF] = (int)model_chance(4);
    arg[EDGES] = model_choose_edges();
    arg[CHAINED] = model_chance(2) ? 1 + model_choose_id() : 0;
    arg[FLAGS] = CHOOSE(0, 0, TWICE);
}

/* The parents, by the rules that there are, and the chained task. */
static int edges_of(const int arg[ARGS], const model_belief *belief, model_edge_sent edges[EDGES_SENT])
{
    int child = HANDLE(belief->queue, belief->id), kept = 0;
    int count = belief->id < IDS ? model_edges_of(arg[EDGES], child, edges) : 0;
    for (int i = 0; i < count; i++) {
        if (edges[i].parent == OPEN) continue;
        edges[kept] = edges[i];
        edges[kept].mode = '\0';
        if (edges[kept].policy == 'x') edges[kept].policy = 'f';
        kept++;
    }
    int chained = HANDLE(belief->queue, arg[CHAINED] - 1);
    if (kept == EDGES_SENT || arg[CHAINED] == 0 || belief->id >= IDS || !model_may_be_parent(chained, child))
        return kept;
    for (int i = 0; i < kept; i++)
        if (edges[i].parent == chained) return kept;
    edges[kept++] = (model_edge_sent){.parent = chained, .policy = 'g'};
    return kept;
}

static void end_cancelled(int queue, model_task *task)
{
    COVER(BLOCK_CANCELLED);
    model_end(queue, task, CANCELLED);
    if (task->state != NONE) (void)model_trim_count(queue, CANCELLED, 16);
    model_tell_ended(queue, model_slot(queue, task), CANCELLED);
}

static void block(int queue, int id, const model_incoming *chained, const model_edge_sent *edges, int count)
{
    model_states states = {0};
    model_task *task = model_task_of(queue, id);
    if (task->told) {
        end_cancelled(queue, task);
        return;
    }
    if (chained) model_put_one(queue, chained);
    model_has_begun(task);
    model_forget_open_edges(queue, id);
    task->flagged = true;
    model_note(task);
    model_attached now = model_attach(queue, id, edges, count, &states, false);
    if (now.died) {
        COVER(BLOCK_DIES);
        model_die_of(queue, id, now.died - 1, (int)now.how);
        return;
    }
    model_move(task, BLOCKED, model.now_ms);
    task->due_ms = 0;
    task->pending = now.pending;
    task->waits = true;
    if (now.pending > 0) COVER(BLOCK_WAITS);
    if (now.pending > 0) return;
    COVER(BLOCK_GOES_ON);
    model_unblock(queue, id);
}

static void send(const int arg[ARGS], const model_belief *belief, const model_incoming *chained,
                 const model_edge_sent *edges, int count)
{
    char lease[64], parents[512] = "";
    model_name_lease(lease, belief->since_ms, belief->thread);
    for (int i = 0; i < count; i++) {
        size_t at = strlen(parents);
        (void)snprintf(parents + at, sizeof(parents) - at, "%s%s %c", i > 0 ? " " : "", model_handle(edges[i].parent),
                       edges[i].policy);
    }
    model_begin(&rv_script_block);
    model_key(belief->queue);
    model_arg_text(model_session_id(model.hands[arg[HAND]].session[belief->queue]));
    model_arg_text(lease);
    model_arg_text(model_id(belief->id));
    model_arg_text(parents);
    if (!chained) return;
    model_arg_text(model_handle(HANDLE(belief->queue, chained->id)));
    model_arg_text("");
    model_arg_text(model_rest(&chained->task));
}

static void call(const int arg[ARGS], const model_belief *belief)
{
    char lease[64], stands[64];
    model_edge_sent edges[EDGES_SENT];
    int session = model.hands[arg[HAND]].session[belief->queue], count = edges_of(arg, belief, edges);
    model_incoming chained = {.id = arg[CHAINED] - 1};
    chained.task = (model_task){.session = -1, .enqueued_ms = model.now_ms, .serial = ++model.serial};
    model_task *task = model_task_of(belief->queue, belief->id);
    if (count == 0) return;
    model_name_lease(lease, belief->since_ms, belief->thread);
    model_name_lease(stands, task->at_ms, task->thread);
    bool held = task->state == RUNNING && task->session == session && model.sessions[session].life == ALIVE &&
                strcmp(lease, stands) == 0;
    send(arg, belief, arg[CHAINED] ? &chained : NULL, edges, count);
    const rv_reply *reply = model_call();
    if (!reply) return;
    if (rv_reply_int(reply, -1) != held) model_differ("block says %s", test_reply_text(reply));
    if (!held) COVER(BLOCK_REFUSED);
    if (!held) return;
    block(belief->queue, belief->id, arg[CHAINED] ? &chained : NULL, edges, count);
    model_take_over_parked(belief->queue, false);
}

/* Its thread settles nothing more of the task. */
void model_block(const int arg[ARGS])
{
    model_hand *hand = &model.hands[arg[HAND]];
    if (hand->belief_count == 0) return;
    int index = arg[BELIEF] % hand->belief_count;
    const model_belief belief = hand->beliefs[index];
    if (model_task_of(belief.queue, belief.id)->handed) return; /* (its thread is on the way to it) */
    model_edge_sent edges[EDGES_SENT];
    if (edges_of(arg, &belief, edges) == 0) return;
    for (int i = 0; i <= (arg[FLAGS] & TWICE); i++) call(arg, &belief);
    model_disbelieve(arg[HAND], index);
}
