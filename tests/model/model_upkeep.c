/* Who looks after a queue, and sessions that are spared because nobody did. */
#include <stdio.h>

#include "model/model_seen.h"

static int64_t longer(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

static int64_t sooner(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/* The clock was set back by a second or more: that is for tend to put right. */
static bool is_back(int queue)
{
    int64_t last_ms = model.queues[queue].upkeep.last_ms;
    return last_ms && model.now_ms - last_ms <= -1000;
}

/* A time before that is of the time after the step. */
static int64_t moved(int64_t at_ms, int64_t by_ms)
{
    return at_ms > model.now_ms + by_ms && at_ms < LATEST ? at_ms - by_ms : at_ms;
}

static int64_t session_end(int64_t expiry_ms, int64_t by_ms, int64_t longest_ms)
{
    enum { A_WHILE = 120000 };
    if (expiry_ms <= model.now_ms) return expiry_ms;
    if (expiry_ms > model.now_ms + by_ms)
        return longer(expiry_ms - by_ms, sooner(expiry_ms, model.now_ms + longest_ms));
    return sooner(expiry_ms, model.now_ms + longer(longest_ms, A_WHILE));
}

/* Whether it waits for a time that somebody named. */
static bool is_named(const model_task *task)
{
    if (task->timing == DUE && task->timing_ms > 0)
        return task->at_ms >= task->timing_ms && task->at_ms - task->timing_ms < 1000 &&
               !(task->flagged && task->failed_ms >= task->timing_ms);
    if (task->timing == DUE) return task->named_ms == task->at_ms;
    return task->timing == UNTIMED && !task->flagged;
}

static bool is_to_move(const model_task *task, int64_t by_ms, int64_t before)
{
    int64_t put_ms = longer(task->enqueued_ms, task->flagged ? task->failed_ms : 0);
    if (task->state != SCHEDULED || task->at_ms <= model.now_ms || task->scheduled > before || is_named(task))
        return false;
    return task->at_ms > model.now_ms + by_ms || put_ms > model.now_ms;
}

/* Those that wait a while come as much sooner, in their order, and behind those of their new times. */
static void bring_back(model_queue *q, int64_t by_ms)
{
    const int64_t before = model.last_order;
    for (;;) {
        model_task *first = NULL;
        for (int id = 0; id < SLOTS; id++) {
            model_task *task = &q->tasks[id];
            if (!is_to_move(task, by_ms, before)) continue;
            if (!first || task->at_ms < first->at_ms ||
                (task->at_ms == first->at_ms && task->scheduled < first->scheduled))
                first = task;
        }
        if (!first) return;
        first->at_ms -= by_ms;
        first->scheduled = ++model.last_order;
        COVER(BACK_SCHEDULED);
    }
}

static void set_back(int queue, int64_t by_ms, int64_t life_ms)
{
    model_queue *q = &model.queues[queue];
    for (int i = 0; i < model.session_count; i++) {
        model_session *session = &model.sessions[i];
        if (session->queue == queue && session->life != ABSENT)
            session->expiry_ms = session_end(session->expiry_ms, by_ms, longer(life_ms, q->upkeep.life_ms));
    }
    bring_back(q, by_ms);
    for (int i = 0; i < ENTRIES; i++)
        if (q->entries[i].due_ms > model.now_ms) q->entries[i].due_ms = model.now_ms + 1;
    q->listening_ms = moved(q->listening_ms, by_ms);
    q->limits.hold_ms = moved(q->limits.hold_ms, by_ms);
    for (int group = 1; group <= GROUPS; group++) q->limits.holds_ms[group] = moved(q->limits.holds_ms[group], by_ms);
}

static bool look_after(int queue, int64_t life_ms)
{
    model_queue *q = &model.queues[queue];
    int64_t now = model.now_ms, gap = now - q->upkeep.last_ms, longest = longer(life_ms, q->upkeep.life_ms);
    if (!q->upkeep.last_ms) {
        q->upkeep.since_ms = now;
        q->upkeep.ends_ms = 0;
    } else if (gap < 0) {
        q->upkeep.since_ms = sooner(q->upkeep.since_ms, now);
        q->upkeep.ends_ms = sooner(q->upkeep.ends_ms, now + longest);
        COVER(UPKEEP_BACK);
    } else if (2 * gap > longest) {
        int64_t left = q->upkeep.ends_ms - q->upkeep.last_ms - longest / 2;
        if (left > 0) COVER(UPKEEP_ON);
        if (left <= 0) q->upkeep.since_ms = q->upkeep.last_ms;
        q->upkeep.ends_ms = now + (left > 0 ? left : longest);
    } else if (8 * gap < longest) {
        return false;
    }
    q->upkeep.last_ms = now;
    if (life_ms) q->upkeep.life_ms = life_ms;
    return true;
}

bool model_look_after(int queue, int64_t life_ms)
{
    return !is_back(queue) && look_after(queue, life_ms);
}

/* While something has a time, it matters. */
static bool is_timed(int queue)
{
    const model_queue *q = &model.queues[queue];
    for (int i = 0; i < model.session_count; i++)
        if (model.sessions[i].queue == queue && model.sessions[i].life != ABSENT) return true;
    for (int id = 0; id < SLOTS; id++)
        if (q->tasks[id].state == SCHEDULED) return true;
    for (int group = 1; group <= GROUPS; group++)
        if (q->limits.holds_ms[group]) return true;
    for (int i = 0; i < ENTRIES; i++)
        if (q->entries[i].due_ms) return true;
    return q->limits.hold_ms != 0;
}

bool model_maintain_upkeep(int queue, int64_t life_ms, bool *ret_changed)
{
    model_queue *q = &model.queues[queue];
    *ret_changed = q->limits.hold_ms != 0;
    if (!q->upkeep.last_ms) {
        if (life_ms && is_timed(queue)) *ret_changed = look_after(queue, life_ms);
        return false;
    }
    bool back = is_back(queue);
    if (back) {
        set_back(queue, q->upkeep.last_ms - model.now_ms, life_ms);
        COVER(MAINTAIN_BACK);
    }
    if (look_after(queue, life_ms)) *ret_changed = true;
    return back;
}

model_upkeep model_upkeep_now(int queue, int64_t life_ms)
{
    model_queue *q = &model.queues[queue];
    const model_upkeep before = q->upkeep;
    (void)look_after(queue, life_ms);
    const model_upkeep now = q->upkeep;
    q->upkeep = before;
    return now;
}

void model_maintain_upkeep_end(int queue, bool changed)
{
    if (changed && !is_timed(queue)) model.queues[queue].upkeep.last_ms = 0;
}

const char *model_upkeep_words(int queue)
{
    static char words[96];
    const model_queue *q = &model.queues[queue];
    words[0] = '\0';
    if (q->upkeep.last_ms)
        (void)snprintf(words, sizeof(words), "%lld %lld %lld %lld", (long long)q->upkeep.last_ms,
                       (long long)q->upkeep.life_ms, (long long)q->upkeep.since_ms, (long long)q->upkeep.ends_ms);
    return words;
}
