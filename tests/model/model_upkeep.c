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

static int64_t moved(int64_t at_ms, int64_t by_ms)
{
    if (at_ms <= model.now_ms) return at_ms;
    return longer(model.now_ms, at_ms - by_ms);
}

static void set_back(int queue, int64_t by_ms)
{
    model_queue *q = &model.queues[queue];
    for (int i = 0; i < model.session_count; i++) {
        model_session *session = &model.sessions[i];
        if (session->queue == queue && session->life != ABSENT) session->expiry_ms = moved(session->expiry_ms, by_ms);
    }
    for (int i = 0; i < ENTRIES; i++)
        if (q->entries[i].due_ms > model.now_ms) q->entries[i].due_ms = model.now_ms + 1;
    q->listening_ms = moved(q->listening_ms, by_ms);
    q->limits.hold_ms = moved(q->limits.hold_ms, by_ms);
    for (int group = 1; group <= GROUPS; group++) {
        int64_t *hold_ms = &q->limits.holds_ms[group];
        if (*hold_ms < LATEST) *hold_ms = moved(*hold_ms, by_ms);
    }
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

static bool has_sessions(int queue)
{
    for (int i = 0; i < model.session_count; i++)
        if (model.sessions[i].queue == queue && model.sessions[i].life != ABSENT) return true;
    return false;
}

bool model_tend_upkeep(int queue, int64_t life_ms)
{
    model_queue *q = &model.queues[queue];
    if (!q->upkeep.last_ms) return false;
    bool back = is_back(queue);
    if (back) {
        set_back(queue, q->upkeep.last_ms - model.now_ms);
        COVER(TEND_BACK);
    }
    if (look_after(queue, life_ms) && !has_sessions(queue)) q->upkeep.last_ms = 0;
    return back;
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
