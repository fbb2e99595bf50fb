/* One task is leased by its id, out of its turn, by a thread that waits for nothing. */
#include <string.h>

#include "base/error.h"
#include "model/model_limit_state.h"
#include "model/model_turn.h"
#include "support/queue.h"

enum { QUEUE, ID, FLAGS, HAND, THREAD };
enum { LOST = 1, UNBEGUN = 2 };

void model_lease_task_make(int arg[ARGS])
{
    model_prefer(arg, model_chance(6) == 0 ? ~1u : 1u << READY);
    arg[FLAGS] = CHOOSE(0, 0, 0, 0, 0, LOST, UNBEGUN);
    arg[HAND] = model_chance(3) == 0 ? (int)model_chance(mood.hands) : model_choose_hand(arg[QUEUE]);
    arg[THREAD] = (int)model_chance(THREADS);
}

static void prepare(turn *t, const int arg[ARGS])
{
    const model_seen *seen = model_look();
    int queue = arg[QUEUE];
    *t = (turn){.hand = arg[HAND], .thread = arg[THREAD], .want = 1, .other = -1, .from = 1, .by_id = true};
    t->keys[0] = queue;
    t->keys[1] = 1 - queue;
    if (seen) rv_copy_text(t->limit_state[queue], sizeof(t->limit_state[queue]), seen->queues[queue].limit_state);
}

/* What holds a ready task back; NULL: nothing does. */
static const char *held_back(const turn *t, int queue, const model_task *task, bool says_limit)
{
    const char *limits = t->limit_state[queue];
    if (model.queues[queue].paused) return "paused";
    if (*limits == '\0') return NULL;
    if (model_queue_room(queue, 1, false) <= 0) return "limit";
    /* Which tasks of a group may start first, its limits say: what is leased is checked against them. */
    bool may = (strchr(limits, 'g') && task->group) || strchr(limits, 't');
    return may && says_limit ? "limit" : NULL;
}

static void refused(const model_task *task, const char *why, const rv_reply *words)
{
    if (!rv_reply_is_text(rv_reply_at(words, 0), why))
        model_differ("lease_task says %s, not \"%s\"", test_reply_text(words), why);
    if (task->state != READY)
        COVER(LEASE_TASK_REFUSED);
    else if (strcmp(why, "paused") == 0)
        COVER(LEASE_TASK_PAUSED);
    else if (strcmp(why, "limit") == 0)
        COVER(LEASE_TASK_LIMIT);
    else
        COVER(LEASE_TASK_OFF);
}

static bool others_are_before(int queue, int id)
{
    const model_task *task = model_task_of(queue, id);
    for (int other = 0; other < SLOTS; other++) {
        const model_task *one = model_task_of(queue, other);
        if (other == id || one->state != READY || one->group || task->group) continue;
        if (one->priority < task->priority ||
            (one->priority == task->priority && one->order && one->order < task->order))
            return true;
    }
    return false;
}

static void take(turn *t, int queue, int id, const rv_reply *reply)
{
    const rv_reply *leased = rv_reply_at(reply, 4);
    model_session *session = &model.sessions[model.hands[t->hand].session[queue]];
    if (!rv_reply_is_text(rv_reply_at(leased, 1), model_id(id))) {
        model_differ("lease_task gives %s, not %s", test_reply_text(leased), model_id(id));
        return;
    }
    if (others_are_before(queue, id)) COVER(LEASE_TASK_BEFORE);
    if (model_task_of(queue, id)->crashes > 1) {
        session->suspect = id + 1;
        session->alone = session->beside = false;
    }
    model_take(t, queue, rv_reply_at(leased, 1), rv_reply_at(leased, 2), rv_reply_at(reply, 3));
    model_count_started(queue, t->units[queue], t->debt[queue]);
    COVER(LEASE_TASK);
}

/* The reply, as the model says. */
static void expect(turn *t, int queue, int id, const rv_reply *reply)
{
    model_task *task = model_task_of(queue, id);
    const rv_reply *words = rv_reply_at(reply, 1), *gone = rv_reply_at(reply, 2), *extras = rv_reply_at(reply, 3);
    const char *why = task->state == NONE ? "none" : task->state != READY ? model_state_names[task->state] : NULL;
    if (!why) why = held_back(t, queue, task, rv_reply_is_text(rv_reply_at(words, 0), "limit"));
    if (why) {
        refused(task, why, words);
        return;
    }
    t->gone[queue] = !model_is_in_session(t, queue);
    if (gone->count != t->gone[queue]) model_differ("lease_task says %s", test_reply_text(reply));
    if (t->gone[queue]) {
        COVER(LEASE_TASK_GONE);
        return;
    }
    if (task->crashes > 1 && model_has_another_suspect(t, queue, id))
        refused(task, "put off", words);
    else if (reply->count != 5)
        model_differ("lease_task says %s of a task that may start", test_reply_text(reply));
    else
        take(t, queue, id, reply);
    if (extras->count != t->told) model_differ("lease_task tells %s", test_reply_text(extras));
}

void model_lease_task(const int arg[ARGS])
{
    turn t;
    model_hand *hand = &model.hands[arg[HAND]];
    int queue = arg[QUEUE];
    if (!*model_id(arg[ID]) || hand->idle[arg[THREAD]] || hand->told[arg[THREAD]] || hand->unsure[arg[THREAD]]) return;
    if (!(arg[FLAGS] & UNBEGUN) && !hand->begun[queue]) model_begin_session(arg[HAND], queue);
    prepare(&t, arg);
    const rv_reply *reply = CALL(lease_task, queue, model_id(arg[ID]), model_session_id(hand->session[queue]),
                                 model_number(arg[THREAD] + 1));
    if (!reply) return;
    if (reply->count < 4 || rv_reply_int(rv_reply_at(reply, 0), -1) != model.now_ms) {
        model_differ("lease_task says %s", test_reply_text(reply));
        return;
    }
    model_keep_reply();
    expect(&t, queue, arg[ID], reply);
    model_take_over_parked(queue, false);
    if (arg[FLAGS] & LOST) {
        COVER(LEASE_TASK_LOST);
        hand->unsure[arg[THREAD]] = true;
        return;
    }
    model_hear(&t);
}
