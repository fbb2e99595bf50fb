/* Tags: in the index is every task that has one; and what went where nobody looked, until tend does. */
#include <stdlib.h>
#include <string.h>

#include "model/model_look.h"
#include "support/queue.h"

static const char *const tags[TAGS_KNOWN] = {"w", "x"};

static int tag_of(int queue, const char *text)
{
    for (int tag = 0; tag < TAGS_KNOWN; tag++)
        if (strcmp(tags[tag], text) == 0) return tag;
    model_stray(queue, "tags", text);
    return -1;
}

void model_read_tags(int queue, const char *rest, const rv_reply *found)
{
    (void)rest;
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int tag = tag_of(queue, found->items[i]->text);
        if (tag >= 0) model_now_seen.queues[queue].given_ms[tag] = (int64_t)strtod(found->items[i + 1]->text, NULL);
    }
}

void model_read_tag_of(int queue, const char *rest, const rv_reply *found)
{
    int tag = tag_of(queue, rest);
    for (size_t i = 0; tag >= 0 && i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) model_stray(queue, "tag:", found->items[i]->text);
        if (id >= 0)
            model_now_seen.queues[queue].tasks[id].tagged[tag] =
                (int64_t)(PLACES * strtod(found->items[i + 1]->text, NULL));
    }
}

/* ---- the index ------------------------------------------------------------------------------------------------- */

static void check_indexed(int queue, int id, const model_seen_task *seen)
{
    model_queue *q = &model.queues[queue];
    const model_task *task = model_task_of(queue, id);
    bool stands = false;
    for (int tag = 0; tag < TAGS_KNOWN; tag++) {
        bool tagged = task->state != NONE && task->tagged;
        stands = stands || seen->tagged[tag];
        if (tagged && seen->tagged[tag] / PLACES != task->enqueued_ms)
            model_differ("%s stands under its tag since %lld, not %lld", model_id(id),
                         (long long)(seen->tagged[tag] / PLACES), (long long)task->enqueued_ms);
        if (!tagged && seen->tagged[tag] && !q->untidy[id]) model_differ("%s stands under a tag", model_id(id));
    }
    if (stands && task->state == NONE) COVER(TAGS_UNTIDY);
    if (q->untidy[id] && !stands) COVER(TAGS_TIDY);
    if (!stands || (task->state != NONE && task->tagged)) q->untidy[id] = false;
}

/* Of tasks that came in one millisecond, the one that came later stands behind. */
static void check_ties(int queue, int id, const model_seen_queue *seen)
{
    const model_task *task = model_task_of(queue, id);
    for (int other = 0; other < SLOTS && task->state != NONE && task->tagged; other++) {
        const model_task *one = model_task_of(queue, other);
        if (one->state == NONE || !one->tagged || one->enqueued_ms != task->enqueued_ms) continue;
        for (int tag = 0; tag < TAGS_KNOWN; tag++)
            if (one->arrived < task->arrived && seen->tasks[other].tagged[tag] >= seen->tasks[id].tagged[tag])
                model_differ("%s came after %s, and does not stand behind it", model_id(id), model_id(other));
    }
}

void model_check_tags(int queue, const model_seen_queue *seen)
{
    for (int id = 0; id < SLOTS; id++) {
        check_indexed(queue, id, &seen->tasks[id]);
        check_ties(queue, id, seen);
    }
    for (int tag = 0; tag < TAGS_KNOWN; tag++) {
        bool any = false;
        for (int id = 0; id < SLOTS; id++) any = any || seen->tasks[id].tagged[tag];
        if (seen->given_ms[tag] != (any ? model.queues[queue].given_ms : 0))
            model_differ("tag %s was last given at %lld", tags[tag], (long long)seen->given_ms[tag]);
    }
}

/* ---- asked for ------------------------------------------------------------------------------------------------- */

enum { QUEUE, TAG, STATE, SKIP, MAX };

void model_tags_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[TAG] = (int)model_chance(TAGS_KNOWN);
    arg[STATE] = CHOOSE(NONE, NONE, READY, RUNNING, COMPLETED);
    arg[SKIP] = CHOOSE(0, 0, 1);
    arg[MAX] = CHOOSE(1, 2, 100);
}

/* Those that stand under a tag, the one that was enqueued last first. */
static int list(const model_seen_queue *seen, int tag, int ids[SLOTS])
{
    int count = 0;
    for (int id = 0; id < SLOTS; id++) {
        int64_t since = seen->tasks[id].tagged[tag];
        int at = count;
        if (!since) continue;
        for (; at > 0; at--) {
            int64_t other = seen->tasks[ids[at - 1]].tagged[tag];
            if (other > since || (other == since && model_is_before(id, ids[at - 1]))) break;
            ids[at] = ids[at - 1];
        }
        ids[at] = id;
        count++;
    }
    return count;
}

static void check_tags(int queue, const model_seen_queue *seen)
{
    int ids[SLOTS], count = list(seen, 0, ids);
    const rv_reply *reply = CALL(tags, queue, "0", "100");
    if (!reply) return;
    const rv_reply *first = rv_reply_at(reply, 1);
    /* Both are given together; the later name comes first. */
    if (rv_reply_int(rv_reply_at(reply, 0), -1) != (count ? TAGS_KNOWN : 0) ||
        (count && (!rv_reply_is_text(rv_reply_at(first, 0), tags[TAGS_KNOWN - 1]) ||
                   rv_reply_int(rv_reply_at(first, 2), -1) != model.queues[queue].given_ms)))
        model_differ("tags says %s", test_reply_text(reply));
    if (count) COVER(TAGS_TOLD);
}

void model_tags(const int arg[ARGS])
{
    const model_seen *looked = model_look();
    if (!looked) return;
    static model_seen_queue seen;
    seen = looked->queues[arg[QUEUE]];
    check_tags(arg[QUEUE], &seen);
    int ids[SLOTS], count = list(&seen, arg[TAG], ids),
                    end = arg[SKIP] + arg[MAX] < count ? arg[SKIP] + arg[MAX] : count;
    const rv_reply *reply = CALL(list_by_tag, arg[QUEUE], tags[arg[TAG]], model_state_names[arg[STATE]],
                                 model_number(arg[SKIP]), model_number(arg[MAX]));
    if (!reply) return;
    size_t at = 1;
    for (int i = arg[SKIP]; i < end; i++) {
        model_state state = model_task_of(arg[QUEUE], ids[i])->state;
        bool fits = strcmp(model_state_names[state], model_state_names[arg[STATE]]) == 0;
        if (state == NONE || (arg[STATE] != NONE && !fits)) continue;
        if (!rv_reply_is_text(rv_reply_at(rv_reply_at(reply, at), 0), model_id(ids[i])) ||
            !rv_reply_is_text(rv_reply_at(rv_reply_at(reply, at), 1), model_state_names[state]))
            model_differ("tagged says %s; %s is %s", test_reply_text(reply), model_id(ids[i]),
                         model_state_names[state]);
        at++;
    }
    if (reply->count != at || rv_reply_int(rv_reply_at(reply, 0), -2) != (end < count && arg[SKIP] <= count ? end : -1))
        model_differ("tagged says %s; there are %d", test_reply_text(reply), count);
    if (at > 1) COVER(TAGS_FOUND);
    if (end < count) COVER(TAGS_PAGE);
}
