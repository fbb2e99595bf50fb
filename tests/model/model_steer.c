/* What users do to tasks and queues: cancel, retry, delete, pause, keep, wait; and what a handler says of its progress.
 */
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "support/queue.h"

enum { QUEUE, ID, FLAGS, AGE };
enum { TWICE = 1 };

static void choose_task(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[ID] = model_choose_id();
    arg[FLAGS] = CHOOSE(0, 0, TWICE);
}

/* (Most of the time a task in one of some states, if there is one.) */
static void prefer(int arg[ARGS], unsigned states)
{
    choose_task(arg);
    for (int i = 0; i < IDS && model_chance(8) > 0; i++) {
        if (states >> model_task_of(arg[QUEUE], arg[ID])->state & 1) return;
        arg[ID] = (arg[ID] + 1) % IDS;
    }
}

/* Says "ok" and does it, or says the state that it is in. */
static void steer(const rv_script *script, const int arg[ARGS], unsigned allowed, void (*act)(int, model_task *))
{
    for (int i = 0; i <= (arg[FLAGS] & TWICE); i++) {
        model_task *task = model_task_of(arg[QUEUE], arg[ID]);
        const char *const words[] = {model_id(arg[ID])};
        const rv_reply *reply = model_call_words(script, arg[QUEUE], words, 1);
        if (!reply) return;
        bool may = allowed >> task->state & 1;
        const char *expected = may ? "ok" : model_state_names[task->state];
        if (!rv_reply_is_text(reply, expected))
            model_differ("%s says %s, not \"%s\"", script->name, test_reply_text(reply), expected);
        act(arg[QUEUE], task);
    }
}

/* ---- cancel ---------------------------------------------------------------------------------------------------- */

#define WAITING (1u << READY | 1u << SCHEDULED)

void model_cancel_make(int arg[ARGS])
{
    prefer(arg, WAITING);
}

static void do_cancel(int queue, model_task *task)
{
    if (task->state == NONE) COVER(CANCEL_NONE);
    if (task->state > SCHEDULED) COVER(CANCEL_REFUSED);
    if (task->state != READY && task->state != SCHEDULED) return;
    if (task->state == READY)
        COVER(CANCEL_READY);
    else
        COVER(CANCEL_SCHEDULED);
    if (task->waited_ms) COVER(CANCEL_NOTIFIED);
    model_end(queue, task, CANCELLED);
    if (task->state == NONE)
        COVER(CANCEL_UNKEPT);
    else
        (void)model_trim_count(queue, CANCELLED, 16);
}

void model_cancel(const int arg[ARGS])
{
    steer(&rv_script_cancel, arg, WAITING, do_cancel);
}

/* ---- retry ----------------------------------------------------------------------------------------------------- */

#define RETRIED (1u << DEAD | 1u << CANCELLED | 1u << SCHEDULED)

void model_retry_make(int arg[ARGS])
{
    prefer(arg, model_chance(2) ? RETRIED : 1u << DEAD | 1u << CANCELLED);
}

static void do_retry(int queue, model_task *task)
{
    (void)queue;
    if (task->state == NONE) COVER(RETRY_NONE);
    if (task->state == READY || task->state == RUNNING || task->state == COMPLETED) COVER(RETRY_REFUSED);
    if (!(RETRIED >> task->state & 1)) return;
    if (task->state == DEAD) COVER(RETRY_DEAD);
    if (task->state == CANCELLED) COVER(RETRY_CANCELLED);
    if (task->state == SCHEDULED) COVER(RETRY_SCHEDULED);
    if (task->state == DEAD) task->failures = task->crashes = 0;
    model_move(task, READY, 0);
}

void model_retry(const int arg[ARGS])
{
    steer(&rv_script_retry, arg, RETRIED, do_retry);
}

/* ---- delete ---------------------------------------------------------------------------------------------------- */

#define DELETED (WAITING | 1u << COMPLETED | 1u << DEAD | 1u << CANCELLED)

void model_delete_make(int arg[ARGS])
{
    prefer(arg, model_chance(4) == 0 ? ~1u : 1u << RUNNING | 1u << COMPLETED | 1u << DEAD | 1u << CANCELLED);
}

static void do_delete(int queue, model_task *task)
{
    static const int transitions[STATES] = {COVER_DELETE_NONE,     COVER_DELETE_READY,     COVER_DELETE_SCHEDULED,
                                            COVER_DELETE_RUNNING,  COVER_DELETE_COMPLETED, COVER_DELETE_DEAD,
                                            COVER_DELETE_CANCELLED};
    (void)queue;
    model_cover(transitions[task->state]);
    if (task->state == RUNNING && model.sessions[task->session].life == DYING) COVER(DELETE_LOST);
    if (task->state != RUNNING) model_forget(task);
}

void model_delete(const int arg[ARGS])
{
    steer(&rv_script_delete, arg, DELETED, do_delete);
}

/* ---- queues ---------------------------------------------------------------------------------------------------- */

enum { PAUSED = 1 };

void model_pause_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[PAUSED] = !model.queues[arg[QUEUE]].paused && model_chance(3) == 0;
    arg[FLAGS] = CHOOSE(0, TWICE);
}

void model_pause(const int arg[ARGS])
{
    model_queue *queue = &model.queues[arg[QUEUE]];
    bool on = arg[PAUSED] == 1;
    for (int i = 0; i <= (arg[FLAGS] & TWICE); i++) {
        const rv_reply *reply = CALL(pause, arg[QUEUE], on ? "1" : "0");
        if (!reply) return;
        if (rv_reply_int(reply, -1) != (queue->paused != on)) model_differ("pause says %s", test_reply_text(reply));
        if (queue->paused == on) COVER(PAUSE_SAME);
        if (queue->paused != on && on) COVER(PAUSE_ON);
        if (queue->paused != on && !on) COVER(PAUSE_OFF);
        queue->paused = on;
    }
}

enum { WHICH = 1, COUNT = 2 };

void model_keep_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[WHICH] = CHOOSE(0, 1);
    arg[COUNT] = CHOOSE(0, 0, 0, 1, 1, 1, 2, -1, 10000);
    arg[AGE] = CHOOSE(0, -1, 1000, 5000, DAY, DAY, DAY, DAY);
}

/* (No script: settings are written as they are.) */
void model_keep(const int arg[ARGS])
{
    static const char *const names[] = {"completed", "dead"};
    model_queue *queue = &model.queues[arg[QUEUE]];
    model_look_again();
    (void)test_cmd(test_conn, "HSET %ssettings %s_age %d %s_count %d", model_prefix(arg[QUEUE]), names[arg[WHICH]],
                   arg[AGE], names[arg[WHICH]], arg[COUNT]);
    queue->kept[arg[WHICH]] = true;
    queue->keep_age[arg[WHICH]] = arg[AGE];
    queue->keep_count[arg[WHICH]] = arg[COUNT];
}

/* ---- waiting for a task ---------------------------------------------------------------------------------------- */

enum { FOR_MS = 2 };

void model_wait_make(int arg[ARGS])
{
    prefer(arg, model_chance(4) == 0 ? ~1u : WAITING | 1u << RUNNING);
    arg[FOR_MS] = CHOOSE(1000, 60000);
}

void model_wait(const int arg[ARGS])
{
    model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    const rv_reply *reply = CALL(wait, arg[QUEUE], model_id(arg[ID]), model_number(arg[FOR_MS]));
    if (!reply) return;
    if (!rv_reply_is_text(reply, model_state_names[task->state])) model_differ("wait says %s", test_reply_text(reply));
    if (task->state == NONE) COVER(WAIT_NONE);
    if (task->state >= COMPLETED) COVER(WAIT_ENDED);
    if (task->state == NONE || task->state >= COMPLETED) return;
    task->waited_ms = model.now_ms + arg[FOR_MS];
    model.queues[arg[QUEUE]].waiters = true;
    COVER(WAIT_WAITS);
}

/* ---- progress -------------------------------------------------------------------------------------------------- */

enum { HAND, BELIEF, PERCENT, STRAY_ID /* + 1; 0: none */ };

void model_progress_make(int arg[ARGS])
{
    arg[HAND] = model_choose_hand(0);
    arg[BELIEF] = (int)model_chance(4);
    arg[PERCENT] = (int)model_chance(101);
    arg[STRAY_ID] = model_chance(6) ? 0 : 1 + model_choose_id();
}

static bool say_progress(int session, int queue, int id, int percent)
{
    char words[32];
    model_task *task = model_task_of(queue, id);
    bool held = task->state == RUNNING && task->session == session && model.sessions[session].life == ALIVE;
    (void)snprintf(words, sizeof(words), "w%d", percent);
    const rv_reply *reply =
        CALL(progress, queue, model_session_id(session), model_id(id), model_number(percent), words);
    if (!reply) return false;
    if (rv_reply_int(reply, -1) != held) model_differ("progress says %s", test_reply_text(reply));
    if (held)
        COVER(PROGRESS_HELD);
    else
        COVER(PROGRESS_REFUSED);
    if (held) task->progress = percent + 1;
    return held;
}

void model_progress(const int arg[ARGS])
{
    model_hand *hand = &model.hands[arg[HAND]];
    if (arg[STRAY_ID] > 0) {
        /* (Only of one that it does not hold: whoever says more of a task knows that he did.) */
        const model_task *task = model_task_of(0, arg[STRAY_ID] - 1);
        if (task->session != hand->session[0]) (void)say_progress(hand->session[0], 0, arg[STRAY_ID] - 1, arg[PERCENT]);
        return;
    }
    if (hand->belief_count == 0) return;
    model_belief *belief = &hand->beliefs[arg[BELIEF] % hand->belief_count];
    if (say_progress(hand->session[belief->queue], belief->queue, belief->id, arg[PERCENT])) belief->knows_info = true;
}
