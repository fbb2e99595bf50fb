/*
 * Sweeps: what a filter picks among the tasks of a state is retried, cancelled or deleted, some at a time. In which
 * step a task's turn comes is not predicted, but seen in Redis; at the end all that was meant must be done.
 */
#include <string.h>

#include "model/model_dependencies.h"
#include "model/model_segment.h"
#include "support/queue.h"

enum { QUEUE, ACTION, STATE, MAX, KIND, TYPE, TAG, AGE, STEPS /* how many calls; 0: all */, EXTRA };
/* What else the filter asks. */
enum { NO_EXTRA, ONE_A_CALL, LOW_ID, HAS_FAILED, HAS_NOT_FAILED, IN_GROUP };
enum { DO_RETRY, DO_CANCEL, DO_DELETE };

/* Most of the time one in which there are tasks. */
static int choose_state(int queue)
{
    int state = NONE;
    for (int i = 0; i < 16 && (state == NONE || (model_count(queue, (model_state)state) == 0 && model_chance(16))); i++)
        state = CHOOSE(READY, PARKED, SCHEDULED, BLOCKED, BLOCKED, COMPLETED, DEAD, DEAD, DEAD, CANCELLED, CANCELLED);
    return state;
}

void model_bulk_update_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[ACTION] = CHOOSE(DO_RETRY, DO_RETRY, DO_CANCEL, DO_DELETE);
    arg[STATE] = choose_state(arg[QUEUE]);
    if (mood.segments && model_chance(3) == 0) arg[STATE] = READY;
    arg[MAX] = CHOOSE(1, 1, 2, 1000);
    if (arg[STATE] == DEAD) arg[KIND] = CHOOSE(0, 0, 1, 2, 3);
    arg[TYPE] = CHOOSE(0, 0, 0, 1, 2, 3);
    arg[TAG] = CHOOSE(0, 0, 0, 1);
    arg[AGE] = CHOOSE(0, 0, 0, 1, 1000, 60000);
    if (model_chance(2)) arg[KIND] = arg[TYPE] = arg[TAG] = arg[AGE] = 0;
    arg[STEPS] = CHOOSE(0, 0, 0, 1, 2);
    arg[EXTRA] = CHOOSE(NO_EXTRA, NO_EXTRA, NO_EXTRA, ONE_A_CALL, LOW_ID, HAS_FAILED, HAS_NOT_FAILED, IN_GROUP);
}

static bool is_meant_by_extra(const int arg[ARGS], int id, const model_task *task)
{
    if (arg[EXTRA] == LOW_ID) return strncmp(model_id(id), "t0", 2) == 0;
    if (arg[EXTRA] == HAS_FAILED || arg[EXTRA] == HAS_NOT_FAILED)
        return (task->failures > 0) == (arg[EXTRA] == HAS_FAILED);
    return arg[EXTRA] != IN_GROUP || task->group == 1;
}

static bool is_meant(const int arg[ARGS], int id)
{
    const model_task *task = model_task_of(arg[QUEUE], id);
    bool ended = task->state >= COMPLETED;
    if (task->state != (model_state)arg[STATE] || !is_meant_by_extra(arg, id, task)) return false;
    if (arg[KIND] && KIND_OF(task->error) != arg[KIND]) return false;
    if (arg[TYPE] && task->type != arg[TYPE] - 1) return false;
    if (arg[TAG] && !task->tagged) return false;
    /* What came later than now counts as newer than the beginning; what ended later did so before the clock went
     * back. */
    if (!ended && task->enqueued_ms > model.now_ms) return false;
    return arg[AGE] == 0 || (ended ? task->at_ms : task->enqueued_ms) <= model.now_ms - arg[AGE];
}

/* 1: it can be done; 0: another has its key; -1: its state forbids it. */
static int may_be(const int arg[ARGS], int id)
{
    const model_task *task = model_task_of(arg[QUEUE], id);
    bool waits = model_waits(task->state);
    if (arg[ACTION] != DO_RETRY && model_children(arg[QUEUE], id) > 0) return 0;
    if (arg[ACTION] == DO_CANCEL) return waits ? 1 : -1;
    if (arg[ACTION] == DO_DELETE) return 1;
    if (task->state == READY || task->state == PARKED || task->state == BLOCKED) return -1;
    if (task->state == COMPLETED && model_has_readers(arg[QUEUE], id)) return 0;
    return task->state == SCHEDULED || model_other_holder(arg[QUEUE], id) < 0;
}

static void act(const int arg[ARGS], model_task *task)
{
    if (arg[ACTION] == DO_RETRY) {
        model_revive(arg[QUEUE], task);
        COVER(BULK_UPDATE_RETRY);
    } else if (arg[ACTION] == DO_CANCEL) {
        model_cancel_waiting(arg[QUEUE], task);
        COVER(BULK_UPDATE_CANCEL);
    } else {
        model.queues[arg[QUEUE]].unrecorded_ms = model.now_ms;
        model_remove(arg[QUEUE], task);
        COVER(BULK_UPDATE_DELETE);
    }
}

/* One that was cancelled and is still `cancelled` was not touched. */
static bool was_touched(const model_task *task, const model_seen_task *seen)
{
    return !seen->exists || seen->state != task->state;
}

static bool stands_before(int queue, int one, int other)
{
    const model_task *a = model_task_of(queue, one), *b = model_task_of(queue, other);
    if (a->state == SCHEDULED && a->at_ms == b->at_ms) return a->scheduled < b->scheduled;
    return a->at_ms < b->at_ms || (a->at_ms == b->at_ms && model_is_before(one, other));
}

/* Those in the state, in the order in which they stand there (but ready ones, whose order is not needed). */
static int list(const int arg[ARGS], int ids[SLOTS])
{
    int count = 0;
    for (int id = 0; id < SLOTS; id++) {
        if (model_task_of(arg[QUEUE], id)->state != (model_state)arg[STATE]) continue;
        int at = count++;
        for (; at > 0 && stands_before(arg[QUEUE], id, ids[at - 1]); at--) ids[at] = ids[at - 1];
        ids[at] = id;
    }
    return count;
}

/* What was done in one step. Returns how many. */
static int take_over(const int arg[ARGS], const int *ids, int count)
{
    int done = 0;
    const model_seen *seen = model_look();
    for (int i = 0; seen && i < count; i++) {
        model_task *task = model_task_of(arg[QUEUE], ids[i]);
        if (task->state != (model_state)arg[STATE]) continue;
        if (!was_touched(task, &seen->queues[arg[QUEUE]].tasks[ids[i]])) continue;
        if (!is_meant(arg, ids[i])) model_differ("sweep takes %s, which is not meant", model_id(ids[i]));
        if (may_be(arg, ids[i]) != 1) model_differ("sweep takes %s, which may not be", model_id(ids[i]));
        act(arg, task);
        done++;
    }
    return done;
}

typedef struct swept {
    char cursor[256];
    int64_t seen, done, failed; /* in all steps */
} swept;

static bool step(const int arg[ARGS], swept *ret)
{
    static const char *const actions[] = {"retry", "cancel", "delete"}, *const kinds[] = {"", "k1", "k2", "k3"},
                             *const types[] = {"", "t", "s", "d"};
    static const char *const extras[][2] = {{"limit", "100"}, {"limit", "1"},  {"id", "t0"},
                                            {"failed", "1"},  {"failed", "0"}, {"group", "g1"}}; /* by EXTRA */
    const rv_reply *reply =
        CALL(bulk_update, arg[QUEUE], actions[arg[ACTION]], model_state_names[arg[STATE]], ret->cursor,
             model_number(arg[MAX]), kinds[arg[KIND]], types[arg[TYPE]], arg[TAG] ? "x" : "", model_number(arg[AGE]),
             extras[arg[EXTRA]][0], extras[arg[EXTRA]][1]);
    if (!reply) return false;
    int ids[SLOTS], count = list(arg, ids);
    int64_t seen = rv_reply_int(rv_reply_at(reply, 1), -1), done = rv_reply_int(rv_reply_at(reply, 2), -1);
    int64_t failed = rv_reply_int(rv_reply_at(reply, 3), -1);
    rv_copy_text(ret->cursor, sizeof(ret->cursor), rv_reply_at(reply, 0)->text);
    if (take_over(arg, ids, count) != done) model_differ("sweep says that it did %lld", (long long)done);
    if (arg[EXTRA] == ONE_A_CALL && done > 1) model_differ("sweep does more than its limit");
    if (seen < done + failed || seen > arg[MAX]) model_differ("sweep says that it saw %lld", (long long)seen);
    ret->seen += seen;
    ret->done += done;
    ret->failed += failed;
    return true;
}

/* Nothing that was meant is left, but what could not be done. */
static void check_rest(const int arg[ARGS], const swept *actual)
{
    int refused = 0;
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(arg[QUEUE], id);
        bool meant = is_meant(arg, id);
        if (task->state == (model_state)arg[STATE] && !meant) COVER(BULK_UPDATE_LEFT);
        if (!meant) continue;
        int may = may_be(arg, id);
        /* One may have been looked at before a task that waited for it went. */
        if (may == 1 && arg[STATE] != BLOCKED) model_differ("sweep leaves %s", model_id(id));
        if (may == 0) COVER(BULK_UPDATE_UNIQUE);
        refused++;
    }
    if (actual->failed < refused)
        model_differ("sweep says that %lld could not be done, of %d", (long long)actual->failed, refused);
}

void model_bulk_update(const int arg[ARGS])
{
    swept actual = {.cursor = ""};
    int steps = 0, before = 0, max = arg[STEPS] ? arg[STEPS] : 4 * SLOTS;
    for (int id = 0; id < SLOTS; id++) before += model_task_of(arg[QUEUE], id)->state == (model_state)arg[STATE];
    int packed = model_packed(arg[QUEUE]);
    if (before == 0) COVER(BULK_UPDATE_NOTHING);
    do {
        if (!step(arg, &actual) || model.words[0]) return;
        steps++;
    } while (*actual.cursor && steps < max);
    if (packed > 0 && arg[STATE] == READY && actual.done > 0) COVER(SEGMENT_SWEPT);
    if (steps > 1) COVER(BULK_UPDATE_STEPS);
    if (*actual.cursor && arg[STEPS]) COVER(BULK_UPDATE_STOPPED);
    if (*actual.cursor && !arg[STEPS]) model_differ("sweep does not end");
    if (!*actual.cursor) check_rest(arg, &actual);
}
