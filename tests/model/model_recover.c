/* A thread whose reply was lost asks what stands under its name, and takes that for the truth. */
#include <stdlib.h>
#include <string.h>

#include "model/model_turn.h"
#include "support/queue.h"

enum { HAND, THREAD /* THREADS: all of them */, TORN /* 0: nothing is regained before */ };

/* Mostly one that has a reason to. */
void model_recover_make(int arg[ARGS])
{
    arg[HAND] = model_choose_hand(model_choose_queue());
    arg[THREAD] = (int)model_chance(THREADS + 1);
    for (int i = 0; i < 4 && arg[THREAD] < THREADS && !model.hands[arg[HAND]].unsure[arg[THREAD]]; i++) {
        arg[HAND] = (int)model_chance(mood.hands);
        arg[THREAD] = (int)model_chance(THREADS);
    }
    arg[TORN] = CHOOSE(0, 0, 1, 2, 3);
}

/* How many lines it has logged by the lease that stands. */
static int lines_of(const model_task *task)
{
    char lease[64];
    model_name_lease(lease, task->at_ms, task->thread);
    return strncmp(task->logging, lease, strlen(lease)) == 0 ? atoi(task->logging + strlen(lease)) : 0;
}

static bool is_asked_for(const model_task *task, int session, int thread)
{
    if (task->state != RUNNING || task->session != session || model.sessions[session].life != ALIVE) return false;
    return thread == THREADS || task->thread == thread;
}

static const rv_reply *find(const rv_reply *list, size_t step, const char *id)
{
    for (size_t i = 0; list && i < list->count; i += step) {
        const rv_reply *one = step == 1 ? rv_reply_at(list->items[i], 0) : list->items[i];
        if (rv_reply_is_text(one, id)) return list->items[i + (step == 1 ? 0 : 1)];
    }
    return NULL;
}

static void check(int queue, int session, int thread, const rv_reply *reply)
{
    const rv_reply *extras = rv_reply_at(reply, 2), *tasks = rv_reply_at(reply, 3);
    size_t found = 0;
    for (int id = 0; id < SLOTS; id++) {
        char lease[64];
        const model_task *task = model_task_of(queue, id);
        const rv_reply *stands = find(tasks, 3, model_id(id)), *extra = find(extras, 1, model_id(id));
        bool asked = is_asked_for(task, session, thread);
        model_name_lease(lease, task->at_ms, task->thread);
        found += asked;
        if (asked != (stands != NULL) || (asked && !rv_reply_is_text(stands, lease)))
            model_differ("recall says %s of %s", stands ? stands->text : "nothing", model_id(id));
        if ((asked && task->flagged) != (extra != NULL)) model_differ("recall tells of %s, or does not", model_id(id));
        if (extra && (rv_reply_int(rv_reply_at(extra, 1), -1) != task->failures ||
                      rv_reply_int(rv_reply_at(extra, 2), -1) != task->crashes ||
                      (rv_reply_at(extra, 3) != NULL) != (task->checkpoint > 0 || task->alone)))
            model_differ("recall tells %s", test_reply_text(extra));
    }
    if (tasks->count != 3 * found) model_differ("recall finds %zu tasks, not %zu", tasks->count / 3, found);
}

static void believe_what_stands(int hand, int queue, int thread)
{
    model_hand *h = &model.hands[hand];
    int session = h->session[queue];
    for (int i = h->belief_count - 1; i >= 0; i--) {
        const model_belief *belief = &h->beliefs[i];
        const model_task *task = model_task_of(queue, belief->id);
        if (belief->queue != queue || (thread != THREADS && belief->thread != thread)) continue;
        if (is_asked_for(task, session, belief->thread) && task->at_ms == belief->since_ms) continue;
        model_disbelieve(hand, i);
        COVER(RECOVER_MISSES);
    }
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        bool known = false;
        if (!is_asked_for(task, session, thread) || task->handed) continue;
        for (int i = 0; i < h->belief_count; i++)
            known = known || (h->beliefs[i].queue == queue && h->beliefs[i].id == id);
        if (known) continue;
        model_belief belief = {queue,
                               id,
                               task->thread,
                               task->at_ms,
                               task->flagged,
                               task->unique > 0,
                               task->deadline_ms > 0,
                               task->checkpoint > 0,
                               lines_of(task)};
        model_believe(hand, belief);
        COVER(RECOVER_FINDS);
    }
}

/* It is idle no more; what was in its list is known by its lease, or somebody else looks. */
static void end_idling(model_hand *h, int queue, int thread)
{
    const model_seen *seen = model_look();
    int session = h->session[queue];
    if (thread == THREADS || !seen) return;
    if (seen->sessions[session].threads[thread].idle) COVER(HAND_RECOVER);
    if (seen->sessions[session].threads[thread].looks) COVER(HAND_RECOVER_LOOK);
    if (seen->sessions[session].threads[thread].task) COVER(HAND_RECOVER_TASK);
    if (h->idle[thread] == queue + 1) h->idle[thread] = 0;
    for (int id = 0; id < SLOTS; id++) {
        model_task *task = model_task_of(queue, id);
        if (task->session == session && task->thread == thread) task->handed = false;
    }
}

/* Asks for those, as often as it takes; returns how many stood nowhere. */
static int64_t regain_all(int queue, int session, const int *ids, int count)
{
    int64_t regained = 0, looked = 0;
    for (int first = 0; first < count; first += (int)looked) {
        model_begin(&rv_script_regain);
        model_key(queue);
        model_arg_text(model_session_id(session));
        for (int i = first; i < count; i++) {
            char lease[64];
            const model_task *task = model_task_of(queue, ids[i]);
            model_name_lease(lease, task->at_ms, task->thread);
            model_arg_text(model_id(ids[i]));
            model_arg_text(lease);
        }
        const rv_reply *reply = model_call();
        looked = reply ? rv_reply_int(rv_reply_at(reply, 0), 0) : 0;
        if (looked < 1 || looked > count - first) return -1;
        regained += rv_reply_int(rv_reply_at(reply, 1), -1);
    }
    return regained;
}

/* As a turn that failed half way: some leases go (torn: 1: none, 2: all, 3: of every other task), and come back. What
 * stands somewhere stays there. */
static void tear_and_regain(int queue, int session, int thread, int torn)
{
    int64_t nowhere = 0;
    int ids[SLOTS], count = 0;
    if (torn == 0) return;
    for (int id = 0; id < SLOTS; id++) {
        if (model_id(id)[0] == '\0') continue;
        ids[count++] = id;
        if (!is_asked_for(model_task_of(queue, id), session, thread) || torn == 1 || (torn == 3 && id % 2 == 0))
            continue;
        nowhere++;
        (void)test_cmd(test_conn, "HDEL %srunning:%s %s", model_prefix(queue), model_session_id(session), model_id(id));
    }
    int64_t regained = regain_all(queue, session, ids, count);
    if (regained != nowhere) model_differ("regain says %lld, not %lld", (long long)regained, (long long)nowhere);
    if (nowhere > 0)
        COVER(REGAIN_NOWHERE);
    else
        COVER(REGAIN_STANDS);
}

static void recover(int hand, int queue, int thread)
{
    model_hand *h = &model.hands[hand];
    int session = h->session[queue];
    model_life life = model.sessions[session].life;
    end_idling(h, queue, thread);
    const rv_reply *reply =
        CALL(recover, queue, model_session_id(session), thread == THREADS ? "" : model_number(thread + 1), "0");
    if (!reply) return;
    if (reply->count != 4 || rv_reply_int(reply->items[0], -1) != (life == ALIVE) ||
        !rv_reply_is_text(reply->items[1], "0")) {
        model_differ("recall says %s", test_reply_text(reply));
        return;
    }
    check(queue, session, thread, reply);
    believe_what_stands(hand, queue, thread);
    if (life == DYING) COVER(RECOVER_DYING);
    if (life == ABSENT) COVER(RECOVER_GONE);
    if (life == ALIVE) h->begun[queue] = true;
    if (life != ALIVE && h->begun[queue]) model_renew(hand, queue);
}

void model_recover(const int arg[ARGS])
{
    model_hand *hand = &model.hands[arg[HAND]];
    for (int queue = 0; queue < QUEUES; queue++) {
        tear_and_regain(queue, hand->session[queue], arg[THREAD], arg[TORN]);
        recover(arg[HAND], queue, arg[THREAD]);
    }
    for (int thread = 0; thread < THREADS; thread++)
        if (arg[THREAD] == thread || (arg[THREAD] == THREADS && !hand->idle[thread])) hand->unsure[thread] = false;
}
