/* What becomes of the tasks that a turn settles. */
#include <stdio.h>
#include <string.h>

#include "model/model_dependencies.h"
#include "model/model_enqueue.h"
#include "model/model_limit_state.h"
#include "model/model_turn.h"

int64_t model_delay(const item *one)
{
    static const int64_t delays[] = {0, 1000, 50000};
    return delays[one->number % 3];
}

static void refuse(const item *one, const model_task *task, const model_session *session)
{
    bool same = task->state == RUNNING && &model.sessions[task->session] == session;
    if (!same) COVER(TURN_REFUSED);
    if (same && session->life == DYING) COVER(TURN_REFUSED_DYING);
    if (same && session->life == ALIVE && *one->lease) COVER(TURN_REFUSED_LEASE);
}

/* One of those that are plainly done: bytes are looked at when all of them have ended. */
static bool counted_some;

static void end_task(const item *one, model_task *task, model_state state)
{
    if (task->waited_ms) COVER(TURN_NOTIFIED);
    if (state == COMPLETED) model.queues[one->queue].counters[0]++;
    if (state == DEAD) model.queues[one->queue].counters[2]++;
    model_end(one->queue, task, state);
    if (task->state == COMPLETED && one->how == RESULT) model_count_result(one->queue, task);
    bool counted = task->counted, left;
    int trimmed = task->state == NONE || task->state == RETAINED ? 0 : model_trim_count(one->queue, state, 18);
    if (counted && model_is_plain_result(one)) counted_some = true;
    if (counted && !model_is_plain_result(one) && model_trim_bytes(one->queue, 18, &left) > 0) COVER(BYTES_TRIM);
    if (trimmed > 0 && state == DEAD) COVER(TURN_TRIM_DEAD);
    if (trimmed > 0 && state == COMPLETED) COVER(TURN_TRIM_COMPLETED);
    model_tell_ended(one->queue, one->id, state);
}

/* Returns the key that the task keeps, which is then none of its own as long as it ends. */
static int keep_key(const item *one, model_task *task)
{
    int key = task->unique;
    if (!one->keeps) return 0;
    task->unique = 0;
    if (task->held == FOR_A_TIME || model_holder(one->queue, key) != one->id) return key;
    model.sessions[task->session].kept[one->id] = key;
    COVER(ONCE_KEEPS);
    return key;
}

static void complete(const item *one, model_task *task)
{
    if (one->how == DONE) COVER(TURN_DONE);
    if (one->how == DONE_RECORD) COVER(TURN_DONE_INFO);
    if (model_is_plain_result(one)) COVER(TURN_RESULT);
    if (one->how == RESULT && !model_is_plain_result(one)) COVER(TURN_RESULT_RECORD);
    if (one->how == RESULT) task->result = task->field = one->number;
    if (task->checkpoint && one->checkpoint) COVER(TURN_CHECKPOINT_GOES);
    if (one->checkpoint) task->checkpoint = 0;
    bool told = model_has_info(task), counted = task->failures > 0 || task->crashes > 0;
    bool tagged = task->tagged;
    bool by_another = told && !counted && task->old_progress, uncounted = !counted && task->error;
    int kept = keep_key(one, task);
    if (one->runs) {
        (void)snprintf(task->run, sizeof(task->run), "%lld %d %s", (long long)task->at_ms, task->thread + 1,
                       model_session_id(task->session));
        COVER(TURN_RUN);
    }
    if (one->own && task->keep_ms) model_keep_own(one->queue, one->id, task->keep_ms);
    end_task(one, task, COMPLETED);
    if (task->state != NONE && one->keeps) task->unique = kept;
    if (task->state != NONE) return;
    if (one->how == DONE && tagged) model.queues[one->queue].untidy[one->id] = true;
    if (told)
        COVER(TURN_INFO_UNKEPT);
    else
        COVER(TURN_DONE_UNKEPT);
    if (by_another) COVER(TURN_OLD_PROGRESS_UNKEPT);
    if (uncounted) COVER(TURN_UNCOUNTED_UNKEPT);
}

static void note_error(const item *one, model_task *task)
{
    if (task->deadline_ms) COVER(TURN_DEADLINE_OVER);
    model_has_begun(task);
    task->error = one->number;
    task->failed_ms = model.now_ms;
    task->flagged = true;
    model_note(task);
    task->failures += one->how != FAIL_UNCOUNTED;
    model.queues[one->queue].counters[1] += one->how != FAIL_UNCOUNTED;
}

static void fail(const item *one, model_task *task)
{
    note_error(one, task);
    if (one->how == FAIL)
        COVER(TURN_FAIL);
    else
        COVER(TURN_FAIL_UNCOUNTED);
    end_task(one, task, DEAD);
    if (task->state == NONE) COVER(TURN_FAIL_UNKEPT);
}

/* By its handler; one that is discarded leaves no record, as in a queue that keeps none. */
static void cancel(const item *one, model_task *task)
{
    model_queue *q = &model.queues[one->queue];
    bool kept = q->kept[0];
    int64_t keep_age = q->keep_age[0];
    if (one->how == DISCARDS) q->kept[0] = true, q->keep_age[0] = 0;
    end_task(one, task, CANCELLED);
    q->kept[0] = kept;
    q->keep_age[0] = keep_age;
    if (one->how == DISCARDS) {
        q->unrecorded_ms = model.now_ms;
        COVER(TURN_DISCARDS);
    } else {
        COVER(TURN_ENDS_CANCELLED);
    }
}

static void settle(const item *one, model_task *task)
{
    int64_t delay = model_delay(one);
    bool failed = one->how == RETRY_LATER || one->how == FAIL;
    if (failed || one->how <= RESULT) model_note_attempt(one->queue, task, one->id, failed);
    if (one->how >= ENDS_CANCELLED) {
        cancel(one, task);
        return;
    }
    if (one->how >= SNOOZE && one->begun && !task->told) model_has_begun(task);
    if (one->how >= SNOOZE && !task->told && task->deadline_ms && !task->expires_ms) COVER(EXPIRES_AGAIN);
    if (one->how >= SNOOZE && !task->told) task->expires_ms = task->deadline_ms;
    if (task->told && one->how != DONE && one->how != DONE_RECORD && one->how != RESULT) {
        if (one->how == RETRY_LATER || one->how == FAIL || one->how == FAIL_UNCOUNTED) note_error(one, task);
        COVER(TURN_CANCELLED);
        end_task(one, task, CANCELLED);
        return;
    }
    switch (one->how) {
    case RETRY_LATER:
        note_error(one, task);
        model_move(task, SCHEDULED, model.now_ms + delay);
        COVER(TURN_RETRY);
        break;
    case FAIL:
    case FAIL_UNCOUNTED:
        fail(one, task);
        break;
    case SNOOZE:
        model_put_off(task);
        model_move(task, SCHEDULED, model.now_ms + delay + 1);
        COVER(TURN_SNOOZE);
        break;
    case BACK:
        model_to_front(task);
        COVER(TURN_SNOOZE_NOW);
        break;
    default:
        complete(one, task);
    }
}

/* Into the same queue at once, unless it names a key or parents; else by message. */
static void hand_on(const item *one)
{
    char options[512];
    model_write_options(one->hand_queue, &one->hand, options);
    if (one->hand_queue == one->queue && !one->hand.task.unique && !strstr(options, "\"after\"")) {
        model_put_one(one->queue, &one->hand);
        COVER(TURN_HANDS_ON);
        return;
    }
    model_send(one->queue, 'T', "%s %zu %s%s", model_handle(HANDLE(one->hand_queue, one->hand.id)), strlen(options),
               options, model_rest(&one->hand.task));
    if (model.full) return;
    model_message *message = &model.queues[one->queue].messages[model.queues[one->queue].message_count - 1];
    message->incoming = one->hand;
    message->queue = one->hand_queue;
    COVER(TURN_HANDS_ACROSS);
}

static void settle_item(const turn *t, item *one)
{
    char lease[64];
    model_task *task = model_task_of(one->queue, one->id);
    int session = model.hands[t->hand].session[one->queue];
    model_name_lease(lease, task->at_ms, task->thread);
    one->held = task->state == RUNNING && task->session == session && model.sessions[session].life == ALIVE &&
                (*one->lease == '\0' || strcmp(one->lease, lease) == 0);
    if (!one->held) {
        refuse(one, task, &model.sessions[session]);
        return;
    }
    if (*one->lease) COVER(TURN_NAMED);
    if (one->hands_on) hand_on(one);
    settle(one, task);
}

/* How often the n-th group is said to be refused that id. */
static int count_refused(const rv_reply *refused, int n, int id)
{
    int count = 0;
    char words[40];
    if (n > 1)
        (void)snprintf(words, sizeof(words), "%d %s", n, model_id(id));
    else
        (void)snprintf(words, sizeof(words), "%s", model_id(id));
    for (size_t i = 0; i < refused->count; i++) count += rv_reply_is_text(refused->items[i], words);
    return count;
}

/* Both queues may have a task of that id: what is refused says of which group it is. */
static void check_refused(const turn *t, const rv_reply *refused)
{
    size_t all = 0;
    int n = 0;
    for (int first = 0, end; first < t->count; first = end) {
        end = model_group_end(t, first);
        n++;
        for (int i = first; i < end; i++) {
            int actual = count_refused(refused, n, t->items[i].id), expected = !t->items[i].held;
            if (actual != expected)
                model_differ("turn refuses %s of group %d %d times, not %d", model_id(t->items[i].id), n, actual,
                             expected);
            all += (size_t)expected;
        }
    }
    if (refused->count != all) model_differ("turn refuses %zu, not %zu", refused->count, all);
}

/* In a group, those that are plainly done come first, then those that have a result besides. */
static int order_of(const item *one)
{
    return one->how == DONE ? 0 : model_is_plain_result(one) ? 1 : 2;
}

/* Results stay in a result_block where the plain completions of a group take the short way. */
static bool is_short(const turn *t, int first)
{
    const model_queue *q = &model.queues[t->items[first].queue];
    bool unkept = q->kept[0] && (q->keep_age[0] == 0 || q->keep_count[0] == 0);
    return !t->items[first].lease[0] && !q->waiters && !*t->limit_state[t->items[first].queue] && !q->keep_bytes &&
           !unkept;
}

/* Those that were trimmed at once are told of all the same. */
static void gather(const turn *t, int first, int end)
{
    int ids[ITEMS], results[ITEMS], count = 0;
    for (int i = first; i < end; i++) {
        const item *one = &t->items[i];
        if (!model_is_plain_result(one)) continue;
        model_task_of(one->queue, one->id)->field = 0;
        ids[count] = one->id;
        results[count++] = one->number;
    }
    if (count > 0) model_result_block_results(t->items[first].queue, ids, results, count);
}

/* Of those that are plainly done: how many, how many of them the session held, how many of these left a result. */
typedef struct plainly {
    int count, held, results;
} plainly;

static plainly settle_plain(turn *t, int first, int end)
{
    plainly ret = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (int i = first; i < end; i++) {
            if (order_of(&t->items[i]) != pass) continue;
            settle_item(t, &t->items[i]);
            ret.count++;
            ret.held += t->items[i].held;
            ret.results += pass == 1 && t->items[i].held;
        }
    }
    return ret;
}

static void settle_group(turn *t, int first, int end)
{
    int queue = t->items[first].queue;
    bool result_block = model_is_result_block(t, first), whole = is_short(t, first), left;
    counted_some = false;
    plainly plain = settle_plain(t, first, end);
    whole = whole && plain.held == plain.count;
    if (result_block && whole) gather(t, first, end);
    if (result_block && !whole && plain.results > 0) COVER(RESULT_BLOCK_PARSED);
    if (counted_some && model_trim_bytes(queue, 2 * plain.held + 16, &left) > 0) COVER(BYTES_TRIM);
    model_bulk_update_result_blocks(queue);
    for (int i = first; i < end; i++) {
        if (order_of(&t->items[i]) != 2) continue;
        settle_item(t, &t->items[i]);
        model_bulk_update_result_blocks(queue);
    }
}

void model_settle_all(turn *t, const rv_reply *refused)
{
    int plain = 0, held = 0;
    for (int first = 0, end; first < t->count; first = end) {
        end = model_group_end(t, first);
        settle_group(t, first, end);
    }
    for (int i = 0; i < t->count; i++) {
        plain += t->items[i].how == DONE;
        held += t->items[i].how == DONE && t->items[i].held;
    }
    if (held > 0 && held < plain) COVER(TURN_HALF_HELD);
    check_refused(t, refused);
}
