/* What only reads: show, list, stat. */
#include <string.h>

#include "model/model_turn.h"
#include "support/queue.h"

enum { QUEUE, ID };

void model_show_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[ID] = model_choose_id();
}

/* Of a task as a list of show or list: {id, state, envelope, score, session, lease, ...}. */
static void check_described(const model_task *task, const char *id, const rv_reply *said)
{
    char lease[64] = "";
    bool runs = task->state == RUNNING, timed = task->state >= COMPLETED || task->state == SCHEDULED;
    if (runs) model_name_lease(lease, task->at_ms, task->thread);
    if (!rv_reply_is_text(rv_reply_at(said, 0), id) ||
        !rv_reply_is_text(rv_reply_at(said, 1), model_state_names[task->state]))
        model_differ("it is said of %s: %s", id, test_reply_text(said));
    if (timed && rv_reply_int(rv_reply_at(said, 3), -1) != task->at_ms)
        model_differ("it is said of %s: %s, not %lld", id, test_reply_text(said), (long long)task->at_ms);
    if (!rv_reply_is_text(rv_reply_at(said, 4), runs ? model_session_id(task->session) : "") ||
        !rv_reply_is_text(rv_reply_at(said, 5), lease))
        model_differ("it is said of who holds %s: %s", id, test_reply_text(said));
}

void model_show(const int arg[ARGS])
{
    const model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    const rv_reply *reply = CALL(show, arg[QUEUE], model_id(arg[ID]));
    if (!reply) return;
    if (rv_reply_is(reply, RV_NIL) != (task->state == NONE)) model_differ("show says %s", test_reply_text(reply));
    if (task->state == NONE) COVER(SHOW_NONE);
    if (task->state == NONE || rv_reply_is(reply, RV_NIL)) return;
    check_described(task, model_id(arg[ID]), reply);
    COVER(SHOW_TASK);
}

enum { STATE = 1, SKIP, MOST };

void model_list_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[STATE] = CHOOSE(READY, SCHEDULED, RUNNING, RUNNING, COMPLETED, DEAD, CANCELLED);
    arg[SKIP] = CHOOSE(0, 0, 0, 1);
    arg[MOST] = CHOOSE(1, 2, 100);
}

void model_list(const int arg[ARGS])
{
    int count = model_count(arg[QUEUE], (model_state)arg[STATE]);
    const rv_reply *reply =
        CALL(list, arg[QUEUE], model_state_names[arg[STATE]], model_number(arg[SKIP]), model_number(arg[MOST]));
    if (!reply) return;
    int page = count > arg[SKIP] ? count - arg[SKIP] : 0;
    if (page > arg[MOST]) page = arg[MOST];
    if (rv_reply_int(rv_reply_at(reply, 0), -1) != count || (int)reply->count != 1 + page)
        model_differ("list says %s; there are %d", test_reply_text(reply), count);
    for (size_t i = 1; i < reply->count; i++) {
        const rv_reply *name = rv_reply_at(reply->items[i], 0);
        int id = name ? model_id_of(name->text) : -1;
        if (id < 0 || model_task_of(arg[QUEUE], id)->state != (model_state)arg[STATE]) {
            model_differ("list says %s", test_reply_text(reply));
        } else {
            check_described(model_task_of(arg[QUEUE], id), model_id(id), reply->items[i]);
        }
    }
    if (count > 0) COVER(LIST_STATE);
    if (count > 0 && arg[STATE] == RUNNING) COVER(LIST_RUNNING);
    if (count > arg[SKIP] + page && page > 0) COVER(LIST_PAGE);
}

/* ---- stat ------------------------------------------------------------------------------------------------------ */

enum { HEAD = 13, NUMBERS = 16 };

void model_stat_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
}

static int64_t first_due(int queue)
{
    int64_t first = -1;
    for (int id = 0; id < IDS; id++) {
        const model_task *task = model_task_of(queue, id);
        if (task->state == SCHEDULED && (first < 0 || task->at_ms < first)) first = task->at_ms;
    }
    return first;
}

static void check_stat(int queue, const rv_reply *reply)
{
    const model_queue *q = &model.queues[queue];
    const int64_t expected[NUMBERS] = {q->paused,
                                       0,
                                       model_count(queue, SCHEDULED),
                                       model_count(queue, READY),
                                       0,
                                       model_count(queue, RUNNING),
                                       model_count(queue, COMPLETED),
                                       model_count(queue, DEAD),
                                       model_count(queue, CANCELLED),
                                       q->counters[0],
                                       q->counters[1],
                                       q->counters[2],
                                       q->counters[3],
                                       0,
                                       first_due(queue),
                                       model.now_ms};
    for (size_t i = 0; i < NUMBERS; i++)
        if (i != HEAD && rv_reply_int(rv_reply_at(reply, i), -2) != expected[i])
            model_differ("stat says %s; the %zuth is %lld", test_reply_text(reply), i + 1, (long long)expected[i]);
}

void model_stat(const int arg[ARGS])
{
    model_begin(&rv_script_stat);
    model_key(arg[QUEUE]);
    const rv_reply *reply = model_call();
    if (!reply) return;
    check_stat(arg[QUEUE], reply);
    COVER(STAT);
}
