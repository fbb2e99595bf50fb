/* What a handler tells while it runs: how far it is, what its next attempt goes on from, lines of a log. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/model_turn.h"
#include "support/queue.h"

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
    if (!held) return false;
    task->progress = percent + 1;
    task->flagged = true;
    return true;
}

void model_progress(const int arg[ARGS])
{
    model_hand *hand = &model.hands[arg[HAND]];
    if (arg[STRAY_ID] > 0) {
        /* Only of one that it does not hold: whoever says more of a task knows that he did. */
        const model_task *task = model_task_of(0, arg[STRAY_ID] - 1);
        if (task->session != hand->session[0]) (void)say_progress(hand->session[0], 0, arg[STRAY_ID] - 1, arg[PERCENT]);
        return;
    }
    if (hand->belief_count == 0) return;
    model_belief *belief = &hand->beliefs[arg[BELIEF] % hand->belief_count];
    if (say_progress(hand->session[belief->queue], belief->queue, belief->id, arg[PERCENT])) belief->knows_info = true;
}

/* ---- by those who believe to hold a task ----------------------------------------------------------------------- */

enum { NUMBER = 2, FLAGS = 3 };
enum { TWICE = 1, NONE_ANY_MORE = 2 };

static model_belief *believed(const int arg[ARGS])
{
    model_hand *hand = &model.hands[arg[HAND]];
    return hand->belief_count ? &hand->beliefs[arg[BELIEF] % hand->belief_count] : NULL;
}

static bool holds(int session, const model_task *task)
{
    return task->state == RUNNING && task->session == session && model.sessions[session].life == ALIVE;
}

void model_checkpoint_make(int arg[ARGS])
{
    arg[HAND] = model_choose_hand(0);
    arg[BELIEF] = (int)model_chance(4);
    arg[NUMBER] = 1 + (int)model_chance(100);
    arg[FLAGS] = CHOOSE(0, 0, 0, TWICE, NONE_ANY_MORE);
}

static void leave_checkpoint(const int arg[ARGS], model_belief *belief)
{
    char words[32] = "";
    int session = model.hands[arg[HAND]].session[belief->queue];
    model_task *task = model_task_of(belief->queue, belief->id);
    bool none = arg[FLAGS] & NONE_ANY_MORE;
    if (!none) (void)snprintf(words, sizeof(words), "c%d", arg[NUMBER]);
    const rv_reply *reply = CALL(checkpoint, belief->queue, model_session_id(session), model_id(belief->id), words);
    if (!reply) return;
    bool held = holds(session, task);
    if (rv_reply_int(reply, -1) != held) model_differ("checkpoint says %s", test_reply_text(reply));
    if (!held) COVER(CHECKPOINT_REFUSED);
    if (!held) return;
    if (none && task->checkpoint) COVER(CHECKPOINT_NONE);
    if (!none) COVER(CHECKPOINT_LEFT);
    task->checkpoint = none ? 0 : arg[NUMBER];
    task->flagged = task->flagged || !none;
    belief->checkpoint = true;
    belief->knows_info = belief->knows_info || !none;
}

void model_checkpoint(const int arg[ARGS])
{
    model_belief *belief = believed(arg);
    for (int i = 0; belief && i <= (arg[FLAGS] & TWICE); i++) leave_checkpoint(arg, belief);
}

/* ---- log ------------------------------------------------------------------------------------------------------- */

void model_log_make(int arg[ARGS])
{
    arg[HAND] = model_choose_hand(0);
    arg[BELIEF] = (int)model_chance(4);
    arg[FLAGS] = CHOOSE(0, 0, TWICE);
}

static void note_line(model_task *task, const char *lease, int number)
{
    char logging[96];
    (void)snprintf(logging, sizeof(logging), "%s %d", lease, number);
    if (strcmp(task->logging, logging) == 0) COVER(LOG_AGAIN);
    if (strcmp(task->logging, logging) == 0) return;
    if (task->logged == 0) task->flagged = true;
    task->log[task->logged % LOG_LINES].number = task->logged + 1;
    task->log[task->logged % LOG_LINES].at_ms = model.now_ms;
    task->logged++;
    rv_copy_text(task->logging, sizeof(task->logging), logging);
    COVER(LOG_LINE);
    if (task->logged > LOG_LINES) COVER(LOG_BOUNDED);
}

static void log_line(const int arg[ARGS], model_belief *belief, int number)
{
    char lease[64], stands[64], line[32];
    int session = model.hands[arg[HAND]].session[belief->queue];
    model_task *task = model_task_of(belief->queue, belief->id);
    model_name_lease(lease, belief->since_ms, belief->thread);
    model_name_lease(stands, task->at_ms, task->thread);
    (void)snprintf(line, sizeof(line), "line %d", task->logged + 1);
    const rv_reply *reply = CALL(log, belief->queue, model_session_id(session), model_id(belief->id), lease,
                                 model_number(number), line, model_number(LOG_LINES));
    if (!reply) return;
    bool held = holds(session, task) && strcmp(lease, stands) == 0;
    if (rv_reply_int(reply, -1) != held) model_differ("log says %s", test_reply_text(reply));
    if (!held) COVER(LOG_REFUSED);
    if (!held) return;
    note_line(task, lease, number);
    belief->knows_info = true;
}

void model_log(const int arg[ARGS])
{
    model_belief *belief = believed(arg);
    if (!belief) return;
    int number = ++belief->lines;
    for (int i = 0; i <= (arg[FLAGS] & TWICE); i++) log_line(arg, belief, number);
}
