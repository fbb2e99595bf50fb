#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/model_dependencies.h"
#include "model/model_enqueue.h"
#include "model/model_limit_state.h"
#include "support/cmocka.h"

#define MODEL_STATE(name, word, shown) shown,
const char *const model_state_names[STATES] = {MODEL_STATES(MODEL_STATE)};
#undef MODEL_STATE

model_task *model_task_of(int queue, int id)
{
    return &model.queues[queue].tasks[id];
}

/* ---- envelopes ------------------------------------------------------------------------------------------------- */

static void describe_time(const model_task *task, char text[64])
{
    text[0] = '\0';
    if (task->timing == DUE) (void)snprintf(text, 64, ",\"due\":%lld", (long long)task->timing_ms);
    if (task->timing == DELAY) (void)snprintf(text, 64, ",\"delay\":%lld", (long long)task->timing_ms);
}

static void describe_unique(const model_task *task, char text[160])
{
    char more[48] = "";
    text[0] = '\0';
    if (!task->unique) return;
    if (task->held == TO_START) rv_copy_text(more, sizeof(more), ",\"until\":\"started\"");
    if (task->held == FOR_A_TIME) (void)snprintf(more, sizeof(more), ",\"unique_for\":%lld", (long long)task->hold_ms);
    (void)snprintf(text, 96, ",\"unique\":\"u%d\"%s", task->unique, more);
}

/* Weights 1, 3 and 256: of groups 1, 2 and 3. */
static int describe(const model_task *task, char *text, size_t size)
{
    static const char *const groups[] = {"", ",\"group\":\"g1\"", ",\"group\":\"g2\",\"weight\":3",
                                         ",\"group\":\"g3\",\"weight\":256"};
    static const char *const keys[] = {"", ",\"limit_keys\":[\"a\"]", ",\"limit_keys\":[\"b\"]",
                                       ",\"limit_keys\":[\"a\",\"b\"]"};
    static const char *const calls[] = {"", ",\"on_dead\":\"d\"", ",\"on_dead\":\"\""};
    char priority[32] = "", time[64], unique[160], of[96] = "", keep[32] = "", cost[32] = "";
    if (task->priority != 0) (void)snprintf(priority, sizeof(priority), ",\"priority\":%d", task->priority);
    if (task->of) (void)snprintf(of, sizeof(of), ",\"of\":\"%s\"", model_id(task->of - 1));
    if (task->cost) (void)snprintf(cost, sizeof(cost), ",\"cost\":%d", task->cost);
    if (task->keep_ms) (void)snprintf(keep, sizeof(keep), ",\"keep\":%lld", (long long)task->keep_ms);
    describe_time(task, time);
    describe_unique(task, unique);
    return snprintf(text, size, "\"type\":\"%s\"%s%s%s%s%s%s%s%s%s%s}\n", model_types[task->type], time, priority,
                    groups[task->group], cost, keys[task->limit_keys], keep, unique, of, calls[task->on_dead],
                    task->tagged ? ",\"tags\":[\"w\",\"x\"]" : "");
}

const char *model_rest(const model_task *task)
{
    static char text[2 * LARGE];
    int length = describe(task, text, sizeof(text));
    assert_true(length > 0 && length < CUT);
    if (task->of) return text; /* (what it says comes in any order) */
    length += snprintf(text + length, sizeof(text) - (size_t)length, "%d", task->serial);
    if (task->large) {
        memset(text + length, 'x', LARGE);
        text[length + LARGE] = '\0';
    }
    return text;
}

const char *model_envelope(const model_task *task)
{
    static char text[2 * CUT];
    char deadline[48] = "", segment[32] = "";
    if (task->deadline_ms)
        (void)snprintf(deadline, sizeof(deadline), "\"deadline\":%lld,", (long long)task->deadline_ms);
    if (task->segment) (void)snprintf(segment, sizeof(segment), "\"p\":%d,", task->segment - 1);
    (void)snprintf(text, sizeof(text), "{%s%s\"at\":%lld,%s%s%.*s", task->flagged ? "\"info\":1," : "",
                   task->told ? "\"cancel\":1," : "", (long long)task->enqueued_ms, segment, deadline, CUT,
                   model_rest(task));
    text[CUT] = '\0';
    return text;
}

bool model_has_info(const model_task *task)
{
    return task->failures || task->crashes || task->error || task->progress || task->placed || task->history ||
           task->waits || task->due_ms || task->for_death || task->checkpoint || task->logged || *task->run;
}

const char *model_kind_name(int kind)
{
    static const char *const names[] = {"", "k1", "k2", "k3", "parent", "unknown_parent", "expired"};
    return names[kind];
}

void model_error_words(int error, char text[160])
{
    text[0] = '\0';
    if (error > 0) (void)snprintf(text, 96, "m%d", error);
    if (error == EXPIRED) rv_copy_text(text, 96, "not begun by its deadline");
    if (error >= 0 || error == EXPIRED) return;
    int parent = (-error - 1) / 8, state = COMPLETED + (-error - 1) % 8;
    (void)snprintf(text, 160, "the task it waited for, %s, is %s", model_handle(parent),
                   state == UNKNOWN_STATE ? "not known: it was never enqueued, or its record is gone"
                                          : model_end_word(state));
}

void model_has_begun(model_task *task)
{
    task->deadline_ms = task->expires_ms = 0;
}

void model_note(model_task *task)
{
    if (task->history < HISTORY) task->history++;
}

/* ---- moves ----------------------------------------------------------------------------------------------------- */

int model_slot(int queue, const model_task *task)
{
    return (int)(task - model.queues[queue].tasks);
}

static int queue_of(const model_task *task)
{
    return task >= model.queues[1].tasks ? 1 : 0;
}

/* What has started in a strict group keeps its slot until it has ended. */
static void keep_slot(model_task *task, model_state state)
{
    bool waits = model_waits(state);
    if (!waits || state == RUNNING) task->keeps = false;
    if (!waits || task->state != RUNNING || !task->slot || !model_is_strict(queue_of(task), task->group)) return;
    task->keeps = true;
    COVER(STRICT_KEEPS);
}

void model_move(model_task *task, model_state state, int64_t at_ms)
{
    keep_slot(task, state);
    task->placed = task->handed = false;
    if (state == READY) task->order = ++model.last_order;
    if (state == SCHEDULED) task->scheduled = ++model.last_order;
    model_enter(task, state);
    task->at_ms = at_ms;
    task->session = -1;
}

void model_to_front(model_task *task)
{
    model_move(task, READY, 0);
    /* Where there are groups, one that comes later may stand where it does, or before. */
    task->order = --model.first_order;
}

void model_put_off(model_task *task)
{
    task->timing = DUE;
    task->timing_ms = 0;
}

void model_forget(model_task *task)
{
    model_enter(task, NONE);
    *task = (model_task){.session = -1};
}

int model_count(int queue, model_state state)
{
    int count = 0;
    for (int id = 0; id < SLOTS; id++) count += model.queues[queue].tasks[id].state == state;
    return count;
}

int model_held(int session)
{
    int count = 0;
    const model_task *tasks = model.queues[model.sessions[session].queue].tasks;
    for (int id = 0; id < SLOTS; id++) count += tasks[id].state == RUNNING && tasks[id].session == session;
    return count;
}

/* ---- retention ------------------------------------------------------------------------------------------------- */

int64_t model_keep_age(int queue, model_state state)
{
    const model_queue *q = &model.queues[queue];
    if (state == DEAD) return q->kept[1] ? q->keep_age[1] : 90LL * DAY;
    return q->kept[0] ? q->keep_age[0] : DAY;
}

static int64_t keep_count(int queue, model_state state)
{
    const model_queue *q = &model.queues[queue];
    int which = state == DEAD;
    return q->kept[which] ? q->keep_count[which] : 10000;
}

static bool is_older(int queue, const model_task *task, const model_task *found)
{
    if (!found || task->at_ms != found->at_ms) return !found || task->at_ms < found->at_ms;
    return model_is_before(model_slot(queue, task), model_slot(queue, found));
}

static model_task *oldest(int queue, model_state state)
{
    model_task *found = NULL;
    for (int id = 0; id < SLOTS; id++) {
        model_task *task = model_task_of(queue, id);
        if (task->state == state && is_older(queue, task, found)) found = task;
    }
    return found;
}

static void note_trimmed(int queue, model_state state)
{
    if (state == COMPLETED) model.queues[queue].trimmed = true;
}

/* Some that died may have children that waited for a retry. */
static void forget_old(int queue, model_state state, model_task *task)
{
    if (state == COMPLETED && model_is_to_be_read(queue, model_slot(queue, task))) {
        (void)model_split_result_block(queue, task->at_ms);
        model_retain(queue, task);
        return;
    }
    note_trimmed(queue, state);
    model_forget(task);
    if (state == DEAD || state == CANCELLED) model_forsake(queue, model_slot(queue, task));
}

/* Those that ended later than now, before the clock was set back; bytes: while these are more than limit. Returns
 * how many went. */
static int trim_ahead(int queue, model_state state, int max, int *bytes, int limit)
{
    int64_t times[SLOTS];
    int trimmed = 0;
    bool before = model.queues[queue].trimmed;
    while (trimmed < max && (!bytes || *bytes > limit)) {
        model_task *first = NULL;
        for (int id = 0; id < SLOTS; id++) {
            model_task *task = model_task_of(queue, id);
            if (task->state == state && task->at_ms > model.now_ms && is_older(queue, task, first)) first = task;
        }
        if (!first) break;
        COVER(TRIM_AHEAD);
        times[trimmed++] = first->at_ms;
        if (bytes) *bytes -= first->counted;
        forget_old(queue, state, first);
    }
    for (int i = 0; i < trimmed && state == COMPLETED; i++) (void)model_split_result_block(queue, times[i]);
    model.queues[queue].trimmed = before; /* (they were not the oldest: no result_blocks are swept) */
    return trimmed;
}

void model_drop_early(int queue, model_task *task)
{
    int64_t ended_ms = task->at_ms;
    bool before = model.queues[queue].trimmed;
    forget_old(queue, COMPLETED, task);
    (void)model_split_result_block(queue, ended_ms);
    model.queues[queue].trimmed = before;
}

int model_trim_count(int queue, model_state state, int max)
{
    int64_t limit = keep_count(queue, state), excess = limit < 0 ? 0 : model_count(queue, state) - limit;
    int ahead = trim_ahead(queue, state, excess < max ? (int)excess : max, NULL, 0), trimmed = 0;
    max -= ahead;
    while (limit >= 0 && trimmed < max && model_count(queue, state) > limit) {
        forget_old(queue, state, oldest(queue, state));
        trimmed++;
    }
    return trimmed + ahead;
}

int model_trim_age(int queue, model_state state, int max)
{
    int64_t age = model_keep_age(queue, state);
    int trimmed = 0;
    while (age >= 0 && trimmed < max) {
        model_task *task = oldest(queue, state);
        if (!task || task->at_ms > model.now_ms - age) break;
        forget_old(queue, state, task);
        trimmed++;
    }
    return trimmed;
}

enum { SLACK = 1000 };

static bool keeps(int queue, model_state state, int64_t elapsed_ms, bool bytes)
{
    int64_t age = model_keep_age(queue, state), count = keep_count(queue, state);
    const model_task *first = oldest(queue, state);
    if ((age >= 0 && age <= elapsed_ms + SLACK) || count == 0) return false;
    if (first && first->at_ms < model.now_ms - elapsed_ms - SLACK) return true;
    return (count < 0 || model_count(queue, state) < count) && !bytes;
}

bool model_all_kept(int queue, int64_t elapsed_ms)
{
    int64_t unrecorded_ms = model.queues[queue].unrecorded_ms;
    return (unrecorded_ms == 0 || unrecorded_ms < model.now_ms - elapsed_ms - SLACK) &&
           keeps(queue, COMPLETED, elapsed_ms, model.queues[queue].keep_bytes > 0) &&
           keeps(queue, CANCELLED, elapsed_ms, false) && keeps(queue, DEAD, elapsed_ms, false);
}

void model_count_result(int queue, model_task *task)
{
    char words[32];
    if (model.queues[queue].keep_bytes) task->counted = snprintf(words, sizeof(words), "m%d", task->field);
}

int model_trim_bytes(int queue, int max, bool *ret_left)
{
    int bytes = 0, trimmed = 0, limit = model.queues[queue].keep_bytes;
    for (int id = 0; id < SLOTS; id++) bytes += model_task_of(queue, id)->counted;
    trimmed = trim_ahead(queue, COMPLETED, max, &bytes, limit);
    for (model_task *task; bytes > limit && trimmed < max && (task = oldest(queue, COMPLETED)); trimmed++) {
        bytes -= task->counted;
        forget_old(queue, COMPLETED, task);
    }
    *ret_left = bytes > limit;
    return trimmed;
}

int model_trim_results(int queue, int max, bool counts, bool *ret_left)
{
    model_queue *q = &model.queues[queue];
    for (int id = 0; id < SLOTS && counts && !q->bytes_counted; id++) {
        model_task *task = model_task_of(queue, id);
        if (task->state != COMPLETED || !task->field || task->counted) continue;
        model_count_result(queue, task);
        COVER(BYTES_BEFORE);
    }
    if (counts) q->bytes_counted = true;
    return model_trim_bytes(queue, max, ret_left);
}

void model_end(int queue, model_task *task, model_state state)
{
    task->waited_ms = task->expires_ms = 0;
    model_release(queue, model_slot(queue, task));
    model_unlock(queue, model_slot(queue, task), state == CANCELLED);
    if (state == DEAD) model_tell_death(queue, model_slot(queue, task));
    if (model_keep_age(queue, state) == 0 || keep_count(queue, state) == 0) {
        if (state == COMPLETED && model_is_to_be_read(queue, model_slot(queue, task))) {
            model_move(task, RETAINED, model.now_ms);
            model_retain(queue, task);
            return;
        }
        model_forget(task);
    } else {
        model_move(task, state, model.now_ms);
        if (state == CANCELLED) model_note(task);
        if (state == DEAD) model.queues[queue].kinds_ms[KIND_OF(task->error)] = model.now_ms;
    }
}

/* ---- hands ----------------------------------------------------------------------------------------------------- */

int model_new_session(int queue)
{
    if (model.session_count == SESSIONS) model.full = true;
    if (model.full) return SESSIONS - 1;
    model.sessions[model.session_count] = (model_session){.queue = queue};
    return model.session_count++;
}

void model_believe(int hand, model_belief belief)
{
    model_hand *h = &model.hands[hand];
    for (int i = 0; i < h->belief_count; i++) {
        if (h->beliefs[i].queue != belief.queue || h->beliefs[i].id != belief.id) continue;
        h->beliefs[i] = belief;
        return;
    }
    assert_true(h->belief_count < BELIEFS);
    h->beliefs[h->belief_count++] = belief;
}

void model_disbelieve(int hand, int index)
{
    model_hand *h = &model.hands[hand];
    for (int i = index; i < h->belief_count - 1; i++) h->beliefs[i] = h->beliefs[i + 1];
    h->belief_count--;
}

void model_disbelieve_queue(int hand, int queue)
{
    model_hand *h = &model.hands[hand];
    for (int i = h->belief_count - 1; i >= 0; i--)
        if (h->beliefs[i].queue == queue) model_disbelieve(hand, i);
}

void model_renew(int hand, int queue)
{
    model_hand *h = &model.hands[hand];
    model_disbelieve_queue(hand, queue);
    h->session[queue] = model_new_session(queue);
    h->begun[queue] = false;
    h->flush[queue] = 0;
    for (int thread = 0; thread < THREADS; thread++)
        if (h->idle[thread] == queue + 1) h->idle[thread] = 0;
}
