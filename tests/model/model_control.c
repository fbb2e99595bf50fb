/* What users do to single tasks: cancel, retry, delete, move, wait; and what a handler says of its progress. */
#include <stdio.h>
#include <string.h>

#include "model/model_dependencies.h"
#include "support/queue.h"

enum { QUEUE, ID, FLAGS, CASCADES, AGAIN = 3 };
enum { TELLS = 2 }; /* CASCADES, of cancel */
enum { TWICE = 1 };

static void choose_task(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[ID] = model_chance(4) ? model_choose_id() : (int)model_chance(SLOTS);
    arg[FLAGS] = CHOOSE(0, 0, TWICE);
}

/* Most of the time a task in one of some states, if there is one. */
void model_prefer(int arg[ARGS], unsigned states)
{
    choose_task(arg);
    for (int i = 0; i < SLOTS && model_chance(16) > 0; i++) {
        if (states >> model_task_of(arg[QUEUE], arg[ID])->state & 1) return;
        arg[ID] = (arg[ID] + 1) % SLOTS;
    }
}

/* Nobody waits for the task, or what waits for it is cancelled with it; else it is said how many there are. */
static bool is_free_of_children(const int arg[ARGS], unsigned concerned, char actual[32])
{
    int children = model_children(arg[QUEUE], arg[ID]);
    if (children == 0 || !(concerned >> model_task_of(arg[QUEUE], arg[ID])->state & 1)) return true;
    if (arg[CASCADES] == TELLS) {
        COVER(DEPENDENCY_TOLD);
        return true;
    }
    if (!arg[CASCADES]) {
        (void)snprintf(actual, 32, "children %d", children);
        COVER(DEPENDENCY_REFUSED);
        return false;
    }
    model_tell_ended(arg[QUEUE], arg[ID], CASCADE);
    COVER(DEPENDENCY_CASCADE);
    return true;
}

/* Tasks are still to hear of ends. */
static bool has_more(int queue)
{
    if (model.queues[queue].fan_count == 0 && model.queues[queue].message_count == 0) return false;
    COVER(STEER_MORE);
    return true;
}

/* Says "ok" and does it, or says the state that it is in. concerned: the states in which others may wait for it. */
/* more: a further argument, or NULL. */
static void steer_with(const rv_script *script, const char *more, const int arg[ARGS], unsigned allowed,
                       unsigned concerned, void (*act)(int, model_task *))
{
    for (int i = 0; i <= (arg[FLAGS] & TWICE); i++) {
        char actual[32];
        model_task *task = model_task_of(arg[QUEUE], arg[ID]);
        const char *const words[] = {model_id(arg[ID]),
                                     !arg[CASCADES]               ? ""
                                     : arg[CASCADES] == TELLS     ? "tell"
                                     : script == &rv_script_retry ? "completed"
                                                                  : "cascade",
                                     more};
        if (!*words[0]) return; /* (there is none in that slot) */
        const rv_reply *reply = model_call_words(script, arg[QUEUE], words, more != NULL ? 3 : 2);
        if (!reply) return;
        rv_copy_text(actual, sizeof(actual), allowed >> task->state & 1 ? "ok" : model_state_names[task->state]);
        bool follows = concerned && (task->state == BLOCKED || arg[CASCADES]) && strcmp(actual, "ok") == 0;
        char heard[64];
        rv_copy_text(heard, sizeof(heard), test_reply_text(reply));
        if (is_free_of_children(arg, concerned, actual)) act(arg[QUEUE], task);
        if (follows && strcmp(actual, "ok") == 0 && has_more(arg[QUEUE]))
            rv_copy_text(actual, sizeof(actual), "ok more");
        if (!rv_reply_is_text(reply, actual)) model_differ("%s says %s, not \"%s\"", script->name, heard, actual);
    }
}

static void steer(const rv_script *script, const int arg[ARGS], unsigned allowed, unsigned concerned,
                  void (*act)(int, model_task *))
{
    steer_with(script, NULL, arg, allowed, concerned, act);
}

/* ---- cancel ---------------------------------------------------------------------------------------------------- */

void model_cancel_make(int arg[ARGS])
{
    model_prefer(arg, WAITING | 1u << RUNNING);
    arg[CASCADES] = (int)model_chance(3);
}

static void do_cancel(int queue, model_task *task)
{
    if (task->state == NONE) COVER(CANCEL_NONE);
    if (task->state > RUNNING) COVER(CANCEL_REFUSED);
    if (task->state == RUNNING) {
        COVER(CANCEL_RUNNING);
        task->told = task->flagged = true;
    }
    if (!(WAITING >> task->state & 1)) return;
    if (task->state == READY) COVER(CANCEL_READY);
    if (task->state == PARKED) COVER(CANCEL_PARKED);
    if (task->state == SCHEDULED) COVER(CANCEL_SCHEDULED);
    if (task->state == BLOCKED) COVER(CANCEL_BLOCKED);
    model_cancel_waiting(queue, task);
}

void model_cancel_waiting(int queue, model_task *task)
{
    if (task->waited_ms) COVER(CANCEL_NOTIFIED);
    if (task->state == BLOCKED) model_leave_parents(queue, task);
    model_end(queue, task, CANCELLED);
    if (task->state == NONE)
        COVER(CANCEL_UNKEPT);
    else
        (void)model_trim_count(queue, CANCELLED, 16);
    model_tell_ended(queue, model_slot(queue, task), CANCELLED);
}

void model_cancel(const int arg[ARGS])
{
    steer(&rv_script_cancel, arg, WAITING, WAITING | 1u << RUNNING,
          do_cancel); /* (of one that runs it says so, which is its state) */
}

/* ---- retry ----------------------------------------------------------------------------------------------------- */

#define RETRIED (1u << DEAD | 1u << CANCELLED | 1u << SCHEDULED)
#define RERUN (1u << COMPLETED | 1u << RETAINED)

void model_retry_make(int arg[ARGS])
{
    model_prefer(arg, model_chance(2) ? RETRIED : 1u << DEAD | 1u << CANCELLED);
    arg[AGAIN] = model_chance(3) == 0;
    if (arg[AGAIN]) model_prefer(arg, RERUN);
}

static void do_retry(int queue, model_task *task)
{
    if (task->state == NONE) COVER(RETRY_NONE);
    if (task->state != NONE && !(RETRIED >> task->state & 1)) COVER(RETRY_REFUSED);
    if (RETRIED >> task->state & 1) model_revive(queue, task);
}

static void do_rerun(int queue, model_task *task)
{
    if ((RETRIED | RERUN) >> task->state & 1) model_revive(queue, task);
}

/* What a completed task has left goes. */
static void drop_run(int queue, model_task *task, int64_t ended_ms)
{
    task->result = task->field = task->counted = 0;
    task->run[0] = '\0';
    task->progress = 0;
    task->failures = task->crashes = task->alone = 0;
    if (ended_ms >= 0 && model_split_result_block(queue, ended_ms)) COVER(RESULT_BLOCK_LEFT);
}

void model_revive(int queue, model_task *task)
{
    if (task->state == DEAD) COVER(RETRY_DEAD);
    if (task->state == CANCELLED) COVER(RETRY_CANCELLED);
    if (task->state == SCHEDULED) COVER(RETRY_SCHEDULED);
    if (task->state != SCHEDULED && task->unique && model_holder(queue, task->unique) < 0) {
        model_lock(queue, model_slot(queue, task));
        COVER(RETRY_LOCKS);
    }
    if (task->state == DEAD) task->failures = task->crashes = task->alone = 0;
    if (task->told) COVER(RETRY_UNMARKED);
    if (task->state != SCHEDULED) model_has_begun(task);
    task->told = false;
    model_put_off(task);
    int pending = task->state == SCHEDULED ? 0 : model_restore(queue, model_slot(queue, task));
    int64_t ended_ms = task->state == COMPLETED || task->state == RETAINED ? task->at_ms : 0;
    bool retained = task->state == RETAINED;
    if (ended_ms) model_drop_readers(queue, model_slot(queue, task));
    if (ended_ms) COVER(RETRY_COMPLETED);
    model_move(task, pending ? BLOCKED : READY, pending ? model.now_ms : 0);
    task->pending = pending;
    task->waits = pending > 0;
    if (ended_ms) drop_run(queue, task, retained ? -1 : ended_ms);
    model_note(task);
    task->flagged = true;
}

/* Tasks that have not ended may read the result of a completed one. */
static void rerun_refused(const int arg[ARGS])
{
    const rv_reply *reply = CALL(retry, arg[QUEUE], model_id(arg[ID]), "completed");
    if (!reply) return;
    if (!rv_reply_is(reply, RV_TEXT) || strncmp(reply->text, "readers ", 8) != 0)
        model_differ("retry says %s, though its result is read", test_reply_text(reply));
    COVER(RETRY_READ);
}

/* One whose key another has is left alone. */
static void retry_refused(const int arg[ARGS], int holder)
{
    char expected[96];
    const rv_reply *reply = CALL(retry, arg[QUEUE], model_id(arg[ID]), arg[AGAIN] ? "completed" : "");
    if (!reply) return;
    (void)snprintf(expected, sizeof(expected), "unique %s", model_id(holder));
    if (!rv_reply_is_text(reply, expected)) model_differ("retry says %s, not \"%s\"", test_reply_text(reply), expected);
    COVER(RETRY_UNIQUE);
}

void model_retry(const int arg[ARGS])
{
    const model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    unsigned locks = 1u << DEAD | 1u << CANCELLED | (arg[AGAIN] ? RERUN : 0);
    int holder = locks >> task->state & 1 ? model_other_holder(arg[QUEUE], arg[ID]) : -1;
    if (arg[AGAIN] && RERUN >> task->state & 1 && model_has_readers(arg[QUEUE], arg[ID]))
        rerun_refused(arg);
    else if (holder >= 0)
        retry_refused(arg, holder);
    else if (arg[AGAIN])
        steer(&rv_script_retry, arg, RETRIED | RERUN, 0, do_rerun);
    else
        steer(&rv_script_retry, arg, RETRIED, 0, do_retry);
}

/* ---- delete ---------------------------------------------------------------------------------------------------- */

#define DELETED (WAITING | 1u << COMPLETED | 1u << RETAINED | 1u << DEAD | 1u << CANCELLED)

void model_delete_make(int arg[ARGS])
{
    model_prefer(arg, model_chance(4) == 0 ? ~1u : 1u << RUNNING | 1u << COMPLETED | 1u << DEAD | 1u << CANCELLED);
    if (mood.dependencies && model_chance(2)) model_prefer(arg, 1u << BLOCKED | 1u << DEAD | 1u << RETAINED);
    arg[CASCADES] = (int)model_chance(3); /* 2: only a task that has ended */
}

static void do_delete(int queue, model_task *task)
{
    static const int transitions[STATES] = {
        [NONE] = COVER_DELETE_NONE,           [READY] = COVER_DELETE_READY,     [PARKED] = COVER_DELETE_PARKED,
        [SCHEDULED] = COVER_DELETE_SCHEDULED, [BLOCKED] = COVER_DELETE_BLOCKED, [RUNNING] = COVER_DELETE_RUNNING,
        [COMPLETED] = COVER_DELETE_COMPLETED, [DEAD] = COVER_DELETE_DEAD,       [CANCELLED] = COVER_DELETE_CANCELLED,
        [RETAINED] = COVER_DELETE_RETAINED};
    model_cover(transitions[task->state]);
    if (task->state == RUNNING && model.sessions[task->session].life == DYING) COVER(DELETE_LOST);
    if (task->state != RUNNING && task->state != NONE) model_remove(queue, task);
}

static void do_delete_now(int queue, model_task *task)
{
    if (task->state != RUNNING && task->state != NONE) model.queues[queue].unrecorded_ms = model.now_ms;
    do_delete(queue, task);
}

void model_remove(int queue, model_task *task)
{
    if (task->state == BLOCKED) model_leave_parents(queue, task);
    bool completed = task->state == COMPLETED || task->state == RETAINED;
    model_release(queue, model_slot(queue, task));
    model_drop_readers(queue, model_slot(queue, task));
    if (!completed || task->held == FOR_A_TIME) model_unlock(queue, model_slot(queue, task), true);
    int64_t ended_ms = task->state == COMPLETED ? task->at_ms : -1;
    model_forget(task);
    if (ended_ms >= 0 && model_split_result_block(queue, ended_ms)) COVER(RESULT_BLOCK_LEFT);
    model_tell_ended(queue, model_slot(queue, task), DELETED_STATE);
}

#define ENDED (1u << COMPLETED | 1u << RETAINED | 1u << DEAD | 1u << CANCELLED)

static void do_delete_ended(int queue, model_task *task)
{
    if (ENDED >> task->state & 1) do_delete(queue, task);
}

void model_delete(const int arg[ARGS])
{
    int plain[ARGS];
    memcpy(plain, arg, sizeof(plain));
    plain[CASCADES] = 0;
    if (arg[CASCADES] == 2)
        steer_with(&rv_script_delete, "0", plain, ENDED, ENDED, do_delete_ended);
    else
        steer(&rv_script_delete, arg, DELETED, DELETED, do_delete_now);
}

/* ---- move ------------------------------------------------------------------------------------------------------ */

enum { WHAT = 3, NUMBER /* (of a time: from now) */ };
enum { AT, IN, TO_PRIORITY };

void model_reschedule_make(int arg[ARGS])
{
    model_prefer(arg, model_chance(8) == 0 ? ~1u : WAITING);
    arg[WHAT] = (int)model_chance(3);
    arg[NUMBER] = arg[WHAT] == TO_PRIORITY ? CHOOSE(0, 0, 5, -128, 127) : CHOOSE(0, 0, 1, 1000, 30000, -5);
}

static void shift_time(model_task *task, int64_t due_ms, bool named)
{
    if (due_ms > model.now_ms && task->state == SCHEDULED && task->at_ms == due_ms) return;
    if (due_ms > model.now_ms || task->state == SCHEDULED) {
        model_put_off(task);
        model_note(task);
        task->flagged = true;
    }
    if (due_ms > model.now_ms) {
        model_move(task, SCHEDULED, due_ms);
        if (named) task->named_ms = due_ms;
        COVER(RESCHEDULE_LATER);
    } else if (task->state == SCHEDULED) {
        model_move(task, READY, 0);
        COVER(RESCHEDULE_NOW);
    } else {
        COVER(RESCHEDULE_READY);
    }
}

static void shift(const int arg[ARGS], model_task *task)
{
    if (arg[WHAT] != TO_PRIORITY) {
        shift_time(task, arg[WHAT] == IN && arg[NUMBER] < 0 ? 0 : model.now_ms + arg[NUMBER], arg[WHAT] == AT);
    } else if (task->priority == arg[NUMBER]) {
        COVER(RESCHEDULE_SAME);
    } else {
        task->priority = arg[NUMBER];
        if (task->state == PARKED) COVER(RESCHEDULE_PARKED);
        model_note(task);
        task->flagged = true;
        if (task->state == SCHEDULED || task->state == BLOCKED)
            task->placed = false; /* (it stays among those of its time) */
        else
            model_move(task, READY, 0);
        COVER(RESCHEDULE_PRIORITY);
    }
}

void model_reschedule(const int arg[ARGS])
{
    static const char *const words[] = {"at", "in", "priority"};
    int64_t number = arg[WHAT] == AT ? model.now_ms + arg[NUMBER] : arg[NUMBER];
    model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    for (int i = 0; i <= (arg[FLAGS] & TWICE) && *model_id(arg[ID]); i++) {
        /* One that waits for others has no time yet, but a priority. */
        bool timeless = task->state == BLOCKED && arg[WHAT] != TO_PRIORITY,
             may = WAITING >> task->state & 1 && !timeless;
        const char *expected = may ? "ok" : model_state_names[task->state];
        const rv_reply *reply = CALL(reschedule, arg[QUEUE], model_id(arg[ID]), words[arg[WHAT]], model_number(number));
        if (!reply) return;
        if (!rv_reply_is_text(reply, expected))
            model_differ("move says %s, not \"%s\"", test_reply_text(reply), expected);
        if (may) shift(arg, task);
        if (task->state == NONE) COVER(RESCHEDULE_NONE);
        if (!may && task->state != NONE) COVER(RESCHEDULE_REFUSED);
    }
}

/* ---- waiting for a task ---------------------------------------------------------------------------------------- */

enum { FOR_MS = 2 };

void model_wait_make(int arg[ARGS])
{
    model_prefer(arg, model_chance(4) == 0 ? ~1u : WAITING | 1u << RUNNING);
    arg[FOR_MS] = CHOOSE(1000, 60000);
}

void model_wait(const int arg[ARGS])
{
    model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    const rv_reply *reply = CALL(wait, arg[QUEUE], model_id(arg[ID]), model_number(arg[FOR_MS]));
    if (!reply) return;
    /* A list, once a notice could not be sent. */
    const rv_reply *state = mood.restricted && rv_reply_is(reply, RV_ARRAY) ? rv_reply_at(reply, 0) : reply;
    if (!rv_reply_is_text(state, model_state_names[task->state])) model_differ("wait says %s", test_reply_text(reply));
    if (task->state == NONE) COVER(WAIT_NONE);
    if (task->state >= COMPLETED) COVER(WAIT_ENDED);
    if (task->state == NONE || task->state >= COMPLETED) return;
    task->waited_ms = model.now_ms + arg[FOR_MS];
    model.queues[arg[QUEUE]].waiters = true;
    COVER(WAIT_WAITS);
}
