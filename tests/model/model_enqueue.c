/* Tasks come: by ones and in bulk, now and later, with taken ids, sent once and again. */
#include <stdio.h>
#include <string.h>

#include "model/model.h"

/* A call of some tasks: ids from `first` on, `step` apart (0: all the same). */
enum { QUEUE, FIRST, COUNT, STEP, WHEN, PRIORITY, GROUP, FLAGS };
enum { PLAIN_HALF = 1, TWICE = 2, LOST_BEFORE = 4, IS_LARGE = 8, MOST = 6 };

void model_enqueue_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[FIRST] = model_choose_id();
    arg[COUNT] = CHOOSE(1, 1, 1, 2, 3, MOST, MOST);
    arg[STEP] = CHOOSE(1, 1, 1, 5, 0);
    arg[WHEN] = CHOOSE(0, 0, 0, 0, 0, 0, 1, 100, 5000, 60000, -1, -2, -3000);
    arg[PRIORITY] = CHOOSE(0, 0, 0, 0, 5, -128, 127);
    arg[GROUP] = CHOOSE(0, 0, 0, 1, 2, 3);
    arg[FLAGS] = CHOOSE(0, 0, PLAIN_HALF, TWICE, TWICE | PLAIN_HALF, LOST_BEFORE);
    if (model_chance(mood.ids == IDS ? 100 : 10) == 0) arg[FLAGS] |= IS_LARGE;
}

typedef struct incoming {
    int id;
    int64_t due_ms; /* 0: now */
    bool at;
    model_task task;
    int expected;
} incoming;

/* A delay when it is positive, a time when it is negative: one millisecond less is now. */
static void describe(const int arg[ARGS], int i, incoming *ret)
{
    bool plain = arg[FLAGS] & PLAIN_HALF && i % 2 == 1;
    *ret = (incoming){.id = (arg[FIRST] + i * arg[STEP]) % IDS};
    ret->task = (model_task){.session = -1, .enqueued_ms = model.now_ms, .serial = ++model.serial};
    ret->task.large = arg[FLAGS] & IS_LARGE && i == 0;
    if (plain) return;
    ret->task.priority = arg[PRIORITY];
    ret->task.group = arg[GROUP];
    ret->at = arg[WHEN] < 0;
    if (arg[WHEN] != 0) ret->due_ms = ret->at ? model.now_ms - arg[WHEN] - 2 : model.now_ms + arg[WHEN];
}

static void send(const incoming *one)
{
    static const char *const groups[] = {"", ",\"group\":\"g1\"", ",\"group\":\"g2\",\"weight\":3",
                                         ",\"group\":\"g3\",\"weight\":256"};
    const model_task *task = &one->task;
    char options[256] = "", due[64] = "", priority[32] = "";
    long long number = one->at ? one->due_ms : one->due_ms - model.now_ms;
    if (one->due_ms) (void)snprintf(due, sizeof(due), ",\"%s\":%lld", one->at ? "at" : "in", number);
    if (task->priority) (void)snprintf(priority, sizeof(priority), ",\"priority\":%d", task->priority);
    (void)snprintf(options, sizeof(options), "%s%s%s}", due, priority, groups[task->group]);
    options[0] = '{'; /* in place of the first comma; with nothing to say it is alone */
    model_arg_text(model_id(one->id));
    model_arg_text(options[1] ? options : "");
    model_arg_text(model_rest(task));
}

static void arrive(int queue, const incoming *one)
{
    model_task *task = model_task_of(queue, one->id);
    *task = one->task;
    if (one->task.large) model.queues[queue].large = true;
    if (one->task.large) COVER(ENQUEUE_LARGE);
    if (one->due_ms > model.now_ms) {
        model_move(task, SCHEDULED, one->due_ms);
        if (one->at)
            COVER(ENQUEUE_AT);
        else
            COVER(ENQUEUE_IN);
        return;
    }
    if (one->due_ms) COVER(ENQUEUE_PAST);
    model_move(task, READY, 0);
    COVER(ENQUEUE_READY);
}

/* again: this call was sent before, or is said to have been. */
static void expect(int queue, incoming *tasks, int count, bool again)
{
    bool known[MOST];
    for (int i = 0; i < count; i++) known[i] = model_task_of(queue, tasks[i].id)->state != NONE;
    for (int i = 0; i < count; i++) {
        const model_task *there = model_task_of(queue, tasks[i].id);
        bool taken = there->state != NONE;
        tasks[i].expected = !taken || (again && known[i] && there->serial == tasks[i].task.serial);
        if (!taken) {
            arrive(queue, &tasks[i]);
        } else if (tasks[i].expected) {
            COVER(ENQUEUE_AGAIN);
        } else if (known[i]) {
            COVER(ENQUEUE_TAKEN);
        } else {
            COVER(ENQUEUE_TAKEN_WITHIN);
        }
    }
}

static void exchange(int queue, incoming *tasks, int count, bool again)
{
    model_begin(&rv_script_enqueue);
    model_key(queue);
    model_arg_text(again ? "1" : "0");
    for (int i = 0; i < count; i++) send(&tasks[i]);
    const rv_reply *reply = model_call();
    if (!reply) return;
    expect(queue, tasks, count, again);
    for (int i = 0; i < count; i++)
        if (rv_reply_int(rv_reply_at(reply, (size_t)i), -1) != tasks[i].expected)
            model_differ("enqueue says of the %dth task, %s, not %d", i + 1, model_id(tasks[i].id), tasks[i].expected);
}

void model_enqueue(const int arg[ARGS])
{
    incoming tasks[MOST];
    for (int i = 0; i < arg[COUNT]; i++) describe(arg, i, &tasks[i]);
    exchange(arg[QUEUE], tasks, arg[COUNT], arg[FLAGS] & LOST_BEFORE);
    if (arg[FLAGS] & TWICE) exchange(arg[QUEUE], tasks, arg[COUNT], true);
}
