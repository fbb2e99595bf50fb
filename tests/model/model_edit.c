/* Options, payload and tags of a task change. */
#include <stdio.h>
#include <string.h>

#include "model/model_dependencies.h"
#include "model/model_limit_state.h"
#include "support/queue.h"

enum { QUEUE, ID, FLAGS, WHAT, PRIORITY, GROUP };
enum { EXPIRES = 2 };
enum { TYPE = 1, PAYLOAD = 2, PLACE = 4, IN_GROUP = 8, TAG = 16, UNTAG = 32 };

void model_edit_make(int arg[ARGS])
{
    model_prefer(arg, model_chance(8) == 0 ? ~1u : WAITING | 1u << DEAD | 1u << CANCELLED);
    arg[WHAT] =
        CHOOSE(TYPE, PAYLOAD, PLACE, IN_GROUP, TAG, UNTAG, TYPE | TAG, PAYLOAD | PLACE | IN_GROUP, UNTAG | PLACE);
    if (model_chance(4) == 0) {
        model_prefer(arg, 1u << RUNNING);
        arg[FLAGS] = EXPIRES;
    }
    if (mood.segments && model_chance(4) > 0) arg[WHAT] = CHOOSE(TYPE, PAYLOAD, PLACE, TAG);
    arg[PRIORITY] = CHOOSE(0, 0, 5, -128);
    arg[GROUP] = CHOOSE(0, 1, 2, 3);
    /* Parked tasks are rare. */
    for (int id = 0; id < SLOTS; id++) {
        if (model_task_of(arg[QUEUE], id)->state != PARKED) continue;
        if (arg[FLAGS] & EXPIRES) continue;
        arg[ID] = id;
        arg[WHAT] = PLACE | IN_GROUP;
    }
}

static void add_arguments(const int arg[ARGS], int serial)
{
    static const char *const weights[] = {"", "", "3", "256"};
    const model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    if (arg[FLAGS] & EXPIRES) {
        model_arg("expire");
        model_arg("1");
    }
    if (arg[WHAT] & TYPE) {
        model_arg("type");
        model_arg("%s", task->type ? "t" : "s");
    }
    if (arg[WHAT] & PAYLOAD) {
        model_arg("payload");
        model_arg("%d", serial);
    }
    if (arg[WHAT] & PLACE) {
        model_arg("priority");
        if (arg[PRIORITY]) model_arg("%d", arg[PRIORITY]);
        if (!arg[PRIORITY]) model_arg_text("");
    }
    if (arg[WHAT] & IN_GROUP) {
        model_arg("weight");
        model_arg_text(weights[arg[GROUP]]);
        model_arg("group");
        if (arg[GROUP]) model_arg("\"g%d\"", arg[GROUP]);
        if (!arg[GROUP]) model_arg_text("");
    }
    for (int i = 0; i < 2 && arg[WHAT] & (TAG | UNTAG); i++) {
        model_arg("%s", arg[WHAT] & TAG ? "tag" : "untag");
        model_arg("%s", i == 0 ? "w" : "x");
    }
}

static void tag(int queue, model_task *task, bool tagged)
{
    if (tagged && !task->tagged) {
        model.queues[queue].given_ms = model.now_ms;
        task->arrived = ++model.last_order;
    }
    task->tagged = tagged;
}

static void move(const int arg[ARGS], model_task *task, bool to_group)
{
    if (to_group) task->keeps = false;
    if (task->state == PARKED) COVER(EDIT_PARKED);
    if (task->state == READY || task->state == PARKED) {
        model_move(task, READY, 0);
        COVER(EDIT_PLACE);
    } else if (model_waits(task->state)) {
        task->placed = false;
    }
    if (arg[GROUP] && to_group) model.grouped = true;
}

/* Those of which only tags change. */
static bool is_far(const int arg[ARGS], const model_task *task)
{
    return (task->state == RUNNING && !(arg[FLAGS] & EXPIRES)) || task->state == COMPLETED || task->state == RETAINED;
}

static bool may_edit(const int arg[ARGS], const model_task *task)
{
    if (task->state == NONE) return false;
    if (task->state == RUNNING && arg[FLAGS] & EXPIRES) return !task->told;
    return !is_far(arg, task) || !(arg[WHAT] & ~(TAG | UNTAG) || arg[FLAGS] & EXPIRES);
}

static void edit(const int arg[ARGS], model_task *task, int serial)
{
    bool far = is_far(arg, task);
    int priority = arg[WHAT] & PLACE ? arg[PRIORITY] : task->priority,
        group = arg[WHAT] & IN_GROUP ? arg[GROUP] : task->group;
    bool tagged = arg[WHAT] & TAG || (task->tagged && !(arg[WHAT] & UNTAG));
    bool moves = priority != task->priority || group != task->group, to_group = group != task->group;
    if (!moves && tagged == task->tagged && !(arg[WHAT] & (TYPE | PAYLOAD))) {
        COVER(EDIT_SAME);
        return;
    }
    if (task->state == RUNNING && !far) {
        model_expire_lease(arg[QUEUE], task);
        COVER(EDIT_EXPIRES);
    }
    tag(arg[QUEUE], task, tagged);
    if (arg[WHAT] & TYPE) task->type = !task->type;
    if (arg[WHAT] & PAYLOAD) task->serial = serial;
    if (arg[WHAT] & PAYLOAD) task->large = false;
    task->priority = priority;
    task->group = group;
    if (far) COVER(EDIT_TAGS);
    if (task->state == DEAD || task->state == CANCELLED) COVER(EDIT_ENDED);
    if (moves) move(arg, task, to_group);
    if (!moves) COVER(EDIT_STAYS);
    if (far) return;
    model_note(task);
    task->flagged = true;
}

void model_edit(const int arg[ARGS])
{
    model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    if (!*model_id(arg[ID]) || task->of) return; /* (a task for a death: its payload is not a number) */
    bool may = may_edit(arg, task);
    int session = task->state == RUNNING ? task->session : -1;
    int serial = ++model.serial;
    const char *expected = may ? "ok" : model_state_names[task->state];
    model_begin(&rv_script_edit);
    model_key(arg[QUEUE]);
    model_arg("%s", model_id(arg[ID]));
    add_arguments(arg, serial);
    const rv_reply *reply = model_call();
    if (!reply) return;
    if (!rv_reply_is_text(reply, expected)) model_differ("edit says %s, not \"%s\"", test_reply_text(reply), expected);
    if (!may) COVER(EDIT_REFUSED);
    if (may) edit(arg, task, serial);
    model_take_over_parked(arg[QUEUE], false);
    if (session >= 0 && task->state != RUNNING) model_expire_answer(arg[QUEUE], arg[ID], session);
}
