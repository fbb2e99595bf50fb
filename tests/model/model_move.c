/*
 * Tasks without dependencies go to the other queue: out of one, as a message that is carried at once, and into the
 * other. What tells later registrations where the task is (replaced_by:<id>) goes, as if a day had passed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_dependencies.h"
#include "model/model_limit_state.h"
#include "support/queue.h"

enum { QUEUE, ID, FLAGS };
enum { TWICE = 1, EXPIRES = 2 };
enum { HEAD_MAX = 4096 };

#define ENDED (1u << COMPLETED | 1u << RETAINED | 1u << DEAD | 1u << CANCELLED)

/* One that was cancelled while it runs is rare. */
static bool find_cancelled(int arg[ARGS])
{
    for (int queue = 0; queue < QUEUES; queue++) {
        for (int id = 0; id < IDS; id++) {
            if (model_task_of(queue, id)->state != RUNNING || !model_task_of(queue, id)->told) continue;
            arg[QUEUE] = queue;
            arg[ID] = id;
            return true;
        }
    }
    return false;
}

void model_move_task_make(int arg[ARGS])
{
    bool expires = model_chance(4) == 0;
    model_prefer(arg, model_chance(3) == 0 ? ENDED | 1u << RUNNING : 1u << READY | 1u << SCHEDULED | 1u << PARKED);
    if (expires) model_prefer(arg, 1u << RUNNING);
    if (find_cancelled(arg)) expires = true;
    if (expires) arg[FLAGS] |= EXPIRES;
}

static bool has_dependencies(int queue, int id)
{
    const model_task *task = model_task_of(queue, id);
    for (int parent = 0; parent <= OPEN; parent++)
        if (task->edges[parent].policy) return true;
    for (int parent = 0; parent < HANDLES; parent++)
        if (task->reads[parent]) return true;
    return id >= IDS || model.queues[queue].parents[id].linked || model_has_readers(queue, id);
}

/* ---- the message ----------------------------------------------------------------------------------------------- */

typedef struct parcel {
    char *text; /* all of it */
    char number[24];
    const char *options;
    size_t options_length;
    int64_t serial;
} parcel;

static bool read_parcel(int queue, const char *id, parcel *ret)
{
    const rv_reply *reply;
    char handle[64] = "";
    int at = 0;
    rv_cmd(test_conn, 3);
    rv_args(test_conn, "LINDEX");
    rv_arg2(test_conn, model_prefix(queue), strlen(model_prefix(queue)), "outbox", 6);
    rv_args(test_conn, "-1");
    if (rv_conn_call(test_conn, test_patience(), &reply) != REEVE_OK || !rv_reply_is(reply, RV_TEXT)) return false;
    ret->text = strdup(reply->text);
    bool read =
        ret->text && sscanf(ret->text, "V %23s %63s %zu %n", ret->number, handle, &ret->options_length, &at) == 3;
    ret->options = ret->text + at;
    ret->serial = strtoll(ret->number, NULL, 10);
    return read && strstr(handle, id) != NULL;
}

static void carry(int target, const char *id, const parcel *p)
{
    char head[64], options[HEAD_MAX];
    (void)snprintf(head, sizeof(head), "%s %s 0", target ? "a" : "b", p->number);
    (void)snprintf(options, sizeof(options), "%.*s", (int)p->options_length, p->options);
    model_begin(&rv_script_arrive);
    model_key(target);
    model_arg_text(head);
    model_arg_text(id);
    model_arg_text(options);
    model_arg_text(p->options + p->options_length);
    const rv_reply *reply = model_call();
    if (reply && !rv_reply_is_text(reply, id)) model_differ("arrive says %s, not %s", test_reply_text(reply), id);
}

/* ---- what becomes of it ---------------------------------------------------------------------------------------- */

typedef struct held_key {
    bool holds;
    int64_t ends_ms; /* 0: with its task */
} held_key;

static held_key key_of(int queue, int id)
{
    const model_task *task = model_task_of(queue, id);
    if (!task->unique) return (held_key){false, 0};
    if (model_holder(queue, task->unique) == id)
        return (held_key){true, task->held == FOR_A_TIME ? model.queues[queue].locks[task->unique].ends_ms : 0};
    return (held_key){(ENDED >> task->state & 1) != 0, task->held == FOR_A_TIME ? model.now_ms + task->hold_ms : 0};
}

static void forget_attempts(model_task *task)
{
    task->failures = task->crashes = task->alone = 0;
    task->progress = 0;
}

/* As it comes to the other queue. */
static model_task travelling(const model_task *from)
{
    model_task task = *from;
    bool ended = ENDED >> from->state & 1;
    if (from->state == DEAD || from->state == COMPLETED) forget_attempts(&task);
    if (ended) model_has_begun(&task);
    task.state = NONE;
    task.session = -1;
    task.segment = task.slot = task.result = task.field = task.counted = 0;
    task.placed = task.keeps = task.called = task.told = task.handed = false;
    task.waited_ms = 0;
    task.run[0] = '\0';
    task.expires_ms = task.deadline_ms;
    task.flagged = true;
    return task;
}

static void arrive(int target, int id, model_task task, model_state before, int64_t due_ms, held_key k)
{
    model_queue *q = &model.queues[target];
    model_task *there = model_task_of(target, id);
    *there = task;
    there->arrived = ++model.last_order;
    q->replacements[id].id = 0;
    if (task.large) q->large = true;
    if (task.tagged) q->given_ms = model.now_ms;
    if (task.group) model.grouped = true;
    bool waits = before == SCHEDULED && due_ms > model.now_ms;
    model_move(there, waits ? SCHEDULED : READY, waits ? due_ms : 0);
    if (ENDED >> before & 1) COVER(MOVE_ENDED);
    if (waits)
        COVER(MOVE_SCHEDULED);
    else
        COVER(MOVE_READY);
    model_note(there);
    if (!k.holds) return;
    if (model_holder(target, task.unique) >= 0) {
        COVER(MOVE_KEY_TAKEN);
        there->unique = 0;
        return;
    }
    model_lock(target, id);
    q->locks[task.unique].ends_ms = k.ends_ms;
    COVER(MOVE_KEY);
}

static void take_out(int queue, const parcel *p)
{
    model_begin(&rv_script_outbox);
    model_key(queue);
    model_arg_text("0 0 0");
    model_arg_text(p->text);
    (void)model_call();
}

static void go(const int arg[ARGS], const char *id)
{
    int target = 1 - arg[QUEUE];
    parcel p = {0};
    model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    int session = task->state == RUNNING ? task->session : -1;
    if (session >= 0) {
        model_expire_lease(arg[QUEUE], task);
        COVER(MOVE_EXPIRES);
    }
    model_task moved = travelling(task);
    model_state before = task->state;
    int64_t due_ms = task->at_ms;
    held_key k = key_of(arg[QUEUE], arg[ID]);
    (void)test_cmd(test_conn, "DEL %sreplaced_by:%s", model_prefix(arg[QUEUE]), id);
    model_remove(arg[QUEUE], task);
    model_take_over_parked(arg[QUEUE], false);
    if (!read_parcel(arg[QUEUE], id, &p)) {
        model_differ("move of %s leaves no message", id);
        free(p.text);
        return;
    }
    carry(target, id, &p);
    (void)model_receive(target, arg[QUEUE], p.serial, 0);
    arrive(target, arg[ID], moved, before, due_ms, k);
    if (arg[FLAGS] & TWICE) {
        carry(target, id, &p);
        COVER(MOVE_TWICE);
    }
    take_out(arg[QUEUE], &p);
    free(p.text);
    if (session >= 0) model_expire_answer(arg[QUEUE], arg[ID], session);
}

void model_move_task(const int arg[ARGS])
{
    char id[64];
    const model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    rv_copy_text(id, sizeof(id), model_id(arg[ID]));
    if (mood.queues == 1 || !*id || task->of || has_dependencies(arg[QUEUE], arg[ID])) return;
    if (model_task_of(1 - arg[QUEUE], arg[ID])->state != NONE || model_replacement(arg[QUEUE], arg[ID]) >= 0) return;
    bool expires = arg[FLAGS] & EXPIRES, goes = task->state != NONE && task->state != RUNNING;
    if (task->state == RUNNING) goes = expires && !task->told;
    const rv_reply *reply = CALL(move, arg[QUEUE], id, arg[QUEUE] ? "a" : "b", expires ? "1" : "");
    if (!reply) return;
    if (!rv_reply_is_text(reply, goes ? "ok more" : model_state_names[task->state]))
        model_differ("move says %s of a task that is %s", test_reply_text(reply), model_state_names[task->state]);
    if (!goes) COVER(MOVE_REFUSED);
    if (!goes && expires && task->state == RUNNING) COVER(MOVE_CANCELLED);
    if (goes) go(arg, id);
}

/* ---- unlock ---------------------------------------------------------------------------------------------------- */

enum { KEY = 1 };

void model_free_key_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[KEY] = 1 + (int)model_chance(UNIQUES);
}

void model_free_key(const int arg[ARGS])
{
    char key[16];
    int holder = model_holder(arg[QUEUE], arg[KEY]);
    (void)snprintf(key, sizeof(key), "u%d", arg[KEY]);
    const rv_reply *reply = CALL(unlock, arg[QUEUE], key);
    if (!reply) return;
    if (!rv_reply_is_text(reply, holder < 0 ? "" : model_id(holder)))
        model_differ("unlock says %s, and %s had the key", test_reply_text(reply),
                     holder < 0 ? "nobody" : model_id(holder));
    if (holder < 0) COVER(UNLOCK_FREE);
    if (holder < 0) return;
    model_task *task = model_task_of(arg[QUEUE], holder);
    if (task->state != NONE && task->unique == arg[KEY]) task->unique = 0;
    model.queues[arg[QUEUE]].locks[arg[KEY]].holder = 0;
    model.queues[arg[QUEUE]].locks[arg[KEY]].ends_ms = 0;
    COVER(UNLOCK_FREED);
}
