/* Unique keys: who has one, and until when. */
#include "model/model.h"
#include "support/queue.h"

enum { HAND, QUEUE, ID };

int model_holder(int queue, int key)
{
    model_queue *q = &model.queues[queue];
    if (q->locks[key].ends_ms > 0 && model.now_ms > q->locks[key].ends_ms) {
        q->locks[key].holder = 0;
        q->locks[key].ends_ms = 0;
        COVER(UNIQUE_TIME);
    }
    return q->locks[key].holder - 1;
}

void model_lock(int queue, int id)
{
    const model_task *task = model_task_of(queue, id);
    model_queue *q = &model.queues[queue];
    q->locks[task->unique].holder = id + 1;
    q->locks[task->unique].ends_ms = task->held == FOR_A_TIME ? model.now_ms + task->hold_ms : 0;
}

void model_unlock(int queue, int id, bool by_hand)
{
    const model_task *task = model_task_of(queue, id);
    model_queue *q = &model.queues[queue];
    if (!task->unique || (task->held == FOR_A_TIME && !by_hand)) return;
    if (model_holder(queue, task->unique) != id) return;
    q->locks[task->unique].holder = 0;
    q->locks[task->unique].ends_ms = 0;
    COVER(UNIQUE_FREED);
}

int model_other_holder(int queue, int id)
{
    const model_task *task = model_task_of(queue, id);
    int holder = task->unique ? model_holder(queue, task->unique) : -1;
    return holder == id ? -1 : holder;
}

/* ---- of tasks that run at most once ---------------------------------------------------------------------------- */

static void free_kept(int session, int id)
{
    int key = model.sessions[session].kept[id], queue = model.sessions[session].queue;
    model.sessions[session].kept[id] = 0;
    if (!key || model_holder(queue, key) != id) return;
    model.queues[queue].locks[key].holder = 0;
    model.queues[queue].locks[key].ends_ms = 0;
}

bool model_is_kept(int queue, int id, int key)
{
    bool kept = false;
    for (int session = 0; session < model.session_count; session++)
        kept = kept || (model.sessions[session].queue == queue && model.sessions[session].kept[id] == key);
    return kept;
}

void model_free_kept(int session)
{
    for (int id = 0; id < SLOTS; id++) {
        if (model.sessions[session].kept[id]) COVER(ONCE_LEFT);
        free_kept(session, id);
    }
}

void model_once_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[HAND] = model_choose_hand(arg[QUEUE]);
    arg[ID] = model_choose_id();
    for (int hand = 0; hand < HANDS; hand++) {
        for (int id = 0; id < SLOTS; id++) {
            if (!model.sessions[model.hands[hand].session[arg[QUEUE]]].kept[id]) continue;
            arg[HAND] = hand;
            arg[ID] = id;
        }
    }
}

/* The handler of a task that runs at most once has returned. */
void model_once(const int arg[ARGS])
{
    int session = model.hands[arg[HAND]].session[arg[QUEUE]];
    bool kept = model.sessions[session].kept[arg[ID]];
    const rv_reply *reply = CALL(once, arg[QUEUE], model_session_id(session), model_id(arg[ID]));
    if (!reply) return;
    if (rv_reply_int(reply, -1) != kept) model_differ("once says %s, not %d", test_reply_text(reply), kept);
    if (kept) COVER(ONCE_FREED);
    free_kept(session, arg[ID]);
}
