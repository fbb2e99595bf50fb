/* What only reads: show, list, failures, stat. */
#include <stdio.h>
#include <string.h>

#include "model/model_segment.h"
#include "model/model_turn.h"
#include "support/queue.h"

enum { QUEUE, ID };

void model_show_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[ID] = model_choose_id();
}

/* As it was before the call, which changes nothing. */
static const model_seen_queue *look(int queue)
{
    static const model_seen_queue nothing;
    const model_seen *seen = model_look();
    return seen ? &seen->queues[queue] : &nothing;
}

/* Of a task as a list of show or list: {id, state, envelope, score, session, lease, ...}. */
static void check_described(const model_task *task, const char *id, int64_t score, const rv_reply *actual)
{
    char lease[64] = "";
    bool runs = task->state == RUNNING,
         timed = task->state >= COMPLETED || task->state == SCHEDULED || task->state == BLOCKED;
    if (runs) model_name_lease(lease, task->at_ms, task->thread);
    if (!rv_reply_is_text(rv_reply_at(actual, 0), id) ||
        !rv_reply_is_text(rv_reply_at(actual, 1), model_state_names[task->state]))
        model_differ("it is said of %s: %s", id, test_reply_text(actual));
    if (timed && rv_reply_int(rv_reply_at(actual, 3), -1) != task->at_ms)
        model_differ("it is said of %s: %s, not %lld", id, test_reply_text(actual), (long long)task->at_ms);
    if (task->state == READY && rv_reply_int(rv_reply_at(actual, 3), -1) != score)
        model_differ("it is said of %s: %s, and its score is %lld", id, test_reply_text(actual), (long long)score);
    if (!rv_reply_is_text(rv_reply_at(actual, 4), runs ? model_session_id(task->session) : "") ||
        !rv_reply_is_text(rv_reply_at(actual, 5), lease))
        model_differ("it is said of who holds %s: %s", id, test_reply_text(actual));
}

/* What is said of its result, among what show and list say of a completed task, and by itself. */
static void check_result(int queue, const model_task *task, const char *id, const rv_reply *actual)
{
    char words[32] = "";
    if (task->state != COMPLETED && task->state != RETAINED) return;
    int result = model_result_read(queue, task);
    const rv_reply *found = NULL;
    if (result) (void)snprintf(words, sizeof(words), "m%d", result);
    for (size_t i = 6; actual->type == RV_ARRAY && i + 1 < actual->count; i += 2)
        if (rv_reply_is_text(actual->items[i], "result")) found = actual->items[i + 1];
    if (actual->type != RV_ARRAY && !rv_reply_is(actual, RV_NIL)) found = actual;
    if (result ? !rv_reply_is_text(found, words) : found != NULL)
        model_differ("it is said of what %s has left: %s, not \"%s\"", id, test_reply_text(actual), words);
    if (result && !task->field) COVER(RESULT_BLOCK_READ);
}

static void read_result(int queue, int id)
{
    const model_task *task = model_task_of(queue, id);
    const rv_reply *reply = CALL(result, queue, model_id(id));
    if (!reply) return;
    if (task->state != COMPLETED && task->state != RETAINED && !rv_reply_is(reply, RV_NIL))
        model_differ("result says %s", test_reply_text(reply));
    check_result(queue, task, model_id(id), reply);
}

void model_show(const int arg[ARGS])
{
    const model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    const model_seen_task *seen = &look(arg[QUEUE])->tasks[arg[ID]];
    const rv_reply *reply = CALL(show, arg[QUEUE], model_id(arg[ID]));
    if (!reply) return;
    if (rv_reply_is(reply, RV_NIL) != (task->state == NONE)) model_differ("show says %s", test_reply_text(reply));
    if (task->state == NONE) COVER(SHOW_NONE);
    if (task->state == NONE || rv_reply_is(reply, RV_NIL)) return;
    check_described(task, model_id(arg[ID]), seen->score, reply);
    check_result(arg[QUEUE], task, model_id(arg[ID]), reply);
    if (seen->segment) COVER(SEGMENT_SHOWN);
    COVER(SHOW_TASK);
    read_result(arg[QUEUE], arg[ID]);
}

enum { STATE = 1, SKIP, MAX, KIND };

void model_list_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[STATE] = CHOOSE(READY, PARKED, SCHEDULED, BLOCKED, RUNNING, RUNNING, COMPLETED, DEAD, DEAD, CANCELLED);
    if (mood.segments && model_chance(2)) arg[STATE] = READY;
    arg[SKIP] = CHOOSE(0, 0, 0, 1);
    if (arg[STATE] == READY) arg[SKIP] = (int)model_chance(6);
    arg[MAX] = CHOOSE(1, 2, 3, 100);
    if (arg[STATE] == DEAD) arg[KIND] = CHOOSE(0, 1, 2);
}

static bool is_listed(const int arg[ARGS], const model_task *task)
{
    return task->state == (model_state)arg[STATE] && (!arg[KIND] || KIND_OF(task->error) == arg[KIND]);
}

/* Ready ones come in their order: so many are before it. */
static void check_place(const int arg[ARGS], const model_seen_queue *seen, int id, int place)
{
    int before = 0, beside = 0;
    for (int other = 0; other < SLOTS; other++) {
        if (!is_listed(arg, model_task_of(arg[QUEUE], other))) continue;
        before += seen->tasks[other].score < seen->tasks[id].score;
        beside += seen->tasks[other].score == seen->tasks[id].score;
    }
    if (place < before || place >= before + beside)
        model_differ("list says %s at place %d, and %d are before it", model_id(id), place, before);
}

void model_list(const int arg[ARGS])
{
    static const char *const kinds[] = {"", "k1", "k2", "k3"};
    int count = 0;
    for (int id = 0; id < SLOTS; id++) count += is_listed(arg, model_task_of(arg[QUEUE], id));
    const model_seen_queue *seen = look(arg[QUEUE]);
    const rv_reply *reply = CALL(list, arg[QUEUE], model_state_names[arg[STATE]], model_number(arg[SKIP]),
                                 model_number(arg[MAX]), kinds[arg[KIND]]);
    if (!reply) return;
    int page = count > arg[SKIP] ? count - arg[SKIP] : 0;
    if (page > arg[MAX]) page = arg[MAX];
    if (rv_reply_int(rv_reply_at(reply, 0), -1) != count || (int)reply->count != 1 + page)
        model_differ("list says %s; there are %d", test_reply_text(reply), count);
    for (size_t i = 1; i < reply->count; i++) {
        const rv_reply *name = rv_reply_at(reply->items[i], 0);
        int id = name ? model_id_of(name->text) : -1;
        if (id < 0 || !is_listed(arg, model_task_of(arg[QUEUE], id))) {
            model_differ("list says %s", test_reply_text(reply));
        } else {
            check_described(model_task_of(arg[QUEUE], id), model_id(id), seen->tasks[id].score, reply->items[i]);
            check_result(arg[QUEUE], model_task_of(arg[QUEUE], id), model_id(id), reply->items[i]);
            if (arg[STATE] == READY) check_place(arg, seen, id, arg[SKIP] + (int)i - 1);
        }
    }
    if (page > 0 && arg[STATE] == READY && seen->segment_count > 0) COVER(SEGMENT_LISTED);
    if (count > 0) COVER(LIST_STATE);
    if (count > 0 && arg[KIND]) COVER(LIST_KIND);
    if (count > 0 && arg[STATE] == RUNNING) COVER(LIST_RUNNING);
    if (count > arg[SKIP] + page && page > 0) COVER(LIST_PAGE);
}

/* ---- failures -------------------------------------------------------------------------------------------------- */

enum { SKIPPED = 1, TOLD };

void model_failures_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[SKIPPED] = CHOOSE(0, 0, 0, 1);
    arg[TOLD] = CHOOSE(1, 2, 100, 100);
}

/* The kinds there are, the one that was seen last first. */
static int list_kinds(int queue, int kinds[KINDS_OF_ERRORS])
{
    int count = 0;
    const int64_t *when = model.queues[queue].kinds_ms;
    static const int by_name[] = {EXPIRED_KIND, 1, 2, 3, PARENT_KIND, UNKNOWN_KIND};
    for (int i = KINDS_OF_ERRORS - 1; i >= 0; i--) {
        int kind = by_name[i];
        bool any = false;
        for (int id = 0; id < SLOTS; id++) {
            const model_task *task = model_task_of(queue, id);
            any = any || (task->state == DEAD && KIND_OF(task->error) == kind);
        }
        if (!any) continue;
        int at = count++;
        for (; at > 0 && when[kind] > when[kinds[at - 1]]; at--) kinds[at] = kinds[at - 1];
        kinds[at] = kind;
    }
    return count;
}

/* said: {kind, tasks, when one died last, that one's id, its type, its message} */
static void check_kind(int queue, int kind, const rv_reply *actual)
{
    static const char *const types[] = {"t", "s", "d"};
    int count = 0, last = -1;
    char name[16], message[160];
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id), *found = last < 0 ? NULL : model_task_of(queue, last);
        if (task->state != DEAD || KIND_OF(task->error) != kind) continue;
        count++;
        if (!found || task->at_ms > found->at_ms || (task->at_ms == found->at_ms && model_is_before(last, id)))
            last = id;
    }
    const model_task *task = model_task_of(queue, last);
    rv_copy_text(name, sizeof(name), model_kind_name(kind));
    model_error_words(task->error, message);
    if (!rv_reply_is_text(rv_reply_at(actual, 0), name) || rv_reply_int(rv_reply_at(actual, 1), -1) != count ||
        rv_reply_int(rv_reply_at(actual, 2), -1) != task->at_ms ||
        !rv_reply_is_text(rv_reply_at(actual, 3), model_id(last)) ||
        !rv_reply_is_text(rv_reply_at(actual, 4), types[task->type]) ||
        !rv_reply_is_text(rv_reply_at(actual, 5), message))
        model_differ("failures says %s of %s; %d, the last %s", test_reply_text(actual), name, count, model_id(last));
}

void model_failures(const int arg[ARGS])
{
    int kinds[KINDS_OF_ERRORS], count = list_kinds(arg[QUEUE], kinds);
    const rv_reply *reply = CALL(failures, arg[QUEUE], model_number(arg[SKIPPED]), model_number(arg[TOLD]));
    if (!reply) return;
    int page = count > arg[SKIPPED] ? count - arg[SKIPPED] : 0;
    if (page > arg[TOLD]) page = arg[TOLD];
    if (rv_reply_int(rv_reply_at(reply, 0), -1) != count || (int)reply->count != 1 + page) {
        model_differ("failures says %s; there are %d kinds", test_reply_text(reply), count);
        return;
    }
    for (int i = 0; i < page; i++) check_kind(arg[QUEUE], kinds[arg[SKIPPED] + i], reply->items[1 + i]);
    if (count > 1) COVER(FAILURES_KINDS);
    if (count == 0) COVER(FAILURES_NONE);
}

/* ---- cancelled? ------------------------------------------------------------------------------------------------ */

void model_ask_cancelled_make(int arg[ARGS])
{
    model_show_make(arg);
}

void model_ask_cancelled(const int arg[ARGS])
{
    const model_task *task = model_task_of(arg[QUEUE], arg[ID]);
    const rv_reply *reply = CALL(cancelled, arg[QUEUE], model_id(arg[ID]));
    if (!reply) return;
    if (rv_reply_int(reply, -1) != task->told) model_differ("cancelled says %s", test_reply_text(reply));
    if (task->told) COVER(CANCELLED_YES);
    if (!task->told) COVER(CANCELLED_NO);
}

/* ---- stat ------------------------------------------------------------------------------------------------------ */

/* What stat says: whether the queue is paused, a number for each state that users see, six counters, and then: */
enum { HEAD = 1 + (RETAINED - NONE - 1) + 6, NUMBERS = HEAD + 3 };

void model_stat_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
}

static int64_t first_due(int queue)
{
    int64_t first = -1;
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        if (task->state == SCHEDULED && (first < 0 || task->at_ms < first)) first = task->at_ms;
    }
    return first;
}

/* The header of the one that is next is told; with several of one score, that of any. */
static void check_head(int queue, const model_seen_queue *seen, const char *actual)
{
    int64_t first = INT64_MAX;
    bool found = false;
    for (int id = 0; id < SLOTS; id++)
        if (seen->tasks[id].state == READY && seen->tasks[id].score < first) first = seen->tasks[id].score;
    for (int id = 0; id < SLOTS; id++) {
        const model_seen_task *task = &seen->tasks[id];
        if (task->state != READY || task->score != first) continue;
        found = found || strncmp(task->envelope, actual, strlen(actual)) == 0;
    }
    if (first == INT64_MAX ? *actual != '\0' : !*actual || !found)
        model_differ("stat of queue %d says of its head %s", queue, actual);
    if (seen->segment_count > 0) COVER(SEGMENT_STAT);
}

static void check_stat(int queue, const model_seen_queue *seen, const rv_reply *reply)
{
    const model_queue *q = &model.queues[queue];
    int64_t expected[NUMBERS] = {q->paused};
    size_t count = 1;
    for (model_state state = NONE + 1; state < RETAINED; state++) expected[count++] = model_count(queue, state);
    for (int i = 0; i < 4; i++) expected[count++] = q->counters[i];
    expected[count++] = seen->ends[0];
    expected[count] = q->enqueued;
    expected[HEAD + 1] = first_due(queue);
    expected[HEAD + 2] = model.now_ms;
    for (size_t i = 0; i < NUMBERS; i++)
        if (i != HEAD && rv_reply_int(rv_reply_at(reply, i), -2) != expected[i])
            model_differ("stat says %s; the %zuth is %lld", test_reply_text(reply), i + 1, (long long)expected[i]);
}

void model_stat(const int arg[ARGS])
{
    const model_seen_queue *seen = look(arg[QUEUE]);
    model_begin(&rv_script_stat);
    model_key(arg[QUEUE]);
    const rv_reply *reply = model_call();
    if (!reply) return;
    check_stat(arg[QUEUE], seen, reply);
    check_head(arg[QUEUE], seen, rv_reply_at(reply, HEAD)->text);
    COVER(STAT);
}
