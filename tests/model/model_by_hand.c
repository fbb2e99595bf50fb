/* Leases that end by hand, and tasks that die by hand. */
#include <stdio.h>

#include "model/model_dependencies.h"
#include "model/model_limit_state.h"
#include "support/queue.h"

enum { QUEUE, ID, FLAGS };
enum { TWICE = 1 };

/* Whether tasks are still to hear of an end. */
static bool is_more(int queue)
{
    return model.queues[queue].fan_count > 0 || model.queues[queue].message_count > 0;
}

/* ---- expire ---------------------------------------------------------------------------------------------------- */

void model_expire_make(int arg[ARGS])
{
    model_prefer(arg, 1u << RUNNING);
}

static void end_cancelled(int queue, model_task *task)
{
    COVER(EXPIRE_CANCELLED);
    model_end(queue, task, CANCELLED);
    if (task->state != NONE) (void)model_trim_count(queue, CANCELLED, 16);
    model_tell_ended(queue, model_slot(queue, task), CANCELLED);
}

/* The worker says that no outcome of the lease is on its way: its session may lease the task again (ct_change has what
 * happens before that). */
void model_expire_answer(int queue, int id, int session)
{
    if (model.sessions[session].life == ALIVE)
        (void)CALL(regain, queue, model_session_id(session), model_id(id), "1 1");
}

void model_expire_lease(int queue, model_task *task)
{
    if (model.sessions[task->session].life == DYING) COVER(EXPIRE_LOST);
    if (task->handed) COVER(EXPIRE_HANDED);
    if (task->told) {
        end_cancelled(queue, task);
        return;
    }
    if (task->handed)
        task->expires_ms = task->deadline_ms;
    else
        model_has_begun(task);
    model_to_front(task);
    task->flagged = true;
    model_note(task);
    COVER(EXPIRE_BACK);
}

void model_expire(const int arg[ARGS])
{
    for (int i = 0; i <= (arg[FLAGS] & TWICE) && *model_id(arg[ID]); i++) {
        model_task *task = model_task_of(arg[QUEUE], arg[ID]);
        const char *expected = task->state == RUNNING ? "ok" : model_state_names[task->state];
        const rv_reply *reply = CALL(expire, arg[QUEUE], model_id(arg[ID]));
        if (!reply) return;
        if (!rv_reply_is_text(reply, expected))
            model_differ("expire says %s, not \"%s\"", test_reply_text(reply), expected);
        if (task->state != RUNNING) COVER(EXPIRE_REFUSED);
        int session = task->state == RUNNING ? task->session : -1;
        if (task->state == RUNNING) model_expire_lease(arg[QUEUE], task);
        model_take_over_parked(arg[QUEUE], false);
        if (session >= 0 && task->state == READY) model_expire_answer(arg[QUEUE], arg[ID], session);
    }
}

/* ---- fail ------------------------------------------------------------------------------------------------------ */

void model_fail_make(int arg[ARGS])
{
    model_prefer(arg, model_chance(2) ? 1u << RUNNING : WAITING);
}

static void fail_task(int queue, model_task *task, int error)
{
    if (task->state == RUNNING) COVER(FAIL_RUNNING);
    if (task->state == BLOCKED) COVER(FAIL_BLOCKED);
    if (model_waits(task->state)) COVER(FAIL_WAITING);
    task->told = false;
    model_die_waiting(queue, task, error);
}

void model_fail(const int arg[ARGS])
{
    for (int i = 0; i <= (arg[FLAGS] & TWICE) && *model_id(arg[ID]); i++) {
        char words[160];
        int error = ++model.serial;
        model_task *task = model_task_of(arg[QUEUE], arg[ID]);
        bool fails = task->state == RUNNING || model_waits(task->state);
        const char *expected = fails ? "ok" : model_state_names[task->state];
        model_error_words(error, words);
        const rv_reply *reply = CALL(fail, arg[QUEUE], model_id(arg[ID]), model_kind_name(KIND_OF(error)), words);
        if (!reply) return;
        char heard[64];
        rv_copy_text(heard, sizeof(heard), test_reply_text(reply));
        bool is_exact = rv_reply_is_text(reply, expected), says_more = rv_reply_is_text(reply, "ok more");
        if (!fails) COVER(FAIL_REFUSED);
        int session = task->state == RUNNING ? task->session : -1;
        if (fails) fail_task(arg[QUEUE], task, error);
        model_take_over_parked(arg[QUEUE], false);
        if (session >= 0 && task->state == DEAD) model_expire_answer(arg[QUEUE], arg[ID], session);
        bool more = fails && is_more(arg[QUEUE]);
        if (more ? !says_more : !is_exact)
            model_differ("fail says %s, not \"%s\"%s", heard, expected, more ? " more" : "");
    }
}
